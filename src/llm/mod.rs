//! Language models behind OpenAI-compatible servers: one question, one answer, or a stream.
//!
//! - [`Llm`]: chat completions, embeddings, the list of models
//! - `routes`: which upstream answers for which model; `upstream`: one of them; `echo`: the model that is built in
//! - `ask`: attempts, pauses and fallbacks; `attempt`: one request, and what its outcome means
//! - `stream`: an answer in pieces; `wire`: what of it a client sees; [`events`]: server-sent events out of split bytes
//! - `listing`: the models that upstreams list; `log`: what the log says of a call

mod ask;
mod attempt;
mod echo;
mod error;
pub mod events;
mod listing;
mod log;
mod routes;
mod stream;
mod upstream;
mod wire;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::future::join_all;
use reqwest::Client;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use error::{Cause, LlmError};
pub use routes::{ECHO, InvalidModels, ModelOptions, PROMPT};
pub use stream::AnswerStream;
pub use upstream::UpstreamOptions;

use crate::outbound::PerRuntime;
use crate::trace::Trace;
use crate::value::RawObject;
use ask::{Found, Question, Service};
use attempt::{Came, broken};
use listing::Listing;
use log::Log;
use routes::{Routes, Target};
use stream::StreamLimits;
use wire::Wire;

/// How models are asked.
#[derive(Clone)]
pub struct Options {
    /// The upstream of all models that `models` does not know.
    pub upstream: Option<UpstreamOptions>,
    /// Models with an upstream, a time or fallbacks of their own.
    pub models: Vec<ModelOptions>,
    /// The model of requests that name none.
    pub default_model: Option<String>,
    /// The model of requests for embeddings that name none.
    pub default_embedding_model: Option<String>,
    /// The time for an answer, and for the first byte of a stream.
    pub timeout: Duration,
    /// The longest silence inside a stream.
    pub chunk_timeout: Duration,
    /// How long a stream may be quiet until the client is sent a comment.
    pub keep_alive: Duration,
    /// The longest answer, and the longest event of a stream.
    pub answer_bytes: usize,
    /// The calls that may be under way at once.
    pub parallel: usize,
    /// Whether a call is read to its end when its client has left.
    pub drain: bool,
    /// Whether payloads and answers may be logged.
    pub log_content: bool,
}

/// For whom a model is asked.
#[derive(Debug, Clone, Default)]
pub struct Caller {
    /// The request.
    pub trace: Trace,
    /// The time that it has, if that is less than usual.
    pub timeout: Option<Duration>,
    /// Whether payload and answer are logged, where the settings allow it.
    pub verbose: bool,
}

/// What a model answered.
#[derive(Debug)]
pub enum Answer {
    /// The upstream's JSON object, byte for byte.
    Whole(Bytes),
    /// Its events.
    Stream(AnswerStream),
}

/// The models.
pub struct Llm {
    options: Options,
    routes: Routes,
    clients: PerRuntime<Client>,
    places: Arc<Semaphore>,
    /// One for each of [`Routes::open`].
    listings: Vec<Listing>,
}

impl Llm {
    /// Models by these options.
    ///
    /// # Errors
    /// [`InvalidModels`].
    pub fn new(options: Options) -> Result<Llm, InvalidModels> {
        let routes = Routes::new(options.upstream.as_ref(), &options.models)?;
        let defaults = [&options.default_model, &options.default_embedding_model];
        let lost = defaults.into_iter().flatten().filter(|model| routes.chain(model).is_empty());
        let lost: Vec<String> = lost.map(|model| format!("llm: there is no model {model:?}")).collect();
        if !lost.is_empty() {
            return Err(InvalidModels(lost));
        }
        let listings = routes.open().iter().map(|_| Listing::default()).collect();
        let places = Arc::new(Semaphore::new(options.parallel.min(Semaphore::MAX_PERMITS)));
        Ok(Llm { options, routes, clients: PerRuntime::default(), places, listings })
    }

    /// The model of requests that name none.
    pub fn default_model(&self) -> Option<&str> {
        let built_in = self.options.upstream.is_none().then_some(ECHO);
        self.options.default_model.as_deref().or(built_in)
    }

    /// Whether there is no upstream at all, so that only the built-in model answers.
    pub fn is_offline(&self) -> bool {
        self.options.upstream.is_none() && self.options.models.is_empty()
    }

    /// Whether calls are read to their end when their clients have left.
    pub fn drains(&self) -> bool {
        self.options.drain
    }

    /// Has a model complete a chat. The payload is that of OpenAI's API, passed on as it is but for `model`; with
    /// `stream: true` the answer is a stream.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn chat_completions(&self, payload: &RawObject, caller: &Caller) -> Result<Answer, LlmError> {
        let log = Log::new(caller, self.options.log_content);
        log.payload(payload);
        let answer = self.chat(payload, caller).await;
        log.outcome(answer.as_ref().map(|answer| match answer {
            Answer::Whole(body) => body.as_ref(),
            Answer::Stream(_) => b"(a stream)",
        }));
        answer
    }

    /// Has a model embed texts; the payload is that of OpenAI's API.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn embeddings(&self, payload: &RawObject, caller: &Caller) -> Result<Bytes, LlmError> {
        let log = Log::new(caller, self.options.log_content);
        log.payload(payload);
        let answer = self.embed(payload, caller).await;
        log.outcome(answer.as_ref().map(Bytes::as_ref));
        answer
    }

    /// The models that can be asked, in the shape of OpenAI's list: those of the settings, the built-in one, and those that
    /// the upstreams list.
    ///
    /// # Errors
    /// [`LlmError::Unavailable`] when no client can be set up.
    pub async fn models(&self) -> Result<Vec<RawObject>, LlmError> {
        let client = self.client()?;
        let open = self.routes.open();
        let lists =
            open.iter().zip(&self.listings).map(|((_, upstream), list)| list.models(&client, upstream));
        let lists = join_all(lists).await;
        let mut known = HashSet::new();
        let mut models = Vec::new();
        for (name, capabilities) in self.routes.named() {
            known.insert(name.to_owned());
            models.extend(described(name, Some(capabilities)));
        }
        if known.insert(ECHO.to_owned()) {
            models.extend(described(ECHO, None));
        }
        for ((prefix, _), list) in open.iter().zip(&lists) {
            for model in list.iter() {
                let id: Option<String> = model.read("id").ok().flatten();
                models.extend(
                    id.filter(|id| id.starts_with(prefix) && known.insert(id.clone())).map(|_| model.clone()),
                );
            }
        }
        Ok(models)
    }

    async fn chat(&self, payload: &RawObject, caller: &Caller) -> Result<Answer, LlmError> {
        let model = model(payload, self.default_model(), "default_model")?;
        let chain = self.chain(&model)?;
        let (stream, usage_asked) = (flag(payload, "stream")?, usage_asked(payload)?);
        let place = self.place()?;
        let question = self.question(Service::Chat, payload, &model, caller);
        let question = Question { stream, ..question };
        let response = match question.ask(&self.client()?, &chain).await? {
            Found::Echo(echo) if stream => {
                return Ok(Answer::Stream(AnswerStream::ready(echo.events(usage_asked))));
            }
            Found::Echo(echo) => return Ok(Answer::Whole(echo.whole())),
            Found::Came(Came::Whole(body)) => return Ok(Answer::Whole(body)),
            Found::Came(Came::Stream(response)) => response,
        };
        let incoming = response.bytes_stream().map(|piece| piece.map_err(|error| broken(&error))).boxed();
        let limits = self.stream_limits(caller);
        let wire = Wire::new(usage_asked);
        Ok(Answer::Stream(AnswerStream::upstream(incoming, wire, limits, question.deadline, place)))
    }

    async fn embed(&self, payload: &RawObject, caller: &Caller) -> Result<Bytes, LlmError> {
        let default = self.options.default_embedding_model.as_deref();
        let model = model(payload, default, "default_embedding_model")?;
        let chain = self.chain(&model)?;
        if payload.get("input").is_none() {
            return Err(LlmError::Invalid {
                param: "input",
                message: "is missing: give the text to embed".into(),
            });
        }
        let _place = self.place()?;
        match self.question(Service::Embeddings, payload, &model, caller).ask(&self.client()?, &chain).await?
        {
            Found::Came(Came::Whole(body)) => Ok(body),
            Found::Came(Came::Stream(_)) | Found::Echo(_) => Err(LlmError::NoEmbeddings { model }),
        }
    }

    fn chain(&self, model: &str) -> Result<Vec<Target>, LlmError> {
        let chain = self.routes.chain(model);
        if chain.is_empty() { Err(LlmError::ModelNotFound { model: model.to_owned() }) } else { Ok(chain) }
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, LlmError> {
        let parallel = self.options.parallel;
        self.places.clone().try_acquire_owned().map_err(|_| LlmError::Overloaded { parallel })
    }

    fn client(&self) -> Result<Client, LlmError> {
        self.clients
            .get_or_make(attempt::client)
            .map_err(|error| LlmError::NoClient { message: error.to_string() })
    }
    fn question<'q>(
        &self,
        service: Service,
        payload: &'q RawObject,
        model: &'q str,
        caller: &'q Caller,
    ) -> Question<'q> {
        let attempt = self.options.timeout;
        let limit = self.routes.timeout(model).map_or(attempt, |own| own.max(attempt));
        let limit = caller.timeout.map_or(limit, |own| own.min(limit));
        Question {
            service,
            payload,
            model,
            stream: false,
            deadline: Instant::now() + limit,
            attempt,
            answer_bytes: self.options.answer_bytes,
            trace: &caller.trace,
        }
    }

    fn stream_limits(&self, caller: &Caller) -> StreamLimits {
        let silence = self.options.chunk_timeout;
        StreamLimits {
            silence: caller.timeout.map_or(silence, |own| own.min(silence)),
            keep_alive: self.options.keep_alive,
            event_bytes: self.options.answer_bytes,
            drain: self.options.drain,
        }
    }
}

/// The model that a payload names, or the default one.
fn model(payload: &RawObject, default: Option<&str>, setting: &'static str) -> Result<String, LlmError> {
    let named = payload.read::<String>("model").map_err(|_| must_be("model", "a text"))?;
    let named = named.filter(|name| !name.is_empty());
    named.or_else(|| default.map(str::to_owned)).ok_or(LlmError::NoModel { setting })
}

fn flag(payload: &RawObject, name: &'static str) -> Result<bool, LlmError> {
    let flag = payload.read(name).map_err(|_| must_be(name, "true or false"))?;
    Ok(flag.unwrap_or(false))
}

/// Whether the client wants the usage at the end of a stream.
fn usage_asked(payload: &RawObject) -> Result<bool, LlmError> {
    #[derive(Deserialize)]
    struct StreamOptions {
        include_usage: Option<bool>,
    }
    let options: Option<StreamOptions> =
        payload.read("stream_options").map_err(|_| must_be("stream_options", "an object"))?;
    Ok(options.and_then(|options| options.include_usage).unwrap_or(false))
}

fn must_be(param: &'static str, what: &str) -> LlmError {
    LlmError::Invalid { param, message: format!("must be {what}") }
}

/// A model of ours in the shape of OpenAI's list.
fn described(name: &str, capabilities: Option<&Json>) -> Option<RawObject> {
    let mut entry = json!({"id": name, "object": "model", "created": 0, "owned_by": env!("CARGO_PKG_NAME")});
    let known = capabilities.filter(|known| known.as_object().is_some_and(|known| !known.is_empty()));
    if let (Some(known), Some(members)) = (known, entry.as_object_mut()) {
        members.insert("capabilities".to_owned(), known.clone());
    }
    serde_json::from_value(entry).ok()
}
