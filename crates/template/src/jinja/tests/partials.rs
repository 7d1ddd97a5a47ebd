//! Templates of several texts.

use super::*;

#[test]
fn partials_are_included_imported_and_extended() {
    let world = World::of(r#"{"n":"Ada"}"#)
        .with("hello", "Hello {{ variables.n ~ '!' }}")
        .with("macros", "{% macro bold(x) %}**{{ x }}**{% endmacro %}{% set version = 3 %}")
        .with("base", "<{% block body %}default{% endblock %}|{% block foot %}foot{% endblock %}>");
    world.shows("{% include 'hello' %}", "Hello Ada!");
    world.shows("{% import 'macros' as m %}{{ m.bold('a') }}{{ m.version }}", "**a**3");
    world.shows("{% from 'macros' import bold as b %}{{ b('x' ~ 'y') }}", "**xy**");
    world
        .shows("{% extends 'base' %}{% block body %}mine {{ super() }}{% endblock %}", "<mine default|foot>");
    world.shows("{% include ['nope', 'hello'] %}{% include 'nope' ignore missing %}", "Hello Ada!");
    world.shows("{% set which = 'hel' ~ 'lo' %}{% include which %}", "Hello Ada!");
}

#[track_caller]
fn invalid(world: &World, source: &str, part: &str) {
    match world.compile(source).err() {
        Some(CompileError::Invalid { message, position: Some(_) }) => {
            assert!(message.contains(part), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn partials_that_cannot_be_used_are_errors_of_the_template() {
    let world = World::of("{}")
        .with("go", "go:{{.x}}")
        .with("broken", "a\n{% if %}")
        .with("deep", "{% include 'broken' %}")
        .with("lost", "{% include 'nowhere' %}");
    invalid(&world, "{% include 'nope' %}", "nope");
    invalid(&world, "{% include 'go' %}", "Go dialect");
    invalid(&world, "{% include 'broken' %}", "broken");
    invalid(&world, "{% if x %}{% for y in z %}{% include 'deep' %}{% endfor %}{% endif %}", "broken");
    invalid(&world, "{% include 'lost' %}", "nowhere");
    let Err(CompileError::Invalid { position: Some(position), .. }) = world.compile("{% include 'deep' %}")
    else {
        panic!("accepted");
    };
    assert_eq!((position.template.as_str(), position.line), ("demo.broken", 2));
}

#[test]
fn circles_end_with_the_limit_on_recursion() {
    let world =
        World::of("{}").with("a", "{% include 'b' %}").with("b", "{% include 'a' %}").with("main", "inner");
    assert!(matches!(world.render("{% include 'a' %}"), Err(RunError::Limit { what: "recursion", .. })));
    world.shows("{% include 'main' %}", "inner");
}

#[test]
fn an_error_in_a_partial_names_the_partial() {
    let world = World::of("{}").with("bad", "\n\n  {{ 1 // 0 }}").with("lack", "{{ variables.x }}");
    let Err(RunError::Failed { position: Some(position), .. }) = world.render("{% include 'bad' %}") else {
        panic!("rendered");
    };
    assert_eq!((position.template.as_str(), position.line), ("demo.bad", 3));
    world.misses("{% include 'lack' %}", &["variables.x"]);
}
