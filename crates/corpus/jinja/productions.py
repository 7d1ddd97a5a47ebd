"""The expressions of Jinja2 as patterns, by the type of their result. A hole `<str>` takes an expression of that type, and
`<str_>` one that a filter, method or index may follow."""

STR = r"""
<str> ~ <any>
<any> ~ <any>
<str> + <str>
<str> + <str>
<str_> * <small>
<small> * <str_>
<str_>[<index>]
<str_>[<slice>]
<str_>[<slice>]
<str> if <bool> else <str>
(<str> if <bool>)
<str> or <str>
<str> and <str>
<any_>|string
<any_>|tojson
<any_>|tojson(indent=<small>)
<any_>|tojson(sort_keys=true)
<any_>|tojson(separators=(',', ':'))
<any_>|tojson(ensure_ascii=<bool>)
<any_>|pprint
<any_>|e
<any_>|escape
<any_>|forceescape
<any_>|safe
(<str_>|safe) ~ <any>
(<str_>|e) + <str>
<str_>|upper
<str_>|lower
<str_>|capitalize
<str_>|title
<str_>|trim
<str_>|trim(<chars>)
<str_>|trim(chars=<chars>)
<str_>|striptags
<str_>|reverse
<str_>|first
<str_>|last
<str_>|center(<width>)
<str_>|center
<str_>|indent
<str_>|indent(<width>)
<str_>|indent(<width>, <bool>, <bool>)
<str_>|indent(width=<str>, first=<bool>)
<str_>|indent(blank=<bool>)
<str_>|truncate(<width>)
<str_>|truncate(<width>, <bool>)
<str_>|truncate(<width>, <bool>, <str>)
<str_>|truncate(<width>, <bool>, <str>, <small>)
<str_>|truncate(length=<width>, killwords=<bool>, leeway=<small>)
<str_>|truncate(<width>, end=<str>)
<str_>|wordwrap(<width>)
<str_>|wordwrap(<width>, <bool>)
<str_>|wordwrap(width=<width>, break_long_words=<bool>, wrapstring=<str>, break_on_hyphens=<bool>)
<str_>|replace(<chars>, <str>)
<str_>|replace(<chars>, <str>, <small>)
<str_>|urlencode
<dict_>|urlencode
<str_>|urlize
<str_>|urlize(<width>)
<str_>|urlize(<width>, nofollow=<bool>, target='_blank', rel='me')
<dict_>|xmlattr
<dict_>|xmlattr(<bool>)
<format>|format(<any>)
<format>|format(<any>, <any>)
'%(a)s/%(b)r'|format(a=<any>, b=<any>)
<format> % <any_>
<format> % (<any>, <any>)
'%(name)s-%(age)s' % <dict_>
'%-6s|%6s|%06d|%+.2f|%x' % (<str>, <str>, <int>, <num>, <int>)
<num_>|filesizeformat
<int_>|filesizeformat(<bool>)
<list_>|join
<list_>|join(<chars>)
<list_>|join(d=<chars>)
<users_>|join(<chars>, attribute='name')
<users_>|join(', ', 'address.city')
<str_>|join('-')
<any_>|default(<str>)
<maybe>|default(<str>)
<maybe>|d(<any>, <bool>)
<maybe>|default(default_value=<str>, boolean=true)
<str_>.upper()
<str_>.lower()
<str_>.title()
<str_>.capitalize()
<str_>.swapcase()
<str_>.casefold()
<str_>.strip()
<str_>.strip(<chars>)
<str_>.lstrip(<chars>)
<str_>.rstrip()
<str_>.replace(<chars>, <str>)
<str_>.replace(<chars>, <str>, <small>)
<str_>.center(<width>)
<str_>.center(<width>, '*')
<str_>.ljust(<width>, '.')
<str_>.rjust(<width>)
<str_>.zfill(<width>)
<str_>.expandtabs(<small>)
<str_>.removeprefix(<chars>)
<str_>.removesuffix(<chars>)
<str_>.join(<strs>)
<chars>.join(<strs>)
'{} {}'.format(<any>, <any>)
'{0}{1}{0}'.format(<any>, <any>)
'{a}:{b!r}'.format(a=<any>, b=<any>)
'{:>8}|{:<5}|{:^7}'.format(<str>, <str>, <str>)
'{:05d}|{:,}|{:.2f}|{:e}'.format(<int>, <int>, <num>, <num>)
'{0[a]} {1[0]}'.format(<dict>, <list>)
'{0.name}'.format(<user>)
'{x}'.format_map({'x': <any>})
<str_>.encode()
<str_>.encode('utf-8').decode()
<str_>.translate({97: 'b', 98: none})
<user_>.name
<user_>['role']
<user_>.address.city
<users_>[<index>].name
<strs_>[<index>]
<strs_>|first
<strs_>|last
<strs_>|min
<strs_>|max
<list_>|string
<user_>|attr('name')
<dict_>.get(<key>, <str>)
<dict_>.pop(<key>, <str>)
cycler(<any>, <any>).next()
joiner(<str>)()
strftime_now('day')
namespace(a=<any>).a
dict(a=<any>).a
"""

INT = r"""
<int> + <int>
<int> - <int>
<int> * <int>
<int> // <int>
<int> % <int>
-<int_>
+<int_>
- <int> ** <small>
<int_> ** <small>
<int> + <bool>
<int_>|abs
<str_>|length
<list_>|length
<dict_>|length
<list_>|count
<str_>|wordcount
<str_>|int
<any_>|int(<int>)
<str_>|int(default=<int>, base=16)
<str_>|int(<int>, 2)
<num_>|int
<ints_>|sum
<ints_>|sum(start=<int>)
<users_>|sum(attribute='age')
<users_>|sum('age', <int>)
<ints_>|max
<ints_>|min
<ints_>|first
<ints_>|last
<ints_>[<index>]
<int_>|round
<int> if <bool> else <int>
<int> or <int>
<str_>.count(<chars>)
<str_>.find(<chars>)
<str_>.rfind(<chars>)
<str_>.find(<chars>, <index>, <index>)
<str_>.index(<chars>)
<str_>.rindex(<chars>)
<list_>.index(<any>)
<list_>.count(<any>)
<user_>.age
<users_>[<index>]['age']
<int_>.bit_length()
<float_>.is_integer()
<float_>.as_integer_ratio()
<int_>.real
<dict_>|count
(<list_>|list)|length
<dict_>.get(<key>, <int>)
range(<small>)|sum
range(<small>).count(1)
<any_>|default(<int>)
"""

FLOAT = r"""
<num> / <num>
<num> / <num>
<float> + <num>
<num> * <float>
<num> - <float>
<num> ** -<small>
<float> // <num>
<float> % <num>
<num_>|round(<small>)
<num_>|round(<small>, 'ceil')
<num_>|round(<small>, 'floor')
<num_>|round(method='common')
<num_>|round(-1)
<num_>|round(precision=<small>, method='ceil')
<num_>|float
<str_>|float
<any_>|float(<float>)
<str_>|float(default=<num>)
<float_>|abs
-<float_>
<floats_>|sum
<floats_>|max
<floats_>[<index>]
<float> if <bool> else <float>
"""

BOOL = r"""
not <bool>
not <any>
<bool> and <bool>
<bool> or <bool>
<any> == <any>
<any> != <any>
<int> == <int>
<num> < <num>
<num> <= <num>
<num> > <num>
<num> >= <num>
<num> < <num> < <num>
<num> <= <num> > <num> != <num>
<str> < <str>
<str> == <str>
<list> < <list>
<list> == <list>
<dict> == <dict>
<any> in <list_>
<any> not in <list_>
<chars> in <str_>
<chars> not in <str_>
<key> in <dict_>
<any> in <dict_>
not <any> in <list_>
<maybe> is defined
<maybe> is not defined
<maybe> is undefined
<any_> is <test>
<any_> is not <test>
<any_> is <test> and <any_> is not <test>
<any_> is none
<int_> is odd
<int_> is even
<int_> is divisibleby(<small>)
<int_> is divisibleby <small>
<any_> is eq <any_>
<any_> is sameas <any_>
<any_> is sameas(<any>)
<any_> is in <list_>
<any_> is not in(<list>)
<num_> is gt <num_>
<num_> is lt(<num>)
<num_> is ge <num_>
<any_> is ne(<any>)
<num_> is greaterthan(<num>)
<any_> is equalto <any_>
<str_> is lower
<str_> is upper
'upper' is filter
<str> is filter
'odd' is test
<str_>.startswith(<chars>)
<str_>.endswith(<chars>)
<str_>.startswith((<chars>, <chars>))
<str_>.isdigit()
<str_>.isalpha()
<str_>.isalnum()
<str_>.isspace()
<str_>.isupper()
<str_>.islower()
<str_>.istitle()
<str_>.isnumeric()
<str_>.isdecimal()
<str_>.isidentifier()
<str_>.isprintable()
<str_>.isascii()
<bool> if <bool> else <bool>
(<any> == <any>) == <bool>
<bool> == <bool> == <bool>
<int> + <int> == <int>
<str> ~ <any> == <str>
-<int> < <int> and <bool> or not <bool>
<users_>|selectattr('name')|list|length > <small>
"""

LIST = r"""
<list> + <list>
<list_> * <small>
<list_>[<slice>]
<list_>[<slice>]
<list_>|list
<str_>|list
<dict_>|list
<list_>|sort
<list_>|sort(reverse=<bool>)
<list_>|sort(<bool>, <bool>)
<list_>|sort(case_sensitive=<bool>)
<strs_>|sort(reverse=<bool>, case_sensitive=<bool>)
<users_>|sort(attribute='name')|map(attribute='name')|list
<users_>|sort(attribute='role,age')|map(attribute='age')|list
<users_>|sort(attribute=<str>)
<list_>|unique|list
<strs_>|unique(case_sensitive=<bool>)|list
<users_>|unique(attribute='role')|map(attribute='name')|list
<list_>|reverse|list
<list_>|batch(<small>)|list
<list_>|batch(<small>, <any>)|list
<list_>|batch(linecount=<small>, fill_with=<str>)|list
<list_>|slice(<small>)|list
<list_>|slice(<small>, <any>)|list
<list_>|slice(slices=<small>, fill_with=none)|list
<list_>|map('string')|list
<strs_>|map('upper')|list
<strs_>|map('replace', <chars>, <str>)|list
<strs_>|map('default', <str>, true)|list
<strs_>|map('trim')|map('length')|list
<users_>|map(attribute='name')|list
<users_>|map(attribute='address.city', default=<any>)|list
<users_>|map(attribute='tags.0', default='-')|list
<lists_>|map('sum')|list
<lists_>|map(attribute=<small>)|list
<lists_>|map('first')|list
<list_>|select|list
<list_>|select('<test>')|list
<ints_>|select('gt', <int>)|list
<ints_>|select('divisibleby', <small>)|list
<list_>|reject('<test>')|list
<list_>|reject|list
<list_>|select('in', <list>)|list
<list_>|reject('eq', <any>)|list
<users_>|selectattr('age', 'gt', <int>)|map(attribute='name')|list
<users_>|selectattr('role', 'equalto', 'admin')|list
<users_>|selectattr('tags')|list
<users_>|selectattr('tags', 'defined')|list
<users_>|rejectattr('address.city', 'none')|list
<users_>|rejectattr('role', 'in', <list>)|list
<users_>|groupby('role')|list
<users_>|groupby('role')|map('first')|list
<users_>|groupby('role', case_sensitive=<bool>)|map(attribute='grouper')|list
<users_>|groupby(attribute='address.city', default=<str>)|list
<dict_>|dictsort
<dict_>|dictsort(<bool>)
<dict_>|dictsort(<bool>, 'value')
<dict_>|dictsort(by='value', reverse=<bool>)
<dict_>|items|list
<dict_>.items()|list
<dict_>.keys()|list
<dict_>.values()|list
<dict_>.items()
<dict_>.keys()
<dict_>.values()
<str_>.split()
<str_>.split(<chars>)
<str_>.split(<chars>, <small>)
<str_>.rsplit(<chars>, 1)
<str_>.splitlines()
<str_>.splitlines(<bool>)
<str_>.partition(<chars>)
<str_>.rpartition(<chars>)
range(<small>)|list
range(<int>, <small>)|list
range(<small>, <width>, <small>)|list
range(<small>)
range(10, 0, -<small>)|list
<list_>.copy()
<list> if <bool> else <list>
<list> or <list>
(<list_>|list).append(<any>)
(<list_>|list).pop()
<any_>|default(<list>)
<user_>.tags
namespace(a=<list>).a
"""

DICT = r"""
dict(a=<any>, b=<any>)
dict(<dict>, x=<any>)
dict([('a', <any>), ('b', <any>)])
dict(<dict_>.items())
dict(<list>)
<dict_>.copy()
<dict> if <bool> else <dict>
<users_>[<index>]
<users_>|first
<users_>|last
<users_>|max(attribute='age')
<users_>|min(attribute='name')
<user_>.address
<dict> or <dict>
{'a': 1}.get(<key>, <dict>)
dict.fromkeys(<strs>, <any>)
"""

# What is used where a type has a narrower meaning.
CHARS = ["','", "' '", "'a'", "'o'", "'-'", "''", "'ab'", "'/'", "'\\n'", "'é'", "\"'\"", "'xyz'", "'l'", "'_'"]
TESTS = """odd even none boolean false true integer float lower upper string mapping number sequence iterable callable escaped
defined undefined""".split()
FORMATS = ["'%s'", "'%d'", "'%5s|'", "'%-5s|'", "'%.3s'", "'%05d'", "'%r'", "'%.2f'", "'%g'", "'%e'", "'%x'", "'%%'", "'%c'", "'%s %s'", "'%+d'", "'% d'",
           "'%5.1f|'", "'%o'", "'%#x'", "'%s%%'", "'%a'", "'%i'", "'%G'", "'%*d'", "'none'"]
KEYS = ["'name'", "'age'", "'a'", "'b'", "'items'", "'nope'", "'x'", "1", "'content'", "none", "'two words'", "'é'"]
INDEXES = ["0", "1", "2", "-1", "-2", "n", "9", "m", "k - 1", "'0'"]
SLICES = [":", "1:", ":2", "1:3", "-2:", ":-1", "::2", "::-1", "1::2", "-1::-1", "n:", ":m", "2:1", "none:2", "0:10:3", "-3:-1", "::-2", "5:", ":0"]
MAYBE = ["nope", "nope.a", "user.nope", "user.address", "user.address.zip", "d.x", "d['nope']", "users[0].tags", "xs[9]", "nope[0]", "s", "nil", "cfg.a.b", "n", "d.items", "nil.x"]
NAMES = ["nope", "missing.x", "user.nope", "xs[100]"]


def table():
    """The patterns by type."""
    texts = {"str": STR, "int": INT, "float": FLOAT, "bool": BOOL, "list": LIST, "dict": DICT}
    return {kind: text.strip().split("\n") for kind, text in texts.items()}
