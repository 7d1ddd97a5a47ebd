//! Requests that cannot be used, and models that do not answer.

use serde_json::{Value as Json, json};

use super::{Ability, declared, for_a, model, of_message, request, start};
use support::app::TestApp;
use support::upstream::{Act, Upstream, json as reply_json};

/// The status and code of the answer to a message that ends for this reason.
async fn ending(message: Json, finish_reason: &'static str) -> support::app::Answer {
    let (app, upstream) = start(
        move |_| {
            let mut answer = of_message(message.clone());
            answer["choices"][0]["finish_reason"] = finish_reason.into();
            reply_json(200, answer)
        },
        |_| {},
    )
    .await;
    let answer = request(&app, for_a()).await;
    assert_eq!(upstream.seen().len(), 1, "such an answer is not repaired");
    answer
}

#[actix_web::test]
async fn refusals_filters_and_cut_answers_are_told_apart() {
    let refused = ending(json!({"content": null, "refusal": "I'd rather not."}), "stop").await;
    refused.assert_error(422, "invalid_request_error", "model_refused");
    let details = refused.error().3;
    assert_eq!((&details["reason"], &details["refusal"]), (&json!("refusal"), &json!("I'd rather not.")));
    assert_eq!(details["usage"]["total_tokens"], 5);
    let filtered = ending(json!({"content": ""}), "content_filter").await;
    filtered.assert_error(422, "invalid_request_error", "model_refused");
    assert_eq!(filtered.error().3["reason"], "content_filter");
    let cut = ending(json!({"content": "{\"a\":\"x"}), "length").await;
    cut.assert_error(422, "invalid_request_error", "answer_truncated");
    assert_eq!(cut.error().3["answer"], "{\"a\":\"x");
}

#[actix_web::test]
async fn an_answer_without_choices_is_none() {
    let (app, _upstream) = start(|_| reply_json(200, json!({"choices": []})), |_| {}).await;
    request(&app, for_a()).await.assert_error(502, "upstream_error", "llm_unavailable");
}

#[actix_web::test]
async fn what_is_wrong_with_a_request_is_told_before_any_call() {
    let (app, upstream) = start(model(Ability::JsonSchema, |_| "{}".into()), |_| {}).await;
    let changed = |name: &str, value: Json| {
        let mut body = for_a();
        match value {
            Json::Null => drop(body.as_object_mut().unwrap().remove(name)),
            value => body[name] = value,
        }
        body
    };
    for (body, code, path) in [
        (changed("schema", Json::Null), "schema_missing", ""),
        (changed("schema", json!([])), "schema_missing", ""),
        (changed("schema", json!({"type": "objekt", "required": "a"})), "invalid_schema", "/required"),
        (changed("schema", json!({"$ref": "#/$defs/nobody"})), "invalid_schema", ""),
        (changed("schema", json!("object")), "invalid_schema", ""),
        (changed("schema", json!({"$ref": "https://example.test/schema"})), "invalid_schema", ""),
        (changed("context", Json::Null), "invalid_request", "/context"),
        (changed("context", json!([])), "invalid_request", "/context"),
        (changed("context", json!("hello")), "invalid_request", "/context"),
        (changed("context", json!([{"content": "no role"}])), "invalid_request", "/context/0"),
        (changed("n", json!(0)), "invalid_request", "/n"),
        (changed("n", json!(129)), "invalid_request", "/n"),
        (changed("max_repairs", json!(6)), "invalid_request", "/max_repairs"),
        (changed("strategy", json!("magic")), "invalid_request", "/strategy"),
        (changed("params", json!([])), "invalid_request", "/params"),
        (changed("params", json!({"tools": []})), "invalid_request", "/params/tools"),
        (changed("checks", json!([{"test": "true"}])), "invalid_request", "/checks"),
        (changed("temperature", json!(0)), "invalid_request", "/temperature"),
    ] {
        let answer = request(&app, body.clone()).await;
        answer.assert_error(400, "invalid_request_error", code);
        if code != "schema_missing" {
            let violations = answer.error().3["violations"].as_array().unwrap();
            assert!(violations.iter().any(|violation| violation["path"] == path), "{body}: {violations:?}");
        }
    }
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn models_that_do_not_exist_and_bodies_that_are_no_json_are_told() {
    let app = TestApp::start().await;
    let mut body = for_a();
    request(&app, body.clone()).await.assert_error(404, "not_found_error", "model_not_found");
    body["model"] = "echo".into();
    assert_eq!(request(&app, body).await.status, 200);
    let broken = app.request("POST", "/api/requests").header("content-type", "application/json").body("{");
    app.send(broken).await.assert_error(400, "invalid_request_error", "invalid_json");
}

#[actix_web::test]
async fn all_attempts_together_have_a_time() {
    let upstream = Upstream::start(|_| vec![Act::Hang]).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = crate::chat::llm(&upstream.base);
        settings.llm.models = vec![declared("m", Ability::Tools)];
        settings.requests.timeout_ms = 300;
    })
    .await;
    let schema = &for_a()["schema"];
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "schema": schema}});
    let chat = json!({"model": "m", "messages": for_a()["context"], "response_format": format});
    let as_stream = |mut body: Json| {
        body["stream"] = true.into();
        body
    };
    for (path, body) in [
        ("/api/requests", for_a()),
        ("/api/requests", as_stream(for_a())),
        ("/v1/chat/completions", chat.clone()),
        ("/v1/chat/completions", as_stream(chat)),
    ] {
        let answer = app.post(path, body).await;
        answer.assert_error(503, "timeout_error", "request_timeout");
        assert!(answer.error().2.contains("requests.timeout_ms"), "{answer:?}");
        // Client libraries would begin anew, for as long a time.
        assert_eq!(answer.headers["x-should-retry"], "false", "{path}");
    }
    upstream.abandoned(4).await;
}

#[actix_web::test]
async fn a_client_that_leaves_cancels_the_call() {
    let (app, upstream) = start(|_| vec![Act::Hang], |_| {}).await;
    let asking = app.request("POST", "/api/requests").json(&for_a()).send();
    let asking = tokio::spawn(asking);
    upstream.arrived(1).await;
    asking.abort();
    upstream.abandoned(1).await;
}
