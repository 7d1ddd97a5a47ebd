//! Names at the top level of templates, and values that may be missing.

use ai_prompt_shell::settings::Undefined;
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use support::app::TestApp;

/// Both dialects, each with a text that prints these paths, separated by spaces.
fn printing(paths: &[&str]) -> [(&'static str, String); 2] {
    let all = |write: fn(&&str) -> String| paths.iter().map(write).collect::<Vec<_>>().join(" ");
    [("go", all(|path| format!("{{{{.{path}}}}}"))), ("jinja", all(|path| format!("{{{{ {path} }}}}")))]
}

fn name_list(needs: &Json) -> Vec<&str> {
    needs.as_array().unwrap().iter().map(|need| need["name"].as_str().unwrap()).collect()
}

#[actix_web::test]
async fn a_name_is_looked_for_among_the_parameters_the_environs_and_then_the_other_variables() {
    let app = TestApp::start().await;
    app.put_environ("team.tone", json!("kind")).await;
    app.put_environ("lang", json!("de")).await;
    for (syntax, text) in printing(&["lang", "team.tone", "user.name", "variables.user.name", "n", "args.n"])
    {
        let parameters = json!([{"name": "lang", "type": "string", "default": "en"}]);
        app.put_prompt("x.y", json!({"prompt": text, "syntax": syntax, "parameters": parameters})).await;
        let user = json!({"name": "Ada"});
        let variables = json!({"user": user, "team": {"tone": "rude"}, "n": 1, "lang": "fr", "args": 2});
        assert_eq!(app.render("x.y", variables).await.rendered(), "fr kind Ada Ada 1 1", "{syntax}");
        let answer = app.render("x.y", json!({"user": user, "n": 1})).await;
        assert_eq!(answer.rendered(), "en kind Ada Ada 1 1", "{syntax}: defaults count");
    }
}

#[actix_web::test]
async fn nothing_shadows_the_variables() {
    let app = TestApp::start().await;
    for name in ["variables", "args"] {
        app.put_environ(name, json!({"x": "environ"})).await;
    }
    let parameters = json!({"properties": {"variables": {}, "args": {}, "x": {}}});
    for (syntax, text) in printing(&["variables.x", "args.x"]) {
        app.put_prompt("x.y", json!({"prompt": text, "syntax": syntax, "parameters": parameters})).await;
        let variables = json!({"x": "own", "variables": {"x": "wrong"}, "args": {"x": "wrong"}});
        assert_eq!(app.render("x.y", variables).await.rendered(), "own own", "{syntax}");
    }
}

#[actix_web::test]
async fn the_text_s_own_names_and_functions_come_before_variables() {
    let app = TestApp::start().await;
    let jinja =
        "{% set own = 1 %}{% macro m() %}m{% endmacro %}{{ own }}{{ m() }}{{ range(2) | list | length }}";
    let answer = app.preview("jinja", jinja, json!({"own": 7, "m": 7, "range": 7})).await;
    assert_eq!(answer.rendered(), "1m2");
    let answer = app.preview("go", "{{$own := 1}}{{$own}}{{len .len}}", json!({"own": 7, "len": "ab"})).await;
    assert_eq!(answer.rendered(), "12");
}

#[actix_web::test]
async fn a_tool_is_not_replaced_by_a_variable() {
    let app = TestApp::start().await;
    let tool = json!({"type": "restful", "url": "http://127.0.0.1:1/", "default": "the tool"});
    app.put_tool("m.t", tool).await;
    for (syntax, text) in [("go", "{{m_t}}"), ("jinja", "{{ m_t() }}")] {
        let answer = app.preview(syntax, text, json!({"m_t": "the caller"})).await;
        assert_eq!(answer.rendered(), "the tool", "{syntax}: {answer:?}");
    }
}

#[actix_web::test]
async fn what_is_found_at_the_top_level_is_neither_enumerated_nor_printed() {
    let app = TestApp::start().await;
    app.put_environ("team", json!("blue")).await;
    for (text, shown) in [
        ("{{.}}", "map[team:blue variables:map[n:1 team:red]]"),
        ("{{range $name, $_ := .}}{{$name}} {{end}}", "team variables "),
        ("{{len .}} {{.n}} {{index . \"n\"}}", "2 1 1"),
    ] {
        let parameters = json!({"properties": {"team": {}}});
        app.put_prompt("x.y", json!({"prompt": text, "syntax": "go", "parameters": parameters})).await;
        assert_eq!(app.render("x.y", json!({"n": 1, "team": "red"})).await.rendered(), shown);
    }
}

#[actix_web::test]
async fn a_missing_name_is_that_of_a_variable_unless_an_environ_could_give_it() {
    let app = TestApp::start().await;
    app.put_environ("team.tone", json!("kind")).await;
    let paths = ["team.lead", "user.name", "docs", "variables.docs", "repo", "there.more"];
    for (syntax, text) in printing(&paths) {
        let parameters = json!([{"name": "repo", "required": true}]);
        let document = json!({"prompt": format!("\n{text}"), "syntax": syntax, "parameters": parameters});
        app.put_prompt("x.y", document).await;
        let answer = app.render("x.y", json!({"there": {}})).await;
        answer.assert_error(400, "invalid_request_error", "missing_variables");
        let details = answer.error().3;
        let missing = details["missing"].as_array().unwrap();
        assert_eq!(missing[..2], [json!("team.lead"), json!("variables.docs")], "{syntax}: {details}");
        assert_eq!(missing[2..4], [json!("variables.repo"), json!("variables.there.more")], "{syntax}");
        assert!(missing[4].as_str().unwrap().starts_with("variables.user"), "{syntax}: {details}");
        for path in missing {
            let place = &details["positions"][path.as_str().unwrap()];
            assert_eq!(place["line"], 2, "{syntax} {path}: {details}");
        }
    }
}

#[actix_web::test]
async fn a_declared_parameter_that_is_absent_does_not_turn_into_an_environ() {
    let app = TestApp::start().await;
    app.put_environ("lang", json!("de")).await;
    for (syntax, text) in printing(&["lang"]) {
        let parameters = json!([{"name": "lang"}]);
        app.put_prompt("x.y", json!({"prompt": text, "syntax": syntax, "parameters": parameters})).await;
        let answer = app.render("x.y", json!({})).await;
        assert_eq!(answer.error().3["missing"], json!(["variables.lang"]), "{syntax}");
    }
}

#[actix_web::test]
async fn requires_splits_names_by_parameters_and_environs_as_they_are_now() {
    let app = TestApp::start().await;
    for (syntax, text) in printing(&["lang", "team.tone", "variables.n", "n"]) {
        let id = format!("x.{syntax}");
        let parameters = json!([{"name": "lang"}]);
        app.put_prompt(&id, json!({"prompt": text, "syntax": syntax, "parameters": parameters})).await;
    }
    let requires = async |variables: &[&str], environs: &[&str]| {
        for syntax in ["go", "jinja"] {
            let requires = app.get(&format!("/api/prompts/x.{syntax}")).await.body["requires"].clone();
            assert_eq!(name_list(&requires["variables"]), variables, "{syntax}: {requires}");
            assert_eq!(name_list(&requires["environs"]), environs, "{syntax}: {requires}");
        }
    };
    requires(&["lang", "n", "team.tone"], &[]).await;
    app.put_environ("team.lead", json!("Ada")).await;
    app.put_environ("lang", json!("de")).await;
    requires(&["lang", "n"], &["team.tone"]).await;
    app.delete("/api/environs/team.lead").await;
    requires(&["lang", "n", "team.tone"], &[]).await;
}

#[actix_web::test]
async fn explain_says_where_each_name_comes_from() {
    let app = TestApp::start().await;
    app.put_environ("team.tone", json!("kind")).await;
    for (syntax, text, test) in [
        ("go", "{{.lang}} {{.team.tone}} {{.user.name}}", "{{if .debug}}!{{end}}"),
        ("jinja", "{{ lang }} {{ team.tone }} {{ user.name }}", "{% if debug %}!{% endif %}"),
    ] {
        let parameters = json!([{"name": "lang", "default": "en"}]);
        let document = json!({"prompt": format!("{text}{test}"), "syntax": syntax, "parameters": parameters});
        app.put_prompt("x.y", document).await;
        let body = json!({"variables": {"user": {"name": "Ada"}, "unused": 1}});
        let answer = app.post("/api/render/prompts/x.y?explain=true", body).await;
        let names = json!({"debug": "absent", "lang": "parameter", "team": "environ", "user": "variable"});
        assert_eq!(answer.body["report"]["names"], names, "{syntax}: {answer:?}");
        assert_eq!(name_list(&answer.body["report"]["requires"]["environs"]), ["team.tone"], "{syntax}");
    }
}

#[actix_web::test]
async fn a_parameter_with_the_name_of_an_environ_is_told() {
    let app = TestApp::start().await;
    app.put_environ("team.tone", json!("kind")).await;
    let document =
        json!({"prompt": "{{ team }}", "syntax": "jinja", "parameters": [{"name": "team"}, {"name": "n"}]});
    let written = app.put("/api/prompts/x.y", document).await;
    assert_eq!(written.status, 201);
    let says_so =
        |problem: &Json| problem["message"].as_str().is_some_and(|text| text.contains("environ `team`"));
    assert!(says_so(&written.body["problems"][0]), "{written:?}");
    assert_eq!(written.body["problems"].as_array().unwrap().len(), 1);
    let listed = async || app.get("/api/status").await.body["problems"].as_array().unwrap().clone();
    let shown = async || app.get("/api/prompts/x.y").await.body["problems"].as_array().unwrap().clone();
    assert!(
        listed().await.iter().any(|problem| says_so(problem) && problem["key"] == "shenma:templates:x:y")
    );
    assert!(shown().await.iter().any(says_so));
    assert_eq!(app.render("x.y", json!({"team": "us"})).await.rendered(), "us", "it serves");

    app.delete("/api/environs/team.tone").await;
    assert_eq!((listed().await, shown().await), (vec![], vec![]));
    app.put_environ("n", json!(1)).await;
    assert_eq!((listed().await.len(), shown().await.len()), (1, 1));
    let extension = json!({"name": "e", "contributes": {"prompts": [{"name": "p", "prompt": "x", "parameters": [{"name": "n"}]}]}});
    let written = app.put("/api/extensions/e", extension).await;
    assert!(written.body["problems"][0]["message"].as_str().unwrap().contains("environ `n`"), "{written:?}");
    app.delete("/api/extensions/e").await;
    app.put_prompt("x.y", json!({"prompt": "x"})).await;
    assert_eq!(listed().await, Vec::<Json>::new());
}

#[actix_web::test]
async fn the_prompt_says_whether_values_may_be_missing_and_else_the_settings() {
    for (setting, lenient) in [(Undefined::Strict, false), (Undefined::Lenient, true)] {
        let app = TestApp::start_with(|settings| settings.render.undefined = setting).await;
        let text = "{{.a}}-{{.variables.b}}";
        for (undefined, lenient) in [(None, lenient), (Some("strict"), false), (Some("lenient"), true)] {
            let mut document = json!({"prompt": text, "syntax": "go"});
            let mut preview = json!({"template": text, "syntax": "go"});
            if let Some(undefined) = undefined {
                document["undefined"] = undefined.into();
                preview["undefined"] = undefined.into();
            }
            app.put_prompt("x.y", document).await;
            for answer in [app.render("x.y", json!({})).await, app.post("/api/render", preview).await] {
                match lenient {
                    true => assert_eq!(answer.rendered(), "<no value>-<no value>"),
                    false => answer.assert_error(400, "invalid_request_error", "missing_variables"),
                }
            }
        }
    }
}

#[actix_web::test]
async fn a_lenient_jinja_prompt_prints_nothing_for_what_is_missing() {
    let app = TestApp::start().await;
    let text = "{{ a }}-{{ variables.b }}{% for x in c %}x{% endfor %}";
    app.put_prompt("x.y", json!({"prompt": text, "syntax": "jinja", "undefined": "lenient"})).await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "-");
}

#[actix_web::test]
async fn a_lenient_prompt_still_needs_its_required_parameters() {
    let app = TestApp::start().await;
    let parameters = json!([{"name": "repo", "required": true}]);
    let document = json!({"prompt": "{{.repo}}", "undefined": "lenient", "parameters": parameters});
    app.put_prompt("x.y", document).await;
    let answer = app.render("x.y", json!({})).await;
    assert_eq!(answer.error().3["missing"], json!(["variables.repo"]));
}

#[actix_web::test]
async fn an_unknown_word_for_undefined_is_refused() {
    let app = TestApp::start().await;
    let answer = app.put("/api/prompts/x.y", json!({"prompt": "x", "undefined": "maybe"})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let answer = app.post("/api/render", json!({"template": "x", "undefined": "maybe"})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    assert_eq!(answer.error().3["violations"][0]["path"], "/undefined", "{answer:?}");
}

/// Few names, so that those of environs, parameters and variables meet.
fn names() -> impl Strategy<Value = std::collections::BTreeSet<String>> {
    prop::collection::btree_set("[abc]|variables|args", 0..5)
}

#[test]
fn a_caller_never_reaches_what_an_environ_or_a_parameter_names() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    runner
        .run(&(names(), names(), names()), |(environs, declared, given)| {
            actix_web::rt::System::new().block_on(assert_meanings(&environs, &declared, &given));
            Ok(())
        })
        .unwrap();
}

type Names = std::collections::BTreeSet<String>;

/// Renders each name at the top level in both dialects, and asserts that it is what the first owner says.
async fn assert_meanings(environs: &Names, declared: &Names, given: &Names) {
    let app = TestApp::start().await;
    for name in environs {
        app.put_environ(name, json!(format!("environ {name}"))).await;
    }
    let parameters: Vec<Json> = declared.iter().map(|name| json!({"name": name})).collect();
    let variables: Json =
        given.iter().map(|name| (name.clone(), json!(format!("variable {name}")))).collect();
    for name in ["a", "b", "c"] {
        let owner = match (declared.contains(name), environs.contains(name)) {
            (false, true) => Some("environ"),
            _ => given.contains(name).then_some("variable"),
        };
        for (syntax, text) in printing(&[name]) {
            let document = json!({"prompt": text, "syntax": syntax, "parameters": parameters});
            app.put_prompt("x.y", document).await;
            let answer = app.render("x.y", variables.clone()).await;
            match owner {
                Some(owner) => assert_eq!(answer.rendered(), &json!(format!("{owner} {name}")), "{syntax}"),
                None => assert_eq!(answer.error().3["missing"], json!([format!("variables.{name}")])),
            }
        }
    }
}
