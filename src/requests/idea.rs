//! An idea: a context, a schema and the solution that a model gave for them, under an id that is their hash.

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use template::value::parse_json;

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

impl Idea {
    /// Its id: the SHA-256 of the canonical JSON of context, schema and solution, in hexadecimal.
    ///
    /// Canonical: no white space, the shortest escapes, numbers as the service prints them, members in their order, which steers
    /// models. The parts of an idea are in this form already.
    pub fn id(&self) -> String {
        let Idea { context, schema, solution, .. } = self;
        hash(&format!(r#"{{"context":{context},"schema":{schema},"solution":{solution}}}"#))
    }
}

/// A JSON text in canonical form.
///
/// # Errors
/// If it is no JSON.
pub fn canonical(json: &str) -> Result<Box<RawValue>, serde_json::Error> {
    let value: Json = parse_json(json.as_bytes())?;
    RawValue::from_string(value.to_string())
}

/// The SHA-256 of a text, in hexadecimal.
pub fn hash(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a text may be the id of an idea.
pub fn is_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(context: &str, schema: &str, solution: &str) -> String {
        let part = |json| canonical(json).unwrap();
        let (context, schema, solution) = (part(context), part(schema), part(solution));
        Idea { context, schema, solution, model: "m".into(), created_at: 0 }.id()
    }

    #[test]
    fn the_way_of_writing_does_not_matter_and_the_order_of_members_does() {
        let one =
            id(r#"[{"role":"user","content":"é/\n"}]"#, r#"{"type":"object","title":"T"}"#, r#"{"a":1e2}"#);
        let same = id(
            r#" [ {"role" : "user", "content": "\u00e9\/\u000a"} ] "#,
            r#"{ "type": "obj\u0065ct",
                "title": "T" }"#,
            r#"{"a": 100.0}"#,
        );
        assert_eq!(one, same);
        assert!(is_id(&one) && !is_id("abc") && !is_id(&one.to_uppercase()));
        assert_ne!(
            one,
            id(r#"[{"role":"user","content":"é/\n"}]"#, r#"{"title":"T","type":"object"}"#, r#"{"a":1e2}"#)
        );
    }

    #[test]
    fn the_id_is_the_hash_of_the_canonical_text() {
        let text = r#"{"context":[],"schema":{"type":"null"},"solution":null}"#;
        assert_eq!(id("[]", r#"{"type": "null"}"#, "null"), hash(text));
    }
}
