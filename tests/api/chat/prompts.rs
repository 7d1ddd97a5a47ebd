//! Prompts answered by models: what of the request, the prompt and the settings goes where.

use serde_json::{Value as Json, json};

use super::{start, start_with};
use support::app::TestApp;
use support::upstream::{Upstream, completion, json as reply_json};

async fn with_upstream() -> (TestApp, Upstream) {
    start(|_| reply_json(200, completion("a"))).await
}

fn sent(upstream: &Upstream) -> Json {
    upstream.seen().last().unwrap().json()
}

#[actix_web::test]
async fn a_text_is_what_the_user_says_and_messages_are_followed_by_those_of_the_request() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("t.text", json!({"userPrompt": "Hi {{.variables.name}}"})).await;
    app.put_prompt(
        "t.list",
        json!({"messages": [
            {"role": "system", "content": "S {{.variables.name}}"},
            {"role": "user", "name": "n", "content": [{"type": "text", "text": "U {{.variables.name}}"}]},
        ]}),
    )
    .await;
    let answer =
        app.post("/api/chat/prompts/t.text", json!({"model": "m", "variables": {"name": "A"}})).await;
    assert_eq!((answer.status, &answer.body), (200, &completion("a")));
    assert_eq!(sent(&upstream), json!({"model": "m", "messages": [{"role": "user", "content": "Hi A"}]}));
    let body = r#"{"variables":{"name":"A"},"temperature":0,"model":"m","messages":[{"content":null,"role":"assistant"}],"top_p":1.0,"stop":null,"x":{"b":1,"a":2e0}}"#;
    let request = app.request("POST", "/api/chat/prompts/t.list").header("content-type", "application/json");
    assert_eq!(app.send(request.body(body)).await.status, 200);
    assert_eq!(
        String::from_utf8_lossy(&upstream.seen()[1].body),
        r#"{"temperature":0,"model":"m","messages":[{"role":"system","content":"S A"},{"role":"user","name":"n","content":[{"type":"text","text":"U A"}]},{"content":null,"role":"assistant"}],"top_p":1.0,"stop":null,"x":{"b":1,"a":2e0}}"#
    );
}

#[actix_web::test]
async fn the_request_wins_over_the_prompt_and_the_prompt_over_the_settings() {
    let (app, upstream) = start_with(
        |_| reply_json(200, completion("a")),
        |llm| {
            llm.default_model = Some("of-settings".into());
            llm.params = json!({"temperature": 0.1, "top_p": 0.1, "seed": 1}).as_object().unwrap().clone();
        },
    )
    .await;
    let params = json!({"temperature": 0.2, "top_p": 0.2, "stream": true, "messages": []});
    app.put_prompt("p.one", json!({"userPrompt": "x", "model": "of-prompt", "params": params})).await;
    app.put_prompt("p.two", json!({"userPrompt": "x"})).await;
    let messages = json!([{"role": "user", "content": "x"}]);
    for (path, body, expected) in [
        (
            "/api/chat/prompts/p.one",
            json!({"model": "of-request", "temperature": null}),
            json!({"model": "of-request", "temperature": null, "top_p": 0.2, "seed": 1}),
        ),
        (
            "/api/chat/prompts/p.one",
            json!({"model": null}),
            json!({"model": "of-prompt", "temperature": 0.2, "top_p": 0.2, "seed": 1}),
        ),
        (
            "/v1/chat/completions",
            json!({"model": "prompt:p.two"}),
            json!({"model": "of-settings", "temperature": 0.1, "top_p": 0.1, "seed": 1}),
        ),
        (
            "/v1/chat/completions",
            json!({"model": "mine", "prompt": {"id": "p.one"}}),
            json!({"model": "mine", "temperature": 0.2, "top_p": 0.2, "seed": 1}),
        ),
    ] {
        assert_eq!(app.post(path, body.clone()).await.status, 200, "{body}");
        let mut expected = expected;
        expected["messages"] = messages.clone();
        assert_eq!(sent(&upstream), expected, "{body}");
    }
}

#[actix_web::test]
async fn content_objects_are_unfolded_and_tools_among_them_are_refused() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("c.x", json!({"messages": [
        {"role": "system", "content": "S"},
        {"role": "user", "content": {"type": "data", "kind": "doc", "data": {"title": "{{.variables.t}}"}}},
        {"type": "config", "config": {"temperature": 0, "model": "of-config"}},
    ]}))
    .await;
    let body = json!({"variables": {"t": "T"}, "messages": [{"type": "state", "state": {"n": 1}}]});
    assert_eq!(app.post("/api/chat/prompts/c.x", body).await.status, 200);
    let sent = sent(&upstream);
    assert_eq!((&sent["temperature"], &sent["model"]), (&json!(0), &json!("of-config")));
    let texts: Vec<&str> =
        sent["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!((texts.len(), texts[0]), (3, "S"));
    assert!(texts[1].contains(r#"{"n":1}"#) && texts[2].contains(r#"{"title":"T"}"#), "{texts:?}");

    for (message, code) in [
        (json!({"type": "tool", "tools": {}}), "unknown_content_type"),
        (json!({"role": "user", "content": {"type": "smell"}}), "unknown_content_type"),
        (
            json!({"type": "input", "input": {"n": "x"}, "schema": {"properties": {"n": {"type": "number"}}}}),
            "invalid_request",
        ),
        (json!("text"), "invalid_request"),
    ] {
        let body = json!({"variables": {"t": "T"}, "messages": [message]});
        let answer = app.post("/api/chat/prompts/c.x", body).await;
        answer.assert_error(400, "invalid_request_error", code);
        assert_eq!(answer.body["error"]["param"], "messages");
    }
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": "x"})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn what_is_wrong_with_a_prompt_is_told_as_when_it_is_rendered() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("p.ok", json!({"userPrompt": "x", "model": "m"})).await;
    for (body, status) in [
        (json!({"variables": null, "args": {}}), 200),
        (json!({"variables": {}, "args": {}}), 400),
        (json!({"model": ""}), 200),
        (json!({"model": "prompt:p.x"}), 404),
    ] {
        assert_eq!(app.post("/api/chat/prompts/p.ok", body.clone()).await.status, status, "{body}");
    }
    assert!(upstream.seen().iter().all(|seen| seen.json()["model"] == "m"));
    let asked = upstream.seen().len();
    app.put_prompt("p.x", json!({"userPrompt": "{{.variables.a}}{{.variables.b}}"})).await;
    for path in ["/api/chat/prompts/p.x", "/api/prompts/p.x/chat"] {
        let answer = app.post(path, json!({})).await;
        answer.assert_error(400, "invalid_request_error", "missing_variables");
        assert_eq!(answer.error().3["missing"], json!(["variables.a", "variables.b"]));
    }
    app.post("/api/chat/prompts/p.none", json!({})).await.assert_error(
        404,
        "not_found_error",
        "prompt_not_found",
    );
    let answer = app.post("/v1/chat/completions", json!({"model": "prompt:p.none"})).await;
    answer.assert_error(404, "not_found_error", "prompt_not_found");
    let answer = app.post("/v1/chat/completions", json!({"model": "prompt:"})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_id");
    assert_eq!(upstream.seen().len(), asked);
}

#[actix_web::test]
async fn ten_megabytes_of_images_go_through() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("p.look", json!({"userPrompt": "What is it?"})).await;
    let image = format!("data:image/png;base64,{}", "QUJD".repeat(10 * 1024 * 1024 / 4));
    let parts = json!([{"type": "image_url", "image_url": {"url": image}}]);
    let body = json!({"model": "m", "messages": [{"role": "user", "content": parts}]});
    assert_eq!(app.post("/api/chat/prompts/p.look", body).await.status, 200);
    let sent = sent(&upstream);
    assert_eq!(sent["messages"][1]["content"], parts);
    let body = json!({"messages": [{"role": "user", "content": "x".repeat(17 << 20)}]});
    app.post("/api/chat/prompts/p.look", body).await.assert_error(
        413,
        "invalid_request_error",
        "body_too_large",
    );
}
