"""openai-python: typed objects of chat completions, whole and streamed."""

import asyncio
import os

import openai
from openai import AsyncOpenAI, LengthFinishReasonError, OpenAI
from tickets import FORM, MODELS, TICKET, Form, Ticket, Tree, messages

client = OpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0)


def asked(model, text, kind=Ticket):
    return {"model": model, "messages": messages(text), "response_format": kind}


def parse(model, text, kind=Ticket):
    return client.chat.completions.parse(**asked(model, text, kind))


def stream(model, text):
    """The last event of each type, and the final completion."""
    options = {"include_usage": True}
    with client.chat.completions.stream(**asked(model, text), stream_options=options) as events:
        return {event.type: event for event in events}, events.get_final_completion()


def raised(kind, call):
    try:
        answer = call()
    except openai.OpenAIError as error:
        assert type(error) is kind, f"{error!r} is no {kind}"
        return error
    raise AssertionError(f"{kind} was not raised: {answer}")


async def parse_later(model):
    async with AsyncOpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0) as later:
        return await later.chat.completions.parse(**asked(model, "Write a ticket."))


for model in MODELS:
    for answer in (parse(model, "Write a ticket."), asyncio.run(parse_later(model))):
        [choice] = answer.choices
        assert choice.message.parsed == TICKET, (model, answer)
        assert isinstance(choice.message.parsed, Ticket)
        assert (choice.message.refusal, choice.message.tool_calls) == (None, None), (model, answer)
        assert (choice.finish_reason, answer.usage.total_tokens) == ("stop", 5), (model, answer)

    events, answer = stream(model, "Write a ticket.")
    assert events["content.done"].parsed == TICKET, (model, events)
    assert answer.choices[0].message.parsed == TICKET, (model, answer)
    assert answer.usage.total_tokens == 5, (model, answer)

    for text, kind, value in (("Fill a form.", Form, FORM), ("Plant a tree.", Tree, FORM.tree)):
        answer = parse(model, text, kind)
        assert answer.choices[0].message.parsed == value, (model, answer)

    # The first answer does not fit the schema, and the model corrects it.
    answer = parse(model, "Err once.")
    assert (answer.choices[0].message.parsed, answer.usage.total_tokens) == (TICKET, 10), (model, answer)
    _, answer = stream(model, "Err once.")
    assert (answer.choices[0].message.parsed, answer.usage.total_tokens) == (TICKET, 10), (model, answer)
    for ask in (parse, stream):
        error = raised(openai.UnprocessableEntityError, lambda: ask(model, "Err always."))
        assert error.code == "solution_invalid", (model, error.body)

    message = parse(model, "Refuse.").choices[0].message
    assert (message.parsed, message.refusal) == (None, "I do not do this."), (model, message)
    events, answer = stream(model, "Refuse.")
    assert events["refusal.done"].refusal == "I do not do this.", (model, events)
    assert answer.choices[0].message.refusal == "I do not do this.", (model, answer)

    for ask in (parse, stream):
        error = raised(LengthFinishReasonError, lambda: ask(model, "Be cut."))
        assert error.completion.choices[0].finish_reason == "length"
