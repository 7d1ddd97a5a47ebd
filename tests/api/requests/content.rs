//! Content objects in the context: each type, their order, and what they make of the schema.

use serde_json::{Value as Json, json};

use super::{Ability, for_a, model, request, solution, start};
use support::app::{Answer, TestApp};
use support::upstream::Upstream;

async fn service() -> (TestApp, Upstream) {
    start(model(Ability::JsonSchema, |_| r#"{"a":"x"}"#.into()), |_| {}).await
}

/// The messages that the model gets for a context.
async fn sent(context: Json) -> Vec<(String, String)> {
    let (app, upstream) = service().await;
    assert_eq!(with(&app, context).await.status, 200);
    let sent = upstream.seen()[0].json();
    let text = |message: &Json, member: &str| message[member].as_str().unwrap().to_owned();
    sent["messages"].as_array().unwrap().iter().map(|m| (text(m, "role"), text(m, "content"))).collect()
}

async fn with(app: &TestApp, context: Json) -> Answer {
    let mut body = for_a();
    body["context"] = context;
    request(app, body).await
}

#[actix_web::test]
async fn instructions_come_first_then_state_inputs_data_and_the_rest_as_it_came() {
    let messages = sent(json!([
        {"role": "system", "content": "S"},
        {"role": "user", "content": "first"},
        {"type": "data", "kind": "shop", "data": {"z": 1, "a": {"b": 1.0}}, "description": "What there is."},
        {"type": "input", "input": {"q": "?"}},
        {"role": "user", "content": {"type": "text", "text": "second"}},
        {"type": "state", "state": {"step": 2}},
        {"type": "data", "kind": "shop", "data": {"a": {"c": 2}}},
    ]))
    .await;
    let begins = ["S", "### state", "### input", "### shop", "first", "second"];
    assert_eq!(messages.len(), begins.len(), "{messages:?}");
    for ((_, text), begin) in messages.iter().zip(begins) {
        assert!(text.starts_with(begin), "{text} instead of {begin}");
    }
    let shop = &messages[3].1;
    assert!(shop.contains("What there is.") && shop.contains(r#"{"z":1,"a":{"b":1.0,"c":2}}"#), "{shop}");
}

#[actix_web::test]
async fn tools_become_calls_in_the_solution() {
    let calls =
        r#"{"calls":[{"_tool":"move","to":"a1"},{"_tool":"say","text":"hi","loud":true}],"output":null}"#;
    let (app, upstream) = start(model(Ability::Tools, |_| calls.into()), |llm| {
        llm.models = vec![super::declared("m", Ability::Tools)];
    })
    .await;
    let text = json!({"type": "string"});
    let moves = |member: &str| json!({"type": "object", "properties": {member: text}, "required": [member]});
    let answer = with(
        &app,
        json!([
            {"type": "tool", "tool": {"move": moves("from"), "say": {"type": "object", "properties": {"text": text, "loud": {"type": "boolean"}}}}},
            {"role": "user", "content": {"type": "tool", "tool": {"move": moves("to")}}},
            {"role": "user", "content": "q"},
        ]),
    )
    .await;
    assert_eq!(solution(&answer).to_string(), calls);
    let sent = upstream.seen()[0].json();
    assert_eq!(sent["messages"], json!([{"role": "user", "content": "q"}]));
    let parameters = &sent["tools"][0]["function"]["parameters"];
    assert_eq!(parameters["required"], json!(["calls", "output"]));
    let tools = &parameters["properties"]["calls"]["items"]["anyOf"];
    assert_eq!(
        tools[0],
        json!({
            "type": "object", "properties": {"_tool": {"type": "string", "const": "move"}, "to": text},
            "required": ["_tool", "to"],
        })
    );
    assert_eq!(tools[1]["properties"]["_tool"]["const"], "say");
    let output = &parameters["properties"]["output"]["anyOf"];
    assert_eq!((&output[0], &output[1]), (&for_a()["schema"], &json!({"type": "null"})));
}

#[actix_web::test]
async fn a_call_of_an_unknown_tool_is_invalid() {
    let calls = r#"{"calls":[{"_tool":"fly"}],"output":null}"#;
    let (app, _upstream) = start(model(Ability::JsonSchema, |_| calls.into()), |_| {}).await;
    let context = json!([{"type": "tool", "tool": {"move": {}}}, {"role": "user", "content": "q"}]);
    let answer = with(&app, context).await;
    answer.assert_error(422, "invalid_request_error", "solution_invalid");
}

#[actix_web::test]
async fn what_is_wrong_with_content_objects_names_the_member_of_the_context() {
    let (app, upstream) = service().await;
    for (object, code, path) in [
        (
            json!({"type": "input", "input": {"n": "x"}, "schema": {"properties": {"n": {"type": "integer"}}}}),
            "invalid_request",
            "/context/1/input/n",
        ),
        (json!({"type": "input", "input": []}), "invalid_request", "/context/1/input"),
        (json!({"type": "data", "data": 1}), "invalid_request", "/context/1"),
        (json!({"type": "tool", "tool": {}}), "invalid_request", "/context/1/tool"),
        (
            json!({"type": "tool", "tool": {"a/b": {"properties": {"x": {"type": "foo"}}}}}),
            "invalid_request",
            "/context/1/tool/a~1b/properties/x/type",
        ),
        (
            json!({"type": "tool", "tool": {"ok": {}, "far": {"properties": {"x": {"$ref": "#/$defs/none"}}}}}),
            "invalid_request",
            "/context/1/tool/far",
        ),
        (
            json!({"type": "tool", "tool": {"x": {"type": "string"}}}),
            "invalid_request",
            "/context/1/tool/x/type",
        ),
        (json!({"type": "unheard", "x": 1}), "unknown_content_type", ""),
    ] {
        let answer = with(&app, json!([{"role": "user", "content": "q"}, object])).await;
        answer.assert_error(400, "invalid_request_error", code);
        assert_eq!(answer.body["error"]["param"], "context", "{answer:?}");
        match code {
            "invalid_request" => assert_eq!(answer.error().3["violations"][0]["path"], path, "{answer:?}"),
            _ => {
                let message = answer.error().2;
                assert!(message.contains("/context/1") && message.contains("tool, config"), "{message}");
            }
        }
    }
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn other_types_are_prompts_of_the_catalog() {
    let (app, upstream) = service().await;
    app.put_prompt("content.bug", json!({"userPrompt": "Bug {{ id }}: {{ title }}", "syntax": "jinja"}))
        .await;
    let context = json!([
        {"role": "user", "content": "q"},
        {"type": "bug", "id": 5, "title": "It hangs"},
        {"role": "assistant", "content": {"type": "bug", "id": 6, "title": "It does not"}},
    ]);
    assert_eq!(with(&app, context).await.status, 200);
    assert_eq!(
        upstream.seen()[0].json()["messages"],
        json!([
            {"role": "user", "content": "q"}, {"role": "user", "content": "Bug 5: It hangs"},
            {"role": "assistant", "content": "Bug 6: It does not"},
        ])
    );
    let answer = with(&app, json!([{"type": "story"}])).await;
    answer.assert_error(400, "invalid_request_error", "unknown_content_type");
    assert!(answer.error().2.contains("bug"), "{answer:?}");
}

#[actix_web::test]
async fn the_order_of_members_is_kept_from_end_to_end() {
    let schema = json!({
        "type": "object", "required": ["zebra", "apple", "mango"],
        "properties": {"zebra": {"type": "string"}, "apple": {"type": "integer"}, "mango": {"type": "object", "properties": {"y": {"type": "string"}, "b": {"type": "string"}}, "required": ["y", "b"]}},
    });
    let text = r#"{"zebra":"z","apple":1,"mango":{"y":"1","b":"2"}}"#;
    for ability in [Ability::JsonSchema, Ability::Tools, Ability::JsonObject] {
        let (app, upstream) =
            start(model(ability, |_| text.into()), |llm| llm.models = vec![super::declared("m", ability)])
                .await;
        let context = json!([{"type": "data", "kind": "k", "data": {"z": 1, "m": 2, "a": 3}}]);
        let body = json!({"context": context, "model": "m", "schema": schema});
        let answer = request(&app, body).await;
        assert_eq!(solution(&answer).to_string(), text);
        let sent = String::from_utf8(upstream.seen()[0].body.clone()).unwrap();
        let at = |part: &str| sent.find(part).unwrap_or_else(|| panic!("no {part} in {sent}"));
        assert!(at("zebra") < at("apple") && at("apple") < at("mango"), "{sent}");
        assert!(sent.contains(r#"{\"z\":1,\"m\":2,\"a\":3}"#), "{sent}");
        let idea = app.get(&format!("/api/ideas/{}", answer.body["idea_id"].as_str().unwrap())).await;
        assert_eq!(idea.body["schema"].to_string(), schema.to_string());
        assert_eq!(idea.body["solution"].to_string(), text);
    }
}

#[actix_web::test]
async fn the_texts_of_the_service_can_be_replaced() {
    let (app, upstream) = start(
        model(Ability::Text, |body| match body["messages"].as_array().unwrap().len() {
            2 => "bad".into(),
            _ => r#"{"a":"x"}"#.into(),
        }),
        |llm| llm.models = vec![super::declared("m", Ability::Text)],
    )
    .await;
    app.put_prompt("requests.schema", json!({"userPrompt": "JSON, please: {{ schema }}", "syntax": "jinja"}))
        .await;
    app.put_prompt(
        "requests.repair",
        json!({"userPrompt": "{% for v in violations %}({{ v.path }}) {{ v.message }}{% endfor %}!", "syntax": "jinja"}),
    )
    .await;
    assert_eq!(request(&app, for_a()).await.status, 200);
    let messages = upstream.seen()[1].json()["messages"].clone();
    assert_eq!(messages[0]["content"], format!("JSON, please: {}", for_a()["schema"]));
    let complaint = messages[3]["content"].as_str().unwrap();
    assert!(complaint.starts_with("() ") && complaint.ends_with('!'), "{complaint}");
    // What the operator has broken is no fault of the client.
    app.put_prompt("requests.schema", json!({"userPrompt": "{{ chema }}", "syntax": "jinja"})).await;
    let broken = request(&app, for_a()).await;
    broken.assert_error(500, "render_error", "render_failed");
    let message = broken.body["error"]["message"].as_str().unwrap();
    assert!(message.contains("the prompt `requests.schema`") && message.contains("chema"), "{message}");
}
