//! `[llm]`: the models that answer, where they are, and what only this service may know about them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::{Secret, Secrets};

/// `[llm]`
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Llm {
    /// The base URL of the default upstream, such as `https://api.openai.com/v1`. Without one, `echo` is the default model.
    pub base_url: Option<String>,
    /// The key that the default upstream is given.
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Headers of every request to the default upstream.
    pub headers: Secrets,
    /// The model of requests that name none.
    pub default_model: Option<String>,
    /// The model of requests for embeddings that name none.
    pub default_embedding_model: Option<String>,
    /// Sampling parameters that neither the request nor the prompt gives.
    pub params: Map<String, Json>,
    /// The time limit for an answer, its body included, and for the first byte of a stream, in milliseconds.
    pub timeout_ms: u64,
    /// The longest pause between two pieces of a stream, in milliseconds.
    pub chunk_timeout_ms: u64,
    /// The time limit for a whole stream, in milliseconds. The longest answers of today's models
    /// (some 100,000 tokens) take less than half an hour.
    pub stream_timeout_ms: u64,
    /// How long a stream may be idle before the client is sent a comment, in milliseconds.
    pub keep_alive_ms: u64,
    /// The longest answer, and the longest event of a stream, in bytes.
    pub answer_bytes: usize,
    /// The upstream calls that may be under way at once.
    pub parallel: usize,
    /// What happens to an upstream call when its client leaves.
    pub on_disconnect: OnDisconnect,
    /// The proxy on the way to upstreams on other machines, such as `http://proxy.test:3128`.
    pub proxy: Option<Secret>,
    /// Whether prompts and answers may be logged, at the level `debug`.
    pub log_content: bool,
    /// `[[llm.models]]`: models with an upstream, a time limit or fallbacks of their own.
    pub models: Vec<Model>,
}

impl Default for Llm {
    fn default() -> Llm {
        Llm {
            base_url: None,
            api_key: None,
            api_key_env: None,
            headers: Secrets::default(),
            default_model: None,
            default_embedding_model: None,
            params: Map::new(),
            timeout_ms: 30_000,
            chunk_timeout_ms: 30_000,
            stream_timeout_ms: 1_800_000,
            keep_alive_ms: 10_000,
            answer_bytes: 32 << 20,
            parallel: 2_048,
            on_disconnect: OnDisconnect::Cancel,
            proxy: None,
            log_content: false,
            models: Vec::new(),
        }
    }
}

/// What happens to an upstream call when its client leaves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnDisconnect {
    /// The call is cancelled.
    #[default]
    Cancel,
    /// The call is read to its end.
    Drain,
}

/// `[[llm.models]]`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Model {
    /// The name by which requests ask for it; with a `*` at its end, all names that begin so.
    pub name: String,
    /// What the upstream calls it; the name that was asked for, if this is not set.
    pub upstream_model: Option<String>,
    /// The upstream's base URL; that of `[llm]`, if this is not set.
    pub base_url: Option<String>,
    /// The key that the upstream is given; that of `[llm]` goes to its own `base_url` only.
    pub api_key: Option<Secret>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// Headers of every request to the upstream.
    pub headers: Secrets,
    /// The time limit for one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Models that are asked when this one does not answer, in turn.
    pub fallback: Vec<String>,
    /// What the model can do.
    pub capabilities: Capabilities,
}

/// What a model can do; not set where that is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// `response_format` with a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// `response_format` of any JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_object: Option<bool>,
}
