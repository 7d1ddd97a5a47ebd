"""Runs a case through real Jinja2, in the environment that the corpus describes, and fills in the result."""

import json
import re

import jinja2
from jinja2 import StrictUndefined, Undefined
from jinja2.exceptions import TemplateError, TemplateSyntaxError
from jinja2.ext import Extension

# Outputs that no other program can give: addresses, whole or cut.
UNUSABLE = re.compile(r"0x[0-9a-f]{7}|\bat 0x|<bound method|<built-in|<function \w+ at|<module |generator obj|method-wrapper", re.I)
# Texts whose output depends on chance or the time, or that reach into Python.
UNUSABLE_TEXT = re.compile(r"\brandom\b|\blipsum\b|__|\b(gi|gr|cr|ag|f|co)_\w|strftime_now(?!\(\s*(?:'[^'%]*'|\"[^\"%]*\")\s*\))")
MAX_OUT = 100_000


class SemistrictUndefined(StrictUndefined):
    """A missing value that may be tested, at any depth, and not used in any other way."""

    __slots__ = ()

    def __bool__(self):
        return False

    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __getitem__(self, _key):
        return self


class Generation(Extension):
    """The `generation` block of transformers, which prints its body."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body, lineno=line)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise TemplateError(message)


def strftime_now(format):
    """Cases use formats that name no time."""
    return format


def environment(undefined, loader, extensions=(), **options):
    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols", *extensions]
    env = jinja2.Environment(undefined=undefined, extensions=extensions, loader=loader, cache_size=0, **options)
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


class Reference:
    """Jinja2 with each kind of missing value. `options` are those of its environment, for example `trim_blocks`."""

    def __init__(self, extensions=(), **options):
        self.partials = {}
        self.last_code = (None, None)
        loader = jinja2.FunctionLoader(lambda name: self.partials.get(name))
        kinds = {"strict": StrictUndefined, "semistrict": SemistrictUndefined, "lenient": Undefined}
        self.envs = {name: environment(kind, loader, extensions, **options) for name, kind in kinds.items()}

    def _render(self, env, code, case):
        data = json.loads(json.dumps(case["data"]))
        template = jinja2.Template.from_code(env, code, env.make_globals(None))
        return template.render(data)

    def _code(self, text):
        """The compiled text; the last one is kept, since the same text often comes with other data."""
        if self.last_code[0] != text:
            self.last_code = (text, self.envs["strict"].compile(text, "main", "main"))
        return self.last_code[1]

    def run(self, case):
        """The case with its result; None if it cannot be used. Memory and time are bounded by the caller."""
        self.partials = case.get("partials") or {}
        if any(UNUSABLE_TEXT.search(text) for text in (case["template"], *self.partials.values())):
            return None
        lenient = case.get("undefined") == "lenient"
        result = dict(case)
        try:
            code = self._code(case["template"])
        except RecursionError:
            return None
        except MemoryError:
            raise
        except Exception as error:
            return {**result, **failure("parse", error)}
        try:
            out = self._render(self.envs["lenient" if lenient else "strict"], code, case)
        except MemoryError:
            raise
        except Exception as error:
            result.update(failure("exec", error))
            if not lenient:
                self._semistrict(code, case, result)
            return result if usable(result.get("semistrict_out", "")) else None
        return {**result, "ok": True, "out": out} if usable(out) else None

    def _semistrict(self, code, case, result):
        try:
            result["semistrict_out"] = self._render(self.envs["semistrict"], code, case)
        except MemoryError:
            raise
        except Exception as error:
            result["semistrict_error"] = message(error)


def message(error):
    text = getattr(error, "message", None) or str(error)
    return f"{type(error).__name__}: {text}"[:300]


def failure(stage, error):
    line = f" (line {error.lineno})" if isinstance(error, TemplateSyntaxError) else ""
    found = {"ok": False, "stage": stage, "error": message(error) + line}
    if isinstance(error, TemplateError) and type(error) is TemplateError and error.message is not None:
        found["says"] = str(error.message)
    return found


def usable(out):
    if len(out) > MAX_OUT or UNUSABLE.search(out):
        return False
    try:
        out.encode()
    except UnicodeEncodeError:
        return False
    return True
