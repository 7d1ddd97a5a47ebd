//! `[llm]`: the models that answer, where they are, and what only this service may know about them.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::section::section;
use super::{Secret, Secrets};

section! {
    /// `[llm]`
    pub struct Llm in "llm" {
        /// What the default upstream speaks.
        protocol: Protocol = Protocol::OpenAi;
        /// The base URL of the default upstream, such as `https://api.openai.com/v1`. Without one, GigaChat has its own, and else `echo`
        /// is the default model.
        base_url: Option<String> = None;
        /// The key that the default upstream is given; GigaChat's authorization key.
        api_key: Option<Secret> = None;
        /// The variable of the environment that holds it.
        api_key_env: Option<String> = None;
        /// Headers of every request to the default upstream.
        headers: Secrets = Secrets::default();
        /// Whether the default upstream has the Responses API (`POST /v1/responses`); where nothing is said, it is asked once.
        responses: Option<bool> = None;
        /// For whom GigaChat gives tokens; `GIGACHAT_API_PERS` if nothing is said.
        scope: Option<String> = None;
        /// Where GigaChat's tokens are given; its own address if nothing is said.
        oauth_url: Option<String> = None;
        /// A file in PEM with certificate authorities that are trusted for the default upstream, beside those of the system.
        ca_file: Option<PathBuf> = None;
        /// The model of requests that name none.
        default_model: Option<String> = None;
        /// The model of requests for embeddings that name none.
        default_embedding_model: Option<String> = None;
        /// Sampling parameters that neither the request nor the prompt gives.
        params: Map<String, Json> = Map::new();
        /// The time for an answer, its body included, and for the first byte of a stream, in milliseconds.
        timeout_ms: u64 = 30_000, at_least 1;
        /// The longest silence inside a stream, in milliseconds.
        chunk_timeout_ms: u64 = 30_000, at_least 1;
        /// The time for a whole stream, however much of it still comes, in milliseconds. The longest answers of today's models
        /// (some 100,000 tokens) take less than half an hour.
        stream_timeout_ms: u64 = 1_800_000, at_least 1;
        /// How long a stream may be quiet until the client is sent a comment, in milliseconds.
        keep_alive_ms: u64 = 10_000, at_least 1;
        /// The longest answer, and the longest event of a stream, in bytes.
        answer_bytes: usize = 32 << 20, at_least 1;
        /// The upstream calls that may be under way at once.
        parallel: usize = 2_048, at_least 1;
        /// How much is kept of the items of answers of `/v1/responses`, in memory, for requests that refer to them, in
        /// bytes; 0 keeps nothing.
        kept_bytes: usize = 16 << 20;
        /// What a client that leaves means for its upstream call.
        on_disconnect: OnDisconnect = OnDisconnect::Cancel;
        /// The proxy on the way to upstreams on other machines, such as `http://proxy.test:3128`.
        proxy: Option<Secret> = None;
        /// Whether prompts and answers may be logged, at the level `debug`.
        log_content: bool = false;
        /// `[[llm.models]]`: models with an upstream, a time or fallbacks of their own.
        models: Vec<Model> = Vec::new();
    }
}

/// What an upstream speaks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", try_from = "String")]
pub enum Protocol {
    /// OpenAI's API, as many servers offer it.
    #[default]
    OpenAi,
    /// GigaChat's.
    GigaChat,
}

impl TryFrom<String> for Protocol {
    type Error = String;

    fn try_from(name: String) -> Result<Protocol, String> {
        match name.as_str() {
            "openai" => Ok(Protocol::OpenAi),
            "gigachat" => Ok(Protocol::GigaChat),
            _ => Err(format!("there is no protocol {name:?}; there are \"openai\" and \"gigachat\"")),
        }
    }
}

/// What a client that leaves means for its upstream call.
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
    /// What the upstream calls it; the same name if nothing is said.
    pub upstream_model: Option<String>,
    /// What the upstream speaks: OpenAI's API where there is a `base_url` of its own, and else what `[llm]` says. One that differs from that
    /// of `[llm]` makes another upstream, as another `base_url` does.
    pub protocol: Option<Protocol>,
    /// The upstream's base URL; that of `[llm]` if nothing is said. With one of its own it gets nothing of `[llm]`, not even the protocol.
    pub base_url: Option<String>,
    /// The key that the upstream is given; that of `[llm]` goes to its own `base_url` only.
    pub api_key: Option<Secret>,
    /// The variable of the environment that holds it.
    pub api_key_env: Option<String>,
    /// Headers of every request to the upstream.
    pub headers: Secrets,
    /// Whether the upstream has the Responses API.
    pub responses: Option<bool>,
    /// For whom GigaChat gives tokens.
    pub scope: Option<String>,
    /// Where GigaChat's tokens are given; with another place than that of `[llm]`, the key of `[llm]` is not used.
    pub oauth_url: Option<String>,
    /// A file in PEM with certificate authorities that are trusted for the upstream, beside those of the system.
    pub ca_file: Option<PathBuf>,
    /// The time for one attempt, in milliseconds.
    pub timeout_ms: Option<u64>,
    /// Models that are asked when this one does not answer, in turn.
    pub fallback: Vec<String>,
    /// What the model can do.
    pub capabilities: Capabilities,
}

/// What a model can do, as far as it is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Capabilities {
    /// `response_format` with a JSON Schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<bool>,
    /// Calls of functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// `response_format` of any JSON object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json_object: Option<bool>,
    /// `functions` in the place of `tools`: the form of OpenAI's API before there were tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<bool>,
}

impl Llm {
    /// The settings that belong to a protocol which their upstream does not speak, each with its place.
    pub(super) fn foreign(&self) -> Vec<String> {
        let default = foreign("llm", self.protocol, [&self.scope, &self.oauth_url]);
        let models = self.models.iter().flat_map(|model| {
            let of_default = if model.base_url.is_none() { self.protocol } else { Protocol::OpenAi };
            let place = format!("llm.models, name = {:?}", model.name);
            let protocol = model.protocol.unwrap_or(of_default);
            let has_old_form = protocol == Protocol::GigaChat && model.capabilities.functions == Some(true);
            let old_form = has_old_form.then(|| {
                format!("`{place}` has `capabilities.functions`, which is for `protocol = \"openai\"` only: for GigaChat `tools` are translated")
            });
            foreign(&place, protocol, [&model.scope, &model.oauth_url]).into_iter().chain(old_form)
        });
        default.into_iter().chain(models).collect()
    }
}

fn foreign(place: &str, protocol: Protocol, [scope, oauth_url]: [&Option<String>; 2]) -> Vec<String> {
    let given = [("scope", scope), ("oauth_url", oauth_url)].into_iter().filter(|(_, value)| value.is_some());
    let foreign = given.filter(|_| protocol != Protocol::GigaChat);
    let told = |(name, _)| format!("`{place}` has `{name}`, which is for `protocol = \"gigachat\"` only");
    foreign.map(told).collect()
}
