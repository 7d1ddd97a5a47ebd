"""GigaChat's own library, straight to the scripted GigaChat; its settings are in the environment."""

import json

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
from gigachat import GigaChat
from gigachat.models import Chat, Function, FunctionParameters, Messages, MessagesRole

PROPERTIES = {
    "city": {"type": "string", "description": CITY},
    "days": {"type": "integer", "description": DAYS},
    "unit": {"type": "string", "description": UNIT, "enum": UNITS},
}
FUNCTION = Function(
    name=TOOL,
    description=TOOL_DESCRIPTION,
    parameters=FunctionParameters(properties=PROPERTIES, required=["city", "days", "unit"]),
)


def message(role, content, **more):
    return Messages(role=role, content=content, **more)


def greeting(**more):
    messages = [message(MessagesRole.SYSTEM, SYSTEM), message(MessagesRole.USER, GREETING)]
    return Chat(model=MODEL, messages=messages, **more)


def rounds(client):
    messages = [message(MessagesRole.SYSTEM, SYSTEM), message(MessagesRole.USER, QUESTION)]
    for city in CITIES:
        asked = Chat(model=MODEL, messages=messages, functions=[FUNCTION], function_call="auto")
        choice = client.chat(asked).choices[0]
        assert choice.finish_reason == "function_call"
        call = choice.message.function_call
        assert (call.name, call.arguments) == (TOOL, {"city": city, "days": 2, "unit": "celsius"}), call
        messages.append(choice.message)
        result = json.dumps(WEATHER[city], ensure_ascii=False)
        messages.append(message(MessagesRole.FUNCTION, result, name=TOOL))
    asked = Chat(model=MODEL, messages=messages, functions=[FUNCTION], function_call="auto")
    assert client.chat(asked).choices[0].message.content == CONCLUSION


with GigaChat() as client:
    answer = client.chat(greeting(temperature=0.5, max_tokens=100, repetition_penalty=1.1))
    assert answer.choices[0].message.content == GREETING
    chunks = list(client.stream(greeting()))
    assert "".join(chunk.choices[0].delta.content for chunk in chunks) == GREETING
    rounds(client)
    # A function that has to be called.
    forced = Chat(
        model=MODEL,
        messages=[message(MessagesRole.USER, QUESTION)],
        functions=[FUNCTION],
        function_call={"name": TOOL},
    )
    assert client.chat(forced).choices[0].message.function_call.name == TOOL
    vectors = client.embeddings(TEXTS, model="Embeddings")
    assert [entry.embedding for entry in vectors.data] == [[3.0, 0.5], [1.0, 0.5]]
    assert [model.id_ for model in client.get_models().data] == ["GigaChat-2", "Embeddings"]
