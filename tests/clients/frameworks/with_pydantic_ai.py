"""pydantic-ai: both of its models of OpenAI, with tools and structured output."""

import json
import os

from openai import AsyncOpenAI
from pydantic import BaseModel
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.exceptions import ModelHTTPError
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider

TRIP = "prompt:team.trip"
NAMED = f"{TRIP}?city=Z%C3%BCrich&days=2"
VARIABLES = {"city": "Zürich", "days": 2}

provider = OpenAIProvider(openai_client=AsyncOpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0))


class Weather(BaseModel):
    city: str
    degrees: int


def get_weather(city: str) -> str:
    """The weather of a city."""
    return f"{city} is wet"


for kind in (OpenAIChatModel, OpenAIResponsesModel):
    for name, settings in (
        (NAMED, {}),
        (TRIP, {"extra_body": {"variables": VARIABLES}}),
        (TRIP, {"extra_headers": {"x-prompt-variables": json.dumps(VARIABLES)}}),
    ):
        model = kind(name, provider=provider, settings=settings)
        assert Agent(model).run_sync("And then?").output == "Hello, wörld"
        with Agent(model).run_stream_sync("And then?") as result:
            assert result.get_output() == "Hello, wörld"
        told = Agent(model, tools=[get_weather]).run_sync("How is the weather?")
        assert told.output == "Zürich is wet, Oslo is wet, Rome is wet"
        assert told.usage.requests == 3
        shaped = Agent(model, output_type=NativeOutput(Weather)).run_sync("How is the weather?")
        assert shaped.output == Weather(city="Zürich", degrees=7)
    try:
        result = Agent(kind("prompt:team.limited", provider=provider)).run_sync("Hello")
    except ModelHTTPError as error:
        assert (error.status_code, error.body["code"]) == (429, "llm_rate_limited")
    else:
        raise AssertionError(result)
