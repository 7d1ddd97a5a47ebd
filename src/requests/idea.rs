//! An idea: a context, a schema and the solution that a model gave for them, under an id that is their hash.

use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

/// An idea; it never changes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Idea {
    /// The messages as they came, content objects included.
    pub context: Box<RawValue>,
    /// The JSON Schema as it came.
    pub schema: Box<RawValue>,
    /// The value.
    pub solution: Box<RawValue>,
    /// The model that gave it.
    pub model: String,
    /// When it was first kept, in seconds since 1970.
    pub created_at: u64,
}

/// What an idea is made of beside its solution, in canonical form.
#[derive(Debug, Clone)]
pub struct Source {
    context: String,
    schema: Arc<str>,
    /// The state of a hash that has seen both.
    hashed: Sha256,
    /// The hash of both, the model and the parameters.
    request: String,
}

/// An idea that is still to be stored.
#[derive(Debug)]
pub struct NewIdea<'s> {
    /// The SHA-256 of the canonical JSON of context, schema and solution, in hexadecimal.
    pub id: String,
    source: &'s Source,
    solution: &'s RawValue,
    model: &'s str,
}

impl Source {
    /// A source of these texts in canonical form; `params` are the model and the parameters.
    pub fn new(context: String, schema: Arc<str>, params: &str) -> Source {
        let mut hashed = Sha256::new();
        for part in [r#"{"context":"#, &context, r#","schema":"#, &schema] {
            hashed.update(part);
        }
        let request = finished(hashed.clone(), r#","params":"#, params);
        Source { context, schema, hashed, request }
    }

    /// The hash of context, schema, model and parameters, in hexadecimal.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// The idea with this solution in canonical form, which `model` gave.
    pub fn idea<'s>(&'s self, solution: &'s RawValue, model: &'s str) -> NewIdea<'s> {
        let id = finished(self.hashed.clone(), r#","solution":"#, solution.get());
        NewIdea { id, source: self, solution, model }
    }
}

impl NewIdea<'_> {
    /// The hash of the request that it answers.
    pub fn request(&self) -> &str {
        &self.source.request
    }

    /// The JSON of the [`Idea`], which is kept at this time, in seconds since 1970.
    pub fn json(&self, created_at: u64) -> Vec<u8> {
        let (Source { context, schema, .. }, solution) = (self.source, self.solution);
        let model = serde_json::Value::from(self.model);
        let json = format!(
            r#"{{"context":{context},"schema":{schema},"solution":{solution},"model":{model},"created_at":{created_at}}}"#
        );
        json.into_bytes()
    }
}

/// The hash of an object whose last member has this name and this text.
fn finished(mut hashed: Sha256, name: &str, text: &str) -> String {
    for part in [name, text, "}"] {
        hashed.update(part);
    }
    HEXLOWER.encode(&hashed.finalize())
}

/// Whether a text may be the id of an idea.
pub fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structured::canonical;

    /// The id of an idea, and what is stored.
    fn idea(context: &str, schema: &str, solution: &str) -> (String, Vec<u8>) {
        let part = |json| canonical(json).unwrap();
        let source = Source::new(part(context), part(schema).into(), "{}");
        let solution = RawValue::from_string(part(solution)).unwrap();
        let idea = source.idea(&solution, "m");
        (idea.id.clone(), idea.json(7))
    }

    #[test]
    fn the_way_of_writing_does_not_matter_and_the_order_of_members_does() {
        let context = r#"[{"role":"user","content":"é/\n"}]"#;
        let one = idea(context, r#"{"type":"object","title":"T"}"#, r#"{"a":1e2}"#).0;
        let same = idea(
            r#" [ {"role" : "user", "content": "\u00e9\/\u000a"} ] "#,
            r#"{ "type": "obj\u0065ct",
                "title": "T" }"#,
            r#"{"a": 100.0}"#,
        );
        assert_eq!(one, same.0);
        assert!(is_id(&one) && !is_id("abc") && !is_id(&one.to_uppercase()));
        assert_ne!(one, idea(context, r#"{"title":"T","type":"object"}"#, r#"{"a":1e2}"#).0);
    }

    #[test]
    fn the_id_is_the_hash_of_the_canonical_text_and_the_idea_is_stored_with_more() {
        let (id, json) = idea("[ ]", r#"{"type": "null"}"#, "null");
        let text = r#"{"context":[],"schema":{"type":"null"},"solution":null}"#;
        assert_eq!(id, HEXLOWER.encode(&Sha256::digest(text)));
        let stored: Idea = serde_json::from_slice(&json).unwrap();
        assert_eq!((stored.context.get(), stored.model.as_str(), stored.created_at), ("[]", "m", 7));
    }
}
