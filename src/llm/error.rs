//! Why a model did not answer.

use std::time::Duration;

use bytes::Bytes;

use base::error::{Kind, Kinded};
use base::memory::OutOfMemory;

/// Why a model did not answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LlmError {
    /// The request names no model, and there is no default.
    #[error("no model is named: give `model`, or set llm.{setting}")]
    NoModel {
        /// The setting that would be the default.
        setting: &'static str,
    },
    /// Nobody answers for this model.
    #[error(
        "there is no model `{model}`; GET /v1/models lists those that exist, and llm.base_url is where others are sent"
    )]
    ModelNotFound {
        /// Its name.
        model: String,
    },
    /// The model gives no embeddings.
    #[error("the model `{model}` gives no embeddings")]
    NoEmbeddings {
        /// Its name.
        model: String,
    },
    /// The payload cannot be used.
    #[error("`{param}` {message}")]
    Invalid {
        /// The member.
        param: &'static str,
        /// What is wrong with it.
        message: String,
    },
    /// As many calls are under way as may be.
    #[error("{parallel} calls of models are under way (llm.parallel); try again in a moment")]
    Overloaded {
        /// How many may be.
        parallel: usize,
    },
    /// There is no memory left for the answer.
    #[error(transparent)]
    OutOfMemory(#[from] OutOfMemory),
    /// The upstream refused the request; its words are for the caller.
    #[error("the upstream refused the request with {status}")]
    Refused {
        /// The HTTP status, below 500.
        status: u16,
        /// Its answer: an object with the member `error`, in the shape of OpenAI's.
        body: Bytes,
    },
    /// The system's part of TLS cannot be set up.
    #[error("no HTTP client can be set up: {message}")]
    NoClient {
        /// What is wrong.
        message: String,
    },
    /// No upstream gave an answer.
    #[error("the model `{model}` gave no answer (attempts: {attempts}): {cause}")]
    Unavailable {
        /// The model that was asked for.
        model: String,
        /// How many requests were made in all.
        attempts: usize,
        /// Why the last one failed.
        cause: Cause,
        /// When the upstream would like to be asked again.
        retry_after: Option<Duration>,
    },
    /// A stream broke off.
    #[error("the model's answer broke off: {0}")]
    Interrupted(Cause),
}

/// Why one request failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// No connection, or it broke.
    #[error("the upstream cannot be reached: {message}")]
    Unreachable {
        /// What happened.
        message: String,
    },
    /// It took too long.
    #[error("the upstream was silent for too long ({milliseconds} ms)")]
    Timeout {
        /// The time that it had.
        milliseconds: u128,
    },
    /// It came to no end.
    #[error("the stream did not end within {milliseconds} ms (llm.stream_timeout_ms)")]
    Endless {
        /// The time that it had.
        milliseconds: u128,
    },
    /// The upstream says that it failed.
    #[error("the upstream answered {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of what it says about it.
        message: String,
    },
    /// What came is no answer.
    #[error("the upstream's answer cannot be used: {message}")]
    Unusable {
        /// What is wrong with it.
        message: String,
    },
}

impl Cause {
    /// A timeout after this time.
    pub(super) fn timeout(limit: Duration) -> Cause {
        Cause::Timeout { milliseconds: limit.as_millis() }
    }

    /// A stream that did not end in this time.
    pub(super) fn endless(limit: Duration) -> Cause {
        Cause::Endless { milliseconds: limit.as_millis() }
    }

    /// An answer that is none.
    pub(super) fn unusable(message: impl Into<String>) -> Cause {
        Cause::Unusable { message: message.into() }
    }

    /// The HTTP status, where the upstream gave one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Cause::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The cause as a log may show it: without the upstream's own words, which may repeat what it was sent.
    pub fn for_log(&self) -> String {
        match self {
            Cause::Status { status, .. } => format!("the upstream answered {status}"),
            cause => cause.to_string(),
        }
    }
}

/// What is told of a model's name that nobody knows.
const NAME_BYTES: usize = 200;

impl LlmError {
    /// Nobody answers for `model`.
    pub fn model_not_found(model: &str) -> LlmError {
        let told = model.get(..model.floor_char_boundary(NAME_BYTES)).unwrap_or_default();
        LlmError::ModelNotFound { model: told.to_owned() }
    }

    /// The error as a log may show it: without the upstream's own words.
    pub fn for_log(&self) -> String {
        match self {
            LlmError::Unavailable { cause, .. } | LlmError::Interrupted(cause) => cause.for_log(),
            error => error.to_string(),
        }
    }
}

impl Kinded for LlmError {
    fn kind(&self) -> Kind {
        match self {
            LlmError::NoModel { .. } | LlmError::Invalid { .. } | LlmError::Refused { .. } => {
                Kind::InvalidInput
            }
            LlmError::ModelNotFound { .. } | LlmError::NoEmbeddings { .. } => Kind::NotFound,
            LlmError::Overloaded { .. } => Kind::Overloaded,
            LlmError::OutOfMemory(error) => error.kind(),
            LlmError::NoClient { .. } | LlmError::Unavailable { .. } | LlmError::Interrupted(_) => {
                Kind::Upstream
            }
        }
    }
}
