"""Instructor in the mode that needs nothing of a model but the service: its requests have a JSON Schema."""

import os
from typing import Literal

import instructor
from instructor import Mode
from instructor.core.exceptions import IncompleteOutputException, InstructorRetryException
from openai import OpenAI, UnprocessableEntityError
from pydantic import BaseModel, field_validator
from tickets import FORM, MODELS, TICKET, Form, Ticket, Tree, messages

openai = OpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0)
client = instructor.from_openai(openai, mode=Mode.JSON_SCHEMA)


class PositiveTicket(Ticket):
    @field_validator("estimate")
    @classmethod
    def is_positive(cls, estimate):
        """No schema says it, so that Instructor has to correct it."""
        if estimate < 0:
            raise ValueError("must be positive")
        return estimate


class Slip(BaseModel):
    title: str
    kind: Literal["bug", "task"]
    labels: list[str]


def ask(model, text, kind=Ticket, retries=0):
    return client.create(model=model, messages=messages(text), response_model=kind, max_retries=retries)


def raised(kind, call):
    try:
        answer = call()
    except kind as error:
        return error
    raise AssertionError(f"{kind} was not raised: {answer}")


for model in MODELS:
    ticket = ask(model, "Write a ticket.")
    assert isinstance(ticket, Ticket) and ticket.model_dump() == TICKET.model_dump(), (model, ticket)

    for text, kind, value in (("Fill a form.", Form, FORM), ("Plant a tree.", Tree, FORM.tree)):
        answer = ask(model, text, kind)
        assert answer.model_dump() == value.model_dump(), (model, answer)

    # The service has it corrected, which does not count as an attempt of Instructor's.
    ticket = ask(model, "Err once.")
    assert ticket.model_dump() == TICKET.model_dump(), (model, ticket)
    ticket = ask(model, "Be negative once.", kind=PositiveTicket, retries=2)
    assert ticket.model_dump() == TICKET.model_dump(), (model, ticket)

    slips = list(client.create_partial(model=model, messages=messages("Write a ticket."), response_model=Slip))
    assert slips[-1].model_dump() == TICKET.model_dump(include={"title", "kind", "labels"}), (model, slips)

    error = raised(InstructorRetryException, lambda: ask(model, "Err always.", retries=2))
    assert isinstance(error.__cause__, UnprocessableEntityError), (model, error)
    assert (error.__cause__.code, error.n_attempts) == ("solution_invalid", 1), (model, error)
    # It reads no refusals.
    raised(InstructorRetryException, lambda: ask(model, "Refuse."))
    raised(IncompleteOutputException, lambda: ask(model, "Be cut."))
