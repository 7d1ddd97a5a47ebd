//! Ten templates that want all time or all memory.

use serde_json::json;

/// The request bodies for `POST /api/render`.
pub fn bodies() -> Vec<String> {
    let items: Vec<u32> = (0..1000).collect();
    let variables = json!({"items": items, "big": "ab".repeat(50_000), "needle": "ab".repeat(1000) + "c"});
    let body = |(syntax, template): (&str, String)| {
        json!({"syntax": syntax, "template": template, "variables": variables}).to_string()
    };
    go().into_iter().chain(jinja()).map(body).collect()
}

fn go() -> Vec<(&'static str, String)> {
    let loops = "{{range .variables.items}}{{range $.variables.items}}{{range $.variables.items}}{{end}}{{end}}{{end}}";
    let recursion = "{{define \"r\"}}{{template \"r\" .}}{{end}}{{template \"r\" .}}";
    let output = "{{range .variables.items}}{{range $.variables.items}}{{$.variables.big}}{{end}}{{end}}";
    let searches =
        "{{range .variables.items}}{{range split $.variables.needle $.variables.big}}{{end}}{{end}}";
    let doubled = (0..34).fold(String::from("{{$s := \"x\"}}"), |text, _| text + "{{$s = print $s $s}}");
    [loops, recursion, output, searches, &doubled].map(|text| ("go", text.to_owned())).into()
}

fn jinja() -> Vec<(&'static str, String)> {
    let loops = "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}";
    let recursion = "{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}";
    let output =
        "{% set x %}{% for a in range(10000) %}{{ variables.big }}{% endfor %}{% endset %}{{ x|length }}";
    let replaced = "{{ variables.big|replace('a', variables.big) }}";
    let doubled = "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s|length }}";
    [loops, recursion, output, replaced, doubled].map(|text| ("jinja", text.to_owned())).into()
}
