//! Texts that take something from others.

use super::{needs, needs_with};

const PARTIALS: [(&str, &str); 10] = [
    ("p", "{{ variables.in_p }}{{ d.title }}{% include 'q' %}"),
    ("q", "{{ deep_tool() }}{% include 'p' %}"),
    (
        "m",
        "{% macro f(a) %}{{ a.x }}{{ env.e }}{% endmacro %}{% set v = variables.v %}{% set c = {'k': d} %}",
    ),
    (
        "base",
        "<{% block a %}{{ variables.base_a }}{% endblock %}|{% block b %}{{ x.y }}{% endblock %}|{{ z }}>",
    ),
    ("middle", "{% extends 'base' %}{% block a %}{{ variables.middle }}{{ super() }}{% endblock %}"),
    ("name", "{{ d.title }}{{ x.t }}"),
    ("lib", "{% import 'm' as m %}{% macro g(y) %}{{ m.f(y) }}{% endmacro %}"),
    ("circle", "{% from 'circle' import g %}{% macro g(x) %}{{ x.t }}{% endmacro %}"),
    ("tools", "{% macro f() %}{{ tool(1) }}{{ d.x }}{% endmacro %}"),
    ("walk", "{{ n.v }}{% for n in n.kids %}{% include 'walk' %}{% endfor %}"),
];

#[track_caller]
fn with_partials(source: &str, expected: [&str; 4]) {
    needs_with(&PARTIALS, source, expected);
}

#[test]
fn includes_see_the_variables_around_them() {
    with_partials(
        "{% for d in variables.docs %}{% include 'p' %}{% endfor %}",
        ["docs docs[].title? in_p?", "", "deep_tool?", "p? q?"],
    );
    with_partials(
        "{% from 'm' import f %}{{ f(1) }}{% include which %}{% include ['x', 'p'] %}",
        ["in_p? v?", "d? d.title? env.e? which", "deep_tool?", "*?* m p? q? x?"],
    );
    with_partials("{% include 'name' %}", ["", "d.title x.t", "", "name"]);
    with_partials("{% include 'name' ignore missing %}", ["", "d.title? x.t?", "", "name?"]);
    with_partials("{% set d = variables.a %}{% include 'name' without context %}", ["a?", "d.title? x.t?", "", "name"]);
    with_partials("{% include 'name' %}{% set d = variables.a %}", ["a?", "d.title x.t", "", "name"]);
    with_partials(
        "{% set x = variables.a %}{% macro f(d) %}{% include 'name' %}{% endmacro %}{{ f(variables.b) }}",
        ["a? a.t b? b.title", "", "", "name"],
    );
    with_partials("{% include 'a' if c else 'b' %}", ["", "c?", "", "a? b?"]);
    with_partials(
        "{% with n = variables.tree %}{% include 'walk' %}{% endwith %}",
        ["tree? tree.kids tree.kids[]?* tree.v", "", "", "walk"],
    );
}

#[test]
fn imports_give_macros_and_variables() {
    with_partials(
        "{% import 'm' as m with context %}{{ m.f(variables.a) }}{{ m.v.t }}{{ m.c.k.u }}",
        ["a? a.x v? v.t", "d? d.u env.e", "", "m"],
    );
    with_partials("{% import 'm' as m %}{{ m.f(variables.a) }}", ["a? a.x v?", "d? env.e?", "", "m"]);
    with_partials(
        "{% from 'm' import f as g with context %}{{ g(variables.a) }}",
        ["a? a.x v?", "d? env.e", "", "m"],
    );
    with_partials("{% import 'lib' as lib %}{{ lib.g(variables.a) }}", ["a? a.x v?", "d? env.e?", "", "lib m"]);
    with_partials("{% from 'circle' import g %}{{ g(variables.a) }}", ["a? a.t", "", "", "circle"]);
    with_partials("{% from 'tools' import f %}{{ f() }}", ["", "d.x?", "tool", "tools"]);
    with_partials(
        "{% if c %}{% import 'none' as n %}{{ n.f(variables.a) }}{% endif %}",
        ["a?", "c?", "", "none?"],
    );
}

#[test]
fn blocks_are_those_of_the_text_that_extends() {
    with_partials("{% include 'base' %}", ["base_a", "x.y z", "", "base"]);
    with_partials(
        "{% extends 'base' %}{{ unseen }}{% block b %}{{ variables.own }}{% endblock %}",
        ["base_a own", "z", "", "base"],
    );
    with_partials(
        "{% extends 'middle' %}{% set x = variables.u %}",
        ["base_a middle u? u.y", "z", "", "base middle"],
    );
    with_partials(
        "{% extends 'base' %}{% block a %}{{ super() }}{{ self.b() }}{% endblock %}",
        ["base_a", "x.y z", "", "base"],
    );
    with_partials(
        "{% if c %}{% extends 'base' %}{% endif %}{{ variables.own }}",
        ["base_a? own?", "c? x.y? z?", "", "base?"],
    );
    needs(
        "{% for x in variables.l %}{% block a scoped %}{{ x.t }}{% endblock %}{% block b %}{{ x.u }}{% endblock %}{% endfor %}",
        ["l l[].t?", "x.u?", "", ""],
    );
    needs("{% set x = variables.a %}{% block b %}{{ x.t }}{% endblock %}", ["a? a.t", "", "", ""]);
    with_partials(
        "{% extends variables.layout %}{% block a %}{{ variables.own }}{% endblock %}",
        ["layout", "", "", "*?*"],
    );
}
