"""The `llm` command, with prompts as models of its `extra-openai-models.yaml`."""

import json
import os
import subprocess
import sys
import tempfile

TRIP = "prompt:team.trip"
VARIABLES = {"city": "Zürich", "days": 2}
MODELS = {
    "named": (f"{TRIP}?city=Z%C3%BCrich&days=2", {}),
    "header": (TRIP, {"x-prompt-variables": json.dumps(VARIABLES)}),
    "limited": ("prompt:team.limited", {}),
}


def llm(*arguments):
    program = os.path.join(os.path.dirname(sys.executable), "llm")
    return subprocess.run([program, *arguments], capture_output=True, text=True)


with tempfile.TemporaryDirectory() as folder:
    os.environ["LLM_USER_PATH"] = folder
    with open(os.path.join(folder, "extra-openai-models.yaml"), "w") as file:
        models = [
            {"model_id": name, "model_name": model, "api_base": os.environ["SERVICE"], "headers": headers}
            for name, (model, headers) in MODELS.items()
        ]
        json.dump(models, file)  # which is YAML, too
    for model in ("named", "header"):
        for more in ([], ["--no-stream"]):
            answer = llm("-m", model, "--key", "any", *more, "And then?")
            assert (answer.returncode, answer.stdout) == (0, "Hello, wörld\n"), answer
    limited = llm("-m", "limited", "--key", "any", "Hello")
    assert limited.returncode == 1 and "429" in limited.stderr, limited
