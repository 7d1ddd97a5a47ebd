//! The error of a tool call, with its [`Kind`].
//!
//! Servers may repeat what they were sent, so the secrets of the settings are redacted from every quotation of their error
//! texts; a log does not quote them at all.

use base::error::{Kind, Kinded};
use base::outbound::{self, Secrets};

/// The error of a tool call; its messages contain neither arguments nor secrets.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's `parameters`.
    #[error("the arguments do not fit: {message}")]
    Arguments {
        /// All violations.
        message: String,
    },
    /// Checking the arguments against the tool's `parameters` would take too long.
    #[error("the arguments cannot be checked: {message}")]
    Effort {
        /// What the limit is, and what to do.
        message: String,
    },
    /// The tool's document, or the settings of its module, are not usable.
    #[error("the tool cannot be called: {message}")]
    Unusable {
        /// What is wrong, and what to do.
        message: String,
    },
    /// The address policy ([`Gate`](super::Gate)) forbids the call.
    #[error("the address is not allowed: {message}")]
    Forbidden {
        /// Which address, and which setting would allow it.
        message: String,
    },
    /// The connection could not be made, or it broke.
    #[error("the tool cannot be reached: {message}")]
    Unreachable {
        /// What went wrong.
        message: String,
    },
    /// The call took too long.
    #[error("the tool did not answer within {milliseconds} ms")]
    Timeout {
        /// The time limit of the call.
        milliseconds: u128,
    },
    /// The tool reports an error itself.
    #[error("the tool failed with {status}: {message}")]
    Failed {
        /// The status in the terms of its protocol: `404 Not Found`, `INVALID_ARGUMENT`, `isError`.
        status: String,
        /// The beginning of the tool's own message.
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
    /// The error with secrets redacted, and with at most 1 KiB of the tool's own message.
    pub(super) fn redacted(self, secrets: &Secrets) -> ToolError {
        let redacted = |message: String| outbound::redacted(message, secrets);
        match self {
            ToolError::Failed { status, message } => ToolError::Failed { status, message: redacted(message) },
            ToolError::Answer { message } => ToolError::Answer { message: redacted(message) },
            ToolError::Unreachable { message } => ToolError::Unreachable { message: redacted(message) },
            error => error,
        }
    }

    /// The error as a log may show it: without the tool's own message, which may repeat what was sent.
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
