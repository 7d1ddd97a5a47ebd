"""Instructor in the modes that ask in its own way, and correct in its own way: models must have what they ask for."""

import os

import instructor
from instructor import Mode
from instructor.core.exceptions import InstructorRetryException
from openai import BadRequestError, OpenAI
from tickets import MODELS, TICKET, Ticket, messages

openai = OpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0)

for mode, served in (
    (Mode.TOOLS, ["tools"]),
    (Mode.JSON, ["json"]),
    # It asks for a text.
    (Mode.MD_JSON, MODELS),
):
    client = instructor.from_openai(openai, mode=mode)
    for model in MODELS:
        for text in ("Write a ticket.", "Err once."):
            try:
                ticket = client.create(model=model, messages=messages(text), response_model=Ticket, max_retries=2)
            except InstructorRetryException as error:
                assert isinstance(error.__cause__, BadRequestError) and model not in served, (mode, model, error)
            else:
                assert ticket.model_dump() == TICKET.model_dump() and model in served, (mode, model, ticket)
