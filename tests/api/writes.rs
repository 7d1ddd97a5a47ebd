//! Writing documents over HTTP, and what reads show afterwards.

use serde_json::{Value as Json, json};

use support::app::TestApp;

#[actix_web::test]
async fn a_document_is_created_replaced_shown_and_deleted() {
    let app = TestApp::start().await;
    let tool =
        json!({"name": "lookup_ref", "module": "codebase", "type": "restful", "url": "/l", "extra": 1});
    let created = app.put("/api/tools/codebase:lookup_ref", tool.clone()).await;
    assert_eq!(
        (created.status, &created.body),
        (201, &json!({"id": "codebase.lookup_ref", "created": true}))
    );
    assert_eq!(app.put("/api/tools/codebase.lookup_ref", tool.clone()).await.status, 200);
    let shown = app.get("/api/tools/codebase.lookup_ref").await;
    let mut expected = tool;
    expected["function"] = json!("codebase_lookup_ref");
    assert_eq!(shown.body, expected);
    assert_eq!(shown.headers["etag"], created.headers["etag"]);
    let deleted = app.delete("/api/tools/codebase.lookup_ref").await;
    assert_eq!((deleted.status, deleted.body), (204, json!(null)));
    assert_eq!(app.get("/api/tools").await.body, json!([]));
}

#[actix_web::test]
async fn a_write_that_breaks_the_schema_is_refused_with_every_violation_and_changes_nothing() {
    let app = TestApp::start().await;
    let bad = json!({"name": "other", "version": "one", "contributes": {"prompts": [{"prompt": "x"}]}});
    let answer = app.put("/api/extensions/x", bad).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let violations = answer.error().3["violations"].as_array().unwrap();
    let paths: Vec<&str> = violations.iter().map(|v| v["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/contributes/prompts/0", "/version", "/name"], "{violations:?}");
    assert_eq!(app.get("/api/extensions").await.body, json!([]));
    let text =
        app.request("PUT", "/api/environs/a.b").header("content-type", "application/json").body("nope");
    app.send(text).await.assert_error(400, "invalid_request_error", "invalid_json");
}

#[actix_web::test]
async fn environs_of_any_kind_are_stored_and_read_also_by_inner_paths() {
    let app = TestApp::start().await;
    app.put_environ("vscode.rules", json!({"lang": "go", "list": [1, null]})).await;
    app.put_environ("vscode.n", json!(0)).await;
    assert_eq!(app.get("/api/environs").await.body, json!(["vscode.n", "vscode.rules"]));
    assert_eq!(
        app.get("/api/environs/vscode").await.body,
        json!({"n": 0, "rules": {"lang": "go", "list": [1, null]}})
    );
    assert_eq!(app.get("/api/environs/vscode:rules:lang").await.body, json!("go"));
    let detail = app.get("/api/environs?detail=true").await.body;
    assert_eq!(detail[0], json!({"id": "vscode.n", "value": 0}));
}

#[actix_web::test]
async fn an_environ_hidden_by_a_longer_key_is_a_problem() {
    let app = TestApp::start().await;
    app.put_environ("a", json!(1)).await;
    app.put_environ("a.b", json!(2)).await;
    assert_eq!(app.get("/api/environs/a").await.body, json!({"b": 2}));
    let problem = app.get("/api/status").await.body["problems"][0].clone();
    assert_eq!(problem["key"], "shenma:environs:a");
    app.delete("/api/environs/a.b").await;
    assert_eq!(app.get("/api/environs/a").await.body, json!(1));
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
}

#[actix_web::test]
async fn a_stored_document_goes_over_that_of_a_package_until_it_is_deleted() {
    let app = TestApp::start().await;
    app.write_package_file(
        "p/package.json",
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","prompt":"package"}]}}"#,
    );
    app.eventually("/api/prompts", |answer| answer.body == json!(["p.q"])).await;
    app.put_prompt("p.q", json!({"prompt": "stored"})).await;
    assert_eq!(app.render("p.q", json!({})).await.rendered(), "stored");
    assert_eq!(app.get("/api/prompts/p.q").await.body["origin"], "direct");
    assert_eq!(app.delete("/api/prompts/p.q").await.status, 204);
    assert_eq!(app.render("p.q", json!({})).await.rendered(), "package");
    assert_eq!(app.get("/api/prompts/p.q").await.body["origin"], "extension");
}

#[actix_web::test]
async fn lists_are_sorted_and_can_be_filtered_and_detailed() {
    let app = TestApp::start().await;
    for (name, language, supports) in [("b", "python", "chat"), ("a", "*", "codereview")] {
        let prompts = json!([{"name": "q", "prompt": "Q", "supports": [supports], "description": name}]);
        let extension = json!({"name": name, "version": "1.0.0", "contributes": {"languages": [language], "prompts": prompts}});
        assert_eq!(app.put(&format!("/api/extensions/{name}"), extension).await.status, 201);
    }
    for (path, expected) in [
        ("/api/extensions", json!(["a", "b"])),
        ("/api/prompts", json!(["a.q", "b.q"])),
        ("/api/prompts?supports=chat", json!(["b.q"])),
        ("/api/prompts?language=Python", json!(["a.q", "b.q"])),
        ("/api/extensions?language=go", json!(["a"])),
        ("/api/extensions?supports=codereview", json!(["a"])),
    ] {
        assert_eq!(app.get(path).await.body, expected, "{path}");
    }
    let detail = app.get("/api/prompts?detail=true").await.body;
    assert_eq!(detail[0]["description"], "a");
    assert_eq!(app.get("/api/extensions/a").await.body["available"], true);
}

#[actix_web::test]
async fn the_schemas_are_served_with_their_stable_ids() {
    let app = TestApp::start().await;
    for name in ["extension", "prompt", "tool"] {
        let answer = app.get(&format!("/schemas/{name}.json")).await;
        assert!(answer.body["$id"].as_str().unwrap().ends_with(&format!("/schemas/{name}.json")));
    }
}

#[actix_web::test]
async fn the_parameters_of_a_prompt_are_shown_as_a_schema_whatever_form_they_have() {
    let app = TestApp::start().await;
    let list = json!([{"name": "repo", "type": "string", "default": "", "required": true}]);
    app.put_prompt("x.list", json!({"prompt": "p", "parameters": list})).await;
    let shown = app.get("/api/prompts/x.list").await.body;
    assert_eq!(shown["parameters"]["required"], json!(["repo"]));
    assert_eq!(shown["parameters"]["properties"]["repo"]["type"], "string");
    let bad = app.put("/api/prompts/x.bad", json!({"prompt": "p", "parameters": {"type": "nonsense"}})).await;
    bad.assert_error(400, "invalid_request_error", "invalid_template");
}

#[actix_web::test]
async fn an_extension_may_include_its_own_prompts_when_it_is_written() {
    let app = TestApp::start().await;
    let prompts = json!([{"name": "p", "userPrompt": "P{{.variables.a}}"}, {"name": "q", "userPrompt": "{{template \"p\" .}}"}]);
    let written =
        app.put("/api/extensions/sib", json!({"name": "sib", "contributes": {"prompts": prompts}})).await;
    assert_eq!(written.status, 201, "{written:?}");
    assert_eq!(app.render("sib.q", json!({"a": "1"})).await.rendered(), "P1");
}

#[actix_web::test]
async fn names_with_dots_find_their_siblings() {
    let app = TestApp::start().await;
    let prompts = json!([{"name": "sub.one", "userPrompt": "{{template \"two\" .}}"}, {"name": "two", "userPrompt": "2{{.variables.a}}"}]);
    assert_eq!(
        app.put("/api/extensions/bar", json!({"name": "bar", "contributes": {"prompts": prompts}}))
            .await
            .status,
        201
    );
    assert_eq!(app.render("bar.sub.one", json!({"a": "1"})).await.rendered(), "21");
}

#[actix_web::test]
async fn an_extension_stored_under_another_key_than_its_name_is_found_by_its_name() {
    let server = support::redis::RedisServer::start();
    let document = r#"{"name":"myeval","contributes":{"prompts":[{"name":"q","prompt":"Q"}]}}"#;
    let _: () =
        redis::Commands::set(&mut server.connection(), "shenma:extensions:zgsm-ai:evaluator", document)
            .unwrap();
    let url = server.url();
    let app = TestApp::start_with(|settings| settings.store.url = url).await;
    assert_eq!(app.get("/api/extensions").await.body, json!(["myeval"]));
    assert_eq!(app.get("/api/extensions?stored=true").await.body, json!(["zgsm-ai.evaluator"]));
    assert!(app.get("/api/extensions/myeval").await.headers.contains_key("etag"));
    assert_eq!(app.get("/api/extensions/myeval?raw=store").await.body["name"], "myeval");
    assert_eq!(app.delete("/api/extensions/myeval").await.status, 204);
    assert_eq!(app.get("/api/extensions").await.body, json!([]));
}

#[actix_web::test]
async fn a_put_for_something_new_alone_does_not_overwrite() {
    let app = TestApp::start().await;
    let put = |text: &str| {
        app.request("PUT", "/api/prompts/x.y").header("if-none-match", "*").json(&json!({"prompt": text}))
    };
    assert_eq!(app.send(put("1")).await.status, 201);
    app.send(put("2")).await.assert_error(412, "conflict_error", "etag_mismatch");
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "1");
}

#[actix_web::test]
async fn what_the_wild_holds_is_accepted() {
    let app = TestApp::start().await;
    let prompts = json!([{
        "name": "q", "userPrompt": "{{.variables.a}}{{.variables.n}}", "messages": null, "supports": ["completion"],
        "parameters": [{"name": "a", "type": "string", "default": null}, {"name": "n", "type": "int", "default": ""},
                       {"name": "u", "type": ["string", "null"], "required": "true"}],
        "returns": null
    }]);
    let contributes = json!({"prompts": prompts, "languages": ["*"], "dependences": null});
    let written = app
        .put("/api/extensions/wild", json!({"name": "wild", "license": null, "contributes": contributes}))
        .await;
    assert_eq!(written.status, 201, "{written:?}");
    assert_eq!(app.render("wild.q", json!({"a": "x", "n": 1})).await.rendered(), "x1");
    assert_eq!(app.get("/api/prompts?language=cobol").await.body, json!(["wild.q"]));
}

#[actix_web::test]
async fn only_in_a_package_can_a_file_stand_for_a_text_and_a_part_that_looks_like_one_is_left_alone() {
    let app = TestApp::start().await;
    let answer = app.put("/api/prompts/a.b", json!({"userPrompt": {"file": "x"}})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let part = json!({"type": "input_file", "file": "f.pdf", "text": "x {{.variables.a}}"});
    app.put_prompt("a.b", json!({"messages": [{"role": "user", "content": [part]}]})).await;
    let expected =
        json!([{"role": "user", "content": [{"type": "input_file", "file": "f.pdf", "text": "x 1"}]}]);
    assert_eq!(app.render("a.b", json!({"a": 1})).await.rendered(), &expected);
}

#[actix_web::test]
async fn an_environ_called_args_is_not_shown_beside_the_variables() {
    let app = TestApp::start().await;
    app.put_environ("args", json!("ENV")).await;
    assert_eq!(
        app.preview("go", "{{.}}|{{.args}}", json!({"a": 1})).await.rendered(),
        "map[variables:map[a:1]]|map[a:1]"
    );
}

#[actix_web::test]
async fn a_prompt_over_one_of_an_extension_keeps_its_languages() {
    let app = TestApp::start().await;
    let contributes = json!({"languages": ["python"], "prompts": [{"name": "q", "prompt": "Q"}]});
    app.put("/api/extensions/e", json!({"name": "e", "contributes": contributes})).await;
    app.put_prompt("e.q", json!({"prompt": "mine"})).await;
    assert_eq!(app.get("/api/prompts?language=python").await.body, json!(["e.q"]));
}

#[actix_web::test]
async fn an_empty_body_is_no_document_and_a_condition_that_is_not_understood_stops_the_write() {
    let app = TestApp::start().await;
    app.put_environ("a.b", json!("x")).await;
    let empty = app.request("PUT", "/api/environs/a.b").header("content-type", "application/json");
    app.send(empty).await.assert_error(400, "invalid_request_error", "invalid_json");
    for (name, value) in [("if-none-match", "\"abc\""), ("if-match", "\"abc\""), ("if-match", "*")] {
        let request = app.request("PUT", "/api/environs/a.b").header(name, value).json(&json!("y"));
        app.send(request).await.assert_error(412, "conflict_error", "etag_mismatch");
    }
    assert_eq!(app.get("/api/environs/a.b").await.body, json!("x"));
}

#[actix_web::test]
async fn an_extension_shows_what_is_wrong_with_it_and_its_prompts() {
    let app = TestApp::start().await;
    let missing = json!([{"name": "other", "version": "1.0.0", "failStrategy": "ignore"}]);
    let document = json!({"name": "x", "contributes": {"dependences": missing, "prompts": [{"name": "p", "prompt": "ok"}]}});
    assert_eq!(app.put("/api/extensions/x", document.clone()).await.status, 201);
    let mut broken = document;
    broken["contributes"]["prompts"][0]["prompt"] = json!("{{");
    app.put("/api/extensions/x", broken.clone()).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_template",
    );
    let shown = app.get("/api/extensions/x").await.body;
    assert_eq!(shown["problems"].as_array().unwrap().len(), 1, "{shown}");
    app.write_package_file("y/package.json", broken.to_string().replace("\"x\"", "\"y\""));
    let shown = app.eventually("/api/extensions/y", |answer| answer.body["problems"][1].is_object()).await;
    let messages: Vec<&str> =
        shown.body["problems"].as_array().unwrap().iter().map(|p| p["message"].as_str().unwrap()).collect();
    assert!(messages.iter().any(|message| message.contains("`other`")), "{messages:?}");
    assert!(messages.iter().any(|message| message.contains("`y.p`")), "{messages:?}");
}

#[actix_web::test]
async fn a_default_must_fit_its_own_schema() {
    let app = TestApp::start().await;
    let prompt = |default: Json| json!({"prompt": "{{.variables.a}}", "parameters": [{"name": "a", "type": "integer", "default": default}]});
    let answer = app.put("/api/prompts/x.y", prompt(json!("zz"))).await;
    answer.assert_error(400, "invalid_request_error", "invalid_template");
    assert!(answer.error().2.contains("/a: "), "{answer:?}");
    app.put_prompt("x.y", prompt(json!(7))).await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "7");
}
