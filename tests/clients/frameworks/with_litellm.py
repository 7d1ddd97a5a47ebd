"""LiteLLM: the SDK, and a proxy of it in front of the service."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import litellm
import openai

SERVICE = os.environ["SERVICE"]
TRIP = "openai/prompt:team.trip"
NAMED = f"{TRIP}?city=Z%C3%BCrich&days=2"
VARIABLES = {"city": "Zürich", "days": 2}
KEY = "sk-the-key-of-the-proxy"
ASKED = [{"role": "user", "content": "And then?"}]
WEATHER = {
    "name": "get_weather",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def ask(model, messages=ASKED, **more):
    return litellm.completion(
        model=model, messages=messages, api_base=SERVICE, api_key="any", max_retries=0, **more
    )


def loop():
    messages = list(ASKED)
    for rounds in range(1, 5):
        answer = ask(NAMED, messages, tools=[{"type": "function", "function": WEATHER}]).choices[0].message
        messages.append(answer)
        if not answer.tool_calls:
            return rounds, answer.content
        for call in answer.tool_calls:
            city = json.loads(call.function.arguments)["city"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{city} is wet"})
    raise AssertionError("no end")


def sdk():
    for model, more in (
        (NAMED, {}),
        (TRIP, {"extra_body": {"variables": VARIABLES}}),
        (TRIP, {"extra_headers": {"x-prompt-variables": json.dumps(VARIABLES)}}),
    ):
        assert ask(model, **more).choices[0].message.content == "Hello, wörld"
        pieces = [chunk.choices[0].delta.content or "" for chunk in ask(model, stream=True, **more)]
        assert "".join(pieces) == "Hello, wörld"
    assert loop() == (3, "Zürich is wet, Oslo is wet, Rome is wet")
    answer = litellm.responses(model=NAMED, input="And then?", api_base=SERVICE, api_key="any")
    assert answer.output[-1].content[0].text == "Hello, wörld"
    try:
        answer = ask("openai/prompt:team.limited")
    except litellm.RateLimitError as error:
        assert "429" in str(error.status_code)
    else:
        raise AssertionError(answer)


def until_alive(process, url):
    for _ in range(600):
        assert process.poll() is None, "the proxy has ended"
        try:
            return urllib.request.urlopen(url).read()
        except OSError:
            time.sleep(0.1)
    raise AssertionError("the proxy does not start")


def proxy():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    entry = lambda name, model: {
        "model_name": name,
        "litellm_params": {"model": model, "api_base": SERVICE, "api_key": "any", "max_retries": 0},
    }
    models = [entry("trip", NAMED), entry("limited", "openai/prompt:team.limited")]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as config, tempfile.TemporaryFile() as log:
        general = {"master_key": KEY}
        json.dump({"model_list": models, "general_settings": general, "router_settings": {"num_retries": 0}}, config)
        config.flush()
        program = os.path.join(os.path.dirname(sys.executable), "litellm")
        arguments = ["--config", config.name, "--host", "127.0.0.1", "--port", str(port)]
        process = subprocess.Popen([program, *arguments], stdout=log, stderr=log)
        try:
            until_alive(process, f"http://127.0.0.1:{port}/health/liveliness")
            client = openai.OpenAI(base_url=f"http://127.0.0.1:{port}/v1", api_key=KEY, max_retries=0)
            answer = client.chat.completions.create(model="trip", messages=ASKED)
            assert answer.choices[0].message.content == "Hello, wörld"
            with client.chat.completions.create(model="trip", messages=ASKED, stream=True) as stream:
                pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
            assert "".join(pieces) == "Hello, wörld"
            try:
                answer = client.chat.completions.create(model="limited", messages=ASKED)
            except openai.RateLimitError:
                return
            raise AssertionError(answer)
        finally:
            process.terminate()
            process.wait()


sdk()
proxy()
