//! OpenAI's older completions API (`POST /v1/completions`): a text to a text. A request can be asked as a chat of one message, and
//! an answer to a chat be told as a text.

use bytes::Bytes;
use serde_json::{Map, Value as Json, json};

use super::error::LlmError;
use template::value::RawObject;

/// Members that a chat does not have.
const ONLY_IN_COMPLETIONS: [&str; 5] = ["prompt", "suffix", "best_of", "echo", "logprobs"];

/// The request as a chat, in which `prompt` is what the user says.
///
/// # Errors
/// [`LlmError::Invalid`] if `prompt` is more than one text, or if a suffix is given.
pub fn as_chat(payload: &RawObject) -> Result<RawObject, LlmError> {
    let invalid = |param, message: &str| LlmError::Invalid { param, message: message.to_owned() };
    let text = match payload.read::<Json>("prompt").ok().flatten() {
        None => String::new(),
        Some(Json::String(text)) => text,
        Some(Json::Array(texts)) if texts.len() == 1 && texts.iter().all(Json::is_string) => {
            texts.into_iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
        }
        Some(_) => return Err(invalid("prompt", "must be one text: a chat model answers it")),
    };
    if payload.read::<String>("suffix").ok().flatten().is_some_and(|suffix| !suffix.is_empty()) {
        return Err(invalid("suffix", "is not supported: a chat model answers, and inserts no text"));
    }
    let mut chat = payload.clone();
    ONLY_IN_COMPLETIONS.iter().for_each(|name| drop(chat.remove(name)));
    let messages = json!([{"role": "user", "content": text}]);
    chat.set("messages", &messages).map_err(|error| invalid("prompt", &error.to_string()))?;
    Ok(chat)
}

/// A chat completion as a text completion.
pub fn of_chat(completion: &Json) -> Json {
    told(completion, "message")
}

/// A chunk of a chat completion as an event of a text completion.
pub fn event_of_chat(chunk: &Json) -> Bytes {
    format!("data: {}\n\n", told(chunk, "delta")).into()
}

/// An answer whose choices say their texts in the member `news`.
fn told(chat: &Json, news: &str) -> Json {
    let id = chat.get("id").and_then(Json::as_str).unwrap_or_default();
    let choice = |choice: &Json| {
        let text = choice.get(news).and_then(|news| news.get("content")?.as_str()).unwrap_or_default();
        let member = |name: &str| choice.get(name).cloned().unwrap_or_default();
        json!({"index": member("index"), "text": text, "logprobs": null, "finish_reason": member("finish_reason")})
    };
    let choices: Vec<Json> =
        chat.get("choices").and_then(Json::as_array).into_iter().flatten().map(choice).collect();
    let mut told = Map::new();
    told.insert("id".to_owned(), format!("cmpl-{}", id.strip_prefix("chatcmpl-").unwrap_or(id)).into());
    told.insert("object".to_owned(), "text_completion".into());
    for name in ["created", "model"] {
        told.insert(name.to_owned(), chat.get(name).cloned().unwrap_or_default());
    }
    told.insert("choices".to_owned(), choices.into());
    told.extend(chat.get("usage").map(|usage| ("usage".to_owned(), usage.clone())));
    told.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn chat(request: &Json) -> Result<Json, String> {
        let payload = parse_json(request.to_string().as_bytes()).unwrap();
        as_chat(&payload).map(|chat| json!(chat)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_is_what_the_user_says() {
        let said = json!({"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "q"}]});
        for prompt in [json!("q"), json!(["q"])] {
            let request =
                json!({"model": "m", "prompt": prompt, "max_tokens": 1, "suffix": "", "logprobs": null});
            assert_eq!(chat(&request), Ok(said.clone()));
        }
        assert!(chat(&json!({"prompt": ["a", "b"]})).is_err() && chat(&json!({"prompt": [1]})).is_err());
        assert!(chat(&json!({"prompt": "a", "suffix": "b"})).is_err());
    }

    #[test]
    fn an_answer_keeps_its_text_its_end_and_its_usage() {
        let whole = json!({"id": "chatcmpl-1", "created": 5, "model": "m", "usage": {"total_tokens": 1},
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}]});
        let expected = json!({"id": "cmpl-1", "object": "text_completion", "created": 5, "model": "m",
            "choices": [{"index": 0, "text": "a", "logprobs": null, "finish_reason": "stop"}], "usage": {"total_tokens": 1}});
        assert_eq!(of_chat(&whole), expected);
    }
}
