"""LangChain's ChatOpenAI: chat completions and the Responses API, plain, streamed and with tools."""

import json
import os

import openai
from langchain_core.messages import HumanMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI

TRIP = "prompt:team.trip"
NAMED = f"{TRIP}?city=Z%C3%BCrich&days=2"
VARIABLES = {"city": "Zürich", "days": 2}


def model(name, **more):
    return ChatOpenAI(base_url=os.environ["SERVICE"], api_key="any", model=name, max_retries=0, **more)


@tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is wet"


def loop(model):
    model, messages = model.bind_tools([get_weather]), [HumanMessage("How is the weather?")]
    for rounds in range(1, 5):
        answer = model.invoke(messages)
        messages.append(answer)
        if not answer.tool_calls:
            return rounds, answer.text
        messages += [get_weather.invoke(call) for call in answer.tool_calls]
        assert isinstance(messages[-1], ToolMessage)
    raise AssertionError("no end")


for responses in (False, True):
    for chat in (
        model(NAMED, use_responses_api=responses),
        model(TRIP, use_responses_api=responses, extra_body={"variables": VARIABLES}),
        model(TRIP, use_responses_api=responses, default_headers={"x-prompt-variables": json.dumps(VARIABLES)}),
    ):
        assert chat.invoke("And then?").text == "Hello, wörld"
        assert "".join(chunk.text for chunk in chat.stream("And then?")) == "Hello, wörld"
        assert loop(chat) == (3, "Zürich is wet, Oslo is wet, Rome is wet")
    try:
        answer = model("prompt:team.limited", use_responses_api=responses).invoke("Hello")
    except openai.RateLimitError as error:
        assert (error.code, error.response.headers["retry-after"]) == ("llm_rate_limited", "600"), error.response.headers
    else:
        raise AssertionError(answer)
