"""Small changes of a template and its data, so that what stands beside real templates is tried, too."""

import copy
import re

import productions as p
from values import Data

TOKEN = re.compile(r"\{%[-+]?|[-+]?%\}|\{\{-?|-?\}\}|\{#-?|-?#\}|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[^\W\d]\w*|\d+(?:\.\d+)?|\*\*|//|==|!=|<=|>=|\s+|.", re.S)
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", " and ", " or ", " in ", " not in ", " is ", " is not ", "|", ".", ",", "=", ":"]
WORDS = """loop self super caller varargs kwargs true false none not and or in is if else elif endif for endfor set endset block endblock macro endmacro with
context without ignore missing recursive scoped required import include extends from as call endcall do break continue raw endraw namespace range dict""".split()
FILTERS = """abs attr batch capitalize center count d default dictsort e escape filesizeformat first float forceescape format groupby indent int join last length list
lower items map min max pprint reject rejectattr replace reverse round safe select selectattr slice sort string striptags sum title trim truncate unique upper
urlencode urlize wordcount wordwrap xmlattr tojson""".split()
METHODS = """items keys values get split strip replace upper lower title startswith endswith append pop join find count index format splitlines copy update lstrip rstrip
capitalize isdigit partition name role content x""".split()
INSERTS = ["not ", "-", " ~ 'z'", " + 1", "[0]", "[-1]", "[1:]", "[::-1]", "()", ".x", ".items()", " is defined", " is none", " if true", " if false else 'q'", ", 1", "|list", " == 1", " in xs",
           " or 'x'", " and 1", "*", "**", "(", ")", "[", "]", "{", "}", ":", "''", "0", "{{ n }}", "{% if n %}", "{% endif %}", "{#", "#}", "\n", "-%}", "{%-", "\r\n", "\\"]


def tokens(text):
    return TOKEN.findall(text)


def spots(parts):
    """The places of tokens inside of tags, without white space."""
    found, inside = [], False
    for at, part in enumerate(parts):
        if part[:2] in ("{%", "{{"):
            inside = True
        elif part[-2:] in ("%}", "}}"):
            inside = False
        elif inside and not part.isspace():
            found.append(at)
    return found


def replacement(rng, parts, at):
    """Another token of the same kind."""
    part = parts[at]
    if part[0] in "'\"":
        return rng.choice(p.CHARS + p.KEYS[:6] + ["''", "'%s'", "'x'"])
    if part[0].isdigit():
        return rng.choice(["0", "1", "2", "3", "10", "-1", "1.5", "'1'", "none", "100"])
    if part[0].isalpha() or part[0] == "_":
        before = "".join(parts[max(0, at - 2):at]).strip()[-1:]
        if before == "|":
            return rng.choice(FILTERS)
        if before == ".":
            return rng.choice(METHODS)
        words = [other for other in parts if other[:1].isalpha()]
        return rng.choice(words if rng.random() < 0.6 else WORDS)
    return rng.choice(OPERATORS)


def change(rng, parts):
    """One change of the tokens."""
    inside = spots(parts)
    where = inside if inside and rng.random() < 0.9 else range(len(parts))
    if not parts:
        return
    at = rng.choice(where)
    kind = rng.choice(["swap", "delete", "double", "replace", "replace", "replace", "insert", "insert", "filter", "move", "copy", "space"])
    if kind == "swap":
        other = rng.choice(where)
        parts[at], parts[other] = parts[other], parts[at]
    elif kind == "delete":
        del parts[at:at + rng.choice([1, 1, 1, 2, 3])]
    elif kind == "double":
        parts.insert(at, parts[at])
    elif kind == "replace":
        parts[at] = replacement(rng, parts, at)
    elif kind == "insert":
        parts.insert(at + rng.randrange(2), rng.choice(INSERTS))
    elif kind == "filter":
        parts.insert(at + 1, "|" + rng.choice(FILTERS) + rng.choice(["", "", "", "(1)", "('a')", "(attribute='name')", "(true)"]))
    elif kind == "move":
        parts.insert(rng.choice(where), parts.pop(at))
    elif kind == "copy":
        end = min(len(parts), at + rng.randrange(1, 8))
        to = rng.choice(where)
        parts[to:to] = parts[at:end]
    else:
        marks = [n for n, part in enumerate(parts) if part[:2] in ("{%", "{{") or part[-2:] in ("%}", "}}")]
        if marks:
            at = rng.choice(marks)
            core = parts[at].strip("-+")
            sign = rng.choice(["-", "-", "+", ""])
            parts[at] = core + sign if core[0] == "{" else sign + core


def mutated_text(rng, text):
    parts = tokens(text)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        change(rng, parts)
    return "".join(parts)


def places(value, found, holder=None, key=None):
    """All values in the tree with what holds them."""
    if holder is not None:
        found.append((holder, key))
    if isinstance(value, (list, dict)):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            places(value[key], found, value, key)
    return found


def mutated_data(rng, data):
    data = copy.deepcopy(data)
    make = Data(rng)
    for _ in range(rng.choice([1, 1, 2, 4])):
        found = places(data, [])
        if not found:
            return data
        holder, key = rng.choice(found)
        kind = rng.random()
        if kind < 0.55:
            holder[key] = rng.choice([make.leaf, make.any, make.users, make.strs, make.ints])()
        elif kind < 0.75:
            del holder[key]
        elif kind < 0.9 and isinstance(holder, list):
            holder.insert(key, holder[key])
        elif isinstance(holder[key], (list, dict, str)):
            holder[key] = type(holder[key])()
    return data


def mutated(rng, case):
    """A case that differs from another one in its text, a partial or its data."""
    new = {key: case[key] for key in ("template", "partials", "data", "undefined") if key in case}
    kind = rng.random()
    partials = new.get("partials")
    if kind < 0.25:
        new["data"] = mutated_data(rng, new["data"])
    elif kind < 0.4 and partials:
        name = rng.choice(list(partials))
        new["partials"] = {**partials, name: mutated_text(rng, partials[name])}
    else:
        new["template"] = mutated_text(rng, new["template"])
        if kind > 0.9:
            new["data"] = mutated_data(rng, new["data"])
    return new
