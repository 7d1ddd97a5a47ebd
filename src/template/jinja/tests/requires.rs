//! What templates need.

use super::*;
use crate::template::Need;

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
    let requires = world.check(source).unwrap().requires;
    assert_eq!(&requires, world.compile(source).unwrap().requires());
    let found = [&requires.variables, &requires.environs, &requires.tools, &requires.partials]
        .map(|needs| list(needs));
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
        "{% for d in variables.docs %}{% include 'p' %}{% endfor %}",
        ["docs docs[].title? in_p?", "", "deep_tool?", "p? q?"],
    );
    needs(
        &world,
        "{% from 'm' import f %}{{ f(1) }}{% include which %}{% include ['x', 'p'] %}",
        ["in_p?", "d.title? env.e? which", "deep_tool?", "*?* m p? q? x?"],
    );
}
