"""What programs do with openai-python: `check.py TOPIC`.

SERVICE and UPSTREAM are the base URLs of the service and of the upstream behind it. Where both are asked, the
service must make no difference.
"""

import asyncio
import json
import os
import sys

import openai
from openai import AsyncOpenAI, OpenAI, pydantic_function_tool
from pydantic import BaseModel

API_KEY = "any-words-will-do"
GREETING = [{"role": "user", "content": "Hello"}]

service = OpenAI(base_url=os.environ["SERVICE"], api_key=API_KEY)
upstream = OpenAI(base_url=os.environ["UPSTREAM"], api_key=API_KEY)


def raised(kind, call):
    """The exception of exactly this class that the call raises."""
    try:
        answer = call()
    except openai.OpenAIError as error:
        assert type(error) is kind, f"{error!r} is no {kind}"
        return error
    raise AssertionError(f"{kind} was not raised: {answer}")


def text_of(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def chat():
    def ask(client):
        return client.chat.completions.create(
            model="chat",
            messages=GREETING,
            temperature=0,
            seed=7,
            stop=None,
            extra_body={"x_ratio": 1.0, "x_null": None, "x_big": 2**70, "x_nested": {"z": [1e-7, "ü\n"], "a": {}}},
        )

    through, straight = ask(service), ask(upstream)
    assert through.to_dict() == straight.to_dict()
    assert through.choices[0].message.content == "Hello, wörld"
    assert through.choices[0].message.x_thoughts == ["first", {"then": None}]
    assert through.x_vendor == {"ratio": 0.1, "nothing": None}
    assert through.usage.total_tokens == 5


def prompts():
    variables = {"name": "Zoë", "times": 2}
    for more in (
        {"messages": [], "extra_body": {"variables": variables}},
        {"messages": [], "metadata": {"variables": json.dumps(variables), "kept": "yes"}},
        {"messages": GREETING, "extra_body": {"prompt": {"id": "team.hello", "variables": variables}}},
    ):
        answer = service.chat.completions.create(model="prompt:team.hello", temperature=0.5, **more)
        assert answer.choices[0].message.content == "Hello, wörld"
    with service.chat.completions.create(
        model="prompt:team.hello", messages=[], extra_body={"variables": variables}, stream=True
    ) as stream:
        assert text_of(stream) == "Hello, wörld"


def missing():
    def ask(prompt):
        return service.chat.completions.create(model=f"prompt:{prompt}", messages=[])

    assert raised(openai.NotFoundError, lambda: ask("team.absent")).code == "prompt_not_found"
    lacking = raised(openai.BadRequestError, lambda: ask("team.hello"))
    assert lacking.code == "missing_variables" and "name" in lacking.message


def streaming():
    def ask(client, **more):
        return list(client.chat.completions.create(model="chat", messages=GREETING, stream=True, **more))

    through = ask(service)
    assert text_of(through) == "Hello, wörld"
    assert through[-1].choices[0].finish_reason == "stop"
    assert [chunk.to_dict() for chunk in through] == [chunk.to_dict() for chunk in ask(upstream) if chunk.choices]


def usage():
    def ask(**more):
        return list(service.chat.completions.create(model="chat", messages=GREETING, stream=True, **more))

    for unwanted in ({}, {"stream_options": {"include_usage": False}}):
        assert all(chunk.usage is None and chunk.choices for chunk in ask(**unwanted))
    *chunks, last = ask(stream_options={"include_usage": True})
    assert text_of(chunks) == "Hello, wörld"
    assert last.choices == [] and last.usage.total_tokens == 5


class GetWeather(BaseModel):
    city: str


class GetTime(BaseModel):
    zone: str


def tools():
    def ask(client):
        tools = [
            pydantic_function_tool(GetWeather, name="get_weather"),
            pydantic_function_tool(GetTime, name="get_time"),
        ]
        with client.chat.completions.stream(model="tools", messages=GREETING, tools=tools) as stream:
            done = [event.name for event in stream if event.type == "tool_calls.function.arguments.done"]
            return done, stream.get_final_completion()

    done, through = ask(service)
    weather, time = through.choices[0].message.tool_calls
    assert done == ["get_weather", "get_time"]
    assert (weather.id, weather.function.parsed_arguments) == ("call_0", GetWeather(city="Zürich"))
    assert (time.id, time.function.parsed_arguments) == ("call_1", GetTime(zone="UTC"))
    assert through.choices[0].finish_reason == "tool_calls"
    assert through.to_dict() == ask(upstream)[1].to_dict()


class CalendarEvent(BaseModel):
    name: str
    participants: list[str]


def parse():
    def ask(client):
        return client.chat.completions.parse(model="calendar", messages=GREETING, response_format=CalendarEvent)

    through, _ = ask(service), ask(upstream)
    assert through.choices[0].message.parsed == CalendarEvent(name="Fair", participants=["Ann", "Bob"])


def embeddings():
    for how in ({}, {"encoding_format": "float"}):
        through, straight = (
            client.embeddings.create(model="vectors", input=["a", "four"], dimensions=3, **how)
            for client in (service, upstream)
        )
        assert through.to_dict() == straight.to_dict()
        assert [item.embedding for item in through.data] == [[1.0, 0.5, -0.25], [4.0, 0.5, -0.25]]


def models():
    listed = {model.id: model for model in service.models.list()}
    assert {"small", "large", "echo", "prompt:team.hello"} == set(listed)
    assert listed["small"].x_context == 8192
    for name in listed:
        assert service.models.retrieve(name) == listed[name]
    assert raised(openai.NotFoundError, lambda: service.models.retrieve("absent")).code == "model_not_found"


def refusals():
    for status, kind in (
        (400, openai.BadRequestError),
        (401, openai.AuthenticationError),
        (403, openai.PermissionDeniedError),
        (404, openai.NotFoundError),
        (422, openai.UnprocessableEntityError),
    ):
        for stream in (False, True):
            through, straight = (
                raised(
                    kind,
                    lambda: client.chat.completions.create(model=f"status-{status}", messages=GREETING, stream=stream),
                )
                for client in (service, upstream)
            )
            assert str(through) == str(straight)
            assert through.body["message"] == f"the upstream says {status}"
            assert (through.status_code, through.code, through.param) == (status, str(status), "model")


def failures():
    lost, limited = (openai.InternalServerError, 502, "llm_unavailable"), (openai.RateLimitError, 429, "llm_rate_limited")
    for status, stream, expected in ((409, False, lost), (429, False, limited), (500, False, lost), (503, True, lost)):
        error = raised(
            expected[0],
            lambda: service.chat.completions.create(model=f"status-{status}", messages=GREETING, stream=stream),
        )
        assert (error.status_code, error.code) == expected[1:]
        assert error.response.headers["x-should-retry"] == "false"
        assert f"the upstream says {status}" in json.dumps(error.body["details"])
    answer = service.chat.completions.create(model="recovering", messages=GREETING)
    assert answer.choices[0].message.content == "Better now"


def broken_streams():
    def ask(model, heard):
        for chunk in service.chat.completions.create(model=model, messages=GREETING, stream=True):
            heard.append(chunk)

    for model, code in (("error-in-stream", "overloaded"), ("cut-in-stream", "llm_unavailable")):
        heard = []
        error = raised(openai.APIError, lambda: ask(model, heard))
        assert (text_of(heard), error.code) == ("Hello", code), error.body


def timeouts():
    def ask(seconds, model):
        client = service.with_options(timeout=seconds, max_retries=0)
        return client.chat.completions.create(model=model, messages=GREETING)

    assert ask(0.9, "slow").choices[0].message.content == "At last"
    try:
        raise AssertionError(ask(0.5, "silent"))
    except (openai.APITimeoutError, openai.InternalServerError):
        pass


def leaving():
    with service.chat.completions.create(model="endless", messages=GREETING, stream=True) as stream:
        assert next(stream).choices[0].delta.content == "Hello"


def crowd():
    async def ask(client, all_begun):
        stream = await client.chat.completions.create(model="chat", messages=GREETING, stream=True)
        await all_begun.wait()
        return text_of([chunk async for chunk in stream])

    async def ask_all():
        all_begun = asyncio.Barrier(20)
        async with AsyncOpenAI(base_url=os.environ["SERVICE"], api_key=API_KEY) as client:
            return await asyncio.gather(*(ask(client, all_begun) for _ in range(20)))

    assert asyncio.run(ask_all()) == ["Hello, wörld"] * 20


globals()[sys.argv[1]]()
