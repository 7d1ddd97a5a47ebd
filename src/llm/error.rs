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
    /// No route leads to this model.
    #[error(
        "there is no model `{model}`; GET /v1/models lists those that exist, and llm.base_url is where others are sent"
    )]
    ModelNotFound {
        /// The beginning of its name.
        model: String,
    },
    /// The model gives no embeddings.
    #[error("the model `{model}` gives no embeddings")]
    NoEmbeddings {
        /// The model that was asked for.
        model: String,
    },
    /// A member of the request cannot be used.
    #[error("`{param}` {message}")]
    Invalid {
        /// The member.
        param: &'static str,
        /// What is wrong with it, as the rest of a sentence.
        message: String,
    },
    /// The model does not have the strategy that the request insists on.
    #[error(
        "the model `{model}` does not have the strategy `{strategy}`, by its capabilities in the settings; it has {}",
        supported.join(", ")
    )]
    StrategyNotSupported {
        /// The model that was asked for.
        model: String,
        /// The strategy.
        strategy: &'static str,
        /// Those that it has, or may have.
        supported: Vec<&'static str>,
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
    /// The upstream refused the request; its error is for the client.
    #[error("the upstream refused the request with {status}")]
    Refused {
        /// The HTTP status, 400 to 499.
        status: u16,
        /// The error in the format of our clients, without secrets.
        body: Bytes,
    },
    /// The system's part of TLS cannot be set up.
    #[error("no HTTP client can be set up: {message}")]
    NoClient {
        /// What the library says.
        message: String,
    },
    /// No upstream gave an answer.
    #[error("the model `{model}` gave no answer (attempts: {attempts}): {cause}")]
    Unavailable {
        /// The model that was asked for.
        model: String,
        /// How many requests were sent, to all upstreams together.
        attempts: usize,
        /// The error of the last one.
        cause: UpstreamError,
        /// When the upstream would like to be asked again, as it said last.
        retry_after: Option<Duration>,
    },
    /// A stream broke off after it had begun.
    #[error("the model's answer broke off: {0}")]
    Interrupted(UpstreamError),
}

/// Why one request to an upstream gave no answer, or only a part of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// The connection could not be opened, or broke.
    #[error("the upstream cannot be reached: {message}")]
    Unreachable {
        /// What the HTTP client says, without the address.
        message: String,
    },
    /// It did not answer in time, or paused for too long.
    #[error("the upstream was silent for too long ({milliseconds} ms)")]
    Timeout {
        /// The time that it had.
        milliseconds: u128,
    },
    /// A stream went on for too long.
    #[error("the stream did not end within {milliseconds} ms (llm.stream_timeout_ms)")]
    Endless {
        /// The time that it had.
        milliseconds: u128,
    },
    /// It answered with the status of an error.
    #[error("the upstream answered {status}{}{message}", if message.is_empty() { "" } else { ": " })]
    Status {
        /// The HTTP status.
        status: u16,
        /// The beginning of its message, without secrets; empty if it said nothing.
        message: String,
    },
    /// It answered with an error in spite of a good status.
    #[error("the upstream reports an error: {message}")]
    Reported {
        /// The beginning of its message, without secrets.
        message: String,
    },
    /// What came is no answer.
    #[error("the upstream's answer cannot be used: {message}")]
    Unusable {
        /// What is wrong with it, in our words.
        message: String,
    },
    /// The server that gives the upstream's tokens gave none.
    #[error("there is no access token (oauth_url, api_key, scope): {cause}")]
    NoToken {
        /// What that server did.
        cause: Box<UpstreamError>,
        /// When it would like to be asked again.
        after: Option<Duration>,
    },
}

impl UpstreamError {
    /// No token, because of this.
    pub(super) fn no_token(cause: UpstreamError) -> UpstreamError {
        UpstreamError::NoToken { cause: Box::new(cause), after: None }
    }

    /// A timeout after this time.
    pub(super) fn timeout(limit: Duration) -> UpstreamError {
        UpstreamError::Timeout { milliseconds: limit.as_millis() }
    }

    /// A stream that did not end in this time.
    pub(super) fn endless(limit: Duration) -> UpstreamError {
        UpstreamError::Endless { milliseconds: limit.as_millis() }
    }

    /// An answer that is none. The message is logged, and quotes nothing.
    pub(super) fn unusable(message: impl Into<String>) -> UpstreamError {
        UpstreamError::Unusable { message: message.into() }
    }

    /// The error of an answer that is none, with the type that it declared.
    pub(super) fn with_type(self, content_type: &str) -> UpstreamError {
        match self {
            UpstreamError::Unusable { message } => {
                UpstreamError::unusable(format!("{message} (content-type: {content_type})"))
            }
            error => error,
        }
    }

    /// The HTTP status, where it was that of an error.
    pub fn status(&self) -> Option<u16> {
        match self {
            UpstreamError::Status { status, .. } => Some(*status),
            UpstreamError::NoToken { cause, .. } => cause.status(),
            _ => None,
        }
    }

    /// Whether the upstream has refused the request because too many came (RFC 6585, section 4).
    pub fn is_rate_limit(&self) -> bool {
        self.status() == Some(429)
    }

    /// The error as a log may show it: without the upstream's own words, which may repeat what it was sent.
    pub fn for_log(&self) -> String {
        match self {
            UpstreamError::Status { status, .. } => format!("the upstream answered {status}"),
            UpstreamError::Reported { .. } => "the upstream reports an error".to_owned(),
            UpstreamError::NoToken { cause, .. } => format!("there is no access token: {}", cause.for_log()),
            error => error.to_string(),
        }
    }
}

/// How much an error repeats of the name of a model that does not exist, in bytes.
const NAME_BYTES: usize = 200;

impl LlmError {
    /// No route leads to `model`.
    pub fn model_not_found(model: &str) -> LlmError {
        let beginning = model.get(..model.floor_char_boundary(NAME_BYTES)).unwrap_or_default();
        LlmError::ModelNotFound { model: beginning.to_owned() }
    }

    /// The status and the reason of an upstream that refuses the request.
    pub fn refusal(&self) -> Option<(u16, String)> {
        let LlmError::Refused { status, body } = self else { return None };
        let body: serde_json::Value = serde_json::from_slice(body).unwrap_or_default();
        let reason = body.pointer("/error/message").and_then(serde_json::Value::as_str);
        Some((*status, reason.unwrap_or("it gave no reason").to_owned()))
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
            LlmError::NoModel { .. }
            | LlmError::Invalid { .. }
            | LlmError::StrategyNotSupported { .. }
            | LlmError::Refused { .. } => Kind::InvalidInput,
            LlmError::ModelNotFound { .. } | LlmError::NoEmbeddings { .. } => Kind::NotFound,
            LlmError::Overloaded { .. } => Kind::Overloaded,
            LlmError::Unavailable { cause, .. } if cause.is_rate_limit() => Kind::Overloaded,
            LlmError::OutOfMemory(error) => error.kind(),
            LlmError::NoClient { .. } | LlmError::Unavailable { .. } | LlmError::Interrupted(_) => {
                Kind::Upstream
            }
        }
    }
}
