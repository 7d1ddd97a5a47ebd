//! Why a call of a tool failed.

use base::error::{Kind, Kinded};
use base::outbound::{self, Secrets};

/// Why a call of a tool failed; the messages name neither arguments nor secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's `parameters`.
    #[error("the arguments do not fit: {message}")]
    Arguments {
        /// Everything that is wrong with them.
        message: String,
    },
    /// Whether the arguments fit the tool's `parameters` takes too long to tell.
    #[error("the arguments cannot be checked: {message}")]
    Effort {
        /// How long it may take, and what to do.
        message: String,
    },
    /// The tool's document or the settings for its module cannot be used.
    #[error("the tool cannot be called: {message}")]
    Unusable {
        /// What is wrong, and what to do.
        message: String,
    },
    /// The address policy forbids the call.
    #[error("the address is not allowed: {message}")]
    Forbidden {
        /// Which address, and which setting would allow it.
        message: String,
    },
    /// No connection, or it broke.
    #[error("the tool cannot be reached: {message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// The call took too long.
    #[error("the tool did not answer within {milliseconds} ms")]
    Timeout {
        /// The time that it had.
        milliseconds: u128,
    },
    /// The tool itself says that the call failed.
    #[error("the tool failed with {status}: {message}")]
    Failed {
        /// The status in the words of its protocol: `404 Not Found`, `INVALID_ARGUMENT`, `isError`.
        status: String,
        /// The beginning of what the tool says about it.
        message: String,
    },
    /// The answer is too long, cannot be read, or does not fit the tool's `returns`.
    #[error("the tool's answer cannot be used: {message}")]
    Answer {
        /// What is wrong with it.
        message: String,
    },
}

impl ToolError {
    /// The error without secrets, and with at most 1 KiB of the tool's own words.
    pub(super) fn told(self, secrets: &Secrets) -> ToolError {
        let told = |message: String| outbound::told(message, secrets);
        match self {
            ToolError::Failed { status, message } => ToolError::Failed { status, message: told(message) },
            ToolError::Answer { message } => ToolError::Answer { message: told(message) },
            ToolError::Unreachable { message } => ToolError::Unreachable { message: told(message) },
            error => error,
        }
    }

    /// The error as a log may show it: without the tool's own words, which may repeat what it was sent.
    pub fn for_log(&self) -> String {
        match self {
            ToolError::Failed { status, .. } => format!("the tool failed with {status}"),
            error => error.to_string(),
        }
    }
}

impl Kinded for ToolError {
    fn kind(&self) -> Kind {
        match self {
            ToolError::Arguments { .. } | ToolError::Effort { .. } => Kind::InvalidInput,
            ToolError::Timeout { .. } => Kind::Timeout,
            _ => Kind::Upstream,
        }
    }
}
