"""Writes cases with the results of real Jinja2: random templates, and changes of those in other files.

    generate.py --cases 200000 --seed 1 --out cases.jsonl [--from jinja_templates.jsonl.gz ...] [--mutants 0.5]

A worker process makes and runs the cases. When one takes too long or too much memory, it is left out. The same seed and the
same files give the same cases.
"""

import argparse
import gzip
import json
import os
import random
import resource
import select
import signal
import sys
import time
import warnings
from pathlib import Path

import mutate
import statements
from expressions import root_scope
from reference import Reference
from values import root

HERE = Path(__file__).parent
CORPUS = HERE.parent / "jinja_templates.jsonl.gz"
MEMORY = 768 << 20
CASE_SECONDS = 1.0
HUNG_SECONDS = 4.0


class OutOfTime(BaseException):
    """The case takes too long; no handler of Jinja2 catches it."""


def stop(_signal, _frame):
    raise OutOfTime


def read_cases(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def make(number, seed, seeds, share):
    """The case of this number, without its result."""
    rng = random.Random(f"{seed}:{number}")
    if seeds and rng.random() < share:
        case = mutate.mutated(rng, rng.choice(seeds))
    else:
        data = root(rng)
        text, partials = statements.template(rng, root_scope(data))
        case = {"template": text, "partials": partials, "data": data}
        if rng.random() < 0.15:
            case = mutate.mutated(rng, case)
    if rng.random() < 0.1:
        case["undefined"] = "lenient"
    if not case.get("partials"):
        case.pop("partials", None)
    return {"id": f"s{seed}-{number}", **case}


def one(reference, case):
    """The line of a case, or nothing."""
    signal.setitimer(signal.ITIMER_REAL, CASE_SECONDS)
    try:
        result = reference.run(case)
    except (OutOfTime, MemoryError):
        return ""
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return json.dumps(result) if result else ""


def work(pipe, numbers, options, seeds):
    """Runs the cases and writes one line each, empty when the case is left out."""
    signal.signal(signal.SIGALRM, stop)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(1000)
    reference = Reference()
    with os.fdopen(pipe, "w", buffering=1) as out:
        for number in numbers:
            try:
                line = one(reference, make(number, options.seed, seeds, options.mutants))
            except OutOfTime:
                line = ""
            out.write(line + "\n")


def start(numbers, options, seeds):
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            work(writing, numbers, options, seeds)
        finally:
            os._exit(0)
    os.close(writing)
    return child, reading


def lines_of(pipe):
    """The worker's lines, until it ends or says nothing for too long."""
    rest = b""
    while select.select([pipe], [], [], HUNG_SECONDS)[0]:
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", default="-")
    parser.add_argument("--from", dest="seeds", nargs="*", default=[CORPUS], help="files of cases to change")
    parser.add_argument("--mutants", type=float, default=0.5, help="the share of changed cases")
    options = parser.parse_args()
    seeds = [case for path in options.seeds for case in read_cases(path)]
    out = sys.stdout.buffer if options.out == "-" else open(options.out, "wb")
    begin, done, written, killed = time.time(), 0, 0, 0
    while done < options.cases:
        child, pipe = start(range(done, options.cases), options, seeds)
        for line in lines_of(pipe):
            done += 1
            if line:
                out.write(line + b"\n")
                written += 1
        os.close(pipe)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        if done < options.cases:
            killed += 1
            done += 1
    out.flush()
    print(f"{written} cases of {done}, {killed} workers killed, {time.time() - begin:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
