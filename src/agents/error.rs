//! The errors of agents.

use crate::catalog::{NoDocumentError, NotLoadedError};
use crate::sessions::SessionError;
use base::error::{Kind, Kinded};
use base::model::{Id, ProblemDetail};

/// The error of starting a session, or of a message.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// There is no agent with this id.
    #[error(transparent)]
    NotFound(#[from] NoDocumentError),
    /// The agent, its tools, its prompts or its settings have faults.
    #[error("the agent `{id}` is unavailable: {}", problems.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("; "))]
    Unavailable {
        /// Its id.
        id: Id,
        /// Everything that is wrong.
        problems: Vec<ProblemDetail>,
    },
    /// The session is too large to be kept.
    #[error(
        "what the session keeps is longer than {limit} bytes; it stays as it was after its last step: start another one"
    )]
    TooLarge {
        /// The longest that it may be, in bytes.
        limit: usize,
    },
    /// The store was not read yet.
    #[error(transparent)]
    NotLoaded(#[from] NotLoadedError),
    /// The error of the session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl AgentError {
    /// Whether a client has ended the session, or it does not wait for this.
    pub fn is_out_of_turn(&self) -> bool {
        matches!(self, AgentError::Session(SessionError::OutOfTurn { .. }))
    }
}

impl Kinded for AgentError {
    fn kind(&self) -> Kind {
        match self {
            AgentError::NotFound(error) => error.kind(),
            AgentError::Unavailable { .. } => Kind::FailedDependency,
            AgentError::TooLarge { .. } => Kind::TooLarge,
            AgentError::NotLoaded(error) => error.kind(),
            AgentError::Session(error) => error.kind(),
        }
    }
}
