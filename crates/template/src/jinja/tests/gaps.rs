//! Gaps of failed calls, places of missing values, and lenient mode.

use super::*;

/// The missing values of a template, with their places: `path template:line:column`.
fn places(world: &World, source: &str) -> Vec<String> {
    let Err(RunError::Missing(missing)) = world.render(source) else { panic!("{source}") };
    let shown = |miss: &crate::MissingValue| {
        let place = miss.position.as_ref().unwrap();
        format!("{} {}:{}:{}", miss.path, place.template, place.line, place.column.unwrap())
    };
    missing.iter().map(shown).collect()
}

#[test]
fn a_missing_value_names_where_its_operand_begins() {
    let world = World::of(r#"{"l":[{"a":1},{"b":2}],"o":{}}"#);
    for (source, expected) in [
        ("{{ variables.x }}", &["variables.x main:1:4"][..]),
        ("ä{{ 'ö' ~ variables.x.y }}", &["variables.x.y main:1:11"]),
        ("\n\n  {{ 1 + variables.x * 2 }}", &["variables.x main:3:10"]),
        ("{{ [1, variables.x]|join }}", &["variables.x main:1:8"]),
        ("{{ variables.x|upper|lower }}", &["variables.x main:1:4"]),
        ("{{ variables.x }}\n{{ variables.x }}", &["variables.x main:1:4"]),
        (
            "{% for i in variables.l %}\n{{ i.a }}{{ i.b }}{% endfor %}",
            &["variables.l[0].b main:2:13", "variables.l[1].a main:2:4"],
        ),
        ("{% if variables.x %}{% endif %}\n{{ variables.x }}", &["variables.x main:2:4"]),
        (
            "{{ variables.l[5] }}{{ variables['p q'] }}{{ variables.o['x'].y[2] }}",
            &["variables.l[5] main:1:4", "variables.o.x.y[2] main:1:46", "variables.p q main:1:24"],
        ),
    ] {
        let found = places(&world, source);
        let lines: Vec<&str> = found.iter().map(|shown| shown.rsplit_once(':').unwrap().0).collect();
        let wanted: Vec<&str> = expected.iter().map(|shown| shown.rsplit_once(':').unwrap().0).collect();
        assert_eq!(lines, wanted, "{source}");
        if source != "{{ [1, variables.x]|join }}" {
            assert_eq!(found, expected, "{source}");
        }
    }
}

#[test]
fn a_missing_value_names_the_text_that_needs_it() {
    let world = World::of("{}")
        .with("part", "\n {{ variables.x }}")
        .with("base", "{% block b %}{{ variables.y }}{% endblock %}\n{{ variables.z }}")
        .with("macros", "{% macro m(a) %}{{ a }}\n{{ nothing }}{% endmacro %}");
    for (source, expected) in [
        ("{% include 'part' %}", &["variables.x demo.part:2:5"][..]),
        (
            "{% include 'pa' ~ 'rt' %}{{ variables.w }}",
            &["variables.w main:1:29", "variables.x demo.part:2:5"],
        ),
        (
            "{% extends 'base' %}{% block b %}{{ super() }}{{ variables.v }}{% endblock %}",
            &["variables.v main:1:50", "variables.y demo.base:1:17", "variables.z demo.base:2:4"],
        ),
        ("{% from 'macros' import m %}{{ m(1) }}", &["nothing demo.macros:2:4"]),
    ] {
        assert_eq!(places(&world, source), expected, "{source}");
    }
}

#[test]
fn a_gap_prints_nothing_and_is_false() {
    let world = World::of(r#"{"l":[1]}"#);
    for (source, expected) in [
        ("[{{ broken() }}]", "[]"),
        ("{{ broken()|default('d') }}{{ broken()|d }}{{ broken() or 'o' }}{{ not broken() }}", "doTrue"),
        ("{{ broken() is defined }}{{ broken() is undefined }}{{ broken() is none }}", "FalseTrueFalse"),
        ("{% if broken() %}a{% else %}b{% endif %}{{ 'x' if broken() else 'y' }}", "by"),
        ("[{{ broken().a.b[0] }}{{ broken()['x'] }}{{ broken()|upper }}{{ broken()|length }}]", "[]"),
        ("{% for x in broken() %}{{ x }}{% else %}none{% endfor %}", "none"),
        ("{{ 'a' ~ broken() ~ 'b' }}{{ [1, broken(), 2]|join('-') }}", "ab1--2"),
        ("{{ broken() + 'x' }}{{ 2 * broken() }}{{ 5 - broken() }}{{ -broken() }}", "x25"),
        (
            "{{ broken() == 1 }}{{ broken() != 1 }}{{ broken() < 1 }}{{ broken() in [1] }}{{ 1 in broken() }}",
            "FalseTrueFalseFalseFalse",
        ),
        ("[{{ echo(broken()) }}{{ echo(1, a=broken()) }}]", "[]"),
        ("{{ echo([broken(), 1])|tojson }}{{ echo({'a': broken()})|tojson }}", r#"[null, 1]{"a": null}"#),
        ("{{ [broken()]|tojson }}", "[null]"),
        ("{% set a, b = broken() %}[{{ a }}{{ b }}]", "[]"),
        ("{% set x %}{{ broken() }}{% endset %}[{{ x }}]", "[]"),
        (
            "{% macro m(a, b='d') %}{{ a }}{{ b }}{% endmacro %}[{{ m(broken()) }}]{{ broken()() }}{{ broken().m() }}",
            "[d]",
        ),
        (
            "{% include broken() %}{% include broken() ignore missing %}{% import broken() as m %}[{{ m.x }}]",
            "[]",
        ),
    ] {
        world.shows(source, expected);
    }
    let world = World::of("{}");
    world.shows("{{ echo(broken()) }}{{ echo(broken().x) }}", "");
    assert!(
        world.tools.0.lock().unwrap().iter().all(|(name, _)| name == "broken"),
        "no call is made with a gap"
    );
}

#[test]
fn a_member_that_the_result_of_a_function_lacks_is_missing() {
    let world = World::of("{}");
    world.misses("{{ lookup('x').nothing }}", &["(an expression).nothing"]);
    world.misses("{{ lookup('x').hits[7].title }}", &["(an expression)[7].title"]);
    world.shows("{{ lookup('x').nothing|default('d') }}{{ lookup('x').a.b is defined }}", "dFalse");
}

#[test]
fn a_call_with_a_missing_argument_is_not_made() {
    let world = World::of("{}");
    world.misses(
        "{{ echo(variables.a, x=variables.b) }}{{ lookup(variables.c.d) }}",
        &["variables.a", "variables.b", "variables.c.d"],
    );
    world.misses("{{ echo([variables.a]) }}{{ echo({'k': variables.b}) }}", &["variables.a", "variables.b"]);
    assert!(world.tools.0.lock().unwrap().iter().all(|(_, arguments)| arguments.named.is_empty()));
}

#[test]
fn lenient_templates_print_nothing_for_missing_values() {
    let mut world = World::of(r#"{"l":[1],"o":{"a":1}}"#);
    world.run.undefined = Undefined::Lenient;
    for (source, expected) in [
        ("[{{ variables.x }}{{ nobody }}{{ variables.o.b }}{{ variables.l[7] }}]", "[]"),
        ("{% for i in variables.x %}a{% else %}b{% endfor %}{{ variables.x|length }}", "b0"),
        ("{{ 'a' ~ variables.x ~ 'b' }}{{ variables.x|upper }}{{ [variables.x]|join }}", "ab"),
        (
            "{{ variables.x == variables.y }}{{ variables.x == 1 }}{{ variables.x is defined }}",
            "TrueFalseFalse",
        ),
        ("{{ variables.x|default('d') }}{{ variables.x or 'o' }}{{ [variables.x] }}", "do[Undefined]"),
        ("{% macro m(a) %}[{{ a }}]{% endmacro %}{{ m() }}{{ m(variables.x) }}", "[][]"),
        ("{{ variables.x|list }}{{ 'x' in variables.y }}{{ variables.x|join(',') }}", "[]False"),
    ] {
        world.shows(source, expected);
    }
    for source in
        ["{{ variables.x + 1 }}", "{{ variables.x.y }}", "{{ variables.x < 1 }}", "{{ variables.x|abs }}"]
    {
        assert!(
            matches!(world.render(source), Err(RunError::Missing(_) | RunError::Failed { .. })),
            "{source}"
        );
    }
}
