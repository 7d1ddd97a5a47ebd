//! Packages in a folder: loading, live changes, and what is said when one is broken.

use serde_json::json;

use support::app::{Answer, TestApp};

/// The extension of the original document, but for its translated descriptions.
const SEED: &str = r#"{
  "name": "evaluator", "publisher": "zgsm-ai", "displayName": "E", "icon": "images/evaluator.png", "description": "d",
  "version": "1.0.0", "extensionType": "prompt", "license": "Apache-2.0",
  "engines": {"name": "ai-prompt-shell", "version": ">=1.0.0"},
  "contributes": {
    "prompts": [{
      "name": "evaluate_quality",
      "messages": [
        {"role": "system", "content": "You are a code review assistant who can evaluate the quality of the project."},
        {"role": "user", "content": "Evaluate the project code from the following dimensions and give a quality assessment report.\nEvaluation dimensions:\n{{.vscode.rules}}\nCode context:\n{{.codebase.current_project}}"}
      ],
      "supports": ["chat", "codereview"],
      "parameters": [{"name": "repo", "type": "string", "default": "", "description": "r"}],
      "returns": []
    }],
    "languages": ["c++", "c", "lua", "python"],
    "dependences": [
      {"name": "scan-gitrepo", "version": "^1.0.0", "failStrategy": "abort"},
      {"name": "context", "version": "^1.2.0", "failStrategy": "ignore"}
    ]
  }
}"#;

#[actix_web::test]
async fn the_extension_of_the_original_document_loads_and_renders_with_default_settings() {
    let app = TestApp::start().await;
    app.write_package_file("evaluator/package.json", SEED);
    app.write_package_file("evaluator/environs/vscode/rules.json", r#"["clarity", "tests"]"#);
    app.write_package_file("evaluator/environs/codebase/current_project.json", r#""src/main.c""#);
    app.eventually("/api/environs", |answer| answer.body.as_array().unwrap().len() == 2).await;
    let answer = app.render("evaluator.evaluate_quality", json!({})).await;
    let user = "Evaluate the project code from the following dimensions and give a quality assessment report.\nEvaluation dimensions:\n[clarity tests]\nCode context:\nsrc/main.c";
    assert_eq!(answer.rendered()[1], json!({"role": "user", "content": user}));
    assert_eq!(app.get("/api/extensions/evaluator").await.body["available"], true);
}

#[actix_web::test]
async fn a_package_s_files_make_prompts_tools_and_environs_and_changes_are_picked_up_live() {
    let app = TestApp::start().await;
    let package =
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","userPrompt":{"file":"prompts/q.jinja"}}]}}"#;
    app.write_package_file("p/prompts/q.jinja", "one {{ a.b.c }}");
    app.write_package_file("p/environs/a/b.json", r#"{"c": 5}"#);
    app.write_package_file("p/tools/t.json", r#"{"name":"t","module":"m","type":"restful","url":"/"}"#);
    app.write_package_file("p/package.json", package);
    app.eventually("/api/prompts", |answer| answer.body == json!(["p.q"])).await;
    assert_eq!(app.render("p.q", json!({})).await.rendered(), "one 5");
    assert_eq!(app.get("/api/tools").await.body, json!(["m.t"]));
    assert_eq!(app.get("/api/prompts/p.q").await.body["prompt"]["userPrompt"], "one {{ a.b.c }}");
    app.write_package_file("p/prompts/q.jinja", "two {{ a.b.c }}");
    app.eventually("/api/status", |answer| answer.body["revision"].as_u64() > Some(1)).await;
    for _ in 0..100 {
        if app.render("p.q", json!({})).await.rendered() == "two 5" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(app.render("p.q", json!({})).await.rendered(), "two 5");
    std::fs::remove_dir_all(app.packages.path().join("p")).unwrap();
    app.eventually("/api/prompts", |answer| answer.body == json!([])).await;
    app.eventually("/api/tools", |answer| answer.body == json!([])).await;
}

#[actix_web::test]
async fn a_broken_file_is_named_with_its_line_while_the_last_good_version_serves() {
    let app = TestApp::start().await;
    let package = r#"{"name":"p","contributes":{"prompts":[{"name":"q","syntax":"go","userPrompt":{"file":"prompts/q.gotmpl"}}]}}"#;
    app.write_package_file("p/prompts/q.gotmpl", "good {{.variables.a}}");
    app.write_package_file("p/package.json", package);
    app.eventually("/api/prompts", |answer| answer.body == json!(["p.q"])).await;
    let file = app.write_package_file("p/prompts/q.gotmpl", "bad\n\n{{if .variables.a}}");
    let has_problem = |answer: &Answer| answer.body["problems"] != json!([]);
    let status = app.eventually("/api/status", has_problem).await;
    let problem = &status.body["problems"][0];
    assert_eq!((&problem["key"], &problem["line"]), (&json!(file), &json!(3)), "{problem}");
    assert_eq!(app.render("p.q", json!({"a": "1"})).await.rendered(), "good 1");
    app.write_package_file("p/package.json", "{ not json");
    let says = |what: &'static str| move |answer: &Answer| answer.body["problems"].to_string().contains(what);
    app.eventually("/api/status", says("not valid JSON")).await;
    assert_eq!(app.render("p.q", json!({"a": "1"})).await.rendered(), "good 1");
    let missing =
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","userPrompt":{"file":"../../secret"}}]}}"#;
    app.write_package_file("p/package.json", missing);
    app.eventually("/api/status", says("is not in the package")).await;
}

#[actix_web::test]
async fn of_two_packages_with_one_name_the_first_wins_and_the_other_is_a_problem() {
    let app = TestApp::start().await;
    let package = |text: &str| {
        format!(r#"{{"name":"same","contributes":{{"prompts":[{{"name":"q","prompt":"{text}"}}]}}}}"#)
    };
    app.write_package_file("b/package.json", package("second"));
    app.write_package_file("a/package.json", package("first"));
    app.eventually("/api/status", |answer| answer.body["problems"].to_string().contains("already defines"))
        .await;
    assert_eq!(app.render("same.q", json!({})).await.rendered(), "first");
}

#[actix_web::test]
async fn the_packages_that_ship_in_the_binary_render_without_any_folder() {
    let app = TestApp::start_with(|settings| settings.packages.builtin = true).await;
    let prompts = app.get("/api/prompts").await.body;
    assert!(prompts.as_array().unwrap().len() >= 5, "{prompts}");
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
    let answer = app.render("commit-writer.message", json!({"diff": "+ retries on time-out"})).await;
    assert!(answer.rendered().to_string().contains("+ retries on time-out"));
}

#[actix_web::test]
async fn a_package_s_tool_or_extension_that_becomes_unreadable_goes_on_as_it_was() {
    let app = TestApp::start().await;
    app.write_package_file(
        "foo/package.json",
        r#"{"name":"bar","contributes":{"prompts":[{"name":"q","prompt":"Q"}]}}"#,
    );
    app.write_package_file(
        "foo/tools/lk.json",
        r#"{"name":"lookup","module":"cb","type":"restful","url":"/"}"#,
    );
    app.eventually("/api/tools", |answer| answer.body == json!(["cb.lookup"])).await;
    app.write_package_file("foo/tools/lk.json", "{");
    app.write_package_file("foo/package.json", "{");
    app.eventually("/api/status", |answer| answer.body["problems"].as_array().unwrap().len() == 2).await;
    assert_eq!(app.get("/api/tools").await.body, json!(["cb.lookup"]));
    assert_eq!(app.render("bar.q", json!({})).await.rendered(), "Q");
}

#[actix_web::test]
async fn a_hidden_folder_is_no_package_and_a_folder_put_in_place_of_another_is_followed() {
    let app = TestApp::start().await;
    app.write_package_file(".git/config", "x");
    app.write_package_file(
        "a/package.json",
        r#"{"name":"a","contributes":{"prompts":[{"name":"q","prompt":"one"}]}}"#,
    );
    app.eventually("/api/prompts", |answer| answer.body == json!(["a.q"])).await;
    assert_eq!(app.get("/api/status").await.body["problems"], json!([]));
    let old = tempfile::tempdir().unwrap();
    std::fs::rename(app.packages.path(), old.path().join("old")).unwrap();
    app.eventually("/api/prompts", |answer| answer.body == json!([])).await;
    app.write_package_file(
        "b/package.json",
        r#"{"name":"b","contributes":{"prompts":[{"name":"q","prompt":"two"}]}}"#,
    );
    app.eventually("/api/prompts", |answer| answer.body == json!(["b.q"])).await;
    app.write_package_file(
        "c/package.json",
        r#"{"name":"c","contributes":{"prompts":[{"name":"q","prompt":"three"}]}}"#,
    );
    app.eventually("/api/prompts", |answer| answer.body == json!(["b.q", "c.q"])).await;
}

#[actix_web::test]
async fn hidden_files_of_a_package_are_no_part_of_it_and_too_many_others_are_a_problem() {
    let app = TestApp::start().await;
    for number in 0..2100 {
        app.write_package_file(&format!("a/.git/objects/{number}"), "x");
    }
    let package = json!({"name": "a", "contributes": {"prompts": [{"name": "p", "userPrompt": "text"}]}});
    app.write_package_file("a/package.json", package.to_string());
    app.eventually("/api/prompts/a.p", |answer| answer.status == 200).await;
    for number in 0..2100 {
        app.write_package_file(&format!("a/many/{number}"), "x");
    }
    let status = app.eventually("/api/status", |answer| answer.body["problems"][0].is_object()).await;
    let message = status.body["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("more than 2000 files"), "{message}");
    assert_eq!(app.render("a.p", json!({})).await.rendered(), "text");
}
