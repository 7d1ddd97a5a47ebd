//! OpenAI's Responses API: through upstreams that have it, and through chat completions.

mod streams;
mod upstreams;

use serde_json::{Value as Json, json};

use super::{llm, read_stream, start, start_with};
use support::app::TestApp;
use support::upstream::{Act, Seen, Upstream, completion, event, json as reply_json, reply, sse};

const DOOR: &str = "/v1/responses";

/// An upstream that has chat completions alone, and gives them `script`.
fn chats_only(
    script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static,
) -> impl Fn(&Seen) -> Vec<Act> + Send + Sync {
    move |seen| match seen.path.as_str() {
        "/v1/chat/completions" => script(seen),
        _ => reply(404, &[("content-type", "text/html")], b"<h1>Not found</h1>"),
    }
}

async fn put_prompts(app: &TestApp) {
    let messages = json!([{"role": "system", "content": "S"}, {"role": "user", "content": [
        {"type": "text", "text": "About {{ topic }}."}, {"type": "image_url", "image_url": {"url": "data:x"}},
    ]}]);
    app.put_prompt(
        "p.q",
        json!({"messages": messages, "model": "m", "params": {"max_tokens": 9, "stop": ["x"]}}),
    )
    .await;
    app.put_prompt("p.in", json!({"userPrompt": "About {{ topic }}.", "input": "topic"})).await;
}

/// The bodies that the upstream got, with their paths.
fn seen(upstream: &Upstream) -> Vec<(String, Json)> {
    upstream.seen().iter().map(|seen| (seen.path.clone(), seen.json())).collect()
}

/// The types of the events of a stream; each says it twice, and their numbers count up.
fn events(stream: &str) -> (Vec<String>, Vec<Json>) {
    let (mut kinds, mut datas) = (Vec::new(), Vec::new());
    for (at, event) in stream.split_terminator("\n\n").enumerate() {
        let (name, data) = event.split_once('\n').unwrap();
        let data: Json = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
        assert_eq!(name.strip_prefix("event: "), data["type"].as_str());
        assert_eq!(data["sequence_number"], at, "{event}");
        kinds.push(data["type"].as_str().unwrap().to_owned());
        datas.push(data);
    }
    (kinds, datas)
}

/// The events of a text in two pieces, with the usage that a stream was asked to tell.
fn streamed(chunks: &[Json]) -> Vec<Act> {
    let mut events: Vec<String> = chunks
        .iter()
        .map(|chunk| {
            let mut chunk = chunk.clone();
            for (name, value) in
                [("id", json!("chatcmpl-7")), ("created", json!(5)), ("model", json!("real"))]
            {
                chunk[name] = value;
            }
            event(&chunk.to_string())
        })
        .collect();
    events.push(event("[DONE]"));
    sse(&events)
}

fn choice(delta: Json, finish: Json) -> Json {
    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

/// A response without the ids of its items, which are never the same.
fn without_ids(response: &Json) -> Json {
    let mut response = response.clone();
    for item in response["output"].as_array_mut().unwrap() {
        assert!(item.as_object_mut().unwrap().remove("id").is_some());
    }
    response
}

#[actix_web::test]
async fn a_prompt_is_answered_through_chat_completions() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("Wet.")))).await;
    put_prompts(&app).await;
    let body = json!({
        "prompt": {"id": "p.q", "version": "3", "variables": {"topic": {"type": "input_text", "text": "rain"}}},
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Now."}]}, {"role": "user", "content": ""}],
        "instructions": "I", "temperature": 0, "store": false,
    });
    let answer = app.post(DOOR, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.headers["x-prompt-id"], "p.q");
    let sent = seen(&upstream);
    assert_eq!((sent.len(), sent[1].0.as_str()), (2, "/v1/chat/completions"));
    assert_eq!(
        sent[1].1,
        json!({
            "model": "m", "temperature": 0, "max_tokens": 9, "stop": ["x"],
            "messages": [
                {"role": "system", "content": "I"},
                {"role": "system", "content": "S"},
                {"role": "user", "content": [
                    {"type": "text", "text": "About rain."},
                    {"type": "image_url", "image_url": {"url": "data:x"}},
                ]},
                {"role": "user", "content": [{"type": "text", "text": "Now."}]},
            ],
        })
    );
    let body = &answer.body;
    assert_eq!(
        (&body["object"], &body["status"], &body["error"]),
        (&json!("response"), &json!("completed"), &json!(null))
    );
    assert_eq!(
        (&body["temperature"], &body["max_output_tokens"], &body["instructions"]),
        (&json!(0), &json!(9), &json!("I"))
    );
    let output = body["output"].as_array().unwrap();
    assert_eq!(
        (output.len(), &output[0]["type"], &output[0]["role"]),
        (1, &json!("message"), &json!("assistant"))
    );
    let text = json!({"type": "output_text", "text": "Wet.", "annotations": [], "logprobs": []});
    assert_eq!(output[0]["content"], json!([text]));

    // That the upstream has no responses was learned.
    let plain = app.post(DOOR, json!({"model": "m", "input": "q"})).await;
    assert_eq!(plain.status, 200);
    let sent = seen(&upstream);
    assert_eq!(
        sent[2],
        (
            "/v1/chat/completions".into(),
            json!({"model": "m", "messages": [{"role": "user", "content": "q"}]})
        )
    );
    assert_eq!(sent.len(), 3);
}

#[actix_web::test]
async fn the_variables_of_the_object_prompt_are_texts_that_take_the_declared_types() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("a")))).await;
    let parameters = json!([{"name": "days", "type": "integer"}, {"name": "code", "type": "string"}]);
    let text = "{{ days + 1 }} {{ code + '!' }}";
    app.put_prompt("p.n", json!({"userPrompt": text, "parameters": parameters, "model": "m"})).await;
    for days in [json!("2"), json!(2), json!({"type": "input_text", "text": "2"})] {
        let prompt = json!({"id": "p.n", "variables": {"days": days, "code": "007"}});
        for (door, input) in [(DOOR, "input"), ("/v1/chat/completions", "messages")] {
            let answer = app.post(door, json!({"prompt": &prompt, input: []})).await;
            assert_eq!(answer.status, 200, "{door}: {answer:?}");
            let sent = seen(&upstream).pop().unwrap().1;
            assert_eq!(sent["messages"], json!([{"role": "user", "content": "3 007!"}]), "{door}");
        }
    }
    let body = json!({"prompt": {"id": "p.n", "variables": {"days": "two", "code": "x"}}});
    let answer = app.post(DOOR, body).await;
    answer.assert_error(400, "invalid_request_error", "invalid_variables");
}

#[actix_web::test]
async fn the_model_s_name_and_the_last_message_may_give_the_variables() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("a")))).await;
    put_prompts(&app).await;
    for body in [
        json!({"model": "prompt:p.in", "input": "rain"}),
        json!({"model": "prompt:p.in?topic=rain", "input": ""}),
        json!({"model": "prompt:p.in", "input": [{"role": "user", "content": [{"type": "input_text", "text": "rain"}]}]}),
    ] {
        let mut body = body;
        body["top_logprobs"] = json!(null);
        let answer = app.send(app.request("POST", DOOR).json(&body)).await;
        // No model is named, and there is no default.
        answer.assert_error(400, "invalid_request_error", "invalid_request");
        app.put_prompt("p.in", json!({"userPrompt": "About {{ topic }}.", "input": "topic", "model": "m"}))
            .await;
        assert_eq!(app.post(DOOR, body.clone()).await.status, 200, "{body}");
        let sent = seen(&upstream).pop().unwrap().1;
        assert_eq!(sent["messages"], json!([{"role": "user", "content": "About rain."}]), "{body}");
        put_prompts(&app).await;
    }
}

#[actix_web::test]
async fn what_a_prompt_says_reaches_a_chat_upstream_as_it_says_it() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("a")))).await;
    let parts = json!([{"type": "text", "text": "t", "cache_control": {"type": "ephemeral"}}, {"type": "video_url", "video_url": {"url": "v"}}]);
    let messages =
        json!([{"role": "system", "content": "S", "name": "n"}, {"role": "user", "content": parts}]);
    let format = json!({"type": "json_schema", "json_schema": {"name": "s", "schema": {}}});
    let params = json!({"response_format": format, "reasoning_effort": "high", "verbosity": "low", "max_completion_tokens": 7, "n": 3});
    app.put_prompt("p.all", json!({"messages": messages, "model": "m", "params": params})).await;
    let body = json!({"model": "prompt:p.all", "input": "", "text": {"verbosity": "high"}, "reasoning": {"summary": "auto"}});
    let answer = app.post(DOOR, body).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let sent = seen(&upstream).pop().unwrap().1;
    let expected = json!({
        "model": "m", "messages": messages, "response_format": format, "reasoning_effort": "high", "verbosity": "high",
        "max_completion_tokens": 7,
    });
    assert_eq!(sent, expected);
}

#[actix_web::test]
async fn everything_that_a_chat_upstream_cannot_do_is_named_at_once() {
    let (app, _upstream) =
        start_with(chats_only(|_| reply_json(200, completion("a"))), |llm| llm.responses = Some(false)).await;
    let answer = app.post(DOOR, json!({
        "model": "m", "input": [5], "previous_response_id": "r", "store": true, "background": true, "conversation": "c",
        "tools": [{"type": "web_search"}, {"type": "function"}], "tool_choice": {"type": "mcp"}, "text": {"format": {}},
        "reasoning": 1, "top_logprobs": "x",
    })).await;
    assert_eq!(answer.status, 400);
    for name in [
        "previous_response_id",
        "conversation",
        "background",
        "store",
        "input",
        "tools",
        "tool_choice",
        "text",
        "reasoning",
        "top_logprobs",
    ] {
        assert!(answer.error().2.contains(&format!("`{name}` ")), "{name}: {answer:?}");
    }
}

#[actix_web::test]
async fn what_would_need_a_store_is_refused_and_so_is_what_a_chat_cannot_have() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("a")))).await;
    put_prompts(&app).await;
    for (name, value) in [
        ("previous_response_id", json!("resp_1")),
        ("store", json!(true)),
        ("conversation", json!("conv_1")),
        ("background", json!(true)),
    ] {
        for model in ["m", "prompt:p.q?topic=x"] {
            let answer = app.post(DOOR, json!({"model": model, "input": "q", name: value})).await;
            answer.assert_error(400, "invalid_request_error", "invalid_request");
            assert_eq!(answer.body["error"]["param"], name);
        }
    }
    for (param, body) in [
        ("tools", json!({"model": "m", "input": "q", "tools": [{"type": "web_search"}]})),
        ("input", json!({"model": "m", "input": [{"type": "computer_call"}]})),
        ("input", json!({"model": "prompt:p.q?topic=x", "input": 5})),
    ] {
        let answer = app.post(DOOR, body).await;
        answer.assert_error(400, "invalid_request_error", "invalid_request");
        assert_eq!(answer.body["error"]["param"], param);
    }
    assert!(upstream.seen().iter().all(|seen| seen.path == "/v1/responses"));
}

#[actix_web::test]
async fn the_built_in_model_answers_in_this_form_too() {
    let app = TestApp::start().await;
    let answer = app.post(DOOR, json!({"input": "say two words"})).await;
    assert_eq!(answer.body["output"][0]["content"][0]["text"], "say two words");
    let (stream, _) = read_stream(&app, DOOR, &json!({"input": "say two words", "stream": true})).await;
    let (_, datas) = events(&stream);
    assert_eq!(without_ids(&datas.last().unwrap()["response"]), without_ids(&answer.body));
}
