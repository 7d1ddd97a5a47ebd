"""openai-python and the Responses API: answers, streams, structured output, tools and refusals."""

import json
import os

import openai
from pydantic import BaseModel

NAMED = "prompt:team.trip?city=Z%C3%BCrich&days=2"
PROMPT = {"id": "team.trip", "variables": {"city": "Zürich", "days": "2"}}
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "strict": True,
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}
TEXT = ["output_item.added", "content_part.added", "output_text.delta", "output_text.done", "content_part.done"]
CALL = ["output_item.added", "function_call_arguments.delta", "function_call_arguments.done"]

service = openai.OpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0)


class Weather(BaseModel):
    city: str
    degrees: int


def whole(answer):
    """An answer without its ids and times, and without what a parsed answer has in addition."""
    leave = {"id", "created_at", "completed_at", "call_id", "parsed", "parsed_arguments"}

    def without(value):
        if isinstance(value, dict):
            return {name: without(member) for name, member in value.items() if name not in leave}
        return [without(item) for item in value] if isinstance(value, list) else value

    return without(answer.to_dict())


def order(events):
    """The types of the events, in their order; several pieces of one text or call are one."""
    assert [event.sequence_number for event in events] == list(range(len(events)))
    types = [event.type.removeprefix("response.") for event in events]
    return [kind for at, kind in enumerate(types) if not (kind.endswith(".delta") and kind == types[at - 1])]


def streams(asked, items):
    expected = ["created", "in_progress", *(kind for item in items for kind in [*item, "output_item.done"]), "completed"]
    raw = list(service.responses.create(**asked, stream=True))
    assert order(raw) == expected, order(raw)
    plain = service.responses.create(**asked)
    assert whole(raw[-1].response) == whole(plain)
    if "model" in asked:  # without which the library makes no such stream
        with service.responses.stream(**asked) as stream:
            assert whole(stream.get_final_response()) == whole(plain)
    return plain


def loop(how, stream):
    asked = [{"role": "user", "content": "How is the weather?"}]
    for rounds in range(1, 5):
        answer = service.responses.create(**how, input=asked, tools=[WEATHER], stream=stream)
        if stream:
            answer = list(answer)[-1].response
        calls = [item for item in answer.output if item.type == "function_call"]
        if not calls:
            return rounds, answer.output_text
        asked += answer.output
        for call in calls:
            output = f"{json.loads(call.arguments)['city']} is wet"
            asked.append({"type": "function_call_output", "call_id": call.call_id, "output": output})
    raise AssertionError("no end")


def refused(kind, **asked):
    try:
        answer = service.responses.create(**asked)
    except kind as error:
        return error
    raise AssertionError(f"{kind} was not raised: {answer}")


for how in (
    {"model": NAMED},
    {"prompt": PROMPT},
    {"model": "prompt:team.trip", "extra_headers": {"x-prompt-variables": '{"city": "Z\\u00fcrich", "days": 2}'}},
):
    assert streams({**how, "input": "And then?"}, [TEXT]).output_text == "Hello, wörld"
    calls = streams({**how, "input": "How is the weather?", "tools": [WEATHER]}, [CALL, CALL])
    assert [json.loads(call.arguments) for call in calls.output] == [{"city": "Zürich"}, {"city": "Oslo"}]
    for stream in (False, True):
        assert loop(how, stream) == (3, "Zürich is wet, Oslo is wet, Rome is wet")
    shaped = service.responses.parse(**how, input="How is the weather?", text_format=Weather)
    assert shaped.output_parsed == Weather(city="Zürich", degrees=7)

for more in ({"previous_response_id": "resp_0"}, {"store": True}):
    (name,) = more
    error = refused(openai.BadRequestError, model=NAMED, input="Hello", **more)
    assert name in error.message, error.message
limited = refused(openai.RateLimitError, model="prompt:team.limited", input="Hello")
assert (limited.code, limited.response.headers["retry-after"]) == ("llm_rate_limited", "600")
lacking = refused(openai.BadRequestError, model="prompt:team.trip", input="Hello")
assert lacking.code == "missing_variables" and "city" in lacking.message
