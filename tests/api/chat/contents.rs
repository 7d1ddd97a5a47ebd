//! Content objects in chats: types that are prompts, and texts of the service that can be replaced.

use serde_json::{Value as Json, json};

use super::{llm, start};
use support::app::TestApp;
use support::upstream::{Upstream, completion, json as reply_json};

/// A service with a prompt without a text of its own to speak of.
async fn with_upstream() -> (TestApp, Upstream) {
    let (app, upstream) = start(|_| reply_json(200, completion("a"))).await;
    app.put_prompt("c.x", json!({"userPrompt": "x", "model": "m"})).await;
    (app, upstream)
}

/// The messages that the upstream is sent for messages that follow `x`.
async fn sent(app: &TestApp, upstream: &Upstream, messages: Json) -> Json {
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": messages})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut messages = upstream.seen().last().unwrap().json()["messages"].take();
    let sent = messages.as_array_mut().unwrap();
    let at = sent.iter().position(|message| message["content"] == "x").unwrap();
    sent.remove(at);
    messages
}

fn bug() -> Json {
    json!({
        "userPrompt": "Bug {{ id }}: {{ title }}{% if open %} (open){% endif %}",
        "parameters": {"properties": {"id": {"type": "integer"}, "title": {}, "open": {}}, "required": ["id"]},
    })
}

#[actix_web::test]
async fn a_prompt_renders_the_objects_of_its_type() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("content.bug", bug()).await;
    let messages = json!([
        {"type": "bug", "id": 1, "title": "{{ 1 + 1 }}", "open": false},
        {"role": "assistant", "content": "Which one?"},
        {"role": "system", "name": "n", "content": {"type": "bug", "id": 2, "title": "{{ \"b\" }}", "open": true}},
    ]);
    let expected = json!([
        {"role": "user", "content": "Bug 1: {{ 1 + 1 }}"},
        {"role": "assistant", "content": "Which one?"},
        {"role": "system", "name": "n", "content": "Bug 2: b (open)"},
    ]);
    let of_request = sent(&app, &upstream, messages.clone()).await;
    assert_eq!(of_request[2]["content"], "Bug 2: {{ \"b\" }} (open)");
    assert_eq!(of_request.as_array().unwrap()[..2], expected.as_array().unwrap()[..2]);
    // Texts in the `content` of a prompt's own messages are templates.
    app.put_prompt("c.bugs", json!({"model": "m", "messages": messages})).await;
    for (path, body) in [
        ("/v1/chat/completions", json!({"model": "prompt:c.bugs"})),
        ("/v1/responses", json!({"model": "prompt:c.bugs", "input": []})),
    ] {
        let answer = app.post(path, body).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(upstream.seen().last().unwrap().json()["messages"], expected, "{path}");
    }
}

#[actix_web::test]
async fn a_prompt_that_renders_to_messages_gives_these_in_the_place_of_the_object() {
    let (app, upstream) = with_upstream().await;
    let roles = "system:\nYou know bugs.\nuser:\nBug {{ id }}\nassistant:\nI see.";
    app.put_prompt("content.bug", json!({"userPrompt": roles, "roles": true})).await;
    let nested = json!({"messages": [
        {"role": "user", "content": "Feature {{ id }}"},
        {"role": "user", "content": {"type": "data", "kind": "feature", "data": {"id": "{{ id }}"}}},
    ]});
    app.put_prompt("content.feature", nested).await;
    let messages = json!([
        {"role": "user", "content": "a"},
        {"type": "bug", "id": 1},
        {"role": "user", "content": {"type": "feature", "id": 2}},
        {"role": "user", "content": "z"},
    ]);
    let expected = json!([
        {"role": "user", "content": "### feature\n\n```json\n{\"id\":\"2\"}\n```"},
        {"role": "user", "content": "a"},
        {"role": "system", "content": "You know bugs."},
        {"role": "user", "content": "Bug 1"},
        {"role": "assistant", "content": "I see."},
        {"role": "user", "content": "Feature 2"},
        {"role": "user", "content": "z"},
    ]);
    assert_eq!(sent(&app, &upstream, messages).await, expected);
}

#[actix_web::test]
async fn what_is_wrong_with_an_object_is_told_with_its_place() {
    let (app, upstream) = with_upstream().await;
    app.put_prompt("content.bug", bug()).await;
    app.put_prompt("content.jira.ticket", json!({"userPrompt": "{% set n = 1 // zero %}{{ n }}"})).await;
    let chat = async |message: Json| app.post("/api/chat/prompts/c.x", json!({"messages": [message]})).await;
    let answer = chat(json!({"role": "user", "content": {"type": "bug", "title": "t"}})).await;
    answer.assert_error(400, "invalid_request_error", "missing_variables");
    let (_, _, message, details) = answer.error();
    assert!(message.starts_with("/messages/1/content: the prompt needs values"), "{message}");
    assert_eq!(details["missing"], json!(["variables.id"]));
    assert_eq!(answer.body["error"]["param"], "messages");

    let answer = chat(json!({"type": "bug", "id": "one", "title": "t", "open": true})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_variables");
    let answer = chat(json!({"type": "jira.ticket", "zero": 0})).await;
    answer.assert_error(500, "render_error", "render_failed");
    assert!(answer.error().2.starts_with("/messages/1: the template failed"), "{answer:?}");

    for name in ["smell", "bug.x", "a b", "", "../bug", "bug/x"] {
        let answer = chat(json!({"type": name})).await;
        answer.assert_error(400, "invalid_request_error", "unknown_content_type");
        let message = answer.error().2;
        let known = "the known ones are config, state, input, data, text, bug, jira.ticket";
        assert!(message.starts_with("/messages/1: ") && message.ends_with(known), "{message}");
        assert_eq!(answer.body["error"]["param"], "messages");
    }
    let messages = vec![json!({"type": "bug", "id": 1, "title": "t", "open": true}); 65];
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": messages})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    assert_eq!(answer.error().3["violations"][0]["path"], "/messages/65");
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn failed_tools_of_such_a_prompt_are_warned_of() {
    let (app, _upstream) = with_upstream().await;
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let tool = json!({"type": "restful", "url": format!("http://{closed}/x"), "default": "nothing"});
    app.put_tool("lost.one", tool).await;
    app.put_prompt("content.bug", json!({"userPrompt": "{{ lost_one() }}"})).await;
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": [{"type": "bug"}]})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["x-prompt-warnings"], r#"1; tools="lost.one""#);
}

fn some_data() -> Json {
    json!([
        {"type": "input", "input": {"q": 1.0}},
        {"type": "data", "kind": "stock", "data": {"b": 1, "a": "```\n```"}, "description": "{{ d }}", "schema": true},
    ])
}

#[actix_web::test]
async fn the_texts_of_data_are_the_same_with_and_without_the_packages() {
    let input = "### input\n\nTake this input as a structured prompt: its members say what is asked.\n\n```json\n{\"q\":1.0}\n```";
    let stock = "### stock\n\n{{ d }}\n\n```json\n{\"b\":1,\"a\":\"```\\n```\"}\n```\n\nJSON Schema:\n\n```json\ntrue\n```";
    let expected = json!([{"role": "user", "content": input}, {"role": "user", "content": stock}]);
    for builtin in [false, true] {
        let upstream = Upstream::start(|_| reply_json(200, completion("a"))).await;
        let app = TestApp::start_with(|settings| {
            settings.llm = llm(&upstream.base);
            settings.packages.builtin = builtin;
        })
        .await;
        app.put_prompt("c.x", json!({"userPrompt": "x", "model": "m"})).await;
        // An environ hides no variable of theirs.
        app.put_environ("data", json!("environ")).await;
        assert_eq!(app.get("/api/prompts/requests.data").await.status == 200, builtin);
        assert_eq!(sent(&app, &upstream, some_data()).await, expected);
    }
}

#[actix_web::test]
async fn the_texts_of_data_can_be_replaced_and_an_error_names_the_prompt() {
    let (app, upstream) = with_upstream().await;
    let data = "{{ variables.kind }}|{{ variables.description }}|{{ variables.schema }}|{{ variables.data }}";
    app.put_prompt("requests.data", json!({"userPrompt": data})).await;
    app.put_prompt("requests.input", json!({"userPrompt": "I"})).await;
    let expected = json!([
        {"role": "user", "content": "input|I||{\"q\":1.0}"},
        {"role": "user", "content": "stock|{{ d }}|true|{\"b\":1,\"a\":\"```\\n```\"}"},
    ]);
    assert_eq!(sent(&app, &upstream, some_data()).await, expected);

    for (document, words) in [
        (json!({"messages": [{"role": "user", "content": "x"}]}), "renders to messages"),
        (json!({"userPrompt": "{{ variables.more }}"}), "variables.more"),
    ] {
        app.put_prompt("requests.data", document).await;
        let answer = app.post("/api/chat/prompts/c.x", json!({"messages": some_data()})).await;
        answer.assert_error(500, "render_error", "render_failed");
        let message = answer.error().2;
        assert!(message.starts_with("/messages/1: the prompt `requests.data`: "), "{message}");
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(app.delete("/api/prompts/requests.data").await.status, 204);
    let shipped = sent(&app, &upstream, some_data()).await;
    assert!(shipped[0]["content"].as_str().unwrap().starts_with("### input\n\nI\n\n"), "{shipped}");
}

#[actix_web::test]
async fn large_data_are_shown_up_to_the_limit_of_a_render() {
    let (app, upstream) = with_upstream().await;
    let data = |bytes: usize| json!([{"type": "data", "kind": "k", "data": "x".repeat(bytes)}]);
    let shown = sent(&app, &upstream, data(3 << 20)).await;
    assert!(shown[0]["content"].as_str().unwrap().len() > 3 << 20);
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": data(4 << 20)})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_request");
    assert!(answer.error().2.contains("at most 4194304 (render.output_bytes) can be shown"), "{answer:?}");
    let answer = app.post("/api/chat/prompts/c.x", json!({"messages": data((4 << 20) - 2)})).await;
    let message = answer.error().2;
    assert!(message.contains("the prompt `requests.data`: ") && message.contains("output"), "{message}");
}

#[actix_web::test]
async fn many_blocks_are_within_the_time_of_a_render() {
    let (app, upstream) = with_upstream().await;
    let object = |n| json!({"type": "data", "kind": format!("k{n}"), "data": n});
    let messages: Vec<Json> = (0..200).map(object).collect();
    let shown = sent(&app, &upstream, messages.into()).await;
    assert_eq!(shown.as_array().unwrap().len(), 200);
    assert_eq!(shown[199]["content"], "### k199\n\n```json\n199\n```");
}

#[actix_web::test]
async fn a_type_may_be_in_a_store_that_was_not_read_yet() {
    let upstream = Upstream::start(|_| reply_json(200, completion("a"))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.packages.builtin = true;
        settings.store.url = "redis://127.0.0.1:1".into();
    })
    .await;
    let chat = async |message: Json| {
        let body = json!({"model": "m", "variables": {"text": "x"}, "messages": [message]});
        app.post("/api/chat/prompts/summarizer.summarize_text", body).await
    };
    let answer = chat(json!({"type": "bug"})).await;
    assert_eq!((answer.status, answer.error().0), (503, "not_ready"), "{answer:?}");
    assert_eq!(chat(some_data()[0].clone()).await.status, 200);
}
