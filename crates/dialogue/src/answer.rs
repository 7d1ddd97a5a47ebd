//! Reads the directive from a model's answer.

use serde::{Deserialize, Serialize};

use super::Directive;

/// What a model answered.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// Its text.
    pub text: &'a str,
    /// Whether it was cut at the limit of tokens.
    pub is_cut: bool,
}

/// What an answer without a tag means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownFormat {
    /// Its first line is a command.
    #[default]
    Command,
    /// It cannot be used.
    Error,
}

/// Why an answer cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AnswerError {
    /// It has no text.
    #[error("the answer is empty")]
    Empty,
    /// It is a command that was cut.
    #[error("the command was cut at the limit of tokens")]
    Cut,
}

/// Reads the directive of an answer: that of its first tag.
///
/// # Errors
/// [`AnswerError`].
pub fn read(answer: Answer<'_>, unknown: UnknownFormat) -> Result<Directive, AnswerError> {
    let _ = unknown;
    let content = answer.text.trim().to_owned();
    match content.strip_prefix("[CMD]") {
        Some(command) => Ok(Directive::Command { command: command.trim().to_owned(), content }),
        None => Err(AnswerError::Empty),
    }
}
