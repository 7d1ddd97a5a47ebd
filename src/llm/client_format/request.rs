//! What the service itself reads of a request; everything else is the upstream's business.

use serde::Deserialize;
use serde_json::Value as Json;

use crate::llm::error::LlmError;
use template::value::RawObject;

/// What a request asks for. A member that is null counts as absent.
#[derive(Debug)]
pub struct RequestOptions {
    /// The model.
    pub model: String,
    /// Whether the answer is to be a stream.
    pub stream: bool,
    /// Whether the stream is to end with the usage.
    pub include_usage: bool,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

impl RequestOptions {
    /// Those of a chat, or of a request in another format for what a chat does; `default` is the model of requests that name none.
    ///
    /// # Errors
    /// [`LlmError::NoModel`], [`LlmError::Invalid`].
    pub fn of_chat(payload: &RawObject, default: Option<&str>) -> Result<RequestOptions, LlmError> {
        let stream = payload.read("stream").map_err(|_| must_be("stream", "true or false"))?;
        let options = payload.read("stream_options").map_err(|_| must_be("stream_options", "an object"))?;
        Ok(RequestOptions {
            model: model(payload, default, "default_model")?,
            stream: stream.unwrap_or(false),
            include_usage: options.and_then(|options: StreamOptions| options.include_usage).unwrap_or(false),
        })
    }

    /// Those of a request for embeddings; `default` is the model of requests that name none.
    ///
    /// # Errors
    /// [`LlmError::NoModel`], [`LlmError::Invalid`].
    pub fn of_embeddings(payload: &RawObject, default: Option<&str>) -> Result<RequestOptions, LlmError> {
        let model = model(payload, default, "default_embedding_model")?;
        match payload.get("input").filter(|input| input.get() != "null") {
            Some(_) => Ok(RequestOptions { model, stream: false, include_usage: false }),
            None => {
                let message = "is missing: give the text to embed".to_owned();
                Err(LlmError::Invalid { param: "input", message })
            }
        }
    }
}

/// The model of a request. Null and an empty name count as none.
fn model(payload: &RawObject, default: Option<&str>, setting: &'static str) -> Result<String, LlmError> {
    let named = payload.read::<String>("model").map_err(|_| must_be("model", "a text"))?;
    let named = named.filter(|name| !name.is_empty());
    named.or_else(|| default.map(str::to_owned)).ok_or(LlmError::NoModel { setting })
}

fn must_be(param: &'static str, what: &str) -> LlmError {
    LlmError::Invalid { param, message: format!("must be {what}") }
}

/// A message of a chat as plain text.
#[derive(Debug, PartialEq, Eq)]
pub struct MessageText {
    /// Whether the user says it.
    pub is_of_user: bool,
    /// Its text; of several parts, their texts, a line each.
    pub text: String,
}

#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Json>,
}

/// The messages of a chat; those that cannot be read are left out.
pub fn messages(payload: &RawObject) -> Vec<MessageText> {
    let messages: Vec<Json> = payload.find("messages").unwrap_or_default();
    let messages = messages.into_iter().filter_map(|message| serde_json::from_value(message).ok());
    messages.map(Message::into_text).collect()
}

impl Message {
    fn into_text(self) -> MessageText {
        let text = match self.content {
            Some(Json::String(text)) => text,
            Some(Json::Array(parts)) => {
                let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
                texts.collect::<Vec<_>>().join("\n")
            }
            _ => String::new(),
        };
        MessageText { is_of_user: self.role.as_deref() == Some("user"), text }
    }
}
