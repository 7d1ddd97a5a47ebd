//! Values and texts that grow without end: each template ends in its limit.

use super::*;

fn world() -> World {
    World::new(
        r#"{"n":2}"#,
        r#"{"s":"abc","l":[1,2,3],"big":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#,
    )
}

#[track_caller]
fn passes(source: &str, limit: &str) {
    world().ends(source, limit);
}

/// Asserts that a value becomes too large.
#[track_caller]
fn too_large(source: &str) {
    let result = world().render(source);
    let shown: String = format!("{result:?}").chars().take(300).collect();
    assert!(matches!(result, Err(RunError::Limit { what: "string" | "memory", .. })), "{source}: {shown}");
}

#[test]
fn one_operation_cannot_make_a_huge_text() {
    for source in [
        "{{ 'a' * 10**9 }}",
        "{{ variables.s * 10**9 }}",
        "{{ 10**9 * 'a' }}",
        "{{ 'a' * 10**30 }}",
        "{{ 'x'|center(10**9) }}",
        "{{ 'x'.center(10**30) }}",
        "{{ 'x'.ljust(10**9) }}",
        "{{ 'x'.rjust(10**18) }}",
        "{{ 'x'.zfill(10**9) }}",
        "{{ '\t'.expandtabs(10**9) }}",
        "{{ 'a'|replace('', 'b' * 40000000) }}",
        "{{ ('ab' * 1000000).replace('', 'b' * 1000) }}",
        "{{ '%999999999d'|format(1) }}",
        "{{ '%*d'|format(999999999, 1) }}",
        "{{ '%.999999999f'|format(1) }}",
        "{{ '%.999999999d' % 1 }}",
        "{{ '{:>999999999}'.format(1) }}",
        "{{ '{:{}}'.format(1, 999999999) }}",
        "{{ '{:.999999999f}'.format(1.5) }}",
        "{{ '{:0999999999d}'.format(1) }}",
        "{{ 'a\nb'|indent(10**9) }}",
        "{{ 'a\nb'|indent(width=18446744073709551615) }}",
        "{{ ('a\n' * 100000)|indent(10000) }}",
        "{{ ('a ' * 10000)|wordwrap(1, wrapstring='x' * 10000) }}",
        "{{ ('x' * 10000).join(range(10000)|map('string')) }}",
        "{{ range(10000)|join('x' * 10000) }}",
        "{{ [1, [2, [3]]]|tojson(indent=60000000) }}",
        "{{ [1]|tojson(indent=10**12) }}",
        "{{ 'x x'.translate({120: 'y' * 30000000}) ~ '' }}",
        "{{ ('http://a.com ' * 1000)|urlize(rel='x' * 1000000) }}",
        "{% filter center(10**9) %}x{% endfilter %}",
        "{% set x | indent(10**9, true) %}x{% endset %}",
        "{{ {'a': 'x' * 30000000}|urlencode }}",
        "{{ ['x' * 1000000] * 100 }}",
    ] {
        too_large(source);
    }
}

#[test]
fn a_text_that_doubles_comes_to_an_end() {
    for step in [
        "ns.s ~ ns.s",
        "ns.s + ns.s",
        "ns.s * 2",
        "2 * ns.s",
        "[ns.s, ns.s]|join",
        "ns.s|replace('x', 'xx')",
        "ns.s.replace('x', 'xx')",
        "'%s%s'|format(ns.s, ns.s)",
        "'%s%s' % (ns.s, ns.s)",
        "'{0}{0}'.format(ns.s)",
        "ns.s.join([ns.s, ns.s])",
        "ns.s.translate({120: ns.s})",
        "[ns.s, ns.s]|string",
        "{'a': ns.s, 'b': ns.s}|tojson",
        "(ns.s ~ '\n' ~ ns.s)|indent(ns.s)",
        "(ns.s ~ ns.s)|pprint",
        "(ns.s ~ ns.s).encode().decode()",
    ] {
        let source = format!(
            "{{% set ns = namespace(s='xx') %}}{{% for i in range(34) %}}{{% set ns.s = {step} %}}{{% endfor %}}"
        );
        too_large(&source);
    }
}

#[test]
fn lists_and_mappings_cannot_grow_without_end() {
    for source in [
        "{{ [0] * 10**9 }}",
        "{{ variables.l * 10**9 }}",
        "{{ (1,) * 10**9 }}",
        "{{ range(10**9)|list }}",
        "{{ range(10**9)|sort }}",
        "{{ range(10**9)|reverse|list }}",
        "{{ range(10**9)|batch(3)|list }}",
        "{{ [1]|batch(10**9, 0)|list }}",
        "{{ [1]|slice(10**9)|list }}",
        "{{ cycler(*range(10**9)) }}",
        "{{ '{}'.format(*range(10**9)) }}",
        "{{ ('x,' * 4000000).split(',')|length }}",
        "{{ ('x' * 4000000)|list|length }}",
        "{{ ('\n' * 8000000).splitlines()|length }}",
        "{{ ([[0] * 1000] * 10000)|sum(start=[])|length }}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(34) %}{% set ns.l = ns.l + ns.l %}{% endfor %}",
        "{% set l = [1] %}{% for i in range(34) %}{% do l.extend(l) %}{% endfor %}",
        "{% set l = [] %}{% for i in range(10**7) %}{% do l.append('x' * 100) %}{% endfor %}",
        "{% set d = {} %}{% for i in range(10**7) %}{% do d.update({i: i}) %}{% endfor %}",
        "{% set ns = namespace() %}{% for i in range(10**7) %}{% set ns.a = [i] %}{% endfor %}",
        "{% set ns = namespace(t=(1,)) %}{% for i in range(40) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}{{ {ns.t: 1} }}",
        "{% set ns = namespace(l=[1]) %}{% for i in range(40) %}{% set ns.l = [ns.l, ns.l] %}{% endfor %}{{ echo(ns.l) }}",
    ] {
        too_large(source);
    }
}

#[test]
fn numbers_cannot_grow_without_end() {
    for source in [
        "{{ 2 ** (10 ** 9) }}",
        "{{ 2 ** (2 ** (2 ** (2 ** 5))) }}",
        "{{ -3 ** (10 ** 100) }}",
        "{% set ns = namespace(n=3) %}{% for i in range(100) %}{% set ns.n = ns.n * ns.n %}{% endfor %}",
        "{{ 1|round(10**9, 'floor') }}",
    ] {
        too_large(source);
    }
    world().shows("{{ 1 ** (10 ** 30) }}{{ 0 ** (10 ** 30) }}{{ (-1) ** (10 ** 30 + 1) }}", "10-1");
    world().shows("{{ 1.5|round(10**9) }} {{ 12345|round(-(10**9)) }}", "1.5 0");
    assert!(matches!(world().render("{{ 10 ** 5000 }}"), Err(RunError::Failed { .. })));
}

#[test]
fn what_is_large_but_never_made_costs_nothing() {
    for (source, expected) in [
        (
            "{{ range(10**18)|length }}{{ 5 in range(10**18) }}{{ range(10**18)[10**17] }}",
            "1000000000000000000True100000000000000000",
        ),
        (
            "{{ range(10**9)|first }}{{ range(10**9)|last }}{{ range(10**9)[5:8]|list }}",
            "0999999999[5, 6, 7]",
        ),
        ("{{ 'x'|truncate(10**9) }}{{ 'abc'[:10**9] }}{{ 'abc'[10**30] is defined }}", "xabcFalse"),
        ("{{ '%.1000000000s'|format('x') }}{{ 'x'.split('x', 10**9) }}", "x['', '']"),
        ("{% for x in range(10**9) %}{{ x }}{% if x == 3 %}{% break %}{% endif %}{% endfor %}", "0123"),
    ] {
        world().shows(source, expected);
    }
}

#[test]
fn output_cannot_grow_beyond_the_limit() {
    for source in [
        "{% for i in range(100000) %}{{ variables.big }}{{ variables.big }}{% endfor %}",
        "{% set x %}{% for i in range(100000) %}{{ variables.big }}{% endfor %}{% endset %}",
        "{% for i in range(100000) %}0123456789012345678901234567890123456789012345678901234567890123456789{% endfor %}",
        "{% set x %}{% for i in range(100000) %}0123456789012345678901234567890123456789012345678901234567890123456789{% endfor %}{% endset %}",
        "{% macro m() %}{% for i in range(100000) %}{{ variables.big }}{% endfor %}{% endmacro %}{% set x = m() %}",
        "{% for i in range(40) %}{% set s %}{{ 'x' * 1000000 }}{% endset %}{% endfor %}",
        "{% for n in [[[1], [1]]] * 10 recursive %}{{ 'y' * 1000000 }}{% endfor %}",
        "{% macro m(n) %}{{ 'x' * 500000 }}{% if n %}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(9) }}",
        "{{ ['x'] * 1000000 }}",
    ] {
        passes(source, "output");
    }
}

#[test]
fn plain_text_of_macros_blocks_and_partials_counts() {
    let long = "y".repeat(100_000);
    let world = world()
        .with("long", &long)
        .with("base", "{% for i in range(1000) %}{% block b %}{% endblock %}{% endfor %}");
    for source in [
        "{% for i in range(1000) %}{% include 'long' %}{% endfor %}".to_owned(),
        "{% set x %}{% for i in range(1000) %}{% include 'lo' ~ 'ng' %}{% endfor %}{% endset %}".to_owned(),
        "{% for i in range(1000) %}{% import 'long' as l %}{% endfor %}".to_owned(),
        format!(
            "{{% macro m() -%}} {long} {{%- endmacro %}}{{% for i in range(1000) %}}{{% set x = m() %}}{{% endfor %}}"
        ),
        format!("{{% extends 'base' %}}{{% block b %}}{long}{{% endblock %}}"),
        format!(
            "{{% macro m() %}}{{% for i in range(1000) %}}{{{{ caller() }}}}{{% endfor %}}{{% endmacro %}}{{% call m() %}}{long}{{% endcall %}}"
        ),
        format!("{{% for i in [1, 2, 3] * 1000 recursive %}}{long}{{% continue %}}{{% endfor %}}"),
    ] {
        let result = world.render(&source);
        let head: String = source.chars().take(60).collect();
        let text = format!("{result:?}").chars().take(200).collect::<String>();
        assert!(matches!(result, Err(RunError::Limit { what: "output", .. })), "{head}: {text}");
    }
    let text = format!("{{% macro m() -%}} {long}  {{%- endmacro %}}{{{{ m()|length }}}}");
    world.shows(&text, "100000");
}

#[test]
fn memory_cannot_be_hoarded_in_many_names() {
    let texts: String = (0..400).map(|n| format!("{{% set a{n} = 'x' * 4000000 %}}")).collect();
    passes(&texts, "memory");
    let macros = "{% for i in range(10**7) %}{% macro m() %}{{ i }}{% endmacro %}{% endfor %}";
    passes(macros, "memory");
}

#[test]
fn messages_do_not_quote_without_end() {
    for source in [
        "{{ raise_exception('x' * 1000000) }}",
        "{% include ['x' * 1000000] * 10 %}",
        "{% include ['nope'] * 10000 %}",
        "{{ {}.pop('x' * 1000000) }}",
        "{{ [].index('x' * 1000000) }}",
        "{{ 'a'|map('x' * 1000000)|list }}",
    ] {
        match world().render(source) {
            Err(RunError::Failed { message, .. }) => assert!(message.len() < 5_000, "{source}"),
            other => panic!("{source}: {other:?}"),
        }
    }
}
