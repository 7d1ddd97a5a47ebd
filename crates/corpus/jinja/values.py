"""Random data for templates: the members of the root, with the type of each."""

STRINGS = [
    "", "a", "abc", "Hello World", "hello, world", "x,y,,z", "  padded\t", "line one\nline two\n\nline four", "é", "Straße", "ÀÉÎ õ",
    "日本語テキスト", "🎉 party", "ǅ ǆ ſ ﬁ", "it's", 'say "hi"', "it's \"both\"", "<b>bold</b> & <i>it</i>", "&lt;x&gt;", "a\\b", "{{ x }}",
    "42", "-17", "3.14", " 7 ", "0x1f", "1e5", "True", "foo/bar?q=1&r=ü", "CamelCaseWord", "snake_case_word", "UPPER", "lower",
    "the quick brown fox jumps over the lazy dog", "aaaa bbbb cccc dddd", "tab\tsep", "a-b-c", "%s and %d", "{0} {name}", "\u00a0nbsp\u00a0",
    "zero\u200bwidth", "e\u0301", "http://example.com/a?b=c and www.x.org", "me@example.com", "٣", "½", "ß", "a\r\nb\rc", "ıİ", "\x00\x1f\x7f",
    "role", "name", "user", "x", "0", " ", "\n", "...", "longerthanfifteencharacters",
]
INTS = [0, 1, 2, 3, 5, 7, 10, 12, 42, 100, 255, 1000, 65536, 123456789, -1, -2, -7, -42, 2**31, 2**53, 9223372036854775807, -(2**63)]
FLOATS = [0.0, 1.0, 0.5, 1.5, 2.5, -0.5, -1.0, 3.14159, 2.675, 0.1, 1e-7, 1e16, 1e22, 1.5e300, 123456.789, 100.0, -0.0, 1e15, 0.30000000000000004]
KEYS = ["name", "age", "id", "role", "content", "a", "b", "c", "items", "keys", "values", "x", "title", "count", "é", "two words", "1", "get", "tags"]


class Data:
    """Makes values with a random source."""

    def __init__(self, rng):
        self.rng = rng

    def str(self):
        return self.rng.choice(STRINGS)

    def int(self):
        return self.rng.choice(INTS[:13] if self.rng.random() < 0.85 else INTS)

    def float(self):
        return self.rng.choice(FLOATS)

    def bool(self):
        return self.rng.random() < 0.5

    def none(self):
        return None

    def leaf(self):
        kinds = [self.str, self.str, self.int, self.int, self.float, self.bool, self.none]
        return self.rng.choice(kinds)()

    def some(self, make, most=5):
        return [make() for _ in range(self.rng.choice([0, 1, 2, 2, 3, 3, 4, most]))]

    def ints(self):
        return self.some(self.int)

    def strs(self):
        return self.some(self.str)

    def floats(self):
        return self.some(self.float)

    def mixed(self):
        return self.some(self.any)

    def lists(self):
        return self.some(self.ints, 3)

    def user(self):
        user = {"name": self.str(), "age": self.int(), "role": self.rng.choice(["user", "admin", "User", "system"])}
        if self.rng.random() < 0.6:
            user["tags"] = self.strs()
        if self.rng.random() < 0.4:
            user["address"] = {"city": self.str(), "zip": self.rng.choice(["8000", 8000, None])}
        return user

    def users(self):
        return self.some(self.user)

    def dict(self):
        return {self.rng.choice(KEYS): self.any() for _ in range(self.rng.randrange(5))}

    def any(self):
        kinds = [self.leaf] * 6 + [self.ints, self.strs, self.dict]
        return self.rng.choice(kinds)()


# The names of the root, with the types of their values.
ROOT = {
    "n": "int", "m": "int", "k": "int", "f": "float", "g": "float", "s": "str", "t": "str", "text": "str", "name": "str", "flag": "bool", "off": "bool",
    "nil": "none", "xs": "ints", "ys": "mixed", "words": "strs", "fs": "floats", "rows": "lists", "user": "user", "users": "users", "d": "dict", "cfg": "dict",
}


def root(rng):
    """Data with about half of the names, in random order."""
    make = Data(rng)
    names = rng.sample(list(ROOT), rng.randrange(5, 16))
    return {name: getattr(make, ROOT[name])() for name in names}
