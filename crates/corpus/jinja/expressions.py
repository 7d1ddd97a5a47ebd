"""Random expressions, made from the patterns by type, and now and then of another type than is wanted."""

import re

import productions as p
from values import ROOT, STRINGS

HOLE = re.compile(r"<(\w+)>")
TABLE = p.table()
KINDS = ["str", "str", "str", "int", "int", "float", "bool", "list", "dict", "none"]
# Narrower types of lists and dicts, and what they are made of when the general patterns are used.
LISTS = {"ints": "int", "floats": "float", "strs": "str", "mixed": "any", "lists": "list", "users": "user"}
FIXED = {"chars": p.CHARS, "test": p.TESTS, "format": p.FORMATS, "key": p.KEYS, "index": p.INDEXES, "slice": p.SLICES, "maybe": p.MAYBE}
SMALL = ["0", "1", "2", "3", "4"]
WIDTHS = ["0", "1", "3", "5", "8", "10", "12", "20", "40"]
NUMBERS = ["0", "1", "2", "3", "7", "10", "42", "100", "1_000", "0x1F", "0b101", "0o17", "999999999999", "00", "1__0"]
FLOATS = ["0.5", "1.0", "1.5", "2.5", "3.14159", "1e3", "1.5e-7", "1E2", "1_0.2_5", "100.0", "0.1", "2.675", "1e16", "1e22"]
OTHERS = ["true", "false", "none", "True", "False", "None", "TRUE"]
ATTRIBUTES = ["name", "age", "items", "x", "0", "title", "nope", "address", "upper", "count", "keys"]
ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", "\x00": "\\x00", "\x1f": "\\x1f", "\x7f": "\\x7f"}


def quoted(rng, text):
    quote = rng.choice("'\"")
    text = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    if rng.random() < 0.7:
        text = "".join(ESCAPES.get(c, c) for c in text)
    if rng.random() < 0.04:
        text += rng.choice(["\\x41", "\\u00e9", "\\101", "\\q", "\\a", "\\U0001F600", "\\N{BULLET}", "\\\n", "\\0", "\\"])
    return quote + text + quote


class Expressions:
    """Makes expressions over the names in `scope` (name -> type)."""

    def __init__(self, rng, scope):
        self.rng = rng
        self.scope = scope

    def chance(self, share):
        return self.rng.random() < share

    def any(self, depth=2):
        return self.of(self.rng.choice(KINDS), depth)

    def of(self, kind, depth):
        """An expression of a type, with operators of any precedence at its top."""
        rng = self.rng
        if kind in FIXED:
            return rng.choice(FIXED[kind])
        if kind == "small":
            return rng.choice(SMALL) if self.chance(0.95) else self.of("int", depth - 1)
        if kind == "width":
            return rng.choice(WIDTHS) if self.chance(0.95) else self.of("int", depth - 1)
        if self.chance(0.03):
            kind = rng.choice(KINDS)
        if kind == "any":
            return self.any(depth)
        if kind == "num":
            kind = rng.choice(["int", "int", "float"])
        if depth <= 0 or self.chance(0.25):
            return self.atom(kind, depth)
        general = "list" if kind in LISTS and self.chance(0.15) else "dict" if kind == "user" and self.chance(0.2) else kind
        if general not in TABLE:
            return self.atom(kind, depth)
        return self.filled(rng.choice(TABLE[general]), depth)

    def filled(self, pattern, depth):
        return HOLE.sub(lambda hole: self.hole(hole.group(1), depth - 1), pattern)

    def hole(self, kind, depth):
        if not kind.endswith("_"):
            return self.of(kind, depth)
        text = self.of(kind[:-1], depth)
        simple = re.fullmatch(r"[\w.]+|'[^']*'|\"[^\"]*\"|\[[^\[\]]*\]|\w+\([^()]*\)", text)
        return text if simple or self.chance(0.1) else f"({text})"

    def name(self, kind):
        wanted = {"list": ("ints", "strs", "mixed", "users", "floats", "lists"), "dict": ("dict", "user")}.get(kind, (kind,))
        names = [name for name, of in self.scope.items() if of in wanted]
        return self.rng.choice(names) if names else None

    def atom(self, kind, depth):
        if self.chance(0.012):
            return self.rng.choice(p.NAMES)
        name = self.name(kind) if self.chance(0.6) else None
        return name or self.literal(kind, depth)

    def literal(self, kind, depth):
        rng = self.rng
        if kind == "str":
            text = quoted(rng, rng.choice(STRINGS))
            return text + " " + quoted(rng, rng.choice(STRINGS)) if self.chance(0.02) else text
        if kind == "int":
            return rng.choice(NUMBERS[:8] if self.chance(0.85) else NUMBERS)
        if kind == "float":
            return rng.choice(FLOATS)
        if kind in ("dict", "user"):
            return self.dict_literal(kind, depth)
        if kind in LISTS or kind == "list":
            return self.list_literal(LISTS.get(kind, "any"), depth)
        return rng.choice(OTHERS[:5] if self.chance(0.97) else OTHERS) if kind != "none" else rng.choice(["none", "None"])

    def dict_literal(self, kind, depth):
        if kind == "user":
            name, age = self.of("str", depth - 1), self.of("int", depth - 1)
            return "{'name': %s, 'age': %s, 'role': 'user'}" % (name, age)
        pairs = [f"{self.rng.choice(p.KEYS)}: {self.of('any', depth - 2)}" for _ in range(self.rng.randrange(4))]
        return "{" + ", ".join(pairs) + ("," if pairs and self.chance(0.05) else "") + "}"

    def list_literal(self, kind, depth):
        items = [self.of(kind, depth - 2) for _ in range(self.rng.randrange(5))]
        inside = ", ".join(items)
        if self.chance(0.15):
            return f"({inside},)" if items else "()"
        return f"[{inside}]"


def root_scope(data):
    return {name: ROOT[name] for name in data}
