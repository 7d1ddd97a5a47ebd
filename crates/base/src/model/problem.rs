//! What is wrong with a document, told so that somebody can mend it.

use serde::Serialize;

use super::DocumentKind;

/// Why a document, or a part of it, cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Reason {
    /// A sentence.
    pub message: String,
    /// The file that the line and column count in, where it is not the document itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl Reason {
    /// A reason without a place.
    pub fn new(message: impl Into<String>) -> Reason {
        Reason { message: message.into(), file: None, line: None, column: None }
    }

    /// Why a text is not JSON, with the parser's place.
    pub fn from_json_error(error: &serde_json::Error) -> Reason {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        Reason {
            message: format!("not valid JSON: {message}"),
            file: None,
            line: Some(error.line()),
            column: Some(error.column()),
        }
    }
}

/// A reason together with the document that it concerns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// The key in the store, or the path of the file.
    pub key: String,
    /// What is wrong.
    #[serde(flatten)]
    pub reason: Reason,
    /// When this was first seen: seconds since the Unix epoch.
    pub since: u64,
}
