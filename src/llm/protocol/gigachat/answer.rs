//! A whole answer to a chat, in the format of our clients.

use bytes::Bytes;
use serde_json::{Value as Json, json};

use super::call;
use crate::llm::error::UpstreamError;
use crate::llm::tool_form::ToolForm;
use base::random::random;
use template::value::{RawObject, parse_json};

/// See [`crate::llm::protocol::Protocol::answer`]: the answer with an id, and with calls in the client's form. An object without choices
/// stays as it is: it may be an error.
///
/// # Errors
/// [`UpstreamError::Unusable`] when it is no JSON object.
pub fn read(body: &[u8], form: ToolForm) -> Result<Bytes, UpstreamError> {
    let mut answer: RawObject =
        parse_json(body).map_err(|_| UpstreamError::unusable("it is not a JSON object"))?;
    translate(&mut answer, form).map_err(|error| UpstreamError::unusable(in_words(&error)))?;
    serde_json::to_vec(&answer).map(Bytes::from).map_err(|error| UpstreamError::unusable(in_words(&error)))
}

/// The message of an error of `serde_json` names a place, and quotes nothing.
fn in_words(error: &serde_json::Error) -> String {
    format!("it cannot be translated: {error}")
}

fn translate(answer: &mut RawObject, form: ToolForm) -> Result<(), serde_json::Error> {
    let Some(choices) = answer.find::<Vec<RawObject>>("choices") else { return Ok(()) };
    let choices: Vec<RawObject> =
        choices.into_iter().map(|choice| whole_choice(choice, form)).collect::<Result<_, _>>()?;
    answer.set("choices", &choices)?;
    answer.set("object", "chat.completion")?;
    if answer.get("id").is_none() {
        answer.set("id", &new_id())?;
    }
    if let Some(usage) = answer.find::<Json>("usage") {
        answer.set("usage", &told_usage(usage))?;
    }
    Ok(())
}

/// An id for an answer, which GigaChat's do not have.
pub fn new_id() -> String {
    format!("chatcmpl-{:032x}", random())
}

fn whole_choice(mut choice: RawObject, form: ToolForm) -> Result<RawObject, serde_json::Error> {
    if let Some(mut message) = choice.find::<RawObject>("message") {
        let is_call = call::tell(&mut message, form, None)?;
        if is_call && message.find::<String>("content").is_none_or(|text| text.is_empty()) {
            message.set("content", &Json::Null)?;
        }
        choice.set("message", &message)?;
    }
    let reason: String = choice.find("finish_reason").unwrap_or_default();
    choice.set("finish_reason", &call::finish_reason(&reason, form))?;
    Ok(choice)
}

/// The usage, with the cached tokens where OpenAI has them, too.
pub fn told_usage(mut usage: Json) -> Json {
    let cached = usage.get("precached_prompt_tokens").cloned();
    if let (Some(cached), Some(members)) = (cached.filter(Json::is_u64), usage.as_object_mut()) {
        members.insert("prompt_tokens_details".to_owned(), json!({"cached_tokens": cached}));
    }
    usage
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(body: &Json, form: ToolForm) -> Json {
        serde_json::from_slice(&read(body.to_string().as_bytes(), form).unwrap()).unwrap()
    }

    fn with_message(message: &Json, reason: &str) -> Json {
        json!({
            "choices": [{"message": message, "index": 0, "finish_reason": reason}], "created": 7, "model": "GigaChat:1",
            "object": "chat.completion",
            "usage": {"prompt_tokens": 8, "completion_tokens": 2, "total_tokens": 10, "precached_prompt_tokens": 3},
        })
    }

    #[test]
    fn a_text_comes_with_an_id_its_end_and_its_usage() {
        let told =
            answer(&with_message(&json!({"role": "assistant", "content": "Hi"}), "stop"), ToolForm::Tools);
        assert_eq!(told["choices"][0]["message"], json!({"role": "assistant", "content": "Hi"}));
        assert_eq!((&told["created"], &told["model"]), (&json!(7), &json!("GigaChat:1")));
        assert_eq!(told["usage"]["prompt_tokens_details"]["cached_tokens"], 3);
        assert!(told["id"].as_str().unwrap().starts_with("chatcmpl-"));
        for (reason, expected) in [("stop", "stop"), ("length", "length"), ("blacklist", "content_filter")] {
            let told = answer(&with_message(&json!({"content": "a"}), reason), ToolForm::Tools);
            assert_eq!(told["choices"][0]["finish_reason"], expected);
        }
    }

    #[test]
    fn a_call_ends_the_answer_in_the_clients_words() {
        let message =
            json!({"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": {}}});
        let call = with_message(&message, "function_call");
        let tools = answer(&call, ToolForm::Tools);
        assert_eq!(tools["choices"][0]["finish_reason"], "tool_calls");
        assert_eq!(tools["choices"][0]["message"]["content"], Json::Null);
        assert_eq!(tools["choices"][0]["message"]["tool_calls"][0]["function"]["arguments"], "{}");
        let functions = answer(&call, ToolForm::Functions);
        assert_eq!(functions["choices"][0]["finish_reason"], "function_call");
        assert_eq!(functions["choices"][0]["message"]["function_call"]["arguments"], "{}");
    }

    #[test]
    fn what_has_no_choices_stays_and_what_is_no_object_is_no_answer() {
        let error = json!({"status": 500, "message": "busy"});
        assert_eq!(answer(&error, ToolForm::Tools), error);
        for none in ["", "[]", "<html>"] {
            assert!(read(none.as_bytes(), ToolForm::Tools).is_err(), "{none}");
        }
    }
}
