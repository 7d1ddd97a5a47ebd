//! Random templates that call tools, and the partials that they use.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use template::Syntax;

/// The partials of a dialect, by name.
pub fn partials(syntax: Syntax) -> BTreeMap<&'static str, &'static str> {
    BTreeMap::from(match syntax {
        Syntax::Go => [
            ("calls", "{{t_id 5}}{{t_id 6}}"),
            ("reads", "{{if .}}{{t_id 8}}{{end}}{{.}}"),
            ("module", ""),
            ("base", ""),
            ("wrapped", ""),
        ],
        _ => [
            ("calls", "{{ t_id(5) }}{{ t_id(6) }}"),
            ("reads", "{% if a is defined and a %}{{ t_id(8) }}{% endif %}{{ a }}"),
            ("module", "{% set v = t_id(4) %}{% macro f(x) %}<{{ t_id(x) }}>{% endmacro %}"),
            ("base", "[{% block b %}{% endblock %}]{{ t_id(9) }}"),
            ("wrapped", "{% filter upper %}{% block b %}{% endblock %}{% endfilter %}{{ a }}{{ t_id(9) }}"),
        ],
    })
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

const JINJA_LEAVES: &[&str] = &[
    "variables.s",
    "variables.n",
    "variables.l",
    "variables.o",
    "variables.e",
    "'x'",
    "1",
    "0",
    "''",
    "a",
    "b",
    "x",
];

const JINJA_EXPRS: &[&str] = &[
    "t_id($0)",
    "t_id($0)",
    "t_flag($0)",
    "t_list($0)",
    "t_object($0)",
    "t_number($0)",
    "t_fail($0)",
    "t_spare($0)",
    "($0)|string|upper",
    "($0)|default('d')",
    "($0)|default($1)",
    "($0)|tojson",
    "($0)|string|length",
    "($0) is defined",
    "($0) is none",
    "($0) in [$1]",
    "($0) == ($1)",
    "($0) != ($1)",
    "($0) ~ ($1)",
    "(($0) ~ ($1)) ~ 'z'",
    "($0) ~ ($1) ~ 'z'",
    "($0) if ($1) else ($2)",
    "[$0, $1]",
    "{'k': $0}",
    "t_object($0).a",
    "t_object($0).deep",
    "t_list($0)[0]|default('d')",
    "variables.no|default($0)",
    "not ($0)",
    "($0) and ($1)",
    "($0) or ($1)",
    "m($0)",
    "f($0)",
    "ns.v",
    "($0)|list|first",
    "[$0, $1]|join('-')",
    "t_list($0)|map('upper')|list",
    "lib.v",
    "lib.f($0)",
];

const JINJA_STMTS: &[&str] = &[
    "{{ $e }}",
    "{{ $e }}",
    "{{ $e }}",
    "{{ variables.no }}",
    "{{ $e }}{{ x.y.z }}",
    "{{ t_id($e) }}",
    "{{ t_id('q') }}",
    "{{ t_object('w') }}",
    "text ",
    "{% if $e %}$0{% else %}$1{% endif %}",
    "{% for x in [1, 'y', $e] %}$0{% endfor %}",
    "{% for x in t_list($e) %}$0{% else %}$1{% endfor %}",
    "{% set a = $e %}",
    "{% set b = $e %}",
    "{% set a = t_id($e) %}",
    "{% set b = t_flag($e) %}",
    "{% set a = t_list('n') if $e else t_id('o') %}",
    "{% set a %}$0{% endset %}",
    "{% set a | upper %}$0{% endset %}",
    "{% with a = $e %}$0{% endwith %}",
    "{% with a = t_id($e), b = a %}$0{% endwith %}",
    "{% filter upper %}$0{% endfilter %}",
    "{% macro m(x) %}$0{% endmacro %}",
    "{% macro m(x='d') %}{{ x }}$0{% endmacro %}{{ m() }}",
    "{% call m($e) %}$0{% endcall %}",
    "{% include 'calls' %}",
    "{% include 'reads' %}",
    "{% import 'module' as lib %}",
    "{% from 'module' import v as a, f %}",
    "{% set ns = namespace(v=$e) %}$0",
    "{% set ns.v = $e %}",
    "{% do t_id($e) %}",
    "{% set f = t_number %}",
    "{% set a, b = $e, t_id('u') %}",
];

const GO_LEAVES: &[&str] = &[
    "$.variables.s",
    "$.variables.n",
    "$.variables.l",
    "$.variables.o",
    "$.variables.e",
    "\"x\"",
    "1",
    "\"\"",
    "$a",
    "$b",
    "$",
];

const GO_EXPRS: &[&str] = &[
    "(t_id $0)",
    "(t_id $0)",
    "(t_flag $0)",
    "(t_list $0)",
    "(t_object $0)",
    "(t_number $0)",
    "(t_fail $0)",
    "(t_spare $0)",
    "($0 | t_id)",
    "(t_flag $0 | t_number)",
    "(list $0 $1)",
    "(dict \"k\" $0)",
    "(default $0 $1)",
    "(eq (print $0) (print $1))",
    "(default $0 $.variables.no)",
    "(and $0 $1)",
    "(or $0 $1)",
    "(not $0)",
    "(printf \"%v\" $0)",
    "(print $0 $1)",
    "(len (list $0))",
    "(index (list $0 $1) 0)",
    "(t_object $0).a",
    "(t_object $0).deep",
    "(toJson $0)",
];

const GO_STMTS: &[&str] = &[
    "{{$e}}",
    "{{$e}}",
    "{{$e}}",
    "{{$.variables.no}}",
    "{{t_id $e}}",
    "{{t_id \"q\"}}",
    "{{t_object \"w\"}}",
    "text ",
    "{{if $e}}$0{{else}}$1{{end}}",
    "{{range list 1 \"y\" $e}}$0{{end}}",
    "{{range $i, $b := t_list $e}}$0{{else}}$1{{end}}",
    "{{range t_list $e}}$0{{break}}{{end}}",
    "{{with $e}}$0{{else}}$1{{end}}",
    "{{$a = $e}}",
    "{{$b = $e}}",
    "{{$a = t_id $e}}",
    "{{$b := t_flag $e}}$0",
    "{{with $a := t_id $e}}$0{{end}}",
    "{{template \"calls\" .}}",
    "{{template \"reads\" $e}}",
    "{{template \"reads\" (t_id $e)}}",
];

/// Gives the names that expressions use a meaning.
const NAMES: &str = "{% macro m(x) %}{{ x }}{% endmacro %}{% set f = t_number %}{% set ns = namespace(v='n') %}{% import 'module' as lib %}$0$1$2";

/// Random templates of a dialect.
pub fn template(syntax: Syntax) -> BoxedStrategy<String> {
    let (leaves, exprs, stmts, frame) = match syntax {
        Syntax::Go => (GO_LEAVES, GO_EXPRS, GO_STMTS, "{{$a := 1}}{{$b := \"\"}}$0$1$2"),
        _ => (JINJA_LEAVES, JINJA_EXPRS, JINJA_STMTS, "$0$1$2"),
    };
    let leaf = select(leaves).prop_map(str::to_owned).boxed();
    let expr = leaf.prop_recursive(3, 12, 3, move |inner| filled(exprs, inner.boxed())).boxed();
    let simple = filled_stmt(stmts, Just(String::new()).boxed(), expr.clone());
    let stmt = simple.prop_recursive(3, 12, 3, move |inner| {
        let body = proptest::collection::vec(inner, 1..3).prop_map(|all| all.concat()).boxed();
        filled_stmt(stmts, body, expr.clone())
    });
    let body = proptest::collection::vec(stmt, 1..5).prop_map(|all| all.concat());
    let whole = proptest::collection::vec(body, 3);
    let frames: Vec<&'static str> = match syntax {
        Syntax::Go => vec![frame],
        _ => vec![
            frame,
            NAMES,
            NAMES,
            NAMES,
            "{% extends 'base' %}$0{% block b %}$1{% endblock %}$2",
            "{% extends 'wrapped' %}$0{% block b %}$1{% endblock %}$2",
            "$0{% block blk %}$1{% endblock %}$2",
        ],
    };
    (select(frames), whole).prop_map(|(frame, parts)| fill(frame, &parts)).boxed()
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
