//! The bodies of errors, as OpenAI and those that are like it write them.

use bytes::Bytes;
use serde_json::Value as Json;

use crate::llm::client_format;
use crate::llm::protocol::ErrorBody;
use base::outbound::{Secrets, redacted};

/// Where servers put an error's message: OpenAI's place, and those that were seen elsewhere (Ollama, FastAPI, Google).
const MESSAGE_PLACES: [&str; 5] = ["/error/message", "/error", "/message", "/detail", "/0/error/message"];

/// See [`crate::llm::protocol::Protocol::error`]. A body that has OpenAI's shape is passed on as it is; of any other one, a body
/// of that shape is made.
pub fn read(body: &[u8], secrets: &Secrets) -> ErrorBody {
    let text = String::from_utf8_lossy(body).into_owned();
    let json: Option<Json> = serde_json::from_slice(body).ok();
    let message = |place| json.as_ref()?.pointer(place)?.as_str();
    let message = MESSAGE_PLACES.into_iter().find_map(message).unwrap_or(&text);
    let message = redacted(message.to_owned(), secrets);
    let has_shape =
        json.as_ref().and_then(|json| json.pointer("/error/message")).is_some_and(Json::is_string);
    let for_client = match has_shape {
        true => Bytes::from(secrets.redact(text)),
        false => client_format::upstream_error(&message),
    };
    let param = json.as_ref().and_then(|json| json.pointer("/error/param")?.as_str()).map(str::to_owned);
    ErrorBody { message, param, for_client }
}

/// Whether a member `error` reports an error; OpenAI's client libraries decide in the same way.
pub fn is_error(error: &Json) -> bool {
    match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
        Json::Bool(true) | Json::Number(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_shape_or_get_it() {
        let secrets = Secrets::new(["sk-hidden-key"].into_iter());
        let for_client =
            |body: &str| String::from_utf8(read(body.as_bytes(), &secrets).for_client.to_vec()).unwrap();
        let shaped = r#"{ "error": {"message": "no", "code": 7, "more": [1.0]}, "x": 1 }"#;
        assert_eq!(for_client(shaped), shaped);
        assert_eq!(
            for_client(r#"{"error":{"message":"bad key sk-hidden-key"}}"#),
            r#"{"error":{"message":"bad key …"}}"#
        );
        for (body, message) in [
            (r#"{"error":"model is required"}"#, "model is required"),
            (r#"{"detail":"not here"}"#, "not here"),
            ("<h1>Forbidden</h1>", "<h1>Forbidden</h1>"),
            ("", "the upstream refused the request and gave no reason"),
        ] {
            let wrapped: Json = serde_json::from_str(&for_client(body)).unwrap();
            assert_eq!(wrapped["error"]["message"], message);
            assert_eq!(wrapped["error"]["code"], "llm_refused");
        }
    }
}
