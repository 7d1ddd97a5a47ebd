//! What the service reads of a payload; everything else is the upstream's.

use serde::Deserialize;

use super::error::LlmError;
use template::value::RawObject;

/// What a payload asks for.
#[derive(Debug)]
pub struct Asked {
    /// The model.
    pub model: String,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// Whether the usage is wanted at the end of the stream.
    pub usage: bool,
}

#[derive(Deserialize)]
struct StreamOptions {
    include_usage: Option<bool>,
}

/// What a chat asks for; without a model, the default one.
///
/// # Errors
/// [`LlmError::NoModel`], [`LlmError::Invalid`].
pub fn chat(payload: &RawObject, default: Option<&str>) -> Result<Asked, LlmError> {
    let stream = payload.read("stream").map_err(|_| must_be("stream", "true or false"))?;
    let options = payload.read("stream_options").map_err(|_| must_be("stream_options", "an object"))?;
    Ok(Asked {
        model: model(payload, default, "default_model")?,
        stream: stream.unwrap_or(false),
        usage: options.and_then(|options: StreamOptions| options.include_usage).unwrap_or(false),
    })
}

/// What a request for embeddings asks for; without a model, the default one.
///
/// # Errors
/// [`LlmError::NoModel`], [`LlmError::Invalid`].
pub fn embeddings(payload: &RawObject, default: Option<&str>) -> Result<Asked, LlmError> {
    let model = model(payload, default, "default_embedding_model")?;
    match payload.get("input").filter(|input| input.get() != "null") {
        Some(_) => Ok(Asked { model, stream: false, usage: false }),
        None => {
            let message = "is missing: give the text to embed".to_owned();
            Err(LlmError::Invalid { param: "input", message })
        }
    }
}

fn model(payload: &RawObject, default: Option<&str>, setting: &'static str) -> Result<String, LlmError> {
    let named = payload.read::<String>("model").map_err(|_| must_be("model", "a text"))?;
    let named = named.filter(|name| !name.is_empty());
    named.or_else(|| default.map(str::to_owned)).ok_or(LlmError::NoModel { setting })
}

fn must_be(param: &'static str, what: &str) -> LlmError {
    LlmError::Invalid { param, message: format!("must be {what}") }
}
