//! What templates need.

use proptest::prelude::*;

use super::*;
use crate::Need;

fn list(needs: &[Need]) -> String {
    let marks = |need: &Need| {
        format!(
            "{}{}{}",
            need.name,
            if need.optional { "?" } else { "" },
            if need.dynamic { "*" } else { "" }
        )
    };
    needs.iter().map(marks).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn needs(world: &World, source: &str, expected: [&str; 4]) {
    let template = world.compile(source).unwrap();
    let requires = template.requires();
    let found =
        [&requires.variables, &requires.names, &requires.tools, &requires.partials].map(|needs| list(needs));
    assert_eq!(found.each_ref().map(String::as_str), expected, "{source}");
}

#[test]
fn paths_are_found_where_they_are_used() {
    let world = World::of("{}");
    needs(
        &world,
        "{{ variables.user.name }}{{ args.q }}{{ vscode.lang }}",
        ["q user.name", "vscode.lang", "", ""],
    );
    needs(
        &world,
        "{% for d in variables.docs %}{{ d.title }}{{ d.x.y|upper }}{% endfor %}",
        ["docs docs[].title? docs[].x.y?", "", "", ""],
    );
    needs(
        &world,
        "{% if variables.a %}{{ variables.b }}{% endif %}{{ variables.c|default(variables.d) }}",
        ["a? b? c? d", "", "", ""],
    );
    needs(&world, "{{ variables.x is defined }}{{ variables.x }}", ["x", "", "", ""]);
    needs(
        &world,
        "{% set u = variables.user %}{{ u.name }}{% with v = u.mail %}{{ v.host }}{% endwith %}",
        ["user? user.mail? user.mail.host user.name", "", "", ""],
    );
    needs(
        &world,
        "{{ variables[key] }}{{ variables.m['a'].b }}{{ variables.l[0].t }}",
        ["* l[].t m.a.b", "key", "", ""],
    );
    needs(
        &world,
        "{{ variables.a or variables.b }}{{ 'x' if e.f else variables.c }}",
        ["a? b? c?", "e.f?", "", ""],
    );
    needs(
        &world,
        "{% set x = 1 %}{{ x }}{{ range(3) }}{{ loop }}{{ variables.m.items()|list }}{{ variables.m.get('k') }}",
        ["m m.k?", "", "", ""],
    );
}

#[test]
fn functions_macros_and_partials_are_told_apart() {
    let world = World::of("{}")
        .with("p", "{{ variables.in_p }}{{ d.title }}{% include 'q' %}")
        .with("q", "{{ deep_tool() }}{% include 'p' %}")
        .with("m", "{% macro f(a) %}{{ a }}{{ env.e }}{% endmacro %}");
    needs(
        &world,
        "{{ tool(variables.a) }}{% if x %}{{ other(b=1) }}{% endif %}{{ dict(a=1) }}",
        ["a", "x?", "other? tool", ""],
    );
    needs(
        &world,
        "{% macro g(a, b=variables.z) %}{{ a }}{{ variables.y }}{% endmacro %}{{ g(variables.x) }}",
        ["x y? z?", "", "", ""],
    );
    needs(
        &world,
        "{% set x = variables.a %}{% macro f() %}{% set x = x.b %}{{ x }}{% endmacro %}{{ f() }}",
        ["a?* a.b?", "x.b?", "", ""],
    );
    needs(
        &world,
        "{% for d in variables.docs %}{% include 'p' %}{% endfor %}",
        ["docs docs[].title? in_p?", "", "deep_tool?", "p? q?"],
    );
    needs(
        &world,
        "{% from 'm' import f %}{{ f(1) }}{% include which %}{% include ['x', 'p'] %}",
        ["in_p?", "d.title? env.e? which", "deep_tool?", "*?* m p? q? x?"],
    );
}

/// Random templates over a few names, nested a little.
fn any_template() -> impl Strategy<Value = String> {
    let path = prop_oneof![
        Just("variables.a"),
        Just("variables.b.c"),
        Just("args.d[0].e"),
        Just("env.f"),
        Just("env['g'].h"),
        Just("x"),
        Just("x.i"),
        Just("y.j"),
    ];
    let leaf = prop_oneof![
        path.clone().prop_map(|p| format!("{{{{ {p} }}}}")),
        path.clone().prop_map(|p| format!("{{{{ {p}|default('z') }}}}")),
        path.clone().prop_map(|p| format!("{{{{ 'a' ~ {p} }}}}")),
        path.clone().prop_map(|p| format!("{{% set x = {p} %}}")),
        (path.clone(), path.clone()).prop_map(|(p, q)| format!("{{{{ {p} == {q} }}}}")),
        (path.clone(), path.clone()).prop_map(|(p, q)| format!("{{{{ ({p} or {q})|upper }}}}")),
        (path.clone(), path.clone()).prop_map(|(p, q)| format!("{{{{ {p} if {q} else {q} }}}}")),
        (path.clone(), path.clone()).prop_map(|(p, q)| format!("{{{{ [{p}, {{'k': {q}}}]|tojson }}}}")),
        path.clone().prop_map(|p| format!("{{{{ {p}.upper() }}}}{{{{ echo({p}) }}}}")),
        Just("{% include 'p' %}".to_owned()),
    ];
    leaf.prop_recursive(3, 24, 4, move |inner| {
        let body = prop::collection::vec(inner, 1..4).prop_map(|parts| parts.concat());
        let named = (path.clone(), body.clone());
        prop_oneof![
            named.clone().prop_map(|(p, b)| format!("{{% if not {p} %}}{b}{{% else %}}{b}{{% endif %}}")),
            named.clone().prop_map(|(p, b)| format!("{{% for y in {p} %}}{b}{{% else %}}{b}{{% endfor %}}")),
            named.clone().prop_map(|(p, b)| format!("{{% with y = {p} %}}{b}{{% endwith %}}")),
            named.clone().prop_map(|(p, b)| format!("{{% macro m(y) %}}{b}{{% endmacro %}}{{{{ m({p}) }}}}")),
            named.prop_map(|(p, b)| format!("{{% set w %}}{b}{{% endset %}}{{% set x = {p} %}}{b}")),
            body,
        ]
    })
}

/// A path of a missing value as needs name it.
fn as_need(path: &str) -> String {
    let parts = path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    parts.collect::<Vec<_>>().join("[]")
}

proptest! {
    #[test]
    fn whatever_a_render_finds_missing_is_listed(source in any_template()) {
        let world = World::of("{}").with("p", "{{ variables.in_p }}{{ x.in_x }}{{ y.in_y }}");
        let template = world.compile(&source).unwrap();
        let requires = template.requires();
        let Err(RunError::Missing(missing)) = world.render(&source) else { return Ok(()) };
        for miss in missing {
            let path = as_need(&miss.path);
            let (needs, name) = match path.strip_prefix("variables.") {
                Some(name) => (&requires.variables, name),
                None => (&requires.names, path.as_str()),
            };
            let listed = needs.iter().any(|need| {
                need.name == name || name.strip_prefix(&need.name).is_some_and(|rest| rest.starts_with(['.', '[']))
            });
            prop_assert!(listed, "{} is not among {}", miss.path, list(needs));
        }
    }
}
