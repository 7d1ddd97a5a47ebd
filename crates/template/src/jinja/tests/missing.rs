//! Values that are not there.

use super::*;

fn world() -> World {
    World::new(
        r#"{"vscode":{"language":"rust"}}"#,
        r#"{"user":{"name":"Ada"},"docs":[{"title":"a"},{"text":"b"},{"text":"c"}],"nothing":null,"empty":""}"#,
    )
}

#[test]
fn every_missing_value_is_in_one_error() {
    world().misses(
        "{{ variables.a }}{{ variables.user.mail.host }}{% for d in variables.docs %}{{ d.title }}{% endfor %}{{ nobody.knows }}{{ vscode.x }}",
        &["nobody.knows", "variables.a", "variables.docs[1].title", "variables.docs[2].title", "variables.user.mail.host", "vscode.x"],
    );
    world().misses(
        "{{ args.a }}{{ variables.docs[7] }}{{ variables.docs[0]['x'] }}",
        &["variables.a", "variables.docs[0].x", "variables.docs[7]"],
    );
}

#[test]
fn every_use_of_a_missing_value_is_found() {
    for source in [
        "{{ variables.x }}",
        "{{ variables.x|upper }}",
        "{{ variables.x|tojson }}",
        "{{ variables.x|length }}",
        "{{ 'a'|replace('a', variables.x) }}",
        "{% for y in variables.x %}{% endfor %}",
        "{{ 'a' ~ variables.x }}",
        "{{ 'a' + variables.x }}",
        "{{ 2 * variables.x }}",
        "{{ variables.x == 'a' }}",
        "{% if 'a' != variables.x %}{% endif %}",
        "{{ 1 < variables.x < 3 }}",
        "{{ 'a' in variables.x }}",
        "{{ variables.x in 'abc' }}",
        "{{ variables.x not in ['a'] }}",
        "{{ [variables.x] }}",
        "{{ {'a': variables.x}|tojson }}",
        "{{ variables.x.upper() }}",
        "{{ ','.join([variables.x]) }}",
        "{{ echo(variables.x) }}",
        "{{ echo(a=variables.x) }}",
        "{% set y = variables.x %}{{ y }}",
        "{% set y %}{{ variables.x }}{% endset %}",
        "{% macro m(a) %}{{ a }}{% endmacro %}{{ m(variables.x) }}",
        "{{ variables.x is eq('a') }}",
        "{{ [1]|map('replace', variables.x, '')|list }}",
        "{{ variables.x[0:2] }}",
        "{{ (variables.x or variables.x) ~ '' }}",
        "{% filter replace('a', variables.x) %}a{% endfilter %}",
        "{{ variables.x + 1 }}",
        "{{ 1 + variables.x }}",
        "{{ 1 + variables.x + 2 }}",
        "{{ 3 - variables.x }}",
        "{{ variables.x / 2 // 2 % 2 ** variables.x }}",
        "{{ -variables.x }}",
        "{{ (variables.x + variables.x) * 2 }}",
        "{{ range(variables.x)|list }}",
    ] {
        world().misses(source, &["variables.x"]);
    }
    world().misses(
        "{{ variables.docs|map(attribute='title')|join }}",
        &["variables.docs[1].title", "variables.docs[2].title"],
    );
    world().misses(
        "{{ variables.a - 1 }}{{ 'a' + variables.b + 'c' }}{{ 2 * variables.c + 1 }}{{ variables.d }}",
        &["variables.a", "variables.b", "variables.c", "variables.d"],
    );
    assert!(world().tools.0.lock().unwrap().is_empty(), "no call is made with a value that is missing");
}

#[test]
fn testing_a_missing_value_is_allowed_at_any_depth() {
    let world = world();
    for (source, expected) in [
        ("{% if variables.x %}a{% else %}b{% endif %}", "b"),
        ("{% if nobody.knows.this %}a{% else %}b{% endif %}", "b"),
        ("{{ 'yes' if variables.x.y.z else 'no' }}", "no"),
        (
            "{{ variables.x is defined }}{{ variables.x.y is defined }}{{ variables.user is defined }}",
            "FalseFalseTrue",
        ),
        ("{{ variables.x is undefined }}{{ variables.x is not defined }}", "TrueTrue"),
        (
            "{{ variables.x|default('d') }}{{ variables.x.y|d('e') }}{{ variables.user.name|default('f') }}",
            "deAda",
        ),
        (
            "{{ variables.empty|default('g', true) }}{{ variables.empty|default('h') }}{{ variables.x|default }}",
            "g",
        ),
        ("{{ variables.x or 'o' }}{{ not variables.x }}{{ (variables.x and 1) is defined }}", "oTrueFalse"),
        (
            "{{ variables.x is none }}{{ variables.x is string }}{{ variables.x is mapping }}",
            "FalseFalseFalse",
        ),
        (
            "{{ variables.nothing is none }}{{ variables.nothing is defined }}{{ variables.nothing }}",
            "TrueTrueNone",
        ),
        ("{% set y = variables.x %}{% if y %}a{% endif %}{{ y is defined }}", "False"),
        ("{% if variables['x'] %}a{% endif %}{% if variables.docs[9] %}b{% endif %}c", "c"),
        ("{{ variables.docs|selectattr('title')|list|length }}", "1"),
        ("{{ variables.docs|selectattr('title', 'defined')|list|length }}", "1"),
        ("{% if variables.x[0].y %}a{% endif %}{{ nobody[1][2]|default('e') }}", "e"),
    ] {
        world.shows(source, expected);
    }
}

#[test]
fn values_that_the_template_made_are_strict_too() {
    world().misses("{% set d = {'a': 1} %}{{ d.b }}", &["(an expression).b"]);
    world().misses(
        "{{ variables.x }}{% set ns = namespace() %}{{ ns.foo }}",
        &["(an expression).foo", "variables.x"],
    );
    world().shows(
        "{% set d = {'a': 1} %}{% if d.b %}x{% endif %}{{ d.b is defined }}{{ d.b|default('z') }}",
        "Falsez",
    );
    world().misses("{{ 'a'.foo ~ 'b' }}", &["(an expression).foo"]);
}

#[test]
fn what_is_missing_counts_more_than_how_the_run_ended() {
    world().misses("{{ variables.x }}{{ 1 / 0 }}", &["variables.x"]);
    assert!(matches!(world().render("{{ 1 / 0 }}"), Err(RunError::Failed { .. })));
}

#[test]
fn an_error_names_its_place_in_the_text_of_the_author() {
    let error = world().render("line one\n{{ 'ä' ~ 'b' ~ 1 }} {{ 'x'|round }}").unwrap_err();
    let RunError::Failed { message, position: Some(position) } = error else { panic!("{error:?}") };
    assert_eq!(message, "type str doesn't define __round__ method");
    assert_eq!((position.template.as_str(), position.line, position.column), ("main", 2, Some(24)));
}

#[test]
fn filters_and_tests_that_do_not_exist_are_errors_of_the_text() {
    for (source, expected, column) in [
        ("{{ a | nofilter }}", "No filter named 'nofilter'.", 8),
        ("{{ a is not notest }}", "No test named 'notest'.", 13),
        ("{% filter nofilter(1) %}{% endfilter %}", "No filter named 'nofilter'.", 11),
    ] {
        let Err(CompileError::Invalid { message, position }) = world().compile(source) else {
            panic!("{source}")
        };
        assert_eq!((message.as_str(), position.unwrap().column), (expected, Some(column)), "{source}");
    }
}

#[test]
fn a_missing_value_names_the_place_of_its_first_use() {
    let error = world()
        .render("a\n{{ 1 ~ variables.x }}\n{% for d in variables.docs %}\n {{ d.title }}{% endfor %}")
        .unwrap_err();
    let RunError::Missing(missing) = error else { panic!("{error:?}") };
    let lines: Vec<_> =
        missing.iter().map(|miss| miss.position.as_ref().map(|place| (place.line, place.column))).collect();
    assert_eq!(lines, [Some((4, Some(5))), Some((4, Some(5))), Some((2, Some(8)))]);
}
