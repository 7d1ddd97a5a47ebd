//! The errors of parsing and of runs.

use crate::{Position, RunError};

/// A text that is not valid Jinja.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// Jinja2's message.
    pub message: String,
    /// The place, in bytes from the start of the source.
    pub at: usize,
}

impl SyntaxError {
    pub fn new(message: impl Into<String>, at: usize) -> SyntaxError {
        SyntaxError { message: message.into(), at }
    }
}

/// The error that ends a run; boxed, since it is large and rare.
pub(crate) type Stop = Box<RunError>;

/// The line and the column of a place in a source, both from 1; columns count characters.
pub(crate) fn position(name: &str, source: &str, at: usize) -> Position {
    let before = source.get(..at.min(source.len())).unwrap_or(source);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let line = 1 + memchr::memchr_iter(b'\n', before.as_bytes()).count();
    let column = 1 + before.get(line_start..).unwrap_or_default().chars().count();
    Position { template: name.to_owned(), line, column: Some(column) }
}
