//! The protocols that upstreams speak, behind one closed enum.
//!
//! Requests come in, and answers leave, in the format of our clients ([`super::client_format`]), which is OpenAI's. A
//! protocol translates: requests into the upstream's format, and its answers, events, errors and lists of models back.
//! Nothing outside of this folder knows how an upstream writes them.
//!
//! - [`Protocol`]: everything that is done at once; [`StreamTranslator`]: the events of a stream; [`Wanted`]: what of a request an answer
//!   depends on
//! - `openai`: OpenAI's API, where answers and events pass through byte by byte
//! - `gigachat`: GigaChat's, where all of them are translated; [`TokenSource`]: its tokens
//!
//! To add another protocol:
//!
//! 1. a folder beside `openai`, with the functions that [`Protocol`] and [`StreamTranslator`] call;
//! 2. here, a variant of both enums, and an arm in each of their methods (the compiler lists them);
//! 3. in `settings/llm.rs`, a value of the setting `protocol`, which `app` translates into [`super::UpstreamOptions::protocol`].
//!
//! A service that a protocol does not have ([`Protocol::offers`]) is asked for as a chat, or not at all.

mod gigachat;
mod openai;
mod wanted;

pub use gigachat::{RequestKey, Token, TokenRequest, TokenSource};
pub use openai::named_calls;
pub use wanted::Wanted;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use http::header::InvalidHeaderValue;
use reqwest::Url;

use super::capabilities::Capabilities;
use super::completion::Completion;
use super::error::{LlmError, UpstreamError};
use base::outbound::Secrets;
use template::value::RawObject;

/// How an upstream is talked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Protocol {
    /// OpenAI's API, chat completions and embeddings, as many servers offer it.
    #[default]
    OpenAi,
    /// GigaChat's API, version 1: chats and embeddings.
    GigaChat,
}

/// A service of an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Chat completions.
    Chat,
    /// Responses (OpenAI's Responses API).
    Responses,
    /// Text completions (OpenAI's older completions API).
    Completions,
    /// Embeddings.
    Embeddings,
}

/// Where an upstream offers its services.
#[derive(Debug)]
pub struct Endpoints {
    /// Takes chats (POST).
    pub chat: Url,
    /// Takes requests for responses (POST).
    pub responses: Url,
    /// Takes texts to complete (POST).
    pub completions: Url,
    /// Takes texts to embed (POST).
    pub embeddings: Url,
    /// Lists the models (GET).
    pub models: Url,
}

/// What an upstream says in the body of an answer whose status is an error.
#[derive(Debug)]
pub struct ErrorBody {
    /// The beginning of its message, without secrets; empty if it says nothing.
    pub message: String,
    /// The parameter of the request that it names.
    pub param: Option<String>,
    /// The error in the format of our clients, without secrets.
    pub for_client: Bytes,
}

/// What the client gets of some events of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// These bytes, maybe none; the stream goes on.
    More(Bytes),
    /// These bytes; the answer is complete.
    Last(Bytes),
    /// These bytes, in which the upstream reports an error; the stream has ended.
    Error(Bytes),
}

impl Protocol {
    /// The base URL where the settings name none; `None` if they have to.
    pub fn usual_base_url(self) -> Option<&'static str> {
        match self {
            Protocol::OpenAi => None,
            Protocol::GigaChat => Some(gigachat::BASE_URL),
        }
    }

    /// Where tokens are given where the settings do not say it; `None` if there are none.
    pub fn usual_oauth_url(self) -> Option<&'static str> {
        match self {
            Protocol::OpenAi => None,
            Protocol::GigaChat => Some(gigachat::OAUTH_URL),
        }
    }

    /// Whether an upstream may have a service at all.
    pub fn offers(self, service: Service) -> bool {
        match (self, service) {
            (Protocol::OpenAi, _) | (Protocol::GigaChat, Service::Chat | Service::Embeddings) => true,
            (Protocol::GigaChat, Service::Responses | Service::Completions) => false,
        }
    }

    /// What its models can do, where the settings do not say it.
    pub fn capabilities(self, declared: Capabilities) -> Capabilities {
        match self {
            Protocol::OpenAi => declared,
            Protocol::GigaChat => gigachat::capabilities(declared),
        }
    }

    /// Whether a model can be made to call any one of several functions (`tool_choice: "required"`).
    pub fn may_require_any(self) -> bool {
        match self {
            Protocol::OpenAi => true,
            Protocol::GigaChat => false,
        }
    }

    /// Whether a request may become much longer when it is written in this protocol.
    pub fn may_lengthen(self) -> bool {
        match self {
            Protocol::OpenAi => false,
            // References in schemas are written out.
            Protocol::GigaChat => true,
        }
    }

    /// The endpoints below a base URL, whose query they keep.
    pub fn endpoints(self, base: &Url) -> Endpoints {
        match self {
            Protocol::OpenAi | Protocol::GigaChat => openai::endpoints(base),
        }
    }

    /// The headers of every request that the protocol demands, `api_key` among them, unless it is for a token.
    ///
    /// # Errors
    /// When the key cannot be sent in a header.
    pub fn headers(self, api_key: Option<&str>) -> Result<HeaderMap, InvalidHeaderValue> {
        match self {
            Protocol::OpenAi => openai::headers(api_key),
            Protocol::GigaChat => Ok(HeaderMap::new()),
        }
    }

    /// The body of a request: `payload`, which is in the format of our clients, for the model that the upstream calls
    /// `model`.
    ///
    /// # Errors
    /// [`LlmError::Invalid`] when the payload cannot be written in this protocol.
    pub fn request(self, service: Service, payload: &RawObject, model: &str) -> Result<Bytes, LlmError> {
        match (self, service) {
            (Protocol::OpenAi, _) => openai::request(payload, model),
            (Protocol::GigaChat, Service::Embeddings) => gigachat::embed(payload, model),
            // Nothing else is asked for that it does not offer.
            (Protocol::GigaChat, _) => gigachat::chat(payload, model),
        }
    }

    /// The upstream's whole answer in the format that this service has for our clients.
    ///
    /// # Errors
    /// [`UpstreamError::Unusable`] when it is no answer.
    pub fn answer(self, service: Service, body: Bytes, wanted: Wanted) -> Result<Bytes, UpstreamError> {
        match (self, service) {
            (Protocol::OpenAi, Service::Chat | Service::Completions | Service::Embeddings) => {
                openai::answer(body)
            }
            (Protocol::OpenAi, Service::Responses) => openai::response(body),
            (Protocol::GigaChat, Service::Embeddings) => gigachat::vectors(&body, wanted.base64),
            (Protocol::GigaChat, _) => gigachat::answer(&body, wanted.form),
        }
    }

    /// An answer to a chat that has to be read, in the format of our clients: one with a choice.
    ///
    /// # Errors
    /// As of [`Protocol::completion`].
    pub fn chat(self, body: Bytes, secrets: &Secrets) -> Result<Bytes, UpstreamError> {
        match self {
            Protocol::OpenAi | Protocol::GigaChat => openai::with_choice(body, secrets),
        }
    }

    /// The upstream's whole answer to a chat, read, and its bytes in the format of our clients.
    ///
    /// # Errors
    /// [`UpstreamError::Unusable`] when it is no answer, [`UpstreamError::Reported`] when it is an error in spite of its
    /// status; `secrets` in its message are redacted.
    pub fn completion(
        self,
        body: Bytes,
        wanted: Wanted,
        secrets: &Secrets,
    ) -> Result<(Completion, Bytes), UpstreamError> {
        let body = match self {
            Protocol::OpenAi => body,
            Protocol::GigaChat => gigachat::answer(&body, wanted.form)?,
        };
        Ok((openai::completion(&body, secrets)?, body))
    }

    /// A translator for one stream of chunks of a chat completion, or a text completion. The client gets a usage only with `include_usage`, and
    /// errors with `secrets` redacted.
    pub fn stream(self, include_usage: bool, wanted: Wanted, secrets: Arc<Secrets>) -> StreamTranslator {
        match self {
            Protocol::OpenAi => StreamTranslator::OpenAi(openai::EventFilter::new(include_usage, secrets)),
            Protocol::GigaChat => {
                StreamTranslator::GigaChat(gigachat::Chunks::new(include_usage, wanted.form, secrets))
            }
        }
    }

    /// A translator for one stream of events of a response.
    pub fn response_stream(self, secrets: Arc<Secrets>) -> StreamTranslator {
        match self {
            // GigaChat has no responses, and is not asked for them.
            Protocol::OpenAi | Protocol::GigaChat => {
                StreamTranslator::OpenAiResponse(openai::ResponseEvents::new(secrets))
            }
        }
    }

    /// Reads the body of an answer whose status is an error; `secrets` in it are redacted.
    pub fn error(self, body: &[u8], secrets: &Secrets) -> ErrorBody {
        match self {
            Protocol::OpenAi | Protocol::GigaChat => openai::error(body, secrets),
        }
    }

    /// The entries of a list of models, in the format of our clients; the others are left out.
    ///
    /// # Errors
    /// [`UpstreamError::Unusable`] when it is no list.
    pub fn models(self, body: &[u8]) -> Result<Vec<RawObject>, UpstreamError> {
        match self {
            Protocol::OpenAi => openai::models(body),
            Protocol::GigaChat => gigachat::models(body),
        }
    }

    /// Whether requests bear a token, for which the key is exchanged.
    pub fn has_tokens(self) -> bool {
        match self {
            Protocol::OpenAi => false,
            Protocol::GigaChat => true,
        }
    }

    /// Where an upstream gets the tokens that its requests have to bear; `None` if they bear none. `url` and `scope` have usual values.
    ///
    /// # Errors
    /// Everything that is wrong with them, a message for each thing.
    pub fn token_request(
        self,
        url: Option<&str>,
        key: Option<&str>,
        scope: Option<&str>,
    ) -> Result<Option<TokenRequest>, Vec<String>> {
        match self {
            Protocol::OpenAi => Ok(None),
            Protocol::GigaChat => {
                let url = url.unwrap_or(gigachat::OAUTH_URL);
                TokenRequest::new(url, key, scope.unwrap_or(gigachat::SCOPE)).map(Some)
            }
        }
    }
}

/// Turns the events of one upstream's stream into those that the client gets.
#[derive(Debug)]
pub enum StreamTranslator {
    /// Of [`Protocol::OpenAi`].
    OpenAi(openai::EventFilter),
    /// Of [`Protocol::OpenAi`], for a response.
    OpenAiResponse(openai::ResponseEvents),
    /// Of [`Protocol::GigaChat`].
    GigaChat(gigachat::Chunks),
}

impl StreamTranslator {
    /// Translates complete events, back to back.
    pub fn translate(&mut self, events: Bytes) -> Output {
        match self {
            StreamTranslator::OpenAi(filter) => filter.translate(events),
            StreamTranslator::OpenAiResponse(filter) => filter.translate(events),
            StreamTranslator::GigaChat(chunks) => chunks.translate(&events),
        }
    }

    /// What the client gets when the upstream has closed the stream in order; `rest` is what came after the last complete
    /// event.
    ///
    /// # Errors
    /// [`UpstreamError::Unusable`] when the answer was not complete.
    pub fn end(&mut self, rest: &[u8]) -> Result<Output, UpstreamError> {
        match self {
            StreamTranslator::OpenAi(filter) => filter.end(rest),
            StreamTranslator::OpenAiResponse(filter) => filter.end(rest),
            StreamTranslator::GigaChat(chunks) => chunks.end(rest),
        }
    }
}
