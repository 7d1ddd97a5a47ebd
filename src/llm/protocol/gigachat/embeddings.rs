//! Requests for embeddings, and their answers. GigaChat takes lists of texts alone, and knows one way to write a vector: as numbers.

use bytes::Bytes;
use data_encoding::BASE64;
use serde::Serialize;
use serde_json::value::RawValue;

use super::problems::Problems;
use super::written;
use crate::llm::error::{LlmError, UpstreamError};
use template::value::{RawObject, parse_json};

/// See [`crate::llm::protocol::Protocol::request`].
pub fn request(payload: &RawObject, model: &str) -> Result<Bytes, LlmError> {
    let mut body = payload.clone();
    let mut problems = Problems::default();
    let one = payload.find::<String>("input").map(|text| vec![text]);
    let texts: Option<Vec<String>> = one.or_else(|| payload.find("input"));
    if texts.is_none() {
        problems.add("input", "must be a text or a list of texts: GigaChat takes no tokens");
    }
    if body.remove("dimensions").is_some_and(|dimensions| dimensions.get() != "null") {
        problems.add("dimensions", "is not known to GigaChat: leave it out");
    }
    problems.check()?;
    ["user", "encoding_format"].iter().for_each(|name| drop(body.remove(name)));
    let set = body.set("input", &texts).and_then(|()| body.set("model", model));
    set.map_err(|error| LlmError::Invalid { param: "input", message: error.to_string() })?;
    written(&body)
}

/// The answer in OpenAI's format, with vectors in base64 if the client wants them so. The usage of each text becomes one of all.
///
/// # Errors
/// [`UpstreamError::Unusable`] when it is no list of vectors.
pub fn read(body: &[u8], base64: bool) -> Result<Bytes, UpstreamError> {
    let unusable = || UpstreamError::unusable("it is not a list of vectors");
    let answer: RawObject = parse_json(body).map_err(|_| unusable())?;
    let entries: Vec<RawObject> = answer.find("data").ok_or_else(unusable)?;
    let tokens: u64 = entries.iter().filter_map(tokens).sum();
    let vectors = entries.iter().map(|entry| vector(entry, base64));
    let data = vectors.collect::<Option<_>>().ok_or_else(unusable)?;
    let usage = Usage { prompt_tokens: tokens, total_tokens: tokens };
    let told = Vectors { object: "list", data, model: answer.get("model"), usage };
    serde_json::to_vec(&told).map(Bytes::from).map_err(|_| unusable())
}

/// The list of vectors in OpenAI's format.
#[derive(Serialize)]
struct Vectors<'a> {
    object: &'static str,
    data: Vec<Entry<'a>>,
    model: Option<&'a RawValue>,
    usage: Usage,
}

#[derive(Serialize)]
struct Usage {
    prompt_tokens: u64,
    total_tokens: u64,
}

/// An entry of it.
#[derive(Serialize)]
struct Entry<'a> {
    object: &'static str,
    index: u64,
    embedding: Vector<'a>,
}

/// A vector as the client wants it.
#[derive(Serialize)]
#[serde(untagged)]
enum Vector<'a> {
    /// As it came: all digits remain, and no number takes memory of its own.
    Numbers(&'a RawValue),
    Base64(String),
}

fn tokens(entry: &RawObject) -> Option<u64> {
    entry.find::<RawObject>("usage")?.find("prompt_tokens")
}

/// An entry of the list.
fn vector(entry: &RawObject, base64: bool) -> Option<Entry<'_>> {
    let index: u64 = entry.find("index").unwrap_or_default();
    let numbers: &RawValue = entry.get("embedding")?;
    let embedding = match base64 {
        true => Vector::Base64(encoded(numbers)?),
        false => parse_json::<Vec<f64>>(numbers.get().as_bytes()).ok().map(|_| Vector::Numbers(numbers))?,
    };
    Some(Entry { object: "embedding", index, embedding })
}

/// The numbers of 32 bits, the lowest byte first, as OpenAI has them.
fn encoded(numbers: &RawValue) -> Option<String> {
    let numbers: Vec<f32> = parse_json(numbers.get().as_bytes()).ok()?;
    let bytes: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
    Some(BASE64.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn asked(payload: &Json) -> Result<Json, String> {
        let payload: RawObject = parse_json(payload.to_string().as_bytes()).unwrap();
        let body = request(&payload, "Embeddings").map_err(|error| error.to_string())?;
        Ok(serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn texts_are_a_list() {
        for input in [json!("a"), json!(["a"])] {
            let payload = json!({"input": input, "model": "m", "encoding_format": "base64", "user": "u", "dimensions": null});
            assert_eq!(asked(&payload).unwrap(), json!({"input": ["a"], "model": "Embeddings"}));
        }
        let error = asked(&json!({"input": [1, 2], "dimensions": 8})).unwrap_err();
        assert!(error.contains("`input` must be") && error.contains("`dimensions` is not known"), "{error}");
    }

    #[test]
    fn vectors_are_written_as_the_client_wants_them() {
        let entry = |index: u64| json!({"object": "embedding", "index": index, "embedding": [0.5, -1.0], "usage": {"prompt_tokens": 3}});
        let answer =
            json!({"object": "list", "model": "Embeddings", "data": [entry(0), entry(1)]}).to_string();
        let told =
            |base64| serde_json::from_slice::<Json>(&read(answer.as_bytes(), base64).unwrap()).unwrap();
        assert_eq!(
            told(false)["data"][1],
            json!({"object": "embedding", "index": 1, "embedding": [0.5, -1.0]})
        );
        assert_eq!(told(true)["data"][0]["embedding"], "AAAAPwAAgL8=");
        assert_eq!(told(false)["usage"], json!({"prompt_tokens": 6, "total_tokens": 6}));
        for none in ["[]", "<html>", r#"{"data": 5}"#, r#"{"data": [{"embedding": "x"}]}"#] {
            assert!(read(none.as_bytes(), false).is_err(), "{none}");
        }
    }
}
