"""Instructor in the modes that ask in its own way: a call that has to be made, JSON mode, a text."""

import os

import instructor
from instructor import Mode
from openai import OpenAI
from tickets import MODELS, TICKET, Ticket, messages

openai = OpenAI(base_url=os.environ["SERVICE"], api_key="any", max_retries=0)

for mode in (Mode.TOOLS, Mode.JSON, Mode.MD_JSON):
    client = instructor.from_openai(openai, mode=mode)
    for model in MODELS:
        for text in ("Write a ticket.", "Err once."):
            ticket = client.create(model=model, messages=messages(text), response_model=Ticket, max_retries=2)
            assert ticket.model_dump() == TICKET.model_dump(), (mode, model, ticket)
