"""openai-python, through the service, says the same: it knows nothing of GigaChat."""

import json
import os
from enum import Enum

import openai
from dialogue import (
    CITIES,
    CITY,
    CONCLUSION,
    DAYS,
    GREETING,
    MODEL,
    QUESTION,
    SYSTEM,
    TEXTS,
    TOOL,
    TOOL_DESCRIPTION,
    UNIT,
    UNITS,
    WEATHER,
)
from openai import OpenAI, pydantic_function_tool
from pydantic import BaseModel, Field

client = OpenAI(base_url=os.environ["SERVICE"], api_key="any-words-will-do", max_retries=0)
Unit = Enum("Unit", {name: name for name in UNITS}, type=str)


class Weather(BaseModel):
    city: str = Field(description=CITY)
    days: int = Field(description=DAYS)
    unit: Unit = Field(description=UNIT)


TOOLS = [pydantic_function_tool(Weather, name=TOOL, description=TOOL_DESCRIPTION)]
GREET = [{"role": "developer", "content": SYSTEM}, {"role": "user", "content": GREETING}]
ASK = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": QUESTION}]


def ask(messages, **more):
    return client.chat.completions.create(model=MODEL, messages=messages, **more)


def rounds():
    messages = list(ASK)
    for number, city in enumerate(CITIES):
        # One round comes as a stream.
        if number == 1:
            with client.chat.completions.stream(model=MODEL, messages=messages, tools=TOOLS) as stream:
                choice = stream.get_final_completion().choices[0]
        else:
            choice = ask(messages, tools=TOOLS).choices[0]
        assert choice.finish_reason == "tool_calls"
        [call] = choice.message.tool_calls
        arguments = json.loads(call.function.arguments)
        assert (call.function.name, arguments) == (TOOL, {"city": city, "days": 2, "unit": "celsius"}), call
        assert len(call.id) <= 40
        # Nothing but what OpenAI's documents describe goes back.
        function = {"name": call.function.name, "arguments": call.function.arguments}
        calls = [{"id": call.id, "type": "function", "function": function}]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        result = json.dumps(WEATHER[city], ensure_ascii=False)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    assert ask(messages, tools=TOOLS).choices[0].message.content == CONCLUSION


def same():
    answer = ask(
        GREET, temperature=0.5, max_completion_tokens=100, extra_body={"repetition_penalty": 1.1}, user="u", seed=7
    )
    assert answer.choices[0].message.content == GREETING
    assert (answer.object, answer.usage.total_tokens, answer.choices[0].finish_reason) == ("chat.completion", 12, "stop")
    assert answer.usage.prompt_tokens_details.cached_tokens == 2
    chunks = list(ask(GREET, stream=True, stream_options={"include_usage": True}))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == GREETING
    assert chunks[-1].usage.total_tokens == 12 and chunks[-1].choices == []
    assert len({chunk.id for chunk in chunks}) == 1 and chunks[0].object == "chat.completion.chunk"
    rounds()
    forced = client.chat.completions.create(model=MODEL, messages=ASK[1:], tools=TOOLS, tool_choice="required")
    assert forced.choices[0].message.tool_calls[0].function.name == TOOL
    vectors = client.embeddings.create(model="Embeddings", input=TEXTS)
    assert [entry.embedding for entry in vectors.data] == [[3.0, 0.5], [1.0, 0.5]]
    assert vectors.usage.total_tokens == 4
    models = client.models.list().data
    assert {"GigaChat-2", "Embeddings"} <= {model.id for model in models} and models[0].created == 0


def functions():
    """The older form: one list of functions, one call."""
    function = {"name": TOOL, "description": TOOL_DESCRIPTION, "parameters": Weather.model_json_schema()}
    messages = list(ASK)
    for city in CITIES:
        choice = ask(messages, functions=[function], function_call="auto").choices[0]
        assert choice.finish_reason == "function_call" and choice.message.tool_calls is None
        call = choice.message.function_call
        assert json.loads(call.arguments)["city"] == city
        messages.append(choice.message)
        messages.append({"role": "function", "name": call.name, "content": json.dumps(WEATHER[city])})
    chunks = list(ask(messages, functions=[function], stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == CONCLUSION


def refused():
    image = {"type": "image_url", "image_url": {"url": "https://h/i.png"}}
    try:
        ask([{"role": "user", "content": [image]}], logprobs=True)
    except openai.BadRequestError as error:
        assert "image_url" in error.message and "logprobs" in error.message, error.message
    else:
        raise AssertionError("it was not refused")


same()
functions()
refused()
