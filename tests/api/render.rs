//! Rendering: both dialects, both spellings of the routes, text, messages and parts.

use serde_json::{Value as Json, json};

use support::app::TestApp;

#[actix_web::test]
async fn the_example_of_the_original_document_renders_in_both_dialects() {
    let app = TestApp::start().await;
    app.put_environ("vscode.programming_language", json!("go")).await;
    app.put_environ("vscode.frameworks", json!(["gin", "gorm", "gin-swagger"])).await;
    let variables = json!({"key1": "value1", "key2": "value2"});
    let go =
        "{{.vscode.programming_language}} {{range .vscode.frameworks}}<{{.}}>{{end}} {{.variables.key1}}";
    let jinja = "{{vscode.programming_language}} {% for f in vscode.frameworks %}<{{f}}>{% endfor %} {{variables.key1}}";
    for (syntax, template) in [("go", go), ("jinja", jinja)] {
        let answer = app.preview(syntax, template, variables.clone()).await;
        assert_eq!(answer.rendered(), "go <gin><gorm><gin-swagger> value1", "{syntax}");
    }
}

#[actix_web::test]
async fn a_text_that_was_cut_within_a_character_renders() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "[{{.variables.text}}]"})).await;
    let request = app.request("POST", "/api/render/prompts/x.y").header("content-type", "application/json");
    let answer = app.send(request.body(r#"{"variables": {"text": "cut \ud83d"}}"#)).await;
    assert_eq!(answer.rendered(), "[cut \u{fffd}]");
}

#[actix_web::test]
async fn the_whole_context_is_the_environs_and_the_variables_and_nothing_else() {
    let app = TestApp::start().await;
    app.put_environ("vscode.programming_language", json!("go")).await;
    app.put_environ("vscode.frameworks", json!(["gin", "gorm", "gin-swagger"])).await;
    let variables = json!({"key1": "value1", "key2": "value2"});
    let expected = json!({
        "vscode": {"programming_language": "go", "frameworks": ["gin", "gorm", "gin-swagger"]},
        "variables": {"key1": "value1", "key2": "value2"}
    });
    let answer = app.preview("go", "{{toJson .}}", variables.clone()).await;
    let context: Json = serde_json::from_str(answer.rendered().as_str().unwrap()).unwrap();
    assert_eq!(context, expected);
    let printed = app.preview("go", "{{.}}", variables).await;
    assert_eq!(
        printed.rendered(),
        "map[variables:map[key1:value1 key2:value2] vscode:map[frameworks:[gin gorm gin-swagger] programming_language:go]]"
    );
}

#[actix_web::test]
async fn args_is_another_name_of_variables_in_requests_and_in_templates() {
    let app = TestApp::start().await;
    app.put_prompt("x.go", json!({"prompt": "{{.args.a}}{{.variables.a}}"})).await;
    app.put_prompt("x.jinja", json!({"prompt": "{{args.a}}{{variables.a}}{# #}"})).await;
    for id in ["x.go", "x:jinja"] {
        for name in ["args", "variables"] {
            let answer = app.post(&format!("/api/render/prompts/{id}"), json!({name: {"a": "1"}})).await;
            assert_eq!(answer.rendered(), "11", "{id} {name}");
        }
    }
}

#[actix_web::test]
async fn the_spelling_of_the_prototype_answers_in_its_own_shape() {
    let app = TestApp::start().await;
    app.put_prompt("x.text", json!({"prompt": "Hi {{.args.name}}"})).await;
    let messages = json!([{"role": "system", "content": "S"}, {"role": "user", "content": "{{.args.name}}"}]);
    app.put_prompt("x.chat", json!({"messages": messages})).await;
    let text = app.post("/api/prompts/x.text/render", json!({"args": {"name": "Ada"}})).await;
    assert_eq!(text.body, json!({"kind": "prompt", "prompt": "Hi Ada"}));
    let chat = app.post("/api/prompts/x.chat/render", json!({"args": {"name": "Ada"}})).await;
    let expected = json!([{"role": "system", "content": "S"}, {"role": "user", "content": "Ada"}]);
    assert_eq!(chat.body, json!({"kind": "messages", "messages": expected}));
}

#[actix_web::test]
async fn every_string_of_a_parts_array_is_rendered_and_everything_else_stays() {
    let app = TestApp::start().await;
    let content = json!([
        {"type": "text", "text": "Look at {{ variables.what }}"},
        {"type": "image_url", "image_url": {"url": "{{ variables.url }}", "detail": "low"}, "n": 1.5}
    ]);
    let message = json!({"role": "developer", "name": "{{x}}", "content": content});
    app.put_prompt("x.parts", json!({"messages": [message], "syntax": "jinja"})).await;
    let answer = app.render("x.parts", json!({"what": "this", "url": "data:,A"})).await;
    let expected = json!([{"role": "developer", "name": "{{x}}", "content": [
        {"type": "text", "text": "Look at this"},
        {"type": "image_url", "image_url": {"url": "data:,A", "detail": "low"}, "n": 1.5}
    ]}]);
    assert_eq!(answer.rendered(), &expected);
}

#[actix_web::test]
async fn values_are_data_never_parsed_again_and_never_escaped() {
    let app = TestApp::start().await;
    let evil = "<b>&\"'{{ 7*7 }}{% if x %}{{.x}}";
    for (syntax, template) in [("go", "{{.variables.v}}"), ("jinja", "{{ variables.v }}")] {
        let answer = app.preview(syntax, template, json!({"v": evil})).await;
        assert_eq!(answer.rendered(), evil, "{syntax}");
    }
}

#[actix_web::test]
async fn defaults_are_filled_in_before_anything_is_checked() {
    let app = TestApp::start().await;
    let parameters = json!([{"name": "repo", "type": "string", "default": "none"}, {"name": "depth", "type": "int", "default": 2}]);
    app.put_prompt(
        "x.y",
        json!({"prompt": "{{.variables.repo}} {{.variables.depth}}", "parameters": parameters}),
    )
    .await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "none 2");
    assert_eq!(app.render("x.y", json!({"repo": "r", "depth": 7})).await.rendered(), "r 7");
    assert_eq!(app.send(app.request("POST", "/api/render/prompts/x.y")).await.rendered(), "none 2");
}

#[actix_web::test]
async fn a_render_that_misses_values_names_all_of_them_also_inside_a_loop() {
    let app = TestApp::start().await;
    let variables = json!({"docs": [{"title": "a"}, {"name": "b"}]});
    let go = "{{.vscode.rules}} {{range .variables.docs}}{{.title}}{{end}} {{.variables.user.name}}";
    let jinja =
        "{{ vscode.rules }} {% for d in variables.docs %}{{ d.title }}{% endfor %} {{ variables.user.name }}";
    for (syntax, template) in [("go", go), ("jinja", jinja)] {
        let answer = app.preview(syntax, template, variables.clone()).await;
        answer.assert_error(400, "invalid_request_error", "missing_variables");
        let missing = &answer.error().3["missing"];
        let found = missing.as_array().unwrap();
        assert_eq!(found.len(), 3, "{syntax}: {missing}");
        assert_eq!(found[0], "variables.docs[1].title", "{syntax}: {missing}");
        let starts = |at: usize, what: &str| found[at].as_str().unwrap().starts_with(what);
        assert!(starts(1, "variables.user") && starts(2, "variables.vscode"), "{syntax}: {missing}");
        assert!(answer.error().2.contains("variables.docs[1].title"));
    }
}

#[actix_web::test]
async fn testing_a_missing_value_is_allowed_at_any_depth() {
    let app = TestApp::start().await;
    let go = "{{if .vscode.rules.deep}}y{{else}}n{{end}}{{with .a.b}}y{{else}}n{{end}}{{default \"d\" .variables.x}}";
    let jinja = "{% if vscode.rules.deep %}y{% else %}n{% endif %}{{ 'y' if a.b is defined else 'n' }}{{ variables.x|default('d') }}";
    for (syntax, template) in [("go", go), ("jinja", jinja)] {
        let answer = app.preview(syntax, template, json!({})).await;
        assert_eq!(answer.rendered(), "nnd", "{syntax}");
    }
}

#[actix_web::test]
async fn missing_required_parameters_and_missing_paths_come_in_one_answer() {
    let app = TestApp::start().await;
    let parameters =
        json!({"type": "object", "required": ["repo"], "properties": {"n": {"type": "integer"}}});
    let prompt =
        json!({"prompt": "{{.variables.repo}} {{.vscode.rules}} {{.variables.n}}", "parameters": parameters});
    app.put_prompt("x.y", prompt).await;
    let answer = app.render("x.y", json!({"n": "two"})).await;
    answer.assert_error(400, "invalid_request_error", "missing_variables");
    let details = answer.error().3;
    assert_eq!(details["missing"], json!(["variables.repo", "variables.vscode.rules"]));
    assert_eq!(details["violations"][0]["path"], "/n");
}

#[actix_web::test]
async fn partials_are_found_in_the_text_then_in_the_extension_then_by_id() {
    let app = TestApp::start().await;
    app.put_prompt("x.part", json!({"prompt": "sibling {{.variables.a}}"})).await;
    app.put_prompt("other.part", json!({"prompt": "other {{.variables.a}}"})).await;
    app.put_prompt("x.go", json!({"prompt": "{{template \"part\" .}}|{{template \"other.part\" .}}"})).await;
    app.put_prompt("x.own", json!({"prompt": "{{define \"part\"}}own{{end}}{{template \"part\" .}}"})).await;
    assert_eq!(app.render("x.go", json!({"a": "1"})).await.rendered(), "sibling 1|other 1");
    assert_eq!(app.render("x.own", json!({})).await.rendered(), "own");
    app.put_prompt("j.part", json!({"prompt": "sibling {{ variables.a }}{# #}"})).await;
    app.put_prompt("j.main", json!({"prompt": "{% include 'part' %}|{% include 'j.part' %}"})).await;
    assert_eq!(app.render("j.main", json!({"a": "1"})).await.rendered(), "sibling 1|sibling 1");
    // A changed partial is seen at once.
    app.put_prompt("j.part", json!({"prompt": "new{# #}"})).await;
    assert_eq!(app.render("j.main", json!({"a": "1"})).await.rendered(), "new|new");
}

#[actix_web::test]
async fn a_partial_of_another_dialect_or_of_messages_is_refused_when_it_is_loaded() {
    let app = TestApp::start().await;
    app.put_prompt("x.jinja", json!({"prompt": "{% if a %}{% endif %}"})).await;
    app.put_prompt("x.messages", json!({"messages": [{"role": "user", "content": "m"}]})).await;
    for template in [
        "{{template \"jinja\" .}}",
        "{{template \"messages\" .}}",
        "{% include 'messages' %}",
        "{% include 'nope' %}",
    ] {
        let answer = app.put("/api/prompts/x.main", json!({"prompt": template})).await;
        answer.assert_error(400, "invalid_request_error", "invalid_template");
    }
}

#[actix_web::test]
async fn the_dialect_is_recognized_per_prompt() {
    let app = TestApp::start().await;
    let cases = [
        ("{{.variables.a}}", "go"),
        ("{{ variables.a }}", "jinja"),
        ("{{ if .variables.a }}x{{ end }}", "go"),
        ("{# c #}{{variables.a}}", "jinja"),
        ("{{ range(3) }}", "jinja"),
        ("{{ toJson .variables }}", "go"),
        ("{{ unknown_tool .variables }}", "go"),
        ("{{ unknown_tool }}", "jinja"),
        ("{{ start }} to {{ end }}", "jinja"),
        ("no action } at { all", "text"),
    ];
    for (at, (template, syntax)) in cases.into_iter().enumerate() {
        let id = format!("x.p{at}");
        let raw = json!({"prompt": template});
        // The unknown tool makes the prompt one that does not compile: it is recognized all the same.
        let written = app.put(&format!("/api/prompts/{id}"), raw).await;
        if template.contains("{{ unknown_tool .") {
            written.assert_error(400, "invalid_request_error", "invalid_template");
            assert!(written.error().2.contains("not defined"), "{written:?}");
            continue;
        }
        assert_eq!(app.get(&format!("/api/prompts/{id}")).await.body["syntax"], syntax, "{template}");
    }
}

#[actix_web::test]
async fn explain_adds_a_report() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "{{.variables.a}}{{.vscode.rules}}"})).await;
    app.put_environ("vscode.rules", json!("R")).await;
    let path = "/api/render/prompts/x.y?explain=true";
    app.post(path, json!({"variables": {"a": "1"}})).await;
    let answer = app.post(path, json!({"variables": {"a": "1"}})).await;
    let report = &answer.body["report"];
    assert_eq!(answer.rendered(), "1R");
    assert_eq!((&report["syntax"], &report["cached"]), (&json!("go"), &json!(true)), "{report}");
    assert_eq!(report["requires"]["environs"][0]["name"], "vscode.rules");
    assert!(app.render("x.y", json!({"a": "1"})).await.body.get("report").is_none());
}

#[actix_web::test]
async fn what_a_prompt_requires_is_known_without_rendering_it() {
    let app = TestApp::start().await;
    let tool = json!({"name": "lookup", "module": "codebase", "type": "restful", "url": "/l"});
    app.put("/api/tools/codebase.lookup", tool).await;
    app.put_environ("vscode.rules", json!("R")).await;
    let go = "{{.variables.a}}{{if .variables.b}}x{{end}}{{range .variables.docs}}{{.title}}{{end}}{{.vscode.rules}}{{codebase_lookup .variables.a}}";
    let jinja = "{{variables.a}}{% if variables.b %}x{% endif %}{% for d in variables.docs %}{{d.title}}{% endfor %}{{vscode.rules}}{{codebase_lookup(variables.a)}}";
    for (id, template) in [("x.go", go), ("x.jinja", jinja)] {
        app.put_prompt(id, json!({"prompt": template})).await;
        let requires = &app.get(&format!("/api/prompts/{id}")).await.body["requires"];
        let need = |group: &str, name: &str| {
            let needs = requires[group].as_array().unwrap();
            needs
                .iter()
                .find(|n| n["name"] == name)
                .unwrap_or_else(|| panic!("{id} {name}: {requires:#}"))
                .clone()
        };
        assert_eq!(need("variables", "a")["optional"], false);
        assert_eq!(need("variables", "b")["optional"], true);
        assert_eq!(need("variables", "docs[].title")["optional"], true);
        assert_eq!(need("environs", "vscode.rules")["optional"], false);
        assert_eq!(need("tools", "codebase_lookup")["optional"], false);
    }
}

#[actix_web::test]
async fn a_failed_tool_call_is_a_gap_and_a_warning() {
    let app = TestApp::start().await;
    let tool = |name: &str| json!({"name": name, "module": "m", "type": "restful", "url": "/l"});
    app.put("/api/tools/m.plain", tool("plain")).await;
    let mut with_default = tool("filled");
    with_default["default"] = json!({"a": "D"});
    app.put("/api/tools/m.filled", with_default).await;
    let go = "[{{m_plain 1}}{{(m_filled).a}}]";
    let jinja = "[{{ m_plain(1) }}{{ m_filled().a }}]";
    for (syntax, template) in [("go", go), ("jinja", jinja)] {
        let answer = app.preview(syntax, template, json!({})).await;
        assert_eq!(answer.rendered(), "[D]", "{syntax}");
        let tools: Vec<&Json> =
            answer.body["warnings"].as_array().unwrap().iter().map(|w| &w["tool"]).collect();
        assert_eq!(tools, ["m.plain", "m.filled"], "{syntax}");
    }
}

#[actix_web::test]
async fn what_is_missing_after_long_work_is_named_too() {
    let app = TestApp::start_with(|settings| settings.render.timeout_ms = 20_000).await;
    let long = "{% for i in range(60000) %}{% if i %}{% endif %}{% endfor %}";
    let answer = app.preview("jinja", &format!("{{{{ first }}}}{long}{{{{ second }}}}"), json!({})).await;
    assert_eq!(
        answer.body["error"]["details"]["missing"],
        json!(["variables.first", "variables.second"]),
        "{answer:?}"
    );

    let rounds = "{{range .variables.l}}{{range $.variables.l}}{{end}}{{end}}";
    let content = [json!("{{.first}}"), json!(rounds), json!("{{.second}}")];
    let messages = content.map(|content| json!({"role": "user", "content": content}));
    let body = json!({"syntax": "go", "messages": messages, "variables": {"l": vec![0; 300]}});
    let answer = app.post("/api/render", body).await;
    assert_eq!(
        answer.body["error"]["details"]["missing"],
        json!(["variables.first", "variables.second"]),
        "{answer:?}"
    );
}

#[actix_web::test]
async fn what_is_missing_in_a_later_message_is_named_although_an_earlier_one_fails() {
    let app = TestApp::start().await;
    let messages = ["{{ 1 / 0 }}", "{{ lost }}"].map(|content| json!({"role": "user", "content": content}));
    let answer = app.post("/api/render", json!({"syntax": "jinja", "messages": messages})).await;
    assert_eq!(answer.body["error"]["details"]["missing"], json!(["variables.lost"]), "{answer:?}");
}

#[actix_web::test]
async fn a_faulty_go_text_is_no_jinja_by_accident_and_its_error_is_reported_in_go_s_terms() {
    let app = TestApp::start().await;
    for (template, expected) in [
        ("{{if .variables.x}}yes{{else}}no", "unexpected EOF"),
        ("{{- range $x := .l}}a", "unexpected EOF"),
        ("{{.a | uper}}", "function \"uper\" not defined"),
        ("{{ else if .x }}", "unexpected {{else}}"),
    ] {
        let answer = app.put("/api/prompts/x.y", json!({"prompt": template})).await;
        answer.assert_error(400, "invalid_request_error", "invalid_template");
        let message = answer.error().2;
        assert!(message.starts_with("template: x.y:1: ") && message.contains(expected), "{message}");
    }
}
