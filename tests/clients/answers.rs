//! What the scripted upstream answers: the name of the model decides.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value as Json, json};

use super::weather;
use support::upstream::{
    Act, Seen, Upstream, chunk, completion, delta, event, json, reply, sse, stream_head,
};

/// An upstream with all of OpenAI's APIs that the service knows.
pub async fn start() -> Upstream {
    start_with(|request| match request.json()["model"] == "limited" {
        true => limited(),
        false => weather::response(&request.json()),
    })
    .await
}

/// An upstream that does not know the Responses API.
pub async fn start_without_responses() -> Upstream {
    start_with(|_| reply(404, &[("content-type", "text/plain")], b"Not Found")).await
}

async fn start_with(responses: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> Upstream {
    let recovering = AtomicUsize::new(0);
    Upstream::start(move |request| match request.path.as_str() {
        "/v1/models" => json(200, models()),
        "/v1/embeddings" => json(200, embeddings(&request.json())),
        "/v1/responses" => responses(request),
        _ => chat(request, &recovering),
    })
    .await
}

fn models() -> Json {
    let model = |id| json!({"id": id, "object": "model", "created": 1, "owned_by": "us", "x_context": 8192});
    json!({"object": "list", "data": [model("small"), model("large")]})
}

/// For each input a vector that begins with its length; in the encoding that is asked for.
fn embeddings(asked: &Json) -> Json {
    let vector = |(index, input): (usize, &Json)| {
        let vector = [input.as_str().unwrap().len() as f32, 0.5, -0.25];
        let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        let embedding = match asked["encoding_format"] == "base64" {
            true => BASE64_STANDARD.encode(bytes).into(),
            false => json!(vector),
        };
        json!({"object": "embedding", "index": index, "embedding": embedding})
    };
    let data: Vec<Json> = asked["input"].as_array().unwrap().iter().enumerate().map(vector).collect();
    let usage = json!({"prompt_tokens": 2, "total_tokens": 2});
    json!({"object": "list", "data": data, "model": asked["model"], "usage": usage})
}

fn chat(request: &Seen, recovering: &AtomicUsize) -> Vec<Act> {
    let asked = request.json();
    let model = asked["model"].as_str().unwrap();
    if let Some(status) = model.strip_prefix("status-") {
        return refusal(status.parse().unwrap());
    }
    match model {
        "chat" if asked["stream"] == true => sse(&greeting()),
        "chat" => json(200, unusual_completion()),
        "weather" => weather::chat(&asked),
        "limited" => limited(),
        "calendar" => json(200, completion(r#"{"name":"Fair","participants":["Ann","Bob"]}"#)),
        "tools" => sse(&tool_calls()),
        "recovering" if recovering.fetch_add(1, Ordering::SeqCst) < 2 => refusal(503),
        "recovering" => json(200, completion("Better now")),
        "slow" => [vec![Act::Wait(Duration::from_millis(200))], json(200, completion("At last"))].concat(),
        "silent" => vec![Act::Hang],
        "error-in-stream" => sse(&[delta("Hello"), event(&error("overloaded").to_string())]),
        "cut-in-stream" => begun(Act::Cut),
        "endless" => begun(Act::Hang),
        _ => panic!("there is no answer for {model}"),
    }
}

fn error(code: &str) -> Json {
    let message = format!("the upstream says {code}");
    json!({"error": {"message": message, "type": "scripted_error", "param": "model", "code": code}})
}

fn refusal(status: u16) -> Vec<Act> {
    json(status, error(&status.to_string()))
}

/// Refuses for so long that nobody waits for it.
fn limited() -> Vec<Act> {
    reply(
        429,
        &[("content-type", "application/json"), ("retry-after", "600")],
        error("429").to_string().as_bytes(),
    )
}

/// A stream with one piece of text, and then this.
fn begun(then: Act) -> Vec<Act> {
    vec![Act::Send(stream_head()), Act::Send(chunk(delta("Hello").as_bytes())), then]
}

/// An answer with members that no library knows.
fn unusual_completion() -> Json {
    let mut answer = completion("Hello, wörld");
    answer["choices"][0]["message"]["x_thoughts"] = json!(["first", {"then": null}]);
    answer["x_vendor"] = json!({"ratio": 0.1, "nothing": null});
    answer
}

/// A stream whose usage comes whether it is wanted or not.
fn greeting() -> Vec<String> {
    let usage = json!({"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5});
    vec![
        piece(json!({"role": "assistant", "content": ""}), Json::Null),
        delta("Hello"),
        delta(", wörld"),
        piece(json!({}), "stop"),
        whole_chunk(json!([]), usage),
        event("[DONE]"),
    ]
}

/// Two calls of tools, in pieces.
fn tool_calls() -> Vec<String> {
    let opened = |index: usize, name: &str| {
        let function = json!({"name": name, "arguments": ""});
        json!([{"index": index, "id": format!("call_{index}"), "type": "function", "function": function}])
    };
    let more = |index: usize, text: &str| json!([{"index": index, "function": {"arguments": text}}]);
    let calls = [
        opened(0, "get_weather"),
        more(0, "{\"ci"),
        more(0, "ty\":\"Zürich\"}"),
        opened(1, "get_time"),
        more(1, "{\"zone\":"),
        more(1, "\"UTC\"}"),
    ];
    let first = piece(json!({"role": "assistant", "content": null}), Json::Null);
    let calls = calls.into_iter().map(|calls| piece(json!({"tool_calls": calls}), Json::Null));
    let last = [piece(json!({}), "tool_calls"), event("[DONE]")];
    std::iter::once(first).chain(calls).chain(last).collect()
}

fn piece(delta: Json, finish_reason: impl Into<Json>) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason.into()});
    whole_chunk(json!([choice]), Json::Null)
}

fn whole_chunk(choices: Json, usage: Json) -> String {
    let chunk = json!({
        "id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 1_700_000_000,
        "model": "scripted", "choices": choices, "usage": usage
    });
    event(&chunk.to_string())
}
