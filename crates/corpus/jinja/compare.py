"""Compares our engine with the results of real Jinja2, and groups what differs so that it can be read.

    compare.py cases.jsonl [more.jsonl.gz ...] [--limit 40] [--group WORD] [--examples 3] [--save differing.jsonl]

A case may succeed where real Jinja2 fails only because a missing value is tested (`semistrict_out`). Which case belongs to which
group is a guess: for different outputs, the feature of the template (filter, method, test, tag, operator) whose cases differ
most often.
"""

import argparse
import collections
import gzip
import json
import re
import sys
import time
from pathlib import Path

from engine import answers

ROOT = Path(__file__).parents[3]
COMMAND = ROOT / "target/release/examples/jinja_cases"
FEATURES = [
    ("filter", re.compile(r"\|\s*([a-z]\w*)")), ("filter", re.compile(r"\b(?:map|select|reject)\(\s*['\"](\w+)")), ("method", re.compile(r"\.\s*([a-z]\w*)\s*\(")),
    ("test", re.compile(r"\bis\s+(?:not\s+)?(\w+)")), ("tag", re.compile(r"\{%[-+]?\s*(\w+)")), ("global", re.compile(r"(?<![.\w|])\b([a-z]\w*)\s*\(")),
    ("value", re.compile(r"\b((?:loop|self|super|caller|varargs|kwargs)\b(?:\.\w+)?)")), ("operator", re.compile(r"(\*\*|//|==|!=|<=|>=|[-+*/%~<>](?![}%])|\b(?:and|or|not|in|if)\b)")),
]
TAG = re.compile(r"\{[{%].*?[%}]\}", re.S)
ESCAPE, SLICE, FLOAT = re.compile(r"\\[^n'\"\\]"), re.compile(r"\[[^\[\]'\"]*:[^\[\]]*\]"), re.compile(r"\d\.\d|\de\d")


def features(case):
    """What the case uses, as words."""
    found = set()
    for text in (case["template"], *(case.get("partials") or {}).values()):
        found.update(name for name, mark in (("carriage return", "\r"), ("comment", "{#")) if mark in text)
        text = "\n".join(TAG.findall(text))
        for kind, pattern in FEATURES:
            found.update(f"{kind} {name}" for name in pattern.findall(text))
        found.update(name for name, pattern in (("escape", ESCAPE), ("slice", SLICE), ("float", FLOAT)) if pattern.search(text))
        found.update(["format with %"] if "' %" in text else [])
    return found


QUOTED = re.compile(r"`[^`]*`|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
TYPES = {"int", "float", "str", "bool", "list", "dict", "tuple", "NoneType", "builtin_function_or_method", "Markup", "range", "Undefined", "StrictUndefined", "Macro", "complex"}
GRAVE = ("panic", "crash", "hung", "case", "data", "deadline", "steps")
SOFT = "may succeed, only tests a missing value"


def kept(quoted):
    """Operators and types stay in a message; names and texts do not."""
    inside = quoted.group()[1:-1]
    return quoted.group() if inside in TYPES or not re.search(r"\w", inside) else "_"


def normal(text):
    """An error's message without names, numbers and texts."""
    text = QUOTED.sub(kept, text.split("\n")[0].split(" (as a Go template")[0])
    return re.sub(r"\(line \d+\)|\(main, line \d+\)|-?\d+(\.\d+)?", "#", text)[:90]


def difference(case, answer):
    """The kind of difference and its signature; None where the answer is right. The signature `?` is to be guessed."""
    kind, error = answer.get("kind"), answer.get("error") or ""
    if kind in GRAVE:
        return kind, normal(error)
    if case["ok"]:
        if answer["ok"]:
            return None if answer["out"] == case["out"] else ("other output", "?")
        return ("missing, should not be", "?") if kind == "missing" else ("fails, should not", f"{kind}: {normal(error)}")
    if answer["ok"]:
        if "semistrict_out" not in case:
            return "should fail", f"{case['stage']}: {normal(case['error'])}"
        return None if answer["out"] == case["semistrict_out"] else ("other semistrict output", "?")
    if case.get("says") and case["says"] not in error:
        return "does not say it", normal(error)
    return (SOFT, "?") if "semistrict_out" in case else None


def size(case):
    return len(case["template"]) + sum(map(len, (case.get("partials") or {}).values())) + len(json.dumps(used_data(case))) / 10


def used_data(case):
    """The members of the data whose names occur in the texts."""
    texts = " ".join([case["template"], *(case.get("partials") or {}).values()])
    return {name: value for name, value in case["data"].items() if re.search(rf"\b{re.escape(name)}\b", texts)}


class Comparison:
    def __init__(self):
        self.cases = collections.Counter()
        self.uses = collections.Counter()
        self.differing_uses = collections.Counter()
        self.different = []
        self.slow = []

    def add(self, line, answer):
        case = json.loads(line)
        found = features(case)
        self.cases["good" if case["ok"] else "failing"] += 1
        self.uses.update(found)
        if answer.get("slow_ms"):
            self.slow.append((answer["slow_ms"], case))
        differs = difference(case, answer)
        if differs:
            differs = (differs[0] + " (lenient)" * (case.get("undefined") == "lenient"), differs[1])
            soft = "soft " * (SOFT in differs[0])
            self.cases[soft + "differing good" if case["ok"] else soft + "differing failing"] += 1
            if differs[1] == "?":
                self.differing_uses.update(found)
            self.different.append((*differs, case, answer, found if differs[1] == "?" else ()))

    def culprit(self, found):
        """The feature whose cases differ most often."""
        share = lambda name: (self.differing_uses[name] / (self.uses[name] + 3), name)
        return max(map(share, found), default=(0, "(text)"))[1]

    def groups(self):
        groups = collections.defaultdict(list)
        for kind, signature, case, answer, found in self.different:
            groups[kind, self.culprit(found) if signature == "?" else signature].append((case, answer))
        return sorted(groups.items(), key=lambda group: (SOFT in group[0][0], group[0][0].split()[0] not in GRAVE, -len(group[1])))


def shown(text, length=400):
    text = repr(text)
    return text if len(text) <= length else text[:length * 2 // 3] + " … " + text[-length // 3:]


def print_example(case, answer, length):
    print(f"    {case['id']}{' (lenient)' if case.get('undefined') == 'lenient' else ''}: {shown(case['template'], length)}")
    for name, text in (case.get("partials") or {}).items():
        print(f"      {name}: {shown(text, length)}")
    if used_data(case):
        print(f"      data {shown(used_data(case), length)}")
    want = case.get("out", case.get("semistrict_out", case.get("error")))
    have = answer.get("out", answer.get("error"))
    at = next((n for n, (a, b) in enumerate(zip(want, have)) if a != b), 0)
    from_there = max(0, at - 40) if at > length * 2 // 3 else 0
    for name, text in (("want", want), ("have", have)):
        print(f"      {name}{f' from {from_there}' if from_there else ''} {shown(text[from_there:], length)}")


def report(comparison, options):
    groups = [group for group in comparison.groups() if options.group in " ".join(group[0])]
    kinds = collections.Counter()
    for (kind, _), members in groups:
        kinds[kind] += len(members)
    print("cases", dict(comparison.cases))
    for kind, count in kinds.most_common():
        print(f"{count:7}  {kind}: {sum(key[0] == kind for key, _ in groups)} groups")
    for (kind, signature), members in groups[:options.limit]:
        print(f"\n{len(members):7}  {kind} — {signature}")
        for case, answer in sorted(members, key=lambda member: size(member[0]))[:options.examples]:
            print_example(case, answer, options.length)
    if len(groups) > options.limit:
        print(f"\n… {len(groups) - options.limit} groups more (--limit)")
    for slow_ms, case in sorted(comparison.slow, key=lambda slow: -slow[0])[:5]:
        print(f"\nslow: {slow_ms} ms, {case['id']}: {shown(case['template'], options.length)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--limit", type=int, default=40, help="how many groups are shown")
    parser.add_argument("--examples", type=int, default=1, help="how many of each, the smallest first")
    parser.add_argument("--group", default="", help="only groups whose name has this")
    parser.add_argument("--length", type=int, default=400, help="how long a text may be when it is shown")
    parser.add_argument("--save", help="where to write the cases that differ")
    parser.add_argument("--command", default=str(COMMAND), help="the program that runs cases")
    options = parser.parse_args()
    lines = []
    for path in options.files:
        with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
            lines += [line for line in file if line.strip()]
    comparison, begin = Comparison(), time.time()
    for line, answer in zip(lines, answers([options.command], lines)):
        comparison.add(line, answer)
    if options.save:
        with open(options.save, "w") as out:
            out.writelines(json.dumps(case) + "\n" for _, _, case, _, _ in comparison.different)
    report(comparison, options)
    print(f"{len(lines)} cases in {time.time() - begin:.0f} s", file=sys.stderr)
    sys.exit(any(SOFT not in kind for kind, *_ in comparison.different))


if __name__ == "__main__":
    main()
