//! The doors that OpenAI's clients know: payloads and answers pass through as they are.

use serde_json::json;

use super::{ask, start, start_with};
use support::app::TestApp;
use support::log::KEY;
use support::upstream::{completion, json as reply_json, reply};

#[actix_web::test]
async fn payload_and_answer_pass_through_byte_for_byte() {
    let answer = r#"{ "id":"x", "choices":[], "usage": {"cost": 0.10, "big": 123456789012345678901234567890}, "odd":null}"#;
    let (app, upstream) =
        start(move |_| reply(200, &[("content-type", "application/json")], answer.as_bytes())).await;
    let payload = r#"{"z":1.0,"model":"gpt-x","temperature":0,"seed":1e3,"stop":null,"messages":[{"content":null,"role":"assistant","tool_calls":[]},{"role":"developer","content":[{"type":"text","text":"\ud83d\ude00 \u00e9"}]}],"extra":{"b":[ 1.50 ],"a":12345678901234567890123},"stream":false,"variables":{"n":1},"prompt":"text","metadata":{"variables":"x"}}"#;
    let request = app.request("POST", "/v1/chat/completions").header("content-type", "application/json");
    let response = request.body(payload).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert!(response.headers()["server-timing"].to_str().unwrap().starts_with("llm;dur="));
    assert_eq!(response.text().await.unwrap(), answer);
    let seen = &upstream.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(String::from_utf8_lossy(&seen.body), payload);
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[actix_web::test]
async fn requests_carry_their_id_and_trace_on() {
    let (app, upstream) = start(|_| reply_json(200, completion("a"))).await;
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = app.request("POST", "/v1/chat/completions").json(&ask("q"));
    let request = request.header("x-request-id", "r-1").header("traceparent", parent);
    assert_eq!(app.send(request.header("authorization", "Bearer the-client-s-own")).await.status, 200);
    let seen = &upstream.seen()[0];
    assert_eq!((seen.header("x-request-id"), seen.header("traceparent")), (Some("r-1"), Some(parent)));
    assert_eq!(seen.header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}

#[actix_web::test]
async fn a_request_without_a_model_takes_the_default_one() {
    let (app, upstream) =
        start_with(|_| reply_json(200, completion("a")), |llm| llm.default_model = Some("usual".into()))
            .await;
    for model in [json!({}), json!({"model": null}), json!({"model": ""}), json!({"model": "other"})] {
        assert_eq!(app.post("/v1/chat/completions", model).await.status, 200);
    }
    let models: Vec<_> = upstream.seen().iter().map(|seen| seen.json()["model"].clone()).collect();
    assert_eq!(models, ["usual", "usual", "usual", "other"]);
}

#[actix_web::test]
async fn embeddings_need_an_input_and_take_their_own_default_model() {
    let embedding = json!({"object": "list", "data": [{"embedding": "AACAPw==", "index": 0}], "model": "e"});
    let answer = embedding.clone();
    let change =
        |llm: &mut ai_prompt_shell::settings::Llm| llm.default_embedding_model = Some("small".into());
    let (app, upstream) = start_with(move |_| reply_json(200, answer.clone()), change).await;
    let body = json!({"input": ["a", "b"], "encoding_format": "base64", "dimensions": 2});
    assert_eq!(app.post("/v1/embeddings", body).await.body, embedding);
    let seen = &upstream.seen()[0];
    assert_eq!(seen.path, "/v1/embeddings");
    assert_eq!(
        String::from_utf8_lossy(&seen.body),
        r#"{"input":["a","b"],"encoding_format":"base64","dimensions":2,"model":"small"}"#
    );
    let answer = app.post("/v1/embeddings", json!({"model": "e"})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(answer.body["error"]["param"], "input");
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn wrong_requests_are_told_what_is_wrong_with_them() {
    let (app, upstream) = start(|_| reply_json(200, completion("a"))).await;
    for (body, param) in [
        (json!({"messages": []}), "model"),
        (json!({"model": 5}), "model"),
        (json!({"model": "m", "stream": "yes"}), "stream"),
        (json!({"model": "m", "stream_options": []}), "stream_options"),
        (json!({"model": "prompt:a.b", "prompt": {"id": "a.c"}}), "prompt"),
    ] {
        let answer = app.post("/v1/chat/completions", body.clone()).await;
        answer.assert_error(400, "invalid_request_error", "invalid_request");
        assert_eq!(answer.body["error"]["param"], param, "{body}");
    }
    let twice = json!({"model": "prompt:a.b", "variables": {}, "args": {}});
    for path in ["/v1/chat/completions", "/api/chat/prompts/a.b", "/api/render/prompts/a.b"] {
        app.put_prompt("a.b", json!({"prompt": "hi"})).await;
        let answer = app.post(path, twice.clone()).await;
        answer.assert_error(400, "invalid_request_error", "invalid_variables");
        assert_eq!(answer.body["error"]["param"], "variables", "{path}");
    }
    app.post("/v1/chat/completions", json!([1])).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_json",
    );
    app.get("/v1/chat/completions").await.assert_error(405, "invalid_request_error", "method_not_allowed");
    app.post("/v1/embeddings", json!({"input": "x"})).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_request",
    );
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn without_an_upstream_only_echo_is_known() {
    let app = TestApp::start().await;
    let answer = app.post("/v1/chat/completions", ask("q")).await;
    answer.assert_error(404, "not_found_error", "model_not_found");
    assert!(answer.error().2.contains("llm.base_url"));
    let answer = app.post("/v1/embeddings", json!({"model": "echo", "input": "x"})).await;
    answer.assert_error(404, "not_found_error", "model_not_found");
}

#[actix_web::test]
async fn as_many_calls_as_may_be_are_under_way_and_no_more() {
    let (app, upstream) = start_with(|_| vec![support::upstream::Act::Hang], |llm| llm.parallel = 2).await;
    let calls: Vec<_> = (0..2)
        .map(|_| tokio::spawn(app.request("POST", "/v1/chat/completions").json(&ask("q")).send()))
        .collect();
    upstream.arrived(2).await;
    let answer = app.post("/v1/chat/completions", ask("q")).await;
    answer.assert_error(429, "rate_limit_error", "overloaded");
    assert_eq!(answer.headers["retry-after"], "1");
    calls.iter().for_each(|call| call.abort());
    upstream.abandoned(2).await;
    let again = tokio::spawn(app.request("POST", "/v1/chat/completions").json(&ask("q")).send());
    upstream.arrived(3).await;
    again.abort();
}
