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
    let paths: Vec<String> = seen(&upstream).into_iter().map(|(path, _)| path).collect();
    assert_eq!(paths, ["/v1/responses", "/v1/responses", "/v1/chat/completions"]);
    // What cannot be asked as a chat is answered in the upstream's words, too.
    let answer = app.post(DOOR, json!({"model": "n", "input": "q", "previous_response_id": "resp_0"})).await;
    assert_eq!((answer.status, answer.error().0), (404, "model_not_found"));
}

#[actix_web::test]
async fn a_model_that_knows_chats_alone_says_nothing_of_other_models() {
    for first in ["old", "new"] {
        let (app, upstream) = start(|seen| match (seen.path.as_str(), seen.json()["model"].as_str()) {
            ("/v1/responses", Some("old")) => reply(404, &[], b"no"),
            ("/v1/responses", _) => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        })
        .await;
        for model in [first, "old", "new", "old"] {
            let answer = app.post(DOOR, json!({"model": model, "input": "q"})).await;
            assert_eq!(answer.status, 200, "{answer:?}");
        }
        let answer =
            app.post(DOOR, json!({"model": "new", "input": "q", "previous_response_id": "resp_0"})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let tried = seen(&upstream)
            .iter()
            .filter(|(path, body)| path == "/v1/responses" && body["model"] == "old")
            .count();
        assert_eq!(tried, 1, "what it lacks is remembered");
    }
}

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
async fn an_item_of_an_earlier_answer_may_be_referred_to() {
    let (app, upstream) = start(chats_only(|_| reply_json(200, completion("Wet.")))).await;
    let first = app.post(DOOR, json!({"model": "m", "input": "q"})).await;
    let reference = json!({"type": "item_reference", "id": first.body["output"][0]["id"]});
    let next = json!({"model": "m", "input": [{"role": "user", "content": "q"}, reference, {"role": "user", "content": "r"}]});
    assert_eq!(app.post(DOOR, next).await.status, 200);
    let sent = seen(&upstream).pop().unwrap().1;
    let says = |role: &str, content: &str| json!({"role": role, "content": content});
    assert_eq!(sent["messages"], json!([says("user", "q"), says("assistant", "Wet."), says("user", "r")]));
    // A native upstream gets the item itself, as it does not know the id.
    let native = |seen: &Seen| match seen.path.as_str() {
        "/v1/responses" if seen.json()["model"] == "native" => {
            reply_json(200, json!({"id": "resp_1", "object": "response"}))
        }
        "/v1/chat/completions" => reply_json(200, completion("Wet.")),
        _ => reply(404, &[], b"no"),
    };
    let (mixed, upstream) = start(native).await;
    let wet = mixed.post(DOOR, json!({"model": "m", "input": "q"})).await;
    let reference = json!({"type": "item_reference", "id": wet.body["output"][0]["id"]});
    let other = json!({"type": "item_reference", "id": "msg_of_the_upstream"});
    assert_eq!(mixed.post(DOOR, json!({"model": "native", "input": [other, reference]})).await.status, 200);
    let part = json!({"type": "output_text", "text": "Wet.", "annotations": [], "logprobs": []});
    let item = json!({"type": "message", "role": "assistant", "content": [part]});
    assert_eq!(seen(&upstream).pop().unwrap().1["input"], json!([other, item]));
    // Nothing is kept of an answer that is not to be stored.
    let first = app.post(DOOR, json!({"model": "m", "input": "q", "store": false})).await;
    let reference = json!({"type": "item_reference", "id": first.body["output"][0]["id"]});
    let answer = app.post(DOOR, json!({"model": "m", "input": [reference]})).await;
    assert_eq!((answer.status, answer.error().2.contains("`store`: false")), (400, true), "{answer:?}");
}

#[actix_web::test]
async fn an_upstream_that_has_responses_keeps_them_whatever_it_answers_once() {
    for once in [
        reply(404, &[], b"no file"),
        reply(501, &[], b""),
        reply(200, &[("content-type", "text/html")], b"<html>"),
        reply_json(200, json!({"error": {"message": "busy"}})),
    ] {
        let (app, upstream) = start(move |seen| match (seen.path.as_str(), seen.json()["input"].as_str()) {
            ("/v1/responses", Some("odd")) => once.clone(),
            ("/v1/responses", _) => reply_json(200, json!({"id": "resp_1", "object": "response"})),
            _ => reply_json(200, completion("a")),
        })
        .await;
        for input in ["first", "odd", "last"] {
            app.post(DOOR, json!({"model": "m", "input": input})).await;
        }
        let (path, body) = seen(&upstream).pop().unwrap();
        assert_eq!((path.as_str(), &body["input"]), ("/v1/responses", &json!("last")));
    }
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
    assert_eq!(without_ids(&app.post(DOOR, body).await.body), without_ids(&datas[9]["response"]));
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
async fn the_built_in_model_answers_in_this_form_too() {
    let app = TestApp::start().await;
    let answer = app.post(DOOR, json!({"input": "say two words"})).await;
    assert_eq!(answer.body["output"][0]["content"][0]["text"], "say two words");
    let (stream, _) = read_stream(&app, DOOR, &json!({"input": "say two words", "stream": true})).await;
    let (_, datas) = events(&stream);
    assert_eq!(without_ids(&datas.last().unwrap()["response"]), without_ids(&answer.body));
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
