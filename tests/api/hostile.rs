//! HostileTemplate templates end with the right error, within their limits, and normal renders go on meanwhile.

use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use support::app::{Answer, TestApp};

/// The template, its variables, and the codes that it may end with.
struct HostileTemplate {
    syntax: &'static str,
    template: String,
    variables: Json,
    codes: &'static [&'static str],
}

const LIMITS: &[&str] = &["render_failed", "render_timeout", "overloaded"];
const INVALID: &[&str] = &["invalid_template"];

/// One operation of the engine each, which would take seconds and cannot be interrupted.
const OPERATIONS: [&str; 8] = [
    "([a~'b',a~'c']*200000)|sort|length",
    "([a~'b',a~'c']*200000)|unique|list|length",
    "([a~'b',a~'c']*200000)|max|length",
    "([{'k':a~'b'},{'k':a~'c'}]*200000)|groupby('k')|length",
    "([a~'b']*200000) == ([a~'b']*200000)",
    "(a~'c') in ([a~'b']*200000)",
    "([a~'b']*200000).count(a~'c')",
    "([a~'b']*200000).index(a~'c')",
];

/// A template with such an operation.
fn operating(operation: &str) -> String {
    format!("{{% set a = 'a' * 1000000 %}}{{{{ {operation} }}}}")
}

fn hostile(
    syntax: &'static str,
    template: impl Into<String>,
    codes: &'static [&'static str],
) -> HostileTemplate {
    let items: Vec<u32> = (0..1000).collect();
    let big = "ab".repeat(200_000);
    let variables = json!({"items": items, "big": big, "needle": "ab".repeat(1000) + "c"});
    HostileTemplate { syntax, template: template.into(), variables, codes }
}

fn all() -> Vec<HostileTemplate> {
    let doubled = (0..34).fold(String::from("{{$s := \"x\"}}"), |text, _| text + "{{$s = print $s $s}}");
    let mut all = vec![
        // Loops without end.
        hostile(
            "go",
            "{{define \"l\"}}{{range .}}{{range $}}{{range $}}{{range $}}{{end}}{{end}}{{end}}{{end}}{{end}}{{template \"l\" .variables.items}}",
            LIMITS,
        ),
        hostile(
            "jinja",
            "{% for a in range(10000) %}{% for b in range(10000) %}{% for c in range(10000) %}{% endfor %}{% endfor %}{% endfor %}",
            LIMITS,
        ),
        // Recursion without end.
        hostile("go", "{{define \"r\"}}{{template \"r\" .}}{{end}}{{template \"r\" .}}", LIMITS),
        hostile("jinja", "{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}", LIMITS),
        // A gigabyte of output.
        hostile(
            "go",
            "{{range .variables.items}}{{range $.variables.items}}{{$.variables.big}}{{end}}{{end}}",
            LIMITS,
        ),
        hostile("jinja", "{% for a in range(10000) %}{{ variables.big }}{% endfor %}", LIMITS),
        hostile(
            "jinja",
            "{% set x %}{% for a in range(10000) %}{{ variables.big }}{% endfor %}{% endset %}{{ x|length }}",
            LIMITS,
        ),
        // Formats that multiply.
        hostile("jinja", "{{ \"%999999999d\"|format(1) }}", LIMITS),
        hostile("jinja", "{{ 'a' * 100000000 }}", LIMITS),
        hostile("jinja", "{{ variables.big|replace('a', variables.big) }}", LIMITS),
        hostile("jinja", "{{ range(1000000000)|list|length }}", LIMITS),
        // Thousands of searches in a big string.
        hostile(
            "go",
            "{{range .variables.items}}{{range $.variables.items}}{{if eq $.variables.big $.variables.needle}}{{end}}{{range split $.variables.needle $.variables.big}}{{end}}{{end}}{{end}}",
            LIMITS,
        ),
        hostile(
            "jinja",
            "{% for a in range(10000) %}{% if variables.needle in variables.big %}{% endif %}{% endfor %}",
            LIMITS,
        ),
        // A string doubled 34 times.
        hostile("go", doubled, LIMITS),
        hostile(
            "jinja",
            "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s ~ ns.s %}{% endfor %}{{ ns.s|length }}",
            LIMITS,
        ),
        hostile(
            "jinja",
            "{% set ns = namespace(s='x') %}{% for i in range(34) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s|length }}",
            LIMITS,
        ),
        // Nesting.
        hostile("go", format!("{{{{{}1{}}}}}", "(".repeat(10_001), ")".repeat(10_001)), INVALID),
        hostile("jinja", format!("{{{{ {}1{} }}}}", "(".repeat(10_000), ")".repeat(10_000)), INVALID),
        hostile("go", "{{if 1}}".repeat(10_000), INVALID),
        hostile("jinja", "{% if 1 %}".repeat(10_000), INVALID),
        // Sheer size.
        hostile("go", format!("{{{{.variables.big}}}}{}", "x".repeat(10 << 20)), INVALID),
        hostile("jinja", format!("{{% if 1 %}}{{% endif %}}{}", "x".repeat(10 << 20)), INVALID),
    ];
    all.push(hostile("jinja", operating("([[a~'b']]*200000)|select('eq', [a~'c'])|list|length"), LIMITS));
    all.extend(OPERATIONS.map(|operation| hostile("jinja", operating(operation), LIMITS)));
    all
}

fn assert_ends_rightly(hostile: &HostileTemplate, answer: &Answer) {
    let start: String = hostile.template.chars().take(60).collect();
    assert!(answer.status >= 400, "{} {start}: {answer:?}", hostile.syntax);
    let code = answer.error().0;
    assert!(hostile.codes.contains(&code), "{} {start}: {answer:?}", hostile.syntax);
}

#[actix_web::test]
async fn every_hostile_template_ends_with_the_right_error() {
    let strict = TestApp::start().await;
    // What is refused before it runs must not be taken for what runs too long, on a busy machine.
    let patient = TestApp::start_with(|settings| settings.render.timeout_ms = 20_000).await;
    for hostile in all() {
        let app = if hostile.codes == INVALID { &patient } else { &strict };
        let began = Instant::now();
        let answer = app.preview(hostile.syntax, &hostile.template, hostile.variables.clone()).await;
        assert_ends_rightly(&hostile, &answer);
        assert!(began.elapsed() < Duration::from_secs(8), "{}", hostile.template);
    }
}

#[actix_web::test]
async fn normal_renders_succeed_while_hostile_ones_run() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "hello {{.variables.name}}"})).await;
    let hostile = all();
    let attacks = hostile.iter().filter(|h| h.codes == LIMITS).take(10).map(|hostile| async {
        let answer = app.preview(hostile.syntax, &hostile.template, hostile.variables.clone()).await;
        assert_ends_rightly(hostile, &answer);
    });
    let normal = async {
        for _ in 0..50 {
            assert_eq!(app.render("x.y", json!({"name": "Ada"})).await.rendered(), "hello Ada");
        }
    };
    futures_util::future::join(futures_util::future::join_all(attacks), normal).await;
}

#[actix_web::test]
async fn each_limit_is_a_setting() {
    let app = TestApp::start_with(|settings| {
        settings.render.steps = 100;
        settings.render.recursion = 5;
        settings.render.output_bytes = 50;
        settings.render.source_bytes = 200;
        settings.render.tool_calls = 2;
    })
    .await;
    app.put_tool("m.t", json!({"type": "restful", "url": "/", "parameters": {"properties": {"n": {}}}}))
        .await;
    let list: Vec<u32> = (0..300).collect();
    let cases = [
        ("go", "{{range .variables.list}}{{end}}", "steps"),
        ("jinja", "{% for a in variables.list %}{% endfor %}", "steps"),
        ("go", "{{define \"r\"}}{{template \"r\" .}}{{end}}{{template \"r\" .}}", "depth"),
        ("jinja", "{% macro r() %}{{ r() }}{% endmacro %}{{ r() }}", "recursion"),
        ("go", "{{.variables.long}}", "output"),
        ("jinja", "{{ variables.long }}", "output"),
        ("go", "{{m_t 1}}{{m_t 2}}{{m_t 3}}", "tool calls"),
        ("jinja", "{{ m_t(1) }}{{ m_t(2) }}{{ m_t(3) }}", "tool calls"),
    ];
    for (syntax, template, word) in cases {
        let answer = app.preview(syntax, template, json!({"list": list, "long": "x".repeat(60)})).await;
        answer.assert_error(500, "render_error", "render_failed");
        assert!(answer.error().2.contains(word), "{syntax} {template}: {answer:?}");
    }
    for syntax in ["go", "jinja"] {
        let answer = app.preview(syntax, &format!("{{{{ 1 }}}}{}", "x".repeat(250)), json!({})).await;
        answer.assert_error(400, "invalid_request_error", "invalid_template");
    }
}
