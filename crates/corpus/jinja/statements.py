"""Random templates: texts, statements and the templates that they include."""

from expressions import Expressions, quoted
from values import STRINGS

TEXTS = ["", " ", "\n", "\n\n", "text", " a ", "Hello, ", "\n  ", "  \n", "\t", "x\n", "\r\n", "a\r\nb", "\r", "- ", "é日本", "{", "}", "{ %", "%}", "}}", "#}",
         "\u00a0", "* item\n", "<|im_start|>", "\\n", "'", '"', "  indented\n", "\n\n\n", ": ", "$", "{ {"]
MACRO_PARAMETERS = ["", "a", "a, b", "a, b=2", "a='x', b=none", "a, b=a", "x, y=n", "a=1, b=2, c=3", "a,"]
MACRO_CALLS = ["", "<any>", "<any>, <any>", "a=<any>", "<any>, b=<any>", "b=<any>, a=<any>", "<any>, <any>, <any>, <any>", "<any>, zz=<any>", "*<list_>", "**<dict_>",
               "<any>, *<list_>", "<any>, **{'b': <any>}", "*[<any>], b=<any>, **{'c': 1}"]
LOOP_VALUES = ["loop.index", "loop.index0", "loop.revindex", "loop.revindex0", "loop.first", "loop.last", "loop.length", "loop.depth", "loop.depth0",
               "loop.cycle('a', 'b')", "loop.cycle(1, 2, 3)", "loop.changed(it)", "loop.previtem", "loop.nextitem", "loop.previtem is defined",
               "loop.nextitem|default('-')", "loop.previtem is undefined or loop.previtem != it", "loop.cycle()", "loop.nope", "loop", "loop.changed(it, loop.first)"]


class Statements:
    """Makes one template; the templates that it names are collected in `partials`."""

    def __init__(self, rng, scope, partials, names):
        self.rng = rng
        self.expressions = Expressions(rng, dict(scope))
        self.partials = partials
        self.names = names
        self.loops = 0
        self.macros = []
        self.blocks = []
        self.spaces = rng.choice([0.0, 0.0, 0.15, 0.4])

    def chance(self, share):
        return self.rng.random() < share

    def value(self, kind="any", depth=2):
        return self.expressions.of(kind, depth)

    def tag(self, inside):
        """A statement's tag, with or without marks that cut white space."""
        left = self.rng.choice("--+") if self.chance(self.spaces) else ""
        right = self.rng.choice("--+") if self.chance(self.spaces) else ""
        gap = self.rng.choice(["", "\n ", "  ", " # no comment\n"]) if self.chance(0.02) else " "
        return "{%" + left + gap + inside + gap + right + "%}"

    def text(self):
        if self.chance(0.93):
            return self.rng.choice(TEXTS)
        left = "-" if self.chance(self.spaces) else ""
        return "{#" + left + self.rng.choice([" c ", "", " {{ x }} ", " {% if %}\n", "- -", " #"]) + left + "#}"

    def output(self, depth=3):
        left = "-" if self.chance(self.spaces / 2) else ""
        right = "-" if self.chance(self.spaces / 2) else ""
        if self.loops and self.chance(0.3):
            inside = self.rng.choice(LOOP_VALUES + ["it", "it", "it.name", "it[0]"])
        elif self.macros and self.chance(0.3):
            inside = f"{self.rng.choice(self.macros)}({self.arguments()})"
        else:
            inside = self.value("any", depth)
        if self.chance(0.03):
            inside += ", " + self.value("any", 1)
        return "{{" + left + " " + inside + " " + right + "}}"

    def arguments(self):
        return self.expressions.filled(self.rng.choice(MACRO_CALLS), 2)

    def body(self, depth, most=4):
        parts = []
        for _ in range(self.rng.randrange(most + 1)):
            parts.append(self.part(depth))
            if self.chance(0.5):
                parts.append(self.text())
        return "".join(parts)

    def part(self, depth):
        if depth <= 0 or self.chance(0.55):
            return self.output(2 if depth <= 0 else 3)
        return getattr(self, "_" + self.rng.choices(STATEMENTS, WEIGHTS)[0])(depth - 1)

    def inner(self, names, depth, most=4):
        """A body in which further names are known."""
        saved = self.expressions.scope
        self.expressions.scope = {**saved, **names}
        body = self.body(depth, most)
        self.expressions.scope = saved
        return body

    def _if(self, depth):
        out = self.tag("if " + self.value("bool", 3)) + self.body(depth)
        while self.chance(0.3):
            out += self.tag("elif " + self.value("bool")) + self.body(depth, 2)
        if self.chance(0.5):
            out += self.tag("else") + self.body(depth, 2)
        return out + self.tag("endif")

    def _for(self, depth):
        target, source, names = self.rng.choice([
            ("it", self.value("ints"), {"it": "int"}), ("it", self.value("strs"), {"it": "str"}), ("it", self.value("list"), {"it": "any"}),
            ("it", self.value("users"), {"it": "user"}), ("it", "range(%s)" % self.value("small"), {"it": "int"}), ("it", self.value("str"), {"it": "str"}),
            ("a, it", self.hole("dict") + ".items()", {"a": "str", "it": "any"}), ("(a, it)", self.hole("dict") + "|dictsort", {"a": "str", "it": "any"}),
            ("it", self.value("dict"), {"it": "str"}), ("a, it", self.hole("list") + "|batch(2)", {"a": "any", "it": "any"}),
            ("role, it", self.hole("users") + "|groupby('role')", {"it": "users", "role": "str"}), ("it", "[1, 2, 3]", {"it": "int"}),
            ("it", self.value("any"), {"it": "any"}), ("a, (b, it)", "[(1, (2, 3)), (4, (5, 6))]", {"it": "int", "a": "int", "b": "int"}),
        ])
        condition = " if " + self.rng.choice(["it", "it is defined", "it != 2", "loop.index > 1", self.value("bool")]) if self.chance(0.2) else ""
        recursive = self.chance(0.07)
        head = self.tag(f"for {target} in {source}{condition}" + (" recursive" if recursive else ""))
        self.loops += 1
        body = self.inner(names, depth)
        if recursive:
            body += self.rng.choice(["{{ loop(it.tags) if it is mapping and it.tags is defined }}", "{{ loop([1, 2]) if loop.depth < 3 }}", "{{ loop(it) if it is sequence and it is not string }}"])
        if self.chance(0.12):
            body += self.tag("if " + self.rng.choice(["loop.index > 1", "it == 2", self.value("bool")])) + self.tag(self.rng.choice(["break", "continue"])) + self.tag("endif") + self.text()
        self.loops -= 1
        if self.chance(0.25):
            body += self.tag("else") + self.body(depth, 2)
        return head + body + self.tag("endfor")

    def hole(self, kind):
        return self.expressions.hole(kind + "_", 1)

    def _set(self, depth):
        kind = self.rng.choice(["str", "int", "float", "bool", "ints", "dict", "strs", "users"])
        name = self.rng.choice(["v", "w", "n", "s", "x1", "total"])
        out = self.tag(f"set {name} = {self.value(kind)}")
        self.expressions.scope[name] = kind
        return out

    def _set_tuple(self, depth):
        self.expressions.scope.update(v="any", w="any")
        return self.tag(self.rng.choice(["set v, w = %s, %s" % (self.value(), self.value()), "set (v, w) = (%s, %s)" % (self.value(), self.value()), f"set v, w = {self.value('list')}"]))

    def _set_block(self, depth):
        filters = self.rng.choice(["", "", " | upper", "|trim|length", "|indent(2)", "|replace('a', 'b')", "|safe"])
        out = self.tag("set v" + filters) + self.body(depth, 3) + self.tag("endset")
        self.expressions.scope["v"] = "str"
        return out

    def _namespace(self, depth):
        out = self.tag("set ns = namespace(%s)" % self.rng.choice(["", "c=0", "c=0, s=''", "{'c': 1}", "{'c': 1}, s='z'"]))
        body = self.tag(self.rng.choice(["set ns.c = ns.c + 1", "set ns.s = ns.s ~ it", "set ns.c = it", "set ns.found = true"]))
        self.loops += 1
        inner = self.inner({"it": "any"}, depth, 2)
        self.loops -= 1
        loop = self.tag("for it in " + self.value("list")) + body + inner + self.tag("endfor")
        return out + loop + self.rng.choice(["{{ ns.c }}", "{{ ns.s }}", "{{ ns.found }}", "{{ ns.nope }}", "{{ ns.found is defined }}"])

    def _with(self, depth):
        head = self.rng.choice(["with", f"with v = {self.value()}", f"with v = {self.value()}, w = {self.value()}", "with v = 1, w = v", f"with n = {self.value('int')}"])
        return self.tag(head) + self.inner({"v": "any"}, depth) + self.tag("endwith")

    def _macro(self, depth):
        name = self.rng.choice(["mac", "helper", "show"])
        body = self.inner({"a": "any", "b": "any"}, depth, 3)
        body += self.rng.choice(["", "", "{{ varargs }}", "{{ kwargs }}", "{{ caller() }}", "{{ caller(1, 2) if caller }}", "{{ a }}{{ b }}", "{{ kwargs.items()|list }}",
                                 "{% if caller is defined %}{{ caller() }}{% endif %}", "{{ mac.name }}", "{{ varargs|join('+') }}", "{{ a|default('none given') }}"])
        out = self.tag(f"macro {name}({self.rng.choice(MACRO_PARAMETERS)})") + body + self.tag("endmacro")
        self.macros.append(name)
        if self.chance(0.1):
            out += "{{ %s.%s }}" % (name, self.rng.choice(["name", "arguments", "catch_varargs", "catch_kwargs", "caller", "nope"]))
        return out

    def _call(self, depth):
        if not self.macros:
            return self._macro(depth)
        parameters = self.rng.choice(["", "", "(x)", "(x, y=2)", "(a, b)"])
        return self.tag(f"call{parameters} {self.rng.choice(self.macros)}({self.arguments()})") + self.inner({"x": "any"}, depth) + self.tag("endcall")

    def _filter(self, depth):
        name = self.rng.choice(["upper", "trim", "indent(2)", "replace('a', 'b')", "e", "title", "truncate(9)", "wordwrap(5)", "length", "trim|upper", "center(20)", "safe", "tojson", "first", "nope"])
        return self.tag("filter " + name) + self.body(depth) + self.tag("endfilter")

    def _raw(self, depth):
        return self.tag("raw") + self.rng.choice([" {{ x }} ", "{% if %}", "{# c #}", "\n raw \n", "{{", ""]) + self.tag("endraw")

    def _do(self, depth):
        return self.tag("do " + self.rng.choice([f"xs.append({self.value()})", f"ys.extend({self.value('list')})", f"d.update({self.value('dict')})", "words.pop()", "xs.insert(0, 9)", "xs.reverse()",
                                                 "xs.sort()", "d.clear()", "d.setdefault('z', 1)", "d.pop('a')", "ys.remove(1)", "xs.clear()", "user.update(age=3)", self.value()]))

    def _autoescape(self, depth):
        return self.tag("autoescape " + self.rng.choice(["true", "true", "false", self.value("bool")])) + self.body(depth) + self.tag("endautoescape")

    def _block(self, depth):
        name = self.rng.choice([name for name in ("title", "body", "foot", "b1", "b2", "b3") if name not in self.blocks] or ["b4"])
        self.blocks.append(name)
        modes = self.rng.choice(["", "", "", " scoped", " required", " scoped required"] if self.chance(0.3) else [""])
        extra = self.rng.choice(["", "", "", "{{ super() }}", "{{ self.title() }}", "{{ self.body() }}", "{{ super.super() }}"]) if self.chance(0.5) else ""
        body = self.text() if "required" in modes else self.body(depth, 3) + extra
        return self.tag(f"block {name}{modes}") + body + self.tag("endblock" + self.rng.choice(["", " " + name]))

    def _include(self, depth):
        name = self.partial()
        mode = self.rng.choice(["", "", "", " with context", " without context", " ignore missing", " ignore missing without context"])
        what = self.rng.choice([f"'{name}'"] * 5 + [f"['nope', '{name}']", f"('{name}', 'nope')", "'nope'", f"'{name[:1]}' ~ '{name[1:]}'", f"'{name}' if {self.value('bool', 1)} else 'nope'", self.value("str", 1)])
        return self.tag(f"include {what}{mode}")

    def _import(self, depth):
        name = self.partial(macros=True)
        mode = self.rng.choice(["", "", " with context", " without context"])
        if self.chance(0.5):
            self.macros.append("lib." + self.rng.choice(["mac", "helper", "show", "mac", "v"]))
            return self.tag(f"import '{name}' as lib{mode}")
        names = self.rng.choice(["mac", "mac as other", "mac, show", "helper as h", "v", "show, v as z"])
        self.macros.append(names.split(" as ")[-1].split(",")[0])
        return self.tag(f"from '{name}' import {names}{mode}")

    def partial(self, macros=False):
        """The name of another template, which is made when there is none yet."""
        if not self.names:
            return "nope"
        name = self.names.pop(0)
        maker = Statements(self.rng, {} if self.chance(0.3) else self.expressions.scope, self.partials, self.names)
        maker.spaces = self.spaces
        head = maker._macro(1) + (maker.tag("set v = 5") if self.chance(0.4) else "") if macros or self.chance(0.2) else ""
        self.partials[name] = head + maker.body(1, 3)
        return name

    def base(self):
        """The template that this one extends, and the statement."""
        if not self.names:
            return ""
        name = self.names.pop(0)
        maker = Statements(self.rng, self.expressions.scope, self.partials, self.names)
        parts = ([maker.base()] if self.chance(0.2) else []) + [maker._block(1) + maker.text() for _ in range(self.rng.randrange(1, 4))] + [maker.body(1, 2)]
        self.partials[name] = "".join(parts)
        what = f"'{name}'" if self.chance(0.9) else self.rng.choice([f"'{name}' if {self.value('bool', 1)} else 'nope'", f"'{name[:2]}' ~ '{name[2:]}'"])
        return self.tag(f"extends {what}")

    def template(self):
        if self.chance(0.12):
            parts = [self.body(1, 1) if self.chance(0.2) else "", self.base(), self.text(), self.body(1, 1) if self.chance(0.3) else ""]
            return "".join(parts + [self._block(2) + self.text() for _ in range(self.rng.randrange(3))])
        return self.text() + self.body(3, self.rng.choice([1, 2, 3, 5])) + self.text()


FREQUENCIES = {"if": 10, "for": 14, "set": 8, "set_tuple": 2, "set_block": 4, "namespace": 3, "with": 4, "macro": 6, "call": 4, "filter": 4, "raw": 1, "do": 4,
               "autoescape": 3, "block": 3, "include": 4, "import": 4}
STATEMENTS, WEIGHTS = list(FREQUENCIES), list(FREQUENCIES.values())


def quick(rng, scope):
    """A template of one expression: most of what differs shows here, and is easy to read."""
    expressions = Expressions(rng, scope)
    return "{{ " + expressions.of(rng.choice(["str", "int", "float", "bool", "list", "list", "dict", "any"]), rng.choice([1, 1, 2, 3])) + " }}"


def template(rng, scope):
    """The text of a template and of those that it names."""
    if rng.random() < 0.4:
        return quick(rng, scope), {}
    partials = {}
    maker = Statements(rng, scope, partials, rng.sample(["part", "lib_a", "base", "inc", "layout"], rng.randrange(1, 4)))
    return maker.template(), partials
