//! The problems of documents, as the status page lists them for authors.

use serde::Serialize;

use super::DocumentKind;

/// What is wrong with a document, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ProblemDetail {
    /// What is wrong, and what to do about it.
    pub message: String,
    /// The file that line and column refer to, if it is not the document itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

impl ProblemDetail {
    /// A problem without a place.
    pub fn new(message: impl Into<String>) -> ProblemDetail {
        ProblemDetail { message: message.into(), file: None, line: None, column: None }
    }

    /// The error of a text that is not valid JSON, with line and column.
    pub fn from_json_error(error: &serde_json::Error) -> ProblemDetail {
        let text = error.to_string();
        let message = text.split(" at line ").next().unwrap_or(&text);
        ProblemDetail {
            message: format!("not valid JSON: {message}"),
            file: None,
            line: Some(error.line()),
            column: Some(error.column()),
        }
    }
}

/// A problem of a document in the catalog.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Problem {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// The document's key in the store, or the path of its file.
    pub key: String,
    /// What is wrong, and where.
    #[serde(flatten)]
    pub detail: ProblemDetail,
}

/// A problem as the status page lists it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedProblem {
    /// The problem.
    #[serde(flatten)]
    pub problem: Problem,
    /// When the problem was first seen, in seconds since the Unix epoch.
    pub since: u64,
}
