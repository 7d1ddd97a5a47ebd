//! The errors of a chat.

use crate::llm::LlmError;
use crate::render::{ExpandError, RenderError};
use crate::structured::StructuredError;
use base::error::{Kind, Kinded};
use base::model::InvalidId;

/// The error of a chat.
#[derive(Debug, thiserror::Error)]
pub enum ChatError {
    /// A member of the request is not valid.
    #[error("`{param}` {message}")]
    Invalid {
        /// The name of the member.
        param: &'static str,
        /// What is wrong with it: the predicate of a sentence.
        message: String,
    },
    /// The prompt cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// The content objects of the messages cannot be expanded.
    #[error(transparent)]
    Expand(#[from] ExpandError),
    /// There is no value for the `response_format`.
    #[error(transparent)]
    Structured(#[from] StructuredError),
    /// The upstream did not answer.
    #[error(transparent)]
    Llm(#[from] LlmError),
}

impl ChatError {
    pub(super) fn invalid(param: &'static str, message: impl Into<String>) -> ChatError {
        ChatError::Invalid { param, message: message.into() }
    }
}

impl From<InvalidId> for ChatError {
    fn from(error: InvalidId) -> ChatError {
        ChatError::Render(error.into())
    }
}

impl Kinded for ChatError {
    fn kind(&self) -> Kind {
        match self {
            ChatError::Invalid { .. } => Kind::InvalidInput,
            ChatError::Render(error) => error.kind(),
            ChatError::Expand(error) => error.kind(),
            ChatError::Structured(error) => error.kind(),
            ChatError::Llm(error) => error.kind(),
        }
    }
}
