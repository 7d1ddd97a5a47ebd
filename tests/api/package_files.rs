//! The files of packages: what templates include by a path, what the extension of a file says, and texts that are no templates.

use serde_json::{Value as Json, json};

use support::app::{Answer, TestApp};

fn says(what: &'static str) -> impl Fn(&Answer) -> bool {
    move |answer| answer.body["problems"].to_string().contains(what)
}

/// A package `p` with one prompt, `q`, whose text is a file.
fn manifest(file: &str) -> String {
    json!({"name": "p", "contributes": {"prompts": [{"name": "q", "userPrompt": {"file": file}}]}})
        .to_string()
}

async fn eventually_renders(app: &TestApp, id: &str, text: &str) {
    app.settled(async || app.render(id, json!({"name": "Ada"})).await.body["rendered_prompt"] == text).await;
}

#[actix_web::test]
async fn a_jinja_text_includes_imports_and_extends_files_of_its_package_and_follows_their_changes() {
    let app = TestApp::start().await;
    app.write_package_file("p/prompts/base.j2", "[{% block body %}{% endblock %}]");
    app.write_package_file("p/shared/macros.jinja", "{% macro hi(n) %}Hi {{ n }}{% endmacro %}");
    app.write_package_file("p/prompts/parts/tone.md", "kindly");
    app.write_package_file("p/prompts/deep/near.txt", "near");
    app.write_package_file(
        "p/prompts/deep/q.j2",
        "{% extends 'base.j2' %}{% from './shared/macros.jinja' import hi %}\
         {% block body %}{{ hi(name) }} {% include 'prompts/parts/tone.md' %} {% include 'near.txt' %}{% endblock %}",
    );
    app.write_package_file("p/package.json", manifest("prompts/deep/q.j2"));
    eventually_renders(&app, "p.q", "[Hi Ada kindly near]").await;
    assert_eq!(
        app.get("/api/prompts").await.body,
        json!(["p.q"]),
        "what is only included need not be a prompt"
    );
    app.write_package_file("p/prompts/parts/tone.md", "warmly");
    eventually_renders(&app, "p.q", "[Hi Ada warmly near]").await;
    app.write_package_file("p/prompts/parts/tone.md", "{% if %}");
    let status = app
        .eventually("/api/status", says("partial `prompts/parts/tone.md` (p/prompts/parts/tone.md)"))
        .await;
    assert_eq!(status.body["problems"].as_array().unwrap().len(), 1);
    assert_eq!(
        app.render("p.q", json!({"name": "Ada"})).await.rendered(),
        "[Hi Ada warmly near]",
        "the last good one"
    );
    app.write_package_file("p/shared/macros.jinja", "{% macro hi(n) %}Ho {{ n }}{% endmacro %}");
    app.write_package_file("p/prompts/parts/tone.md", "gladly");
    eventually_renders(&app, "p.q", "[Ho Ada gladly near]").await;
}

#[actix_web::test]
async fn a_go_text_calls_files_of_its_package_and_a_prompt_of_the_name_comes_first() {
    let app = TestApp::start().await;
    app.write_package_file("p/partials/x.tmpl", "file {{.name}}");
    app.write_package_file("p/prompts/q.tmpl", r#"{{template "partials/x.tmpl" .}}"#);
    app.write_package_file("p/package.json", manifest("prompts/q.tmpl"));
    eventually_renders(&app, "p.q", "file Ada").await;
    app.put_prompt("p.named", json!({"userPrompt": "{{template \"x.tmpl\" .}}", "folder": "partials"})).await;
    assert_eq!(app.render("p.named", json!({"name": "Bo"})).await.rendered(), "file Bo");
    app.put_prompt("x.tmpl", json!({"userPrompt": "prompt {{.name}}"})).await;
    assert_eq!(app.render("p.named", json!({"name": "Bo"})).await.rendered(), "prompt Bo");
}

#[actix_web::test]
async fn a_path_never_leaves_its_package_and_the_error_says_what_to_write() {
    let app = TestApp::start().await;
    let secret = app.write_package_file("secret.j2", "secret");
    app.write_package_file("p/package.json", r#"{"name": "p", "contributes": {}}"#);
    app.write_package_file("p/here.j2", "here");
    std::os::unix::fs::symlink(&secret, app.packages.path().join("p/link.j2")).unwrap();
    app.eventually("/api/extensions", |answer| answer.body == json!(["p"])).await;
    let refusal = async |id: &str, text: &str| {
        let answer = app.put(&format!("/api/prompts/{id}"), json!({"userPrompt": text})).await;
        assert_eq!(answer.status, 400, "{answer:?}");
        answer.body["error"]["message"].as_str().unwrap().to_owned()
    };
    for (id, text, expected) in [
        ("p.q", "{% include '../secret.j2' %}", "has a `..`"),
        ("p.q", "{% include 'a/../../secret.j2' %}", "has a `..`"),
        ("p.q", "{{template \"/etc/passwd\" .}}", "is not a relative one"),
        ("p.q", "{% include 'link.j2' %}", "links that leave the package are not read"),
        ("other.q", "{% include 'here.j2' %}", "no extension has the prompt `other.q`"),
    ] {
        let message = refusal(id, text).await;
        assert!(message.contains(expected), "{text}: {message}");
    }
    app.put("/api/extensions/stored", json!({"name": "stored"})).await;
    let message = refusal("stored.q", "{% include 'here.j2' %}").await;
    assert!(message.contains("the extension `stored` has no files"), "{message}");
}

#[actix_web::test]
async fn files_that_are_included_survive_in_the_extension_s_document() {
    let app = TestApp::start().await;
    app.write_package_file("p/partials/x.j2", "file {{ name }}");
    app.write_package_file("p/README.md", "about");
    app.write_package_file("p/prompts/q.j2", "{% include 'partials/x.j2' %}");
    app.write_package_file("p/package.json", manifest("prompts/q.j2"));
    eventually_renders(&app, "p.q", "file Ada").await;
    let document = app.get("/api/extensions/p?raw=any").await.body;
    let paths: Vec<&String> = document["contributes"]["partials"].as_object().unwrap().keys().collect();
    assert_eq!(paths, ["partials/x.j2", "prompts/q.j2"]);
    let other = TestApp::start().await;
    assert_eq!(other.put("/api/extensions/p", document).await.status, 201);
    assert_eq!(other.render("p.q", json!({"name": "Ada"})).await.rendered(), "file Ada");
}

#[actix_web::test]
async fn the_extension_of_a_file_says_the_dialect_unless_the_prompt_does() {
    let app = TestApp::start().await;
    let prompt = |name: &str, file: &str| json!({"name": name, "userPrompt": {"file": file}});
    let mut said = prompt("said", "d.tmpl");
    said["syntax"] = "jinja".into();
    let prompts =
        [prompt("a", "a.j2"), prompt("b", "b.gotmpl"), prompt("c", "c.md"), prompt("d", "d.txt"), said];
    app.write_package_file("p/a.j2", "{{ print }}");
    app.write_package_file("p/b.gotmpl", "\u{feff}{{print}}!");
    app.write_package_file("p/c.md", "# {{ name }}");
    app.write_package_file("p/d.txt", "{{.name}}");
    app.write_package_file("p/d.tmpl", "{{ name }}");
    let manifest = json!({"name": "p", "contributes": {"prompts": prompts}});
    app.write_package_file("p/package.json", manifest.to_string());
    app.eventually("/api/prompts", |answer| answer.body.as_array().unwrap().len() == 5).await;
    for (id, syntax) in [("a", "jinja"), ("b", "go"), ("c", "jinja"), ("d", "go"), ("said", "jinja")] {
        assert_eq!(app.get(&format!("/api/prompts/p.{id}")).await.body["syntax"], syntax, "{id}");
    }
    assert_eq!(app.render("p.b", json!({})).await.rendered(), "!");
    assert_eq!(app.render("p.a", json!({"print": "x"})).await.rendered(), "x");
}

#[actix_web::test]
async fn a_text_that_is_no_template_stays_as_it_is() {
    let app = TestApp::start().await;
    let text = "Use {{name}} and {% if %} {# as they are #}\n";
    app.put_prompt("x.plain", json!({"userPrompt": text, "syntax": "text"})).await;
    assert_eq!(app.render("x.plain", json!({})).await.rendered(), text);
    let shown = app.get("/api/prompts/x.plain").await.body;
    assert_eq!((&shown["syntax"], &shown["requires"]["variables"]), (&json!("text"), &json!([])));
    let messages = json!([{"role": "user", "content": [
        {"type": "text", "text": text}, {"type": "image_url", "image_url": {"url": "https://x/{{a}}.png"}}
    ]}]);
    app.put_prompt("x.parts", json!({"messages": messages, "syntax": "text"})).await;
    assert_eq!(app.render("x.parts", json!({})).await.body["rendered_prompt"], messages);
    let preview = app.post("/api/render", json!({"template": text, "syntax": "text"})).await;
    assert_eq!(preview.rendered(), text);
    app.put_prompt("x.jinja", json!({"userPrompt": "<{% include 'plain' %}>"})).await;
    assert_eq!(app.render("x.jinja", json!({})).await.body["rendered_prompt"], format!("<{text}>"));
    app.put_prompt("x.go", json!({"userPrompt": "<{{template \"plain\" .}}>"})).await;
    assert_eq!(app.render("x.go", json!({})).await.body["rendered_prompt"], format!("<{text}>"));
    let wrong = app.post("/api/render", json!({"template": text, "syntax": "mustache"})).await;
    assert_eq!(wrong.status, 400);
}

#[actix_web::test]
async fn names_in_mustache_s_manner_are_jinja_and_its_other_tags_are_told() {
    let app = TestApp::start().await;
    let render = async |template: &str| {
        let variables: Json =
            json!({"name": "Ada", "user_name": "ada", "user": {"name": "A."}, "title": "T", "html": "H"});
        app.post("/api/render?explain=true", json!({"template": template, "variables": variables})).await
    };
    for (template, text) in [
        ("Hello {{name}}", "Hello Ada"),
        ("{{ user_name }}, {{user.name}}", "ada, A."),
        ("{{html}} {{title}}", "H T"),
    ] {
        let answer = render(template).await;
        assert_eq!((answer.rendered(), &answer.body["report"]["syntax"]), (&json!(text), &json!("jinja")));
    }
    for (template, tag, instead) in [
        ("a\n{{#items}}{{.}}{{/items}}", "`{{#items}}`", "{% for item in items %}"),
        ("{{{raw}}}", "`{{{raw}}}`", "`{{ raw }}`"),
        ("{{&x}}", "`{{&x}}`", "`{{ x }}`"),
        ("{{! comment}}", "`{{! comment}}`", "{# comment #}"),
        ("{{> head}}", "`{{> head}}`", "{% include \"head\" %}"),
        ("{{^items}}none{{/items}}", "`{{^items}}`", "{% if not items %}"),
    ] {
        let answer = render(template).await;
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert_eq!(answer.status, 400);
        assert!(
            message.contains(tag) && message.contains("Mustache") && message.contains(instead),
            "{message}"
        );
    }
}
