//! The JSON Schemas of our own documents: one truth for loading, writing and editors.

use std::sync::LazyLock;

use serde_json::Value as Json;

use super::Schema;
use crate::model::DocumentKind;

/// The schema of one kind of document.
#[derive(Debug)]
pub struct Document {
    /// The kind.
    pub kind: DocumentKind,
    /// The schema as it stands in `jsonschema/`.
    json: Json,
    /// The schema, ready to validate; `None` only if a shipped schema were broken, which a test excludes.
    pub schema: Option<Schema>,
}

/// All document schemas.
pub static DOCUMENTS: LazyLock<Vec<Document>> = LazyLock::new(|| {
    let read = |kind: DocumentKind| {
        let text = kind.schema()?;
        let json: Json = serde_json::from_str(text).unwrap_or_default();
        Some(Document { kind, schema: Schema::own(&json).ok(), json })
    };
    DocumentKind::ALL.into_iter().filter_map(read).collect()
});

/// What one of our schemas itself says about a broken keyword (`"x-message": {KEYWORD: …}` beside it), where the
/// keyword's location is `{$id}#{pointer}`.
pub(super) fn message(location: &str) -> Option<String> {
    let (id, pointer) = location.split_once('#')?;
    let (parent, keyword) = pointer.rsplit_once('/')?;
    let mut schemas = DOCUMENTS.iter().map(|document| &document.json);
    let schema = schemas.find(|schema| schema.get("$id").and_then(Json::as_str) == Some(id))?;
    Some(schema.pointer(parent)?.get("x-message")?.get(keyword)?.as_str()?.to_owned())
}

/// The schema of a kind of documents; `None` if its documents are any JSON value.
pub fn document(kind: DocumentKind) -> Option<&'static Document> {
    DOCUMENTS.iter().find(|document| document.kind == kind)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Effort;
    use serde_json::json;

    #[test]
    fn every_shipped_schema_compiles() {
        for document in DOCUMENTS.iter() {
            assert!(document.schema.is_some(), "{}", document.kind);
        }
    }

    #[test]
    fn all_violations_of_a_document_are_reported_at_once() {
        let schema = document(DocumentKind::Extension).and_then(|d| d.schema.as_ref()).unwrap();
        let found = schema.violations(
            &json!({"version": "one", "contributes": {"prompts": [{"name": "a"}]}}).into(),
            Effort::SERVING,
        );
        let paths: Vec<&str> = found.iter().map(|v| v.path.as_str()).collect();
        assert_eq!(paths, ["", "/contributes/prompts/0", "/version"], "{found:?}");
        assert_eq!(found[0].missing.as_deref(), Some("name"));
    }

    #[test]
    fn a_prompt_has_exactly_one_body() {
        let schema = document(DocumentKind::Prompt).and_then(|d| d.schema.as_ref()).unwrap();
        assert!(schema.violations(&json!({"prompt": "x"}).into(), Effort::SERVING).is_empty());
        assert!(
            !schema.violations(&json!({"prompt": "x", "userPrompt": "y"}).into(), Effort::SERVING).is_empty()
        );
        let found = schema.violations(&json!({"name": "x"}).into(), Effort::SERVING);
        assert!(found[0].message.contains("exactly one of"), "{found:?}");
    }
}
