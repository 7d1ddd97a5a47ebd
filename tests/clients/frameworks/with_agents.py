"""openai-agents with its default model, which speaks the Responses API."""

import asyncio
import os

import openai
from agents import Agent, Runner, function_tool, set_default_openai_client

NAMED = "prompt:team.trip?city=Z%C3%BCrich&days=2"
PROMPT = {"id": "team.trip", "variables": {"city": "Zürich", "days": "2"}}

set_default_openai_client(
    openai.AsyncOpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0), use_for_tracing=False
)


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is wet"


async def streamed(agent):
    result = Runner.run_streamed(agent, "How is the weather?")
    pieces = []
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
            pieces.append(event.data.delta)
    assert "".join(pieces) == result.final_output
    return result


async def main():
    for how in ({"model": NAMED}, {"prompt": PROMPT}):
        greeting = await Runner.run(Agent(name="guide", **how), "And then?")
        assert greeting.final_output == "Hello, wörld"
        agent = Agent(name="guide", tools=[get_weather], **how)
        for result in (await Runner.run(agent, "How is the weather?"), await streamed(agent)):
            assert result.final_output == "Zürich is wet, Oslo is wet, Rome is wet"
            assert len(result.raw_responses) == 3
    try:
        result = await Runner.run(Agent(name="limited", model="prompt:team.limited"), "Hello")
    except openai.RateLimitError as error:
        assert (error.code, error.response.headers["retry-after"]) == ("llm_rate_limited", "600")
    else:
        raise AssertionError(result)


asyncio.run(main())
