//! The upstream's model `weather`, for tool loops: what it answers depends on the tools that are offered and on their results.
//!
//! It asks for the weather of two cities at once, then of a third, and tells the results; as chat completions and as responses.
//! In a chat completion it also thinks and talks beside its calls, if it is asked to think aloud.

use serde_json::{Value as Json, json};

use support::upstream::{Act, completion, event, json as reply, sse};

/// What the model says.
enum Answer {
    Text(String),
    /// Calls of `get_weather` for these cities; the first one is the call of this number.
    Calls(usize, &'static [&'static str]),
}

/// Answers a chat completion.
pub fn chat(asked: &Json) -> Vec<Act> {
    let messages = asked["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let results = results.map(|message| text_of(&message["content"])).collect();
    let answer = answer(asked, results, asked["response_format"].is_object());
    let mut whole = completion("");
    whole["model"] = "weather".into();
    whole["choices"][0]["message"] = message(&answer);
    let is_aloud = messages.iter().any(|message| text_of(&message["content"]).contains("aloud"));
    if is_aloud && matches!(answer, Answer::Calls(..)) {
        whole["choices"][0]["message"]["content"] = "I look.".into();
        whole["choices"][0]["message"]["reasoning_content"] = "Hm.".into();
    }
    let finish = if let Answer::Calls(..) = answer { "tool_calls" } else { "stop" };
    whole["choices"][0]["finish_reason"] = finish.into();
    if asked["stream"] != true {
        return reply(200, whole);
    }
    let mut delta = whole["choices"][0]["message"].clone();
    for (index, call) in delta["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
        call["index"] = index.into();
    }
    let chunk = |choices: Json, usage: &Json| {
        let chunk = json!({
            "id": "chatcmpl-weather", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "weather",
            "choices": choices, "usage": usage
        });
        event(&chunk.to_string())
    };
    let choice = |delta: Json, finish: Json| json!([{"index": 0, "delta": delta, "finish_reason": finish}]);
    let mut chunks = vec![
        chunk(choice(delta, Json::Null), &Json::Null),
        chunk(choice(json!({}), finish.into()), &Json::Null),
    ];
    if asked["stream_options"]["include_usage"] == true {
        chunks.push(chunk(json!([]), &whole["usage"]));
    }
    chunks.push(event("[DONE]"));
    sse(&chunks)
}

/// Answers a request of the Responses API.
pub fn response(asked: &Json) -> Vec<Act> {
    let items = asked["input"].as_array().into_iter().flatten();
    let results = items.filter(|item| item["type"] == "function_call_output");
    let results = results.map(|item| text_of(&item["output"])).collect();
    let output = items_of(&answer(asked, results, asked["text"]["format"]["type"] == "json_schema"));
    let response = |status: &str, output: &[Json]| {
        json!({
            "id": "resp_weather", "object": "response", "created_at": 1_700_000_000, "model": "weather", "status": status,
            "output": output, "error": null, "incomplete_details": null, "instructions": null, "metadata": {},
            "parallel_tool_calls": true, "tool_choice": "auto", "tools": asked["tools"], "temperature": 1, "top_p": 1,
            "usage": {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5,
                "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
        })
    };
    if asked["stream"] != true {
        return reply(200, response("completed", &output));
    }
    let mut events = vec![
        json!({"type": "response.created", "response": response("in_progress", &[])}),
        json!({"type": "response.in_progress", "response": response("in_progress", &[])}),
    ];
    for (index, item) in output.iter().enumerate() {
        events.extend(item_events(index, item));
    }
    events.push(json!({"type": "response.completed", "response": response("completed", &output)}));
    let framed = events.into_iter().enumerate().map(|(number, mut data)| {
        data["sequence_number"] = number.into();
        format!("event: {}\n{}", data["type"].as_str().unwrap(), event(&data.to_string()))
    });
    sse(&framed.collect::<Vec<_>>())
}

fn answer(asked: &Json, results: Vec<String>, structured: bool) -> Answer {
    let tools = asked["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    match (structured, tools, results.len()) {
        (false, true, 0) => Answer::Calls(0, &["Zürich", "Oslo"]),
        (false, true, 2) => Answer::Calls(2, &["Rome"]),
        (false, true, _) => Answer::Text(results.join(", ")),
        (true, ..) => Answer::Text(r#"{"city":"Zürich","degrees":7}"#.into()),
        (false, false, _) => Answer::Text("Hello, wörld".into()),
    }
}

/// A text, or the texts of a list of parts.
fn text_of(content: &Json) -> String {
    let parts = content.as_array().into_iter().flatten().filter_map(|part| part["text"].as_str());
    content.as_str().map_or_else(|| parts.collect(), str::to_owned)
}

fn arguments(city: &str) -> String {
    json!({"city": city}).to_string()
}

fn message(answer: &Answer) -> Json {
    match answer {
        Answer::Text(text) => json!({"role": "assistant", "content": text}),
        Answer::Calls(first, cities) => {
            let calls = cities.iter().enumerate().map(|(at, city)| {
                let function = json!({"name": "get_weather", "arguments": arguments(city)});
                json!({"id": format!("call_{}", first + at), "type": "function", "function": function})
            });
            json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()})
        }
    }
}

fn items_of(answer: &Answer) -> Vec<Json> {
    match answer {
        Answer::Text(text) => {
            let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
            vec![
                json!({"id": "msg_0", "type": "message", "role": "assistant", "status": "completed", "content": [part]}),
            ]
        }
        Answer::Calls(first, cities) => {
            let calls = cities.iter().enumerate().map(|(at, city)| {
                let number = first + at;
                json!({
                    "id": format!("fc_{number}"), "call_id": format!("call_{number}"), "type": "function_call",
                    "status": "completed", "name": "get_weather", "arguments": arguments(city)
                })
            });
            calls.collect()
        }
    }
}

/// The events of an item of the output, in the order of OpenAI's documentation.
fn item_events(index: usize, item: &Json) -> Vec<Json> {
    let mut begun = item.clone();
    begun["status"] = "in_progress".into();
    let of = |kind: &str, more: Json| {
        let mut event =
            json!({"type": format!("response.{kind}"), "output_index": index, "item_id": item["id"]});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        event
    };
    let inner = if item["type"] == "message" {
        begun["content"] = json!([]);
        let part = &item["content"][0];
        let text = &part["text"];
        let empty = json!({"type": "output_text", "text": "", "annotations": [], "logprobs": []});
        vec![
            of("content_part.added", json!({"content_index": 0, "part": empty})),
            of("output_text.delta", json!({"content_index": 0, "delta": text, "logprobs": []})),
            of("output_text.done", json!({"content_index": 0, "text": text, "logprobs": []})),
            of("content_part.done", json!({"content_index": 0, "part": part})),
        ]
    } else {
        begun["arguments"] = "".into();
        let (name, arguments) = (&item["name"], &item["arguments"]);
        vec![
            of("function_call_arguments.delta", json!({"delta": arguments})),
            of("function_call_arguments.done", json!({"name": name, "arguments": arguments})),
        ]
    };
    let added = json!({"type": "response.output_item.added", "output_index": index, "item": begun});
    let done = json!({"type": "response.output_item.done", "output_index": index, "item": item});
    [vec![added], inner, vec![done]].concat()
}
