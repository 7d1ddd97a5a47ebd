//! How GigaChat writes its answers.

use serde_json::{Value as Json, json};

use super::Reply;
use crate::log::GIGACHAT_MODEL;
use crate::upstream::{Act, event, json as reply_json, sse};

/// The answer to a chat, the `number`th one.
pub fn chat(body: &Json, reply: Reply, number: usize) -> Vec<Act> {
    let is_stream = body["stream"] == true;
    match reply {
        Reply::Text(text) if is_stream => {
            stream(&text.split_inclusive(' ').map(delta).collect::<Vec<_>>(), "stop")
        }
        Reply::Text(text) => whole(json!({"role": "assistant", "content": text}), "stop"),
        Reply::Call(name, arguments) => {
            let call = json!({"name": name, "arguments": arguments});
            let message = json!({"role": "assistant", "content": "", "function_call": call, "functions_state_id": state_id(number)});
            match is_stream {
                true => stream(&[message], "function_call"),
                false => whole(message, "function_call"),
            }
        }
        Reply::Acts(acts) => acts,
        Reply::Refusal(status, message) => reply_json(status, json!({"status": status, "message": message})),
    }
}

/// The id of the state of the functions of an answer, the `number`th one.
pub fn state_id(number: usize) -> String {
    format!("77d3fb14-457a-46ba-937e-{number:012x}")
}

fn delta(text: &str) -> Json {
    json!({"role": "assistant", "content": text})
}

fn usage() -> Json {
    json!({"prompt_tokens": 8, "completion_tokens": 4, "total_tokens": 12, "precached_prompt_tokens": 2})
}

fn whole(message: Json, finish_reason: &str) -> Vec<Act> {
    let choice = json!({"message": message, "index": 0, "finish_reason": finish_reason});
    let answer = json!({
        "choices": [choice], "created": 1_700_000_000, "model": GIGACHAT_MODEL, "usage": usage(), "object": "chat.completion",
    });
    reply_json(200, answer)
}

fn stream(deltas: &[Json], finish_reason: &str) -> Vec<Act> {
    let chunk = |choice: Json| json!({"choices": [choice], "created": 1_700_000_000, "model": GIGACHAT_MODEL, "object": "chat.completion"});
    let mut events: Vec<String> =
        deltas.iter().map(|delta| event(&chunk(json!({"delta": delta, "index": 0})).to_string())).collect();
    let mut last = chunk(json!({"delta": {"content": ""}, "index": 0, "finish_reason": finish_reason}));
    last["usage"] = usage();
    events.push(event(&last.to_string()));
    events.push("data: [DONE]\n\n".to_owned());
    sse(&events)
}

/// The list of models.
pub fn models() -> Json {
    let model = |id: &str, kind: &str| json!({"id": id, "object": "model", "owned_by": "salutedevices", "type": kind});
    json!({"object": "list", "data": [model("GigaChat-2", "chat"), model("Embeddings", "embedder")]})
}

/// Vectors for texts: each its length, and a half.
pub fn vectors(texts: &[String]) -> Json {
    let entries = texts.iter().enumerate().map(|(index, text)| {
        let vector = json!([text.len() as f64, 0.5]);
        json!({"object": "embedding", "embedding": vector, "index": index, "usage": {"prompt_tokens": text.len()}})
    });
    json!({"object": "list", "data": entries.collect::<Vec<_>>(), "model": "Embeddings"})
}
