//! The same prompts in both dialects have the same requirements.

use std::sync::Arc;

use super::found;
use crate::{
    Arguments, CallResult, Functions, Limits, NoSurroundings, Partials, Requirements, Surroundings, Syntax,
    Template,
};

struct Search;

impl Functions for Search {
    fn contains(&self, name: &str) -> bool {
        name == "search"
    }

    fn call(&self, _: &str, _: Arguments) -> CallResult {
        CallResult::Gap
    }
}

fn found_in_go(source: &str) -> Requirements {
    let partials: Arc<dyn Partials> = Arc::new(NoSurroundings);
    let around = Surroundings { partials: &partials, functions: &Search };
    let compiled = Template::compile("t", &Arc::from(source), Syntax::Go, around, &Limits::default());
    compiled.unwrap().requires().clone()
}

#[test]
fn both_dialects_give_the_same_answer() {
    for (go, jinja) in [
        ("{{.variables.user.name}}{{.vscode.lang}}", "{{ variables.user.name }}{{ vscode.lang }}"),
        (
            "{{range .variables.docs}}{{.title}}{{else}}{{$.nothing}}{{end}}",
            "{% for d in variables.docs %}{{ d.title }}{% else %}{{ nothing }}{% endfor %}",
        ),
        (
            "{{if .variables.a.b}}{{.c}}{{else if .d}}{{.e.f}}{{end}}",
            "{% if variables.a.b %}{{ c }}{% elif d %}{{ e.f }}{% endif %}",
        ),
        ("{{$x := .variables.a}}{{$x.b}}", "{% set x = variables.a %}{{ x.b }}"),
        (
            "{{$x := .a}}{{if .t}}{{$x = .b}}{{end}}{{$x.c}}",
            "{% set x = a %}{% if t %}{% set x = b %}{% endif %}{{ x.c }}",
        ),
        ("{{or .a .b}}{{and .c .d}}", "{{ a or b }}{{ c and d }}"),
        ("{{default .d .e.f}}{{if not .g}}{{end}}", "{{ e.f|default(d) }}{% if not g %}{% endif %}"),
        ("{{if eq .a .b}}{{.c}}{{end}}", "{% if a == b %}{{ c }}{% endif %}"),
        (
            "{{range .a}}{{$x := .}}{{range .b}}{{$x.c}}{{.d}}{{end}}{{end}}",
            "{% for x in a %}{% set x = x %}{% for y in x.b %}{{ x.c }}{{ y.d }}{% endfor %}{% endfor %}",
        ),
        (
            r#"{{define "p"}}{{.t}}{{range .u}}{{.v}}{{end}}{{end}}{{template "p" .a}}"#,
            "{% macro p(x) %}{{ x.t }}{% for y in x.u %}{{ y.v }}{% endfor %}{% endmacro %}{{ p(a) }}",
        ),
        (
            r#"{{define "p"}}{{.t}}{{end}}{{template "p" .a}}{{if .c}}{{template "p" .b}}{{end}}"#,
            "{% macro p(x) %}{{ x.t }}{% endmacro %}{{ p(a) }}{% if c %}{{ p(b) }}{% endif %}",
        ),
        (
            r#"{{define "n"}}{{.v}}{{range .kids}}{{template "n" .}}{{end}}{{end}}{{template "n" .tree}}"#,
            "{% macro n(x) %}{{ x.v }}{% for y in x.kids %}{{ n(y) }}{% endfor %}{% endmacro %}{{ n(tree) }}",
        ),
        (
            "{{$x := .a}}{{range .b}}{{$x = $x.next}}{{end}}{{$x.v}}",
            "{% set n = namespace(x=a) %}{% for y in b %}{% set n.x = n.x.next %}{% endfor %}{{ n.x.v }}",
        ),
        (
            "{{search .q}}{{if .c}}{{search .r.s}}{{end}}",
            "{{ search(q) }}{% if c %}{{ search(r.s) }}{% endif %}",
        ),
        ("{{range .variables}}{{.x}}{{end}}", "{% for v in variables %}{{ v.x }}{% endfor %}"),
        ("{{with .a}}{{.b}}{{end}}", "{% if a %}{{ a.b }}{% endif %}"),
        ("{{len .a}}{{join \", \" .b}}{{.c | toJson}}", "{{ a|length }}{{ b|join(', ') }}{{ c|tojson }}"),
    ] {
        assert_eq!(found_in_go(go), found(jinja, &[]), "{go} and {jinja}");
    }
}
