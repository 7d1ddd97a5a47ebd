//! Converts the engine's errors, with their places in the text as the author wrote it.

use std::error::Error as _;

use minijinja::{Error, ErrorKind};

use super::source::position;
use crate::{CompileError, MissingValue, Position, RunError};

/// An error of the parser, in the text that it parsed.
pub(super) fn syntax(name: &str, text: &str, error: &Error) -> CompileError {
    let place = error.range().map(|range| position(name, text, range.start));
    CompileError::Invalid { message: sentence(error), position: place.or_else(|| line_only(name, error)) }
}

fn line_only(name: &str, error: &Error) -> Option<Position> {
    Some(Position { template: name.to_owned(), line: error.line()?, column: None })
}

/// The message of an error without its place, which is reported separately.
pub(super) fn sentence(error: &Error) -> String {
    match error.detail() {
        Some(detail) => format!("{}: {detail}", error.kind()),
        None => error.kind().to_string(),
    }
}

/// The innermost error of a chain, which is the original one.
pub(super) fn innermost(error: &Error) -> &Error {
    let mut innermost = error;
    while let Some(inner) = innermost.source().and_then(|source| source.downcast_ref::<Error>()) {
        innermost = inner;
    }
    innermost
}

/// Converts an error of the engine; `place` finds its place in the author's text.
pub(super) fn of_engine(
    error: &Error,
    steps: u64,
    recursion: usize,
    place: impl Fn(&Error) -> Option<Position>,
) -> RunError {
    let cause = innermost(error);
    match cause.kind() {
        ErrorKind::OutOfFuel => RunError::Steps { limit: steps },
        ErrorKind::InvalidOperation if cause.detail() == Some("recursion limit exceeded") => {
            RunError::Limit { what: "recursion", limit: recursion as u64 }
        }
        _ => match undefined(cause) {
            Some(path) => RunError::Missing(vec![MissingValue { path, position: place(cause) }]),
            None => RunError::Failed { message: sentence(cause), position: place(cause) },
        },
    }
}

/// The expression that an error calls undefined: the engine writes "`user.name` is undefined".
fn undefined(error: &Error) -> Option<String> {
    let named = error.detail().and_then(|detail| {
        let (before, _) = detail.split_once("` is undefined")?;
        Some(before.rsplit_once('`').map_or(before, |(_, path)| path).to_owned())
    });
    match named {
        Some(path) => Some(path),
        None if error.kind() == ErrorKind::UndefinedError => Some("(an expression)".to_owned()),
        None => None,
    }
}
