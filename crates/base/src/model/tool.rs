//! The tool document: something that templates can call.

use serde_json::Value as Json;

use super::{Id, function_name, string_member, strings};

/// A tool's definition, read from a document that its schema has accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its id, `{module}.{name}`.
    pub id: Id,
    /// The module that it belongs to.
    pub module: String,
    /// The name under which templates call it.
    pub function: String,
    /// The scenes that it is made for.
    pub supports: Vec<String>,
    /// The value that stands for a failed call.
    pub default: Option<Json>,
    /// The whole document as it was written.
    pub document: Json,
}

impl Tool {
    /// Reads the document of the tool `id`.
    pub fn from_document(id: Id, document: Json) -> Tool {
        Tool {
            function: function_name(&id),
            module: string_member(&document, "module").unwrap_or_default(),
            supports: strings(document.get("supports")),
            default: document.get("default").cloned(),
            id,
            document,
        }
    }
}
