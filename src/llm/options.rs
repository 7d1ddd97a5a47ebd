//! What the settings say about models; `app` translates them.

use std::path::PathBuf;
use std::time::Duration;

use super::capabilities::Capabilities;
use super::protocol::Protocol;
use base::caller::Caller;

/// The settings of [`super::Llm`].
#[derive(Clone)]
pub struct LlmOptions {
    /// The default upstream: that of all models that `models` does not know.
    pub upstream: Option<UpstreamOptions>,
    /// Models with an upstream, a time limit or fallbacks of their own.
    pub models: Vec<ModelOptions>,
    /// The model of chats that name none.
    pub default_model: Option<String>,
    /// The model of requests for embeddings that name none.
    pub default_embedding_model: Option<String>,
    /// The time limit for an answer, and for the first byte of a stream.
    pub timeout: Duration,
    /// The longest pause between two pieces of a stream.
    pub chunk_timeout: Duration,
    /// The time limit for a whole stream.
    pub stream_timeout: Duration,
    /// How long a stream may be idle before the client is sent a comment.
    pub keep_alive: Duration,
    /// The longest answer, and the longest event of a stream, in bytes.
    pub answer_bytes: usize,
    /// How many calls of upstreams may be under way at once.
    pub parallel: usize,
    /// How much is kept of the items of answers, to which requests may refer, in bytes.
    pub kept_bytes: usize,
    /// Whether a call is read to its end after its client has left.
    pub drain: bool,
    /// Whether requests and answers may be logged.
    pub log_content: bool,
    /// The proxy on the way to upstreams on other machines.
    pub proxy: Option<String>,
}

/// An upstream.
#[derive(Clone, Default)]
pub struct UpstreamOptions {
    /// What it speaks.
    pub protocol: Protocol,
    /// Its base URL, `http` or `https`.
    pub base_url: String,
    /// The key that it is sent.
    pub api_key: Option<String>,
    /// More headers of every request to it, by name.
    pub headers: Vec<(String, String)>,
    /// Whether it has the Responses API; `None`: its answers will tell.
    pub responses: Option<bool>,
    /// Where tokens are given, for a protocol that has them; `None`: the usual place.
    pub oauth_url: Option<String>,
    /// For what tokens are given; `None`: the usual scope.
    pub scope: Option<String>,
    /// The file of a certificate authority that is trusted, too, in PEM.
    pub ca_file: Option<PathBuf>,
}

/// A model, or all models whose names begin in the same way.
#[derive(Clone, Default)]
pub struct ModelOptions {
    /// The name by which requests ask for it; with a `*` at its end, all names that begin so.
    pub name: String,
    /// What the upstream calls it; `None` if that is the name that was asked for.
    pub upstream_model: Option<String>,
    /// Its upstream; `None` for the default one.
    pub upstream: Option<UpstreamOptions>,
    /// The time limit for one attempt; `None` for the usual one.
    pub timeout: Option<Duration>,
    /// The names of models that are asked in turn when this one does not answer.
    pub fallback: Vec<String>,
    /// What it can do.
    pub capabilities: Capabilities,
}

/// The limits of a stream.
#[derive(Debug, Clone, Copy)]
pub struct StreamLimits {
    /// The longest pause between two pieces.
    pub chunk_timeout: Duration,
    /// The time limit for the whole stream.
    pub stream_timeout: Duration,
    /// How long it may be idle before the client is sent a comment.
    pub keep_alive: Duration,
    /// The longest event, in bytes.
    pub event_bytes: usize,
    /// Whether the upstream is read to its end after the client has left.
    pub drain: bool,
}

impl StreamLimits {
    /// The limits of a stream for this caller: the time that a client gives for its answer also bounds the pauses.
    pub fn new(options: &LlmOptions, caller: &Caller) -> StreamLimits {
        let limit = options.chunk_timeout;
        StreamLimits {
            chunk_timeout: caller.timeout().map_or(limit, |own| own.min(limit)),
            stream_timeout: options.stream_timeout,
            keep_alive: options.keep_alive,
            event_bytes: options.answer_bytes,
            drain: options.drain,
        }
    }
}
