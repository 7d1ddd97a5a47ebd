//! The format in which our clients ask and are answered: OpenAI's, whatever the upstream speaks.
//!
//! - [`RequestOptions`]: what the service itself reads of a request; [`messages`]: its messages as plain texts
//! - [`AnswerWriter`]: answers and events; [`upstream_error`]: an error; [`model_entry`]: a model of the list

mod answer;
mod request;

use bytes::Bytes;
use serde_json::json;

pub use answer::{AnswerChoice, AnswerWriter, DONE};
pub use request::{RequestOptions, messages};

use super::capabilities::Capabilities;
use template::value::RawObject;

/// An error of an upstream that says `message`, or nothing.
pub fn upstream_error(message: &str) -> Bytes {
    let message = match message {
        "" => "the upstream refused the request and gave no reason",
        message => message,
    };
    let error = json!({"message": message, "type": "upstream_error", "param": null, "code": "llm_refused"});
    json!({"error": error}).to_string().into()
}

/// A model of the list of models, with what it can do, as far as that is known.
pub fn model_entry(name: &str, capabilities: Capabilities) -> Option<RawObject> {
    let mut entry = json!({"id": name, "object": "model", "created": 0, "owned_by": env!("CARGO_PKG_NAME")});
    let is_known = capabilities != Capabilities::default();
    if let Some(members) = entry.as_object_mut().filter(|_| is_known) {
        members.insert("capabilities".to_owned(), json!(capabilities));
    }
    serde_json::from_value(entry).ok()
}
