//! OpenAI's API (<https://platform.openai.com/docs/api-reference>), as many servers offer it.
//!
//! It is the format of our clients, too: a request goes on as it was written but for its `model`, and an answer comes back
//! byte by byte.
//!
//! - `stream`: the few events that have to change; `completion`: an answer read; `responses`: those of the Responses API;
//!   `error`: errors in bodies

mod completion;
mod error;
mod responses;
mod stream;

use bytes::Bytes;
use http::header::{AUTHORIZATION, InvalidHeaderValue};
use http::{HeaderMap, HeaderValue};
use reqwest::Url;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};

pub use completion::{named_calls, read as completion, with_choice};
pub use error::read as error;
pub use responses::{ResponseEvents, answer as response};
pub use stream::EventFilter;

use super::Endpoints;
use crate::llm::error::{LlmError, UpstreamError};
use template::value::{RawObject, parse_json};

/// See [`super::Protocol::endpoints`].
pub fn endpoints(base: &Url) -> Endpoints {
    Endpoints {
        chat: below(base, &["chat", "completions"]),
        responses: below(base, &["responses"]),
        completions: below(base, &["completions"]),
        embeddings: below(base, &["embeddings"]),
        models: below(base, &["models"]),
    }
}

/// A path below a base URL, whose query stays (Azure has its `api-version` there).
fn below(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// See [`super::Protocol::headers`].
pub fn headers(api_key: Option<&str>) -> Result<HeaderMap, InvalidHeaderValue> {
    let mut headers = HeaderMap::new();
    if let Some(key) = api_key {
        let mut value = HeaderValue::from_str(&format!("Bearer {key}"))?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// See [`super::Protocol::request`].
pub fn request(payload: &RawObject, model: &str) -> Result<Bytes, LlmError> {
    let written = to_raw_value(model).and_then(|model| payload.to_json_with("model", &model));
    written.map(Bytes::from).map_err(|error| LlmError::Invalid { param: "model", message: error.to_string() })
}

/// See [`super::Protocol::answer`]. Any JSON object will do: what is in it is between the client and the upstream.
pub fn answer(body: Bytes) -> Result<Bytes, UpstreamError> {
    /// Any members.
    #[derive(Deserialize)]
    struct Object {}
    let is_object = body.trim_ascii_start().starts_with(b"{");
    match is_object && serde_json::from_slice::<Object>(&body).is_ok() {
        true => Ok(body),
        false => Err(UpstreamError::unusable("it is not a JSON object")),
    }
}

#[derive(Deserialize)]
struct ModelList {
    data: Vec<Box<RawValue>>,
}

/// See [`super::Protocol::models`].
pub fn models(body: &[u8]) -> Result<Vec<RawObject>, UpstreamError> {
    let list: ModelList =
        parse_json(body).map_err(|_| UpstreamError::unusable("it is not a list of models"))?;
    Ok(list.data.iter().filter_map(|model| parse_json(model.get().as_bytes()).ok()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_continue_the_base_url_and_its_query_stays() {
        for base in ["http://h/v1", "http://h/v1/"] {
            let endpoints = endpoints(&Url::parse(base).unwrap());
            assert_eq!(endpoints.chat.as_str(), "http://h/v1/chat/completions");
            assert_eq!(endpoints.models.as_str(), "http://h/v1/models");
        }
        let deployment = Url::parse("https://h/openai/deployments/d?api-version=2").unwrap();
        let expected = "https://h/openai/deployments/d/embeddings?api-version=2";
        assert_eq!(endpoints(&deployment).embeddings.as_str(), expected);
    }

    #[test]
    fn the_key_is_a_sensitive_header_and_there_is_none_without_a_key() {
        let headers_of = |key| headers(key).unwrap();
        let value = headers_of(Some("k"))[AUTHORIZATION].clone();
        assert!(value == "Bearer k" && value.is_sensitive());
        assert!(headers_of(None).is_empty());
        assert!(headers(Some("two\nlines")).is_err());
    }

    #[test]
    fn a_request_is_what_the_client_wrote_but_for_its_model() {
        let payload: RawObject = parse_json(br#"{"model":"m","n":1.0,"x":null}"#).unwrap();
        assert_eq!(request(&payload, "real").unwrap(), r#"{"model":"real","n":1.0,"x":null}"#);
    }

    #[test]
    fn an_answer_is_an_object_and_a_model_in_a_list_too() {
        assert_eq!(answer(Bytes::from_static(b" {\"x\": 1.0}")).unwrap(), " {\"x\": 1.0}");
        for none in ["", "[]", "null", "{} {}", "{\"choices\": ["] {
            assert!(answer(Bytes::from_static(none.as_bytes())).is_err(), "{none}");
        }
        assert_eq!(models(br#"{"data": [5, {"id": "m"}, "x"]}"#).unwrap().len(), 1);
        assert!(models(br#"{"data": 5}"#).is_err() && models(b"{}").is_err());
    }
}
