//! The list of models: those of the settings, the built-in one, the upstreams', and prompts.

use ai_prompt_shell::settings::{Capabilities, Model};
use serde_json::{Value as Json, json};

use super::llm;
use support::app::TestApp;
use support::upstream::{Upstream, json as reply_json, reply};

fn list(ids: &[&str]) -> Json {
    let data: Vec<Json> =
        ids.iter().map(|id| json!({"id": id, "object": "model", "context_window": 7})).collect();
    json!({"object": "list", "data": data})
}

async fn ids(app: &TestApp) -> Vec<String> {
    let answer = app.get("/v1/models").await;
    assert_eq!((answer.status, &answer.body["object"]), (200, &json!("list")), "{answer:?}");
    let data = answer.body["data"].as_array().unwrap();
    data.iter().map(|model| model["id"].as_str().unwrap().to_owned()).collect()
}

#[actix_web::test]
async fn all_that_can_be_asked_is_listed_and_the_upstreams_are_asked_once() {
    let usual =
        Upstream::start(|_| reply_json(200, list(&["gpt-x", "prompt:a.chat", "", "meta/llama", "fast"])))
            .await;
    let family = Upstream::start(|_| reply_json(200, list(&["claude-1", "other"]))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&usual.base);
        let capabilities = Capabilities { json_schema: Some(true), ..Capabilities::default() };
        let fast = Model { name: "fast".into(), capabilities, ..Model::default() };
        let claude =
            Model { name: "claude-*".into(), base_url: Some(family.base.clone()), ..Model::default() };
        settings.llm.models = vec![fast, claude];
    })
    .await;
    for (id, supports) in
        [("a.chat", json!(["chat"])), ("a.open", json!([])), ("a.code", json!(["completion"]))]
    {
        app.put_prompt(id, json!({"userPrompt": "x", "supports": supports})).await;
    }
    let expected = ["fast", "echo", "gpt-x", "meta/llama", "claude-1", "prompt:a.chat"];
    assert_eq!(ids(&app).await, expected);
    assert_eq!(ids(&app).await, expected);
    assert_eq!((usual.seen().len(), family.seen().len()), (1, 1));
    assert_eq!(usual.seen()[0].path, "/v1/models");

    let one = app.get("/v1/models/meta/llama").await;
    assert_eq!(one.body, json!({"id": "meta/llama", "object": "model", "context_window": 7}));
    assert_eq!(app.get("/v1/models/meta%2Fllama").await.body, one.body);
    assert_eq!(app.get("/v1/models/fast").await.body["capabilities"], json!({"json_schema": true}));
    let prompt = app.get("/v1/models/prompt:a.chat").await.body;
    assert!(prompt["object"] == "model" && prompt["created"].is_u64() && prompt["owned_by"].is_string());
    assert_eq!(app.get("/v1/models/prompt:a.code").await.body["id"], "prompt:a.code");
    app.get("/v1/models/prompt:a.none").await.assert_error(404, "not_found_error", "model_not_found");
    app.get("/v1/models/nothing").await.assert_error(404, "not_found_error", "model_not_found");
}

#[actix_web::test]
async fn an_upstream_that_lists_nothing_hides_nobody_else_s_models() {
    for body in ["<html>", "{}", "{\"data\": 5}"] {
        let upstream = Upstream::start(move |_| reply(200, &[], body.as_bytes())).await;
        let app = TestApp::start_with(|settings| settings.llm = llm(&upstream.base)).await;
        assert_eq!(ids(&app).await, ["echo"]);
        assert_eq!(ids(&app).await, ["echo"]);
        assert_eq!(upstream.seen().len(), 1);
    }
}
