//! GigaChat's REST API (<https://developers.sber.ru/docs/ru/gigachat/api/reference/rest/gigachat-api>), version 1.
//!
//! It resembles OpenAI's before that had `tools`: one call of a function in an answer, whose arguments are an object, and results in
//! messages of the role `function`. Clients see nothing of that: `tools` become `functions`, and a call comes back in `tool_calls`, or
//! in `function_call` for a client that sent `functions`.
//!
//! - `request`: a request for a chat; `functions`: what may be called; `schema` and `types`: parameters in the JSON Schema that GigaChat
//!   knows; `messages`: the history, and their `content`; `problems`: what is wrong with a request
//! - `answer`: an answer; `stream`: its events; `call`: the call in both, and its id; `embeddings`: requests and answers for those
//! - `oauth`: how a token is asked for; `tokens`: the one token that all requests share

mod answer;
mod call;
mod content;
mod embeddings;
mod functions;
mod messages;
mod oauth;
mod problems;
mod request;
mod schema;
mod stream;
mod tokens;
mod types;

use bytes::Bytes;

pub use answer::read as answer;
pub use embeddings::{read as vectors, request as embed};
pub use oauth::{RequestKey, SCOPE, TokenRequest, URL as OAUTH_URL};
pub use request::write as chat;
pub use stream::Chunks;
pub use tokens::{Token, TokenSource};

use crate::llm::capabilities::Capabilities;
use crate::llm::error::{LlmError, UpstreamError};
use crate::llm::protocol::openai;
use template::value::RawObject;

/// The address of the API, where the settings name no other one.
pub const BASE_URL: &str = "https://api.giga.chat/v1";

/// See [`super::Protocol::capabilities`]. Functions belong to the API; `response_format` with a schema is new in it, and only some models
/// have it; there is none for any object.
pub fn capabilities(declared: Capabilities) -> Capabilities {
    Capabilities {
        json_schema: declared.json_schema.or(Some(false)),
        tools: declared.tools.or(Some(true)),
        json_object: declared.json_object.or(Some(false)),
        // `tools` are translated here.
        functions: None,
    }
}

/// See [`super::Protocol::models`]. Clients of OpenAI's list insist on `created`.
pub fn models(body: &[u8]) -> Result<Vec<RawObject>, UpstreamError> {
    let mut models = openai::models(body)?;
    for model in models.iter_mut().filter(|model| model.get("created").is_none()) {
        model.set("created", &0).map_err(|_| UpstreamError::unusable("it is not a list of models"))?;
    }
    Ok(models)
}

/// A body as bytes.
fn written(body: &RawObject) -> Result<Bytes, LlmError> {
    let json = serde_json::to_vec(body);
    json.map(Bytes::from).map_err(|error| LlmError::Invalid { param: "messages", message: error.to_string() })
}
