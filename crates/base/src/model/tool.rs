//! The tool document: a function of another service that templates can call.

use serde_json::Value as Json;

use super::{Id, function_name, string_member, strings};

/// The definition of a tool, read from a document that has passed its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// `{module}.{name}`.
    pub id: Id,
    /// The module that the settings or the environs give a base URL and headers.
    pub module: String,
    /// The name of the function in templates; see [`function_name`].
    pub function: String,
    /// The uses that it is made for.
    pub supports: Vec<String>,
    /// The value that replaces the result of a failed call.
    pub default: Option<Json>,
    /// The whole document.
    pub document: Json,
}

impl Tool {
    /// Reads the document of the tool `id`, which has passed its schema.
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
