//! Variables for clients that cannot add members to the body: in a header, in the name of the model, in the last message.

use serde_json::{Value as Json, json};

use super::start;
use support::app::{Answer, TestApp};
use support::upstream::{Upstream, completion, json as reply_json};

const DOOR: &str = "/v1/chat/completions";

async fn with_prompts() -> (TestApp, Upstream) {
    let (app, upstream) = start(|_| reply_json(200, completion("a"))).await;
    let parameters =
        json!([{"name": "n", "type": "integer", "default": 1}, {"name": "tone", "type": "string"}]);
    let prompt = "{{ tone }} {{ n + 1 }} {{ topic }}";
    app.put_prompt("p.vars", json!({"userPrompt": prompt, "parameters": parameters, "model": "m"})).await;
    let messages =
        json!([{"role": "system", "content": "S"}, {"role": "user", "content": "About {{ topic }}."}]);
    app.put_prompt("p.topic", json!({"messages": messages, "input": "topic", "model": "m"})).await;
    (app, upstream)
}

/// Sends a request with variables in the header.
async fn with_header(app: &TestApp, path: &str, header: &str, body: Json) -> Answer {
    app.send(app.request("POST", path).header("x-prompt-variables", header).json(&body)).await
}

/// The messages that the upstream got last, as role and content.
fn sent(upstream: &Upstream) -> Json {
    let body: Json = serde_json::from_slice(&upstream.seen().last().unwrap().body).unwrap();
    body["messages"].clone()
}

fn says(role: &str, content: &str) -> Json {
    json!({"role": role, "content": content})
}

#[actix_web::test]
async fn variables_may_stand_in_the_header_and_in_the_name_of_the_model() {
    let (app, upstream) = with_prompts().await;
    let all = json!({"tone": "short", "n": 2, "topic": "rain"});
    for (path, header, body) in [
        (DOOR, r#"{"topic": "rain"}"#, json!({"model": "prompt:p.vars?tone=short&n=2", "messages": []})),
        (
            DOOR,
            r#"{"tone": "short", "n": 2}"#,
            json!({"model": "prompt:p.vars", "variables": {"topic": "rain"}}),
        ),
        ("/api/chat/prompts/p.vars", &all.to_string(), json!({})),
        (DOOR, "{}", json!({"model": "prompt:p.vars?topic=r%61in&tone=short&n=2"})),
    ] {
        let answer = with_header(&app, path, header, body.clone()).await;
        assert_eq!(answer.status, 200, "{body}: {answer:?}");
        assert_eq!(sent(&upstream), json!([says("user", "short 3 rain")]), "{body}");
    }
    let model = app.get("/v1/models/prompt:p.vars%3Ftone=short").await;
    assert_eq!(model.body["id"], "prompt:p.vars");
    // A client may send the header with all its requests; only prompts have variables.
    let other =
        with_header(&app, DOOR, "not JSON", json!({"model": "m", "messages": [says("user", "q")]})).await;
    assert_eq!(other.status, 200);
}

#[actix_web::test]
async fn variables_that_cannot_be_used_are_told() {
    let (app, upstream) = with_prompts().await;
    let twice = with_header(&app, DOOR, r#"{"n": 2}"#, json!({"model": "prompt:p.vars?n=3"})).await;
    twice.assert_error(400, "invalid_request_error", "invalid_variables");
    assert!(
        twice
            .error()
            .2
            .contains("`n` is given more than once, in x-prompt-variables and the name of the model")
    );
    let broken = with_header(&app, DOOR, "{", json!({"model": "prompt:p.vars"})).await;
    broken.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(broken.body["error"]["param"], "x-prompt-variables");
    let wrong = app.post(DOOR, json!({"model": "prompt:p.vars?n=three&topic=x&tone=y"})).await;
    wrong.assert_error(400, "invalid_request_error", "invalid_variables");
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn the_last_message_of_the_user_fills_the_parameter_that_the_prompt_names() {
    let (app, upstream) = with_prompts().await;
    let ask = |messages: Json| json!({"model": "prompt:p.topic", "messages": messages});
    let prompt = [says("system", "S"), says("user", "About rain.")];
    for (messages, expected) in [
        (json!([says("user", "rain")]), json!(prompt)),
        (
            json!([says("user", "a"), says("assistant", "b"), says("user", "rain")]),
            json!([prompt[0], says("user", "a"), says("assistant", "b"), prompt[1]]),
        ),
        // A round of tools goes on from the prompt.
        (
            json!([says("user", "rain"), says("assistant", "call")]),
            json!([prompt[0], prompt[1], says("assistant", "call")]),
        ),
    ] {
        assert_eq!(app.post(DOOR, ask(messages.clone())).await.status, 200, "{messages}");
        assert_eq!(sent(&upstream), expected, "{messages}");
    }
    // A variable that is given wins, and the message is an ordinary one.
    let mut given = ask(json!([says("user", "why?")]));
    given["variables"] = json!({"topic": "rain"});
    assert_eq!(app.post(DOOR, given).await.status, 200);
    assert_eq!(sent(&upstream), json!([prompt[0], prompt[1], says("user", "why?")]));
    app.post(DOOR, ask(json!([]))).await.assert_error(400, "invalid_request_error", "missing_variables");
}

#[actix_web::test]
async fn an_empty_message_that_a_library_insists_on_is_dropped() {
    let (app, upstream) = with_prompts().await;
    let body = json!({"model": "prompt:p.vars?tone=t&topic=x", "messages": [says("user", "")]});
    assert_eq!(app.post(DOOR, body).await.status, 200);
    assert_eq!(sent(&upstream), json!([says("user", "t 2 x")]));
    // What goes to a model as it is stays as it is.
    let plain = json!({"model": "m", "messages": [says("user", "")]});
    assert_eq!(app.post(DOOR, plain).await.status, 200);
    assert_eq!(sent(&upstream), json!([says("user", "")]));
}

#[actix_web::test]
async fn the_input_takes_the_declared_type_and_must_be_a_parameter() {
    let (app, upstream) = with_prompts().await;
    let document = |input: &str, closed: bool| {
        let parameters = json!({"type": "object", "properties": {"n": {"type": "integer"}}, "additionalProperties": !closed});
        json!({"userPrompt": "{{ n + 1 }}", "parameters": parameters, "input": input, "model": "m"})
    };
    app.put_prompt("p.count", document("n", true)).await;
    let answer = app.post(DOOR, json!({"model": "prompt:p.count", "messages": [says("user", "41")]})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(sent(&upstream), json!([says("user", "42")]));
    app.put_prompt("p.open", document("other", false)).await;
    let refused = app.put("/api/prompts/p.wrong", document("m", true)).await;
    refused.assert_error(400, "invalid_request_error", "invalid_document");
    assert!(refused.error().2.contains("/input: names `m`, which `parameters` do not take"), "{refused:?}");
}
