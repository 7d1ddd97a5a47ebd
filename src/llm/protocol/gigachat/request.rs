//! A request for a chat: what a client of OpenAI's format sends, as GigaChat takes it.
//!
//! - Left out: what says nothing of the answer, or is only a hint ([`HARMLESS`]), and a member that is null.
//! - Refused, unless it says nothing ([`UNKNOWN`]): what GigaChat does not have, and the answer would depend on.
//! - Everything else passes, with what GigaChat alone knows.

use bytes::Bytes;

use super::problems::Problems;
use super::{functions, messages, written};
use crate::llm::error::LlmError;
use template::value::RawObject;

/// Members that are left out.
pub const HARMLESS: [&str; 13] = [
    "metadata",
    "parallel_tool_calls",
    "prediction",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "seed",
    "service_tier",
    "store",
    "stream_options",
    "user",
    "verbosity",
];

/// Members that GigaChat does not have, each with the values that say nothing.
pub const UNKNOWN: [(&str, &[&str]); 9] = [
    ("audio", &[]),
    ("frequency_penalty", &["0", "0.0"]),
    ("logit_bias", &["{}"]),
    ("logprobs", &["false"]),
    ("modalities", &[r#"["text"]"#]),
    ("moderation", &[]),
    ("presence_penalty", &["0", "0.0"]),
    ("top_logprobs", &["0"]),
    ("web_search_options", &[]),
];

/// See [`crate::llm::protocol::Protocol::request`].
pub fn write(payload: &RawObject, model: &str) -> Result<Bytes, LlmError> {
    let mut body = payload.clone();
    let mut problems = Problems::default();
    translate(&mut body, model, &mut problems)
        .map_err(|error| LlmError::Invalid { param: "messages", message: error.to_string() })?;
    problems.check()?;
    written(&body)
}

fn translate(body: &mut RawObject, model: &str, problems: &mut Problems) -> Result<(), serde_json::Error> {
    body.set("model", model)?;
    let nulls: Vec<String> = body.names().filter(|name| is_null(body, name)).map(str::to_owned).collect();
    nulls.iter().map(String::as_str).chain(HARMLESS).for_each(|name| drop(body.remove(name)));
    refuse(body, problems);
    if let Some(limit) = body.remove("max_completion_tokens") {
        body.set("max_tokens", &limit)?;
    }
    // GigaChat takes no temperature of 0; a `top_p` of 0 means the same: always the likeliest word.
    if body.find::<f64>("temperature") == Some(0.0) {
        body.remove("temperature");
        body.set("top_p", &0)?;
    }
    response_format(body)?;
    functions::write(body, problems)?;
    match body.read::<Vec<RawObject>>("messages") {
        Ok(Some(messages)) => body.set("messages", &messages::write(&messages, problems)),
        Ok(None) => Ok(()),
        Err(_) => {
            problems.add("messages", "must be a list of objects");
            Ok(())
        }
    }
}

fn is_null(body: &RawObject, name: &str) -> bool {
    body.get(name).is_some_and(|member| member.get() == "null")
}

/// Takes out what GigaChat does not have.
fn refuse(body: &mut RawObject, problems: &mut Problems) {
    for (name, neutral) in UNKNOWN {
        let Some(member) = body.remove(name) else { continue };
        let compact: String = member.get().split_whitespace().collect();
        if !neutral.contains(&compact.as_str()) {
            let instead = match name {
                "frequency_penalty" | "presence_penalty" => ", or give GigaChat's `repetition_penalty`",
                _ => "",
            };
            problems.add(name, format!("is not known to GigaChat: leave it out{instead}"));
        }
    }
}

/// GigaChat has the schema beside the type, and no name for it.
fn response_format(body: &mut RawObject) -> Result<(), serde_json::Error> {
    let Some(format) = body.find::<RawObject>("response_format") else { return Ok(()) };
    let kind: String = format.find("type").unwrap_or_default();
    if kind == "text" {
        body.remove("response_format");
    }
    let nested = format.find::<RawObject>("json_schema").filter(|_| kind == "json_schema");
    let Some(nested) = nested else { return Ok(()) };
    let mut own = RawObject::default();
    own.set("type", &kind)?;
    own.set("schema", &nested.get("schema"))?;
    if let Some(strict) = nested.find::<bool>("strict") {
        own.set("strict", &strict)?;
    }
    body.set("response_format", &own)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
    use template::value::parse_json;

    fn request(payload: &Json) -> Result<Json, String> {
        let payload: RawObject = parse_json(payload.to_string().as_bytes()).unwrap();
        let body = write(&payload, "GigaChat-2").map_err(|error| error.to_string())?;
        Ok(serde_json::from_slice(&body).unwrap())
    }

    #[test]
    fn what_is_gigachats_own_passes_and_what_is_harmless_is_left_out() {
        let own = json!({"model": "GigaChat-2", "temperature": 0.5, "n": 1, "max_tokens": 5, "repetition_penalty": 1.1, "update_interval": 0,
            "profanity_check": false, "flags": ["x"], "stream": true, "messages": [{"role": "user", "content": "a"}]});
        assert_eq!(request(&own).unwrap(), own);
        let mut with_more = own.clone();
        for name in HARMLESS {
            with_more[name] = json!("x");
        }
        for (name, neutral) in UNKNOWN {
            with_more[name] = neutral.first().map_or(Json::Null, |text| serde_json::from_str(text).unwrap());
        }
        with_more["stop"] = Json::Null;
        assert_eq!(request(&with_more).unwrap(), own);
    }

    #[test]
    fn what_gigachat_has_in_another_way_is_translated() {
        let body =
            request(&json!({"max_tokens": 5, "max_completion_tokens": 7, "temperature": 0, "messages": []}))
                .unwrap();
        assert_eq!(body, json!({"max_tokens": 7, "top_p": 0, "messages": [], "model": "GigaChat-2"}));
        let schema = json!({"type": "object", "properties": {"a": {"$ref": "#"}}});
        let nested =
            json!({"type": "json_schema", "json_schema": {"name": "n", "schema": schema, "strict": true}});
        let own = json!({"type": "json_schema", "schema": schema, "strict": true});
        for format in [nested, own.clone()] {
            assert_eq!(request(&json!({"response_format": format})).unwrap()["response_format"], own);
        }
        assert_eq!(
            request(&json!({"response_format": {"type": "text"}})).unwrap(),
            json!({"model": "GigaChat-2"})
        );
        let object = json!({"type": "json_object"});
        assert_eq!(request(&json!({"response_format": object})).unwrap()["response_format"], object);
    }

    #[test]
    fn everything_that_gigachat_does_not_have_is_named() {
        let asked = json!({"logprobs": true, "frequency_penalty": 0.5, "logit_bias": {"5": 1}, "tools": [{"type": "custom"}], "messages": 5});
        let error = request(&asked).unwrap_err();
        for told in [
            "`logprobs` is not known",
            "`frequency_penalty` is not known to GigaChat: leave it out, or give",
            "`logit_bias`",
            "`tools` [0]",
            "`messages` must be",
        ] {
            assert!(error.contains(told), "{told}: {error}");
        }
    }
}
