//! The errors of sessions.

use super::{SessionKind, SessionState};
use crate::store::StoreError;
use base::error::{Kind, Kinded};

/// The error of an operation on a session; it has not changed.
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// There is no session with this id, or its time to live is over.
    #[error("there is no session `{id}`; it may have expired: start another one")]
    NotFound {
        /// The id that was asked for.
        id: String,
    },
    /// The state of the session does not allow this.
    #[error("this is not possible in the state `{state}`: {}", state.expects())]
    OutOfTurn {
        /// The state.
        state: SessionState,
    },
    /// Sessions of this kind do not take this.
    #[error("this is a session of {}", kind.takes())]
    OtherKind {
        /// The kind of the session.
        kind: SessionKind,
    },
    /// The error of the store.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for SessionError {
    fn from(error: StoreError) -> SessionError {
        match error {
            // Somebody else has changed it meanwhile.
            StoreError::PreconditionFailed { .. } => {
                SessionError::OutOfTurn { state: SessionState::Thinking }
            }
            error => SessionError::Store(error),
        }
    }
}

impl Kinded for SessionError {
    fn kind(&self) -> Kind {
        match self {
            SessionError::NotFound { .. } => Kind::NotFound,
            SessionError::OtherKind { .. } => Kind::InvalidInput,
            SessionError::OutOfTurn { .. } => Kind::Conflict,
            SessionError::Store(error) => error.kind(),
        }
    }
}
