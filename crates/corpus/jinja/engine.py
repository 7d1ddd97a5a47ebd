"""Runs cases through our engine: feeds the example `jinja_cases`, and starts it again when a case kills it."""

import json
import select
import subprocess
import threading
import os

HUNG_SECONDS = 20


def feed(process, lines):
    try:
        for line in lines:
            process.stdin.write(line)
        process.stdin.close()
    except (BrokenPipeError, ValueError, OSError):
        pass


def answers_of(process):
    """The answers as they come; ends with None when the process hangs."""
    pipe, rest = process.stdout.fileno(), b""
    while True:
        if not select.select([pipe], [], [], HUNG_SECONDS)[0]:
            yield None
            return
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield json.loads(line)


def answers(command, lines):
    """One answer for each line, in order. `crash` and `hung` are kinds of this program."""
    at = 0
    while at < len(lines):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        threading.Thread(target=feed, args=(process, lines[at:]), daemon=True).start()
        kind = "crash"
        for answer in answers_of(process):
            if answer is None:
                kind = "hung"
                break
            yield answer
            at += 1
        process.kill()
        process.wait()
        if at < len(lines):
            yield {"ok": False, "kind": kind, "error": f"{kind}: {process.returncode}"}
            at += 1
