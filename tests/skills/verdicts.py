"""Prints the numbers of the folders NUMBER/demo that the reference validator takes."""

import sys
from pathlib import Path

from skills_ref.validator import validate


def is_valid(folder):
    try:
        return not validate(folder)
    except Exception:  # Some texts make its YAML library fail otherwise than by its own errors.
        return False


for folder in Path(sys.argv[1]).iterdir():
    if is_valid(folder / "demo"):
        print(folder.name)
