//! Answers of chat completions, whole and in streams, as responses.

use super::*;

#[actix_web::test]
async fn an_answer_without_a_choice_is_none() {
    for (answer, told) in [
        (json!({"error": {"message": "no credit", "code": 402}}), "no credit"),
        (
            json!({"choices": [{"error": {"message": "upstream down", "code": 502}, "message": {"content": ""}}]}),
            "upstream down",
        ),
        (json!({"choices": [{"index": 0, "finish_reason": "stop"}]}), "its choice has no message"),
        (json!({"choices": []}), "it has no choices"),
        (json!({}), "it has no choices"),
    ] {
        let (app, _upstream) = start(chats_only(move |_| reply_json(200, answer.clone()))).await;
        put_prompts(&app).await;
        for (door, body) in [
            (DOOR, json!({"model": "m", "input": "q"})),
            ("/v1/completions", json!({"model": "prompt:p.q?topic=rain", "prompt": "q"})),
        ] {
            let answer = app.post(door, body).await;
            answer.assert_error(502, "upstream_error", "llm_unavailable");
            assert!(answer.error().2.contains(told), "{door}: {answer:?}");
        }
    }
    let (app, _upstream) = start(chats_only(|_| sse(&["data: [DONE]\n\n".to_owned()]))).await;
    let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    let (kinds, datas) = events(&stream);
    assert_eq!((kinds, &datas[0]["code"]), (vec!["error".to_owned()], &json!("llm_unavailable")));
}

#[actix_web::test]
async fn texts_with_half_a_character_and_answers_that_nest_deep_lose_nothing_else() {
    // Half of an emoji, as servers write it that cut their texts between two code units.
    let half = r#"{"choices": [{"index": 0, "NEWS": {"content": "a\ud83d"}, "finish_reason": "stop"}]}"#;
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let nested = half.replace("\\ud83d", "").replace("\"index\"", &format!("\"x\": {deep}, \"index\""));
    for (answer, text) in [(half.to_owned(), "a\u{fffd}"), (nested, "a")] {
        let (whole, chunk) = (answer.replace("NEWS", "message"), answer.replace("NEWS", "delta"));
        let (app, _upstream) = start(chats_only(move |seen| match seen.json()["stream"] == true {
            true => sse(&[format!("data: {chunk}\n\n"), "data: [DONE]\n\n".to_owned()]),
            false => reply(200, &[("content-type", "application/json")], whole.as_bytes()),
        }))
        .await;
        let said = app.post(DOOR, json!({"model": "m", "input": "q"})).await;
        assert_eq!(said.body["output"][0]["content"][0]["text"], text, "{said:?}");
        let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
        let (_, datas) = events(&stream);
        let last = datas.last().unwrap();
        assert_eq!(last["response"]["output"][0]["content"][0]["text"], text, "{last}");
        put_prompts(&app).await;
        let said =
            app.post("/v1/completions", json!({"model": "prompt:p.q?topic=rain", "prompt": "q"})).await;
        assert_eq!(said.body["choices"][0]["text"], text, "{said:?}");
    }
}

#[actix_web::test]
async fn calls_are_told_apart_however_servers_number_them() {
    let call = |id: &str, name: &str, arguments: &str| json!({"index": 0, "id": id, "function": {"name": name, "arguments": arguments}});
    let list = |calls: &[Json]| json!({"tool_calls": calls});
    let unnumbered =
        |name: &str, arguments: &str| json!({"function": {"name": name, "arguments": arguments}});
    let one = |name: &str, arguments: &str| (name.to_owned(), arguments.to_owned());
    let both = vec![one("f", "{\"a\":1}"), one("g", "{\"b\":2}")];
    for (deltas, expected) in [
        // The same number, and other ids.
        (vec![list(&[call("c0", "f", "{\"a\":1}")]), list(&[call("c1", "g", "{\"b\":2}")])], both.clone()),
        // Neither numbers nor ids.
        (vec![list(&[unnumbered("f", "{\"a\":1}")]), list(&[unnumbered("g", "{\"b\":2}")])], both.clone()),
        // Id and name with every piece, and rests behind whole calls.
        (
            vec![
                list(&[call("c0", "f", "{\"a\"")]),
                list(&[call("c0", "f", ":1}")]),
                list(&[call("c1", "g", "{\"b\":2}")]),
                list(&[call("c0", "", "")]),
                list(&[json!({"index": 0, "function": {"arguments": " "}})]),
            ],
            vec![one("f", "{\"a\":1}"), one("g", "{\"b\":2} ")],
        ),
        // As it was before there were several.
        (
            vec![
                json!({"function_call": {"name": "f", "arguments": "{"}}),
                json!({"function_call": {"arguments": "}"}}),
            ],
            vec![one("f", "{}")],
        ),
        // Neither numbers nor ids, and the names before the arguments; calls without arguments.
        (
            vec![
                list(&[unnumbered("f", "")]),
                list(&[unnumbered("", "{\"a\":1}")]),
                list(&[unnumbered("g", "")]),
                list(&[unnumbered("", "{\"b\":2}")]),
            ],
            both.clone(),
        ),
        (vec![list(&[unnumbered("f", "")]), list(&[unnumbered("g", "")])], vec![one("f", ""), one("g", "")]),
        // The same number, and pieces of two calls in turn.
        (
            vec![
                list(&[call("c0", "f", "{\"a\"")]),
                list(&[call("c1", "g", "{\"b\"")]),
                list(&[call("c0", "", ":1}")]),
                list(&[call("c1", "", ":2}")]),
            ],
            both.clone(),
        ),
        // One that was announced and never came.
        (vec![list(&[json!({"index": 0, "function": {"arguments": ""}})])], vec![]),
    ] {
        let mut chunks: Vec<Json> = deltas.iter().map(|delta| choice(delta.clone(), json!(null))).collect();
        chunks.push(choice(json!({}), json!("tool_calls")));
        let (app, _upstream) = start(chats_only(move |_| streamed(&chunks))).await;
        let (stream, _) = read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
        let (_, datas) = events(&stream);
        let output = datas.last().unwrap()["response"]["output"].as_array().unwrap().clone();
        let text = |item: &Json, name: &str| item[name].as_str().unwrap().to_owned();
        let told: Vec<_> = output.iter().map(|item| (text(item, "name"), text(item, "arguments"))).collect();
        assert_eq!(told, expected, "{deltas:?}");
        let ids: std::collections::HashSet<String> =
            output.iter().map(|item| text(item, "call_id")).collect();
        assert_eq!(ids.len(), expected.len());
    }
    let calls = [call("", "f", "{\"a\":1}"), call("", "g", "{\"b\":2}")];
    let whole = json!({"choices": [{"index": 0, "message": list(&calls), "finish_reason": "tool_calls"}]});
    let (app, _upstream) = start(chats_only(move |_| reply_json(200, whole.clone()))).await;
    let answer = app.post(DOOR, json!({"model": "m", "input": "q"})).await;
    assert_eq!(
        (&answer.body["output"][0]["name"], &answer.body["output"][1]["name"]),
        (&json!("f"), &json!("g"))
    );
}

#[actix_web::test]
async fn a_native_stream_that_breaks_off_has_an_error_with_the_next_number() {
    let created =
        r#"{"type":"response.created","sequence_number":0,"response":{"tools":[{"sequence_number":900}]}}"#;
    let delta = r#"{"type":"response.output_text.delta","sequence_number":1,"delta":"a"}"#;
    let events_sent =
        [created, delta].map(|data| format!("event: {}\n{}", data.split('"').nth(3).unwrap(), event(data)));
    let (app, _upstream) = start(move |_| sse(&events_sent)).await;
    let (stream, orderly) =
        read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
    let (kinds, datas) = events(&stream);
    assert!(orderly && kinds.last().unwrap() == "error", "{stream}");
    assert_eq!(datas.last().unwrap()["code"], "llm_unavailable");
}

#[actix_web::test]
async fn probabilities_of_tokens_are_told_where_they_were_asked_for() {
    let token = |text: &str| json!({"token": text, "logprob": -0.5, "bytes": [97], "top_logprobs": []});
    let with = |text: &str, token: Json| {
        let mut chunk = choice(json!({"content": text}), json!(null));
        chunk["choices"][0]["logprobs"] = json!({"content": [token], "refusal": null});
        chunk
    };
    let chunks = [with("a", token("a")), with("b", token("b")), choice(json!({}), json!("stop"))];
    let (app, upstream) = start(chats_only(move |_| streamed(&chunks))).await;
    let body =
        json!({"model": "m", "input": "q", "stream": true, "include": ["message.output_text.logprobs"]});
    let (stream, _) = read_stream(&app, DOOR, &body).await;
    let (_, datas) = events(&stream);
    assert_eq!(seen(&upstream).pop().unwrap().1["logprobs"], true);
    let deltas: Vec<&Json> =
        datas.iter().filter(|data| data["type"] == "response.output_text.delta").collect();
    assert_eq!(deltas[1]["logprobs"], json!([token("b")]));
    let part = &datas.last().unwrap()["response"]["output"][0]["content"][0];
    assert_eq!(part["logprobs"], json!([token("a"), token("b")]));
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
    assert_eq!(without_ids(&app.post(DOOR, body).await.body), without_ids(&datas[9]["response"]));
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
    let begin = event(&choice(json!({"content": "It"}), json!(null)).to_string());
    for (end, message, code) in [
        (Some(json!({"error": {"message": "too busy", "code": "busy"}})), "too busy", "busy"),
        (Some(json!({"error": {"message": "no credit", "code": 402}})), "no credit", "402"),
        (Some(json!({"error": "boom"})), "boom", ""),
        (None, "broke off", "llm_unavailable"),
    ] {
        let events_sent =
            [begin.clone()].into_iter().chain(end.map(|error| event(&error.to_string()))).collect::<Vec<_>>();
        let (app, _upstream) = start(chats_only(move |_| sse(&events_sent))).await;
        let (stream, orderly) =
            read_stream(&app, DOOR, &json!({"model": "m", "input": "q", "stream": true})).await;
        let (kinds, datas) = events(&stream);
        let (last, data) = (kinds.last().unwrap(), datas.last().unwrap());
        assert!(orderly && last == "error", "{stream}");
        assert!(data["message"].as_str().unwrap().contains(message), "{data}");
        assert_eq!(data["code"].as_str().unwrap_or_default(), code);
        assert_eq!((&data["message"], &data["code"]), (&data["error"]["message"], &data["error"]["code"]));
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
