//! Why a chat was not answered.

use crate::content::ContentError;
use crate::llm::LlmError;
use crate::render::RenderError;
use base::error::{Kind, Kinded};
use base::model::InvalidId;

/// Why a chat was not answered.
#[derive(Debug, thiserror::Error)]
pub enum ChatFailure {
    /// A member of the request cannot be used.
    #[error("`{param}` {message}")]
    Invalid {
        /// The member.
        param: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// The prompt was not rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// A message's content cannot be used.
    #[error(transparent)]
    Content(#[from] ContentError),
    /// The model did not answer.
    #[error(transparent)]
    Llm(#[from] LlmError),
}

impl ChatFailure {
    pub(super) fn invalid(param: &'static str, message: impl Into<String>) -> ChatFailure {
        ChatFailure::Invalid { param, message: message.into() }
    }
}

impl From<InvalidId> for ChatFailure {
    fn from(error: InvalidId) -> ChatFailure {
        ChatFailure::Render(error.into())
    }
}

impl Kinded for ChatFailure {
    fn kind(&self) -> Kind {
        match self {
            ChatFailure::Invalid { .. } => Kind::InvalidInput,
            ChatFailure::Render(failure) => failure.kind(),
            ChatFailure::Content(error) => error.kind(),
            ChatFailure::Llm(error) => error.kind(),
        }
    }
}
