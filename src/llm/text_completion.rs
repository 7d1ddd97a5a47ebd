//! OpenAI's older completions API (`POST /v1/completions`): a text to a text. A request can be asked as a chat of one message, and
//! an answer to a chat be told as a text.

use bytes::Bytes;
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};

use super::error::LlmError;
use super::message::{self, Message, TextKind};
use template::value::{RawObject, each_item};

/// Members that a chat does not have.
const ONLY_IN_COMPLETIONS: [&str; 5] = ["prompt", "suffix", "best_of", "echo", "logprobs"];

/// The request as a chat, in which `prompt` is what the user says.
///
/// # Errors
/// [`LlmError::Invalid`] if `prompt` is more than one text, or for what only a model of texts can do.
pub fn as_chat(payload: &RawObject) -> Result<RawObject, LlmError> {
    let invalid = |param, message: &str| LlmError::Invalid { param, message: message.to_owned() };
    let text = match payload.find::<Json>("prompt") {
        None => String::new(),
        Some(Json::String(text)) => text,
        Some(Json::Array(texts)) if texts.len() == 1 && texts.iter().all(Json::is_string) => {
            texts.into_iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        }
        Some(_) => return Err(invalid("prompt", "must be one text: a chat model answers it")),
    };
    if payload.find::<String>("suffix").is_some_and(|suffix| !suffix.is_empty()) {
        return Err(invalid("suffix", "is not supported: a chat model answers, and inserts no text"));
    }
    for (name, harmless) in [("echo", &["false"][..]), ("best_of", &["1"]), ("logprobs", &[])] {
        let given = payload.get(name).map(RawValue::get).filter(|given| *given != "null");
        if given.is_some_and(|given| !harmless.contains(&given)) {
            return Err(invalid(name, "is not supported: a chat model answers; leave it out"));
        }
    }
    let mut chat = payload.clone();
    ONLY_IN_COMPLETIONS.iter().for_each(|name| drop(chat.remove(name)));
    let messages = json!([{"role": "user", "content": text}]);
    chat.set("messages", &messages).map_err(|error| invalid("prompt", &error.to_string()))?;
    Ok(chat)
}

/// A chat completion as a text completion.
pub fn of_chat(completion: &RawObject) -> Json {
    told(completion, "message")
}

/// A chunk of a chat completion as an event of a text completion.
pub fn event_of_chat(chunk: &RawObject) -> Bytes {
    format!("data: {}\n\n", told(chunk, "delta")).into()
}

/// An answer whose choices say their texts in the member `news`.
fn told(chat: &RawObject, news: &str) -> Json {
    let id: String = chat.find("id").unwrap_or_default();
    let mut choices = Vec::new();
    if let Some(list) = chat.get("choices") {
        each_item(list, |choice| {
            choices.extend(message::object(choice).map(|choice| told_choice(&choice, news)))
        });
    }
    let mut told = Map::new();
    told.insert("id".to_owned(), format!("cmpl-{}", id.strip_prefix("chatcmpl-").unwrap_or(&id)).into());
    told.insert("object".to_owned(), "text_completion".into());
    for name in ["created", "model"] {
        told.insert(name.to_owned(), chat.find(name).unwrap_or_default());
    }
    told.insert("choices".to_owned(), choices.into());
    told.extend(chat.get("usage").map(|_| ("usage".to_owned(), chat.find("usage").unwrap_or_default())));
    told.into()
}

fn told_choice(choice: &RawObject, news: &str) -> Json {
    let said = Message::find(choice, news).unwrap_or_default().texts;
    let said = said.into_iter().filter(|(kind, _)| *kind != TextKind::Reasoning);
    let text: String = said.map(|(_, text)| text).collect();
    let reason = match choice.find::<String>("finish_reason").as_deref() {
        // A text completion ends in these ways alone.
        Some("length") => Some("length"),
        Some("content_filter") => Some("content_filter"),
        Some(reason) if !reason.is_empty() => Some("stop"),
        _ => None,
    };
    let index: Json = choice.find("index").unwrap_or_else(|| 0.into());
    json!({"index": index, "text": text, "logprobs": null, "finish_reason": reason})
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn raw(object: &Json) -> RawObject {
        parse_json(object.to_string().as_bytes()).unwrap()
    }

    fn chat(request: &Json) -> Result<Json, String> {
        as_chat(&raw(request)).map(|chat| json!(chat)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_is_what_the_user_says() {
        let said = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "q"}]});
        for prompt in [json!("q"), json!(["q"])] {
            let request = json!({"model": "m", "prompt": prompt, "max_tokens": 1, "suffix": "", "logprobs": null, "echo": false, "best_of": 1});
            assert_eq!(chat(&request), Ok(said.clone()));
        }
        assert!(chat(&json!({"prompt": ["a", "b"]})).is_err() && chat(&json!({"prompt": [1]})).is_err());
        for (name, value) in
            [("suffix", json!("b")), ("echo", json!(true)), ("best_of", json!(2)), ("logprobs", json!(0))]
        {
            let error = chat(&json!({"prompt": "a", name: value})).unwrap_err();
            assert!(error.starts_with(&format!("`{name}` is not supported")), "{error}");
        }
    }

    #[test]
    fn an_answer_keeps_its_text_its_end_and_its_usage() {
        let whole = json!({"id": "chatcmpl-1", "created": 5, "model": "m", "usage": {"total_tokens": 1},
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]});
        let expected = json!({"id": "cmpl-1", "object": "text_completion", "created": 5, "model": "m",
            "choices": [{"index": 0, "text": "a", "logprobs": null, "finish_reason": "stop"}], "usage": {"total_tokens": 1}});
        assert_eq!(of_chat(&raw(&whole)), expected);
        let parts = json!({"choices": [{"message": {"content": ["a", {"type": "refusal", "refusal": "b"}]}, "finish_reason": "tool_calls"}]});
        let choice = &of_chat(&raw(&parts))["choices"][0];
        assert_eq!(
            (&choice["text"], &choice["finish_reason"], &choice["index"]),
            (&json!("ab"), &json!("stop"), &json!(0))
        );
    }
}
