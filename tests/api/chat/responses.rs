//! OpenAI's Responses API: through upstreams that have it, and through chat completions.

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
                    {"type": "image_url", "image_url": {"url": "data:x", "detail": "auto"}},
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
async fn an_upstream_that_has_responses_gets_them_byte_for_byte_and_so_does_the_client() {
    let reply_text = r#"{"id":"resp_1","object":"response","output":[],"x":1.0}"#;
    let (app, upstream) = start(move |seen| match seen.path.as_str() {
        "/v1/responses" => reply(200, &[("content-type", "application/json")], reply_text.as_bytes()),
        _ => reply(500, &[], b""),
    })
    .await;
    put_prompts(&app).await;
    let body = r#"{"input":"q","model":"m","x":1.0,"previous_response_id":"resp_0","store":true}"#;
    let request = app.request("POST", DOOR).header("content-type", "application/json").body(body);
    assert_eq!(request.send().await.unwrap().text().await.unwrap(), reply_text);
    assert_eq!(String::from_utf8_lossy(&upstream.seen()[0].body), body);

    let body = json!({"model": "prompt:p.q?topic=rain", "input": "Now.", "tools": [{"type": "web_search"}]});
    assert_eq!(app.post(DOOR, body).await.status, 200);
    assert_eq!(
        seen(&upstream)[1].1,
        json!({
            "model": "m", "max_output_tokens": 9, "tools": [{"type": "web_search"}],
            "input": [
                {"role": "system", "content": "S"},
                {"role": "user", "content": [
                    {"type": "input_text", "text": "About rain."},
                    {"type": "input_image", "image_url": "data:x", "detail": "auto"},
                ]},
                {"role": "user", "content": "Now."},
            ],
        })
    );
}

#[actix_web::test]
async fn a_refusal_of_an_upstream_that_has_responses_is_passed_on() {
    let error = r#"{"error":{"message":"no such model","type":"invalid_request_error","param":"model","code":"model_not_found"}}"#;
    let (app, upstream) = start(move |seen| match seen.json()["model"].as_str() {
        Some("m") => reply_json(200, json!({"id": "resp_1", "object": "response"})),
        _ => reply(404, &[], error.as_bytes()),
    })
    .await;
    for (model, status) in [("m", 200), ("n", 404)] {
        assert_eq!(app.post(DOOR, json!({"model": model, "input": "q"})).await.status, status);
    }
    assert_eq!(upstream.seen().len(), 2);
}

#[actix_web::test]
async fn the_settings_may_say_whether_an_upstream_has_responses() {
    for (responses, path) in [(true, "/v1/responses"), (false, "/v1/chat/completions")] {
        let script = move |seen: &Seen| match seen.path.as_str() {
            "/v1/responses" => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        };
        let (app, upstream) = start_with(script, |llm| llm.responses = Some(responses)).await;
        assert_eq!(app.post(DOOR, json!({"model": "m", "input": "q"})).await.status, 200);
        assert_eq!(seen(&upstream)[0].0, path);
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

fn call(index: u64, delta: Json) -> Json {
    let mut call = delta;
    call["index"] = index.into();
    choice(json!({"tool_calls": [call]}), json!(null))
}

const TEXT_EVENTS: [&str; 10] = [
    "response.created",
    "response.in_progress",
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
    "response.completed",
];

#[actix_web::test]
async fn a_stream_has_the_events_of_the_api_in_their_order_and_ends_with_the_whole_answer() {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 1}, "completion_tokens_details": {"reasoning_tokens": 1}});
    let chunks = [
        choice(json!({"role": "assistant", "content": ""}), json!(null)),
        choice(json!({"content": "It "}), json!(null)),
        choice(json!({"content": "rains."}), json!(null)),
        choice(json!({}), json!("stop")),
        json!({"choices": [], "usage": usage}),
    ];
    let whole = json!({"id": "chatcmpl-7", "created": 5, "model": "real", "usage": usage,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "It rains.", "refusal": null}}]});
    let (app, upstream) = start(chats_only(move |seen| match seen.json()["stream"].as_bool() {
        Some(true) => streamed(&chunks),
        _ => reply_json(200, whole.clone()),
    }))
    .await;
    let mut body = json!({"model": "m", "input": "q", "stream": true});
    let (stream, orderly) = read_stream(&app, DOOR, &body).await;
    assert!(orderly);
    let (kinds, datas) = events(&stream);
    assert_eq!(kinds, TEXT_EVENTS);
    assert_eq!((&datas[4]["delta"], &datas[4]["item_id"]), (&json!("It "), &datas[2]["item"]["id"]));
    assert_eq!((&datas[6]["text"], &datas[7]["part"]["text"]), (&json!("It rains."), &json!("It rains.")));
    let told = json!({"input_tokens": 3, "input_tokens_details": {"cached_tokens": 1, "cache_write_tokens": 0},
        "output_tokens": 2, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 5});
    assert_eq!(datas[9]["response"]["usage"], told);
    assert_eq!(seen(&upstream)[1].1["stream_options"], json!({"include_usage": true}));
    body["stream"] = false.into();
    assert_eq!(app.post(DOOR, body).await.body, datas[9]["response"]);
}

#[actix_web::test]
async fn thoughts_calls_and_texts_are_items_of_their_own() {
    let chunks = [
        choice(json!({"reasoning_content": "Hm. "}), json!(null)),
        choice(json!({"content": "I look."}), json!(null)),
        call(0, json!({"id": "call_a", "type": "function", "function": {"name": "f", "arguments": ""}})),
        call(0, json!({"function": {"arguments": "{\"q\":"}})),
        // Another call begins before the first one is whole.
        call(1, json!({"id": "call_b", "function": {"name": "g", "arguments": "{"}})),
        call(0, json!({"function": {"arguments": "1}"}})),
        call(1, json!({"function": {"arguments": "}"}})),
        choice(json!({}), json!("tool_calls")),
    ];
    let (app, _upstream) = start(chats_only(move |_| streamed(&chunks))).await;
    let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    let (kinds, datas) = events(&stream);
    let short: Vec<&str> = kinds.iter().map(|kind| kind.strip_prefix("response.").unwrap()).collect();
    assert_eq!(
        short,
        [
            "created",
            "in_progress",
            "output_item.added",
            "content_part.added",
            "reasoning_text.delta",
            "reasoning_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "content_part.added",
            "output_text.delta",
            "output_text.done",
            "content_part.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "output_item.added",
            "function_call_arguments.delta",
            "function_call_arguments.delta",
            "function_call_arguments.done",
            "output_item.done",
            "completed",
        ]
    );
    let output = datas.last().unwrap()["response"]["output"].as_array().unwrap().clone();
    assert_eq!(output[0]["content"], json!([{"type": "reasoning_text", "text": "Hm. "}]));
    let calls: Vec<(&str, &str, &str)> = output[2..]
        .iter()
        .map(|call| {
            (
                call["call_id"].as_str().unwrap(),
                call["name"].as_str().unwrap(),
                call["arguments"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(calls, [("call_a", "f", "{\"q\":1}"), ("call_b", "g", "{}")]);
}

#[actix_web::test]
async fn an_answer_that_was_cut_off_is_incomplete() {
    let chunks = [choice(json!({"content": "It"}), json!(null)), choice(json!({}), json!("length"))];
    let (app, _upstream) = start(chats_only(move |_| streamed(&chunks))).await;
    let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    let (kinds, datas) = events(&stream);
    let response = &datas.last().unwrap()["response"];
    assert_eq!(kinds.last().unwrap(), "response.incomplete");
    assert_eq!(
        (&response["status"], &response["incomplete_details"]),
        (&json!("incomplete"), &json!({"reason": "max_output_tokens"}))
    );
    assert_eq!(response["output"][0]["status"], "incomplete");
}

#[actix_web::test]
async fn what_breaks_a_stream_is_its_last_event() {
    let error = json!({"error": {"message": "too busy", "code": "busy"}});
    let begin = event(&choice(json!({"content": "It"}), json!(null)).to_string());
    for (end, message) in [(Some(error), "too busy"), (None, "broke off")] {
        let events_sent =
            [begin.clone()].into_iter().chain(end.map(|error| event(&error.to_string()))).collect::<Vec<_>>();
        let (app, _upstream) = start(chats_only(move |_| sse(&events_sent))).await;
        let (stream, orderly) =
            read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
        let last = stream.split_terminator("\n\n").last().unwrap();
        let data: Json = serde_json::from_str(last.strip_prefix("event: error\ndata: ").unwrap()).unwrap();
        assert!(orderly && data["type"] == "error");
        assert!(data["message"].as_str().unwrap().contains(message), "{last}");
        assert_eq!(data["message"], data["error"]["message"]);
    }
}

#[actix_web::test]
async fn a_native_stream_passes_through() {
    let events_sent = [
        "event: response.created\ndata: {\"type\":\"response.created\",\"x\":1.0}\n\n".to_owned(),
        "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n".to_owned(),
    ];
    let expected = events_sent.concat();
    let (app, _upstream) = start(move |_| sse(&events_sent)).await;
    let (stream, orderly) =
        read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    assert!(orderly);
    assert_eq!(stream, expected);
}

#[actix_web::test]
async fn the_built_in_model_answers_in_this_form_too() {
    let app = TestApp::start().await;
    let answer = app.post(DOOR, json!({"input": "say two words"})).await;
    assert_eq!(answer.body["output"][0]["content"][0]["text"], "say two words");
    let (stream, _) = read_stream(&app, DOOR, &json!({"input": "say two words", "stream": true})).await;
    let (_, datas) = events(&stream);
    assert_eq!(datas.last().unwrap()["response"], answer.body);
}

#[actix_web::test]
async fn the_memory_of_a_stream_is_bounded() {
    let piece = "x".repeat(1_000);
    let chunks: Vec<Json> = (0..5_000).map(|_| choice(json!({"content": piece}), json!(null))).collect();
    let upstream = Upstream::start(chats_only(move |_| streamed(&chunks))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.llm.answer_bytes = 20_000;
    })
    .await;
    let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    assert!(stream.contains("llm.answer_bytes") && stream.len() < 3_000_000, "{}", stream.len());
}
