//! Random templates that call tools, and the partials that they use.

use proptest::prelude::*;
use proptest::sample::select;

/// The partials, by name.
pub fn partials() -> [(&'static str, &'static str); 9] {
    [
        ("calls", "{{ t_id(5) }}{{ t_id(6) }}"),
        ("reads", "{% if a is defined and a %}{{ t_id(8) }}{% endif %}{{ a }}"),
        ("module", "{% set v = t_id(4) %}{% macro f(x) %}<{{ t_id(x) }}>{% endmacro %}"),
        ("empty", "{{ t_id('') }}"),
        ("base", "[{% block b %}{{ t_id(7) }}{% endblock %}]{{ t_id(9) }}"),
        ("middle", "{% extends 'base' %}{% block b %}{{ super() }}{{ t_id('m') }}{% endblock %}"),
        ("wrapped", "{% filter upper %}{% block b %}{% endblock %}{% endfilter %}{{ a }}{{ t_id(9) }}"),
        (
            "twice",
            "{% block b %}{% endblock %}{% if self.b() %}{{ t_id('t') }}{% endif %}{{ self.b()|length }}",
        ),
        ("looped", "{% for i in [1, 2] %}{% block b scoped %}{{ i }}{% endblock %}{% endfor %}"),
    ]
}

/// Fills the numbered holes of a form.
fn fill(form: &str, parts: &[String]) -> String {
    let mut text = form.to_owned();
    for (at, part) in parts.iter().enumerate() {
        text = text.replace(&format!("${at}"), part);
    }
    text
}

/// A form with its holes filled by what `part` makes.
fn filled(forms: &'static [&'static str], part: BoxedStrategy<String>) -> BoxedStrategy<String> {
    (select(forms), proptest::collection::vec(part, 3)).prop_map(|(form, parts)| fill(form, &parts)).boxed()
}

const LEAVES: &[&str] = &[
    "variables.s",
    "variables.n",
    "variables.l",
    "variables.o",
    "variables.e",
    "variables.d",
    "'x'",
    "1",
    "0",
    "''",
    "a",
    "b",
    "x",
    "none",
    "1.5",
    "p",
    "q",
    "d",
    "l",
    "it",
    "true",
];

const EXPRS: &[&str] = &[
    "t_id($0)",
    "t_id($0)",
    "t_id($0)",
    "t_flag($0)",
    "t_list($0)",
    "t_object($0)",
    "t_number($0)",
    "t_fail($0)",
    "($0)|string|upper",
    "($0)|default('d')",
    "($0)|default($1)",
    "($0)|default($1, true)",
    "($0)|tojson",
    "($0)|string|length",
    "($0)|string|replace('x', 'y')",
    "($0) is defined",
    "($0) is none",
    "($0) is string",
    "($0) is mapping",
    "($0) is eq($1)",
    "($0) is in([$1, $2])",
    "($0) is sameas($1)",
    "($0) in [$1]",
    "($0) not in [$1, $2]",
    "($0)|string in ($1)|string",
    "($0) == ($1)",
    "($0) != ($1)",
    "[$0] == [$1]",
    "($0) ~ ($1)",
    "(($0) ~ ($1)) ~ 'z'",
    "(($0) if ($1) else ($2))",
    "(($0) if ($1))|d",
    "[$0, $1]",
    "($0, $1)",
    "{'k': $0, 'j': $1}",
    "{'k': $0, 'j': $1}.k",
    "{'k': $0}.get('k', $1)",
    "dict(k=$0).k",
    "[$0, $1][0]",
    "[$0, $1]|first",
    "[$0, $1]|last",
    "[$0, $1]|length",
    "[$0, $1]|reverse|list",
    "[$0, $1, $2]|batch(2)|list|length",
    "[$0, $1]|map('string')|list",
    "[$0, $1]|map('default', $2)|list",
    "[{'a': $0}, {'a': $1}]|map(attribute='a')|list",
    "[{'a': $0}, {'a': $1}]|selectattr('a')|list|length",
    "[$0, $1]|select|list",
    "[$0, $1]|reject('eq', $2)|list",
    "[$0, $1]|join('-')",
    "[$0, $1] + [$2]",
    "[$0] * 2",
    "variables.no|default($0)",
    "variables.no is defined and ($0)",
    "t_object($0).a",
    "t_object($0).deep.c[0]",
    "t_list($0)[0]|default('d')",
    "t_list($0)|map('upper')|list",
    "not ($0)",
    "($0) and ($1)",
    "($0) or ($1)",
    "m($0)",
    "f($0)",
    "m2($0, $1)",
    "ns.v",
    "lib.v",
    "lib.f($0)",
    "cycler($0, $1).next()",
    "namespace(k=$0).k",
    "(l.pop() if l else $0)",
    "l|length",
    "'%s' % (($0)|string)",
    "'{}'.format($0)",
];

const STMTS: &[&str] = &[
    "{{ $e }}",
    "{{ $e }}",
    "{{ $e }}",
    "{{ $e }}",
    "{{ t_id($e) }}",
    "{{ t_id('q') }}",
    "{{ t_object('w') }}",
    "text ",
    "{% if $e %}$0{% else %}$1{% endif %}",
    "{% if t_flag('z') %}$0{% elif $e %}$1{% endif %}",
    "{% for it in [1, 'y', $e] %}$0{% endfor %}",
    "{% for it in [1, 'y', $e] %}$0{{ loop.index }}{% if loop.last %}$1{% endif %}{% endfor %}",
    "{% for it in [1, $e] if it %}$0{% else %}$1{% endfor %}",
    "{% for it in t_list($e) %}$0{% else %}$1{% endfor %}",
    "{% for it in [1, $e] %}{{ loop.nextitem|default('-') }}{% if loop.changed(it) %}$0{% endif %}{% endfor %}",
    "{% for it in [1, 2, 3] %}{% if it == 2 %}{% continue %}{% endif %}$0{% if $e %}{% break %}{% endif %}{% endfor %}",
    "{% for it in [[1], 2] recursive %}$0{% if it is sequence and it is not string %}{{ loop(it) }}{% endif %}{% endfor %}",
    "{% for it, p in [[1, $e], ['y', 2]] %}$0{% endfor %}",
    "{% set a = $e %}",
    "{% set b = $e %}",
    "{% set a = t_id($e) %}",
    "{% set b = t_flag($e) %}",
    "{% set a, b = $e, t_id('u') %}",
    "{% set p, q = [t_id('v'), $e] %}",
    "{% set a %}$0{% endset %}",
    "{% set a | upper %}$0{% endset %}",
    "{% set a | default($e) %}$0{% endset %}",
    "{% with a = $e %}$0{% endwith %}",
    "{% with a = t_id($e), b = a %}$0{% endwith %}",
    "{% filter upper %}$0{% endfilter %}",
    "{% filter replace('x', $e) %}$0{% endfilter %}",
    "{% macro m(x) %}$0{% endmacro %}",
    "{% macro m(x='d') %}{{ x }}$0{% endmacro %}{{ m() }}",
    "{% macro m2(x, y=$e) %}{{ x }}{{ y }}$0{% endmacro %}{{ m2(1) }}",
    "{% call around($e) %}$0{% endcall %}",
    "{% call(it) called($e) %}$0{% endcall %}",
    "{% include 'calls' %}",
    "{% include 'reads' %}",
    "{% include ['no', 'calls'] %}",
    "{% include ('rea' ~ 'ds') %}",
    "{% include 'calls' without context %}",
    "{% import 'module' as lib %}",
    "{% import 'module' as lib with context %}",
    "{% from 'module' import v as a, f %}",
    "{% set ns = namespace(v=$e) %}$0",
    "{% set ns.v = $e %}",
    "{% do t_id($e) %}",
    "{% do l.append($e) %}",
    "{% do d.update(k=$e) %}",
    "{{ d }}{{ l }}",
    "{% set f = t_number %}",
    "{% autoescape true %}$0{% endautoescape %}",
];

/// Statements that fail, or need what is missing.
const ERRORS: &[&str] =
    &["{{ variables.no }}", "{{ x.y.z }}", "{{ 1 // 0 }}", "{{ raise_exception('no') }}", "{{ $e }}"];

/// Gives the names that expressions use a meaning.
const NAMES: &str = "{% macro m(x) %}{{ x }}{% endmacro %}{% macro m2(x, y=2) %}{{ x }}{{ y }}{% endmacro %}\
    {% macro called(x) %}{{ x }}{{ caller(x) }}{% endmacro %}{% macro around(x) %}{{ x }}[{{ caller() }}]{% endmacro %}\
    {% set f = t_number %}{% set ns = namespace(v='n') %}\
    {% set p = 'p' %}{% set q = 'q' %}{% set it = 'it' %}{% set d = {'k': 0} %}{% set l = [1] %}{% import 'module' as lib %}";

const FRAMES: &[&str] = &[
    "$0$1$2",
    "$0$1$2",
    "$0$1$2",
    "$0{% block blk %}$1{% endblock %}$2",
    "{% block blk %}$0{% endblock %}{% if self.blk() %}$1{% endif %}$2",
];

/// Templates whose blocks see none of the names.
const EXTENDING: &[&str] = &[
    "{% extends 'base' %}{% block b %}{{ super() }}$0$1{% endblock %}",
    "{% extends 'middle' %}{% block b %}$0{{ super() }}$1{% endblock %}",
    "{% extends 'wrapped' %}{% block b %}$0$1{% endblock %}",
    "{% extends 'twice' %}{% block b %}$0$1{% endblock %}",
    "{% extends 'looped' %}{% block b %}$0{{ i }}{% endblock %}",
    "{% extends ('ba' ~ 'se') %}{% block b %}$0{% endblock %}$1",
];

/// Random templates.
pub fn template() -> BoxedStrategy<String> {
    let leaf = select(LEAVES).prop_map(str::to_owned).boxed();
    let expr = leaf.prop_recursive(3, 12, 3, |inner| filled(EXPRS, inner.boxed())).boxed();
    let simple = prop_oneof![
        60 => filled_stmt(STMTS, Just(String::new()).boxed(), expr.clone()),
        1 => filled_stmt(ERRORS, Just(String::new()).boxed(), expr.clone()),
    ];
    let stmt = simple.prop_recursive(3, 12, 3, move |inner| {
        let body = proptest::collection::vec(inner, 1..3).prop_map(|all| all.concat()).boxed();
        filled_stmt(STMTS, body, expr.clone())
    });
    let body = proptest::collection::vec(stmt, 1..4).prop_map(|all| all.concat());
    let plain = (select(FRAMES), proptest::collection::vec(body.clone(), 3))
        .prop_map(|(frame, parts)| format!("{NAMES}{}", fill(frame, &parts)));
    let extending = (select(EXTENDING), proptest::collection::vec(body, 2)).prop_map(|(frame, parts)| {
        let parts: Vec<String> = parts.into_iter().map(|part| format!("{NAMES}{part}")).collect();
        fill(frame, &parts)
    });
    prop_oneof![4 => plain, 1 => extending].boxed()
}

fn filled_stmt(
    forms: &'static [&'static str],
    body: BoxedStrategy<String>,
    expr: BoxedStrategy<String>,
) -> BoxedStrategy<String> {
    (select(forms), expr, proptest::collection::vec(body, 2))
        .prop_map(|(form, expr, bodies)| fill(&form.replace("$e", &expr), &bodies))
        .boxed()
}
