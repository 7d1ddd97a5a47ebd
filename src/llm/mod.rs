//! Language models behind OpenAI-compatible servers: one question, one answer, or a stream.
//!
//! - [`Llm`]: chat completions, embeddings, the list of models
//! - `routes`: which upstream answers for which model; `upstream`: one of them; `echo`: the model that is built in
//! - `ask`: attempts, pauses and fallbacks; `attempt`: one request, and what its outcome means; `refusal`: what an
//!   upstream says about a failure
//! - `payload`: what the service reads of a payload
//! - `stream`: an answer in pieces; `wire`: what of it a client sees; `quiet`: how long nothing comes; `joined`: pieces that
//!   are ready at the same time; [`events`]: server-sent
//!   events out of split bytes
//! - `listing`: the models that upstreams list; `log`: what the log says of a call

mod ask;
mod attempt;
mod echo;
mod error;
pub mod events;
mod joined;
mod listing;
mod log;
mod payload;
mod quiet;
mod refusal;
mod routes;
mod stream;
mod upstream;
mod wire;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use reqwest::Client;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use error::{Cause, LlmError};
pub use routes::{ECHO, InvalidModels, ModelOptions, PROMPT};
pub use stream::AnswerStream;
pub use upstream::UpstreamOptions;

use ask::{Found, Question, Service};
use attempt::{Came, broken};
use base::caller::Caller;
use base::memory::{Buffer, BufferedBytes, Memory};
use base::outbound::PerRuntime;
use echo::Echo;
use listing::Listings;
use log::Log;
use payload::Asked;
use routes::{Routes, Target};
use stream::{Begun, StreamLimits};
use template::value::RawObject;
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
    /// The time for a whole stream.
    pub stream_timeout: Duration,
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
    /// The proxy on the way to upstreams on other machines.
    pub proxy: Option<String>,
}

/// What a model answered.
#[derive(Debug)]
pub enum Answer {
    /// The upstream's JSON object, byte for byte.
    Whole(BufferedBytes),
    /// Its events.
    Stream(AnswerStream),
}

/// The models.
pub struct Llm {
    options: Options,
    routes: Routes,
    clients: PerRuntime<Client>,
    places: Arc<Semaphore>,
    listings: Listings,
    memory: Arc<Memory>,
}

impl Llm {
    /// Models by these options; their answers are part of `memory`.
    ///
    /// # Errors
    /// [`InvalidModels`].
    pub fn new(options: Options, memory: Arc<Memory>) -> Result<Llm, InvalidModels> {
        let routes = Routes::new(options.upstream.as_ref(), &options.models)?;
        let defaults = [&options.default_model, &options.default_embedding_model];
        let named = defaults.into_iter().flatten();
        let lost = named.filter(|model| model.is_empty() || routes.chain(model).is_empty());
        let lost: Vec<String> = lost.map(|model| format!("llm: there is no model {model:?}")).collect();
        if !lost.is_empty() {
            return Err(InvalidModels(lost));
        }
        if let Some(Err(_)) = options.proxy.as_deref().map(attempt::by_proxy) {
            return Err(InvalidModels(vec!["llm.proxy is no address of a proxy".to_owned()]));
        }
        let listings = Listings::new(&routes);
        let places = Arc::new(Semaphore::new(options.parallel.min(Semaphore::MAX_PERMITS)));
        Ok(Llm { options, routes, clients: PerRuntime::default(), places, listings, memory })
    }

    /// The model of requests that name none.
    pub fn default_model(&self) -> Option<&str> {
        let built_in = self.options.upstream.is_none().then_some(ECHO);
        self.options.default_model.as_deref().or(built_in)
    }

    /// Whether the built-in model answers requests that name no model.
    pub fn is_offline(&self) -> bool {
        self.default_model() == Some(ECHO)
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
    pub async fn chat_completions(&self, caller: &Caller, payload: &RawObject) -> Result<Answer, LlmError> {
        let log = self.log(caller, payload);
        let answer = self.chat(caller, payload, &log).await;
        match &answer {
            Ok(Answer::Whole(body)) => log.piece(&body.bytes),
            Ok(Answer::Stream(_)) => {}
            Err(error) => log.failure(error),
        }
        answer
    }

    /// Has a model embed texts; the payload is that of OpenAI's API.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn embeddings(&self, caller: &Caller, payload: &RawObject) -> Result<BufferedBytes, LlmError> {
        let log = self.log(caller, payload);
        let answer = self.embed(caller, payload).await;
        match &answer {
            Ok(body) => log.piece(&body.bytes),
            Err(error) => log.failure(error),
        }
        answer
    }

    /// The models that can be asked, in the shape of OpenAI's list: those of the settings, the built-in one, and those that
    /// the upstreams list.
    ///
    /// # Errors
    /// [`LlmError::NoClient`].
    pub async fn models(&self) -> Result<Vec<RawObject>, LlmError> {
        Ok(self.listings.models(&self.client()?, &self.routes).await)
    }

    async fn chat(&self, caller: &Caller, payload: &RawObject, log: &Log) -> Result<Answer, LlmError> {
        let asked = payload::chat(payload, self.default_model())?;
        let chain = self.chain(&asked.model)?;
        if let [Target::Echo, ..] = chain.as_slice() {
            return self.echoed(&Echo::answer(payload), &asked);
        }
        let place = self.place()?;
        let question = self.question(caller, Service::Chat, payload, &asked);
        let (response, upstream) = match question.ask(&self.client()?, &chain).await? {
            Found::Echo(echo) => return self.echoed(&echo, &asked),
            Found::Came(Came::Whole(body), _) => return Ok(Answer::Whole(body)),
            Found::Came(Came::Stream(response), upstream) => (response, upstream),
        };
        Ok(Answer::Stream(AnswerStream::upstream(Begun {
            incoming: response.bytes_stream().map(|piece| piece.map_err(|error| broken(&error))).boxed(),
            wire: Wire::new(asked.usage, upstream.secrets.clone()),
            limits: self.stream_limits(caller),
            first: question.deadline,
            log: log.clone(),
            place,
            held: self.memory.reservation(),
        })))
    }

    async fn embed(&self, caller: &Caller, payload: &RawObject) -> Result<BufferedBytes, LlmError> {
        let asked = payload::embeddings(payload, self.options.default_embedding_model.as_deref())?;
        let mut chain = self.chain(&asked.model)?;
        chain.retain(|target| matches!(target, Target::Model { .. }));
        let no_embeddings = || LlmError::NoEmbeddings { model: asked.model.clone() };
        if chain.is_empty() {
            return Err(no_embeddings());
        }
        let _place = self.place()?;
        let question = self.question(caller, Service::Embeddings, payload, &asked);
        match question.ask(&self.client()?, &chain).await? {
            Found::Came(Came::Whole(body), _) => Ok(body),
            Found::Came(Came::Stream(_), _) | Found::Echo(_) => Err(no_embeddings()),
        }
    }

    fn log(&self, caller: &Caller, payload: &RawObject) -> Log {
        let log = Log::new(caller, self.options.log_content);
        log.payload(payload);
        log
    }

    fn chain(&self, model: &str) -> Result<Vec<Target>, LlmError> {
        let chain = self.routes.chain(model);
        if chain.is_empty() { Err(LlmError::model_not_found(model)) } else { Ok(chain) }
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, LlmError> {
        let parallel = self.options.parallel;
        self.places.clone().try_acquire_owned().map_err(|_| LlmError::Overloaded { parallel })
    }

    fn client(&self) -> Result<Client, LlmError> {
        let proxy = self.options.proxy.as_deref();
        self.clients
            .get_or_make(|| attempt::client(proxy))
            .map_err(|error| LlmError::NoClient { message: error.to_string() })
    }

    fn question<'q>(
        &'q self,
        caller: &'q Caller,
        service: Service,
        payload: &'q RawObject,
        asked: &'q Asked,
    ) -> Question<'q> {
        let attempt = self.options.timeout;
        let limit = self.routes.timeout(&asked.model).map_or(attempt, |own| own.max(attempt));
        Question {
            service,
            payload,
            model: &asked.model,
            stream: asked.stream,
            deadline: Instant::now() + caller.time_left().map_or(limit, |own| own.min(limit)),
            attempt,
            answer_bytes: self.options.answer_bytes,
            memory: &self.memory,
            caller,
        }
    }

    fn stream_limits(&self, caller: &Caller) -> StreamLimits {
        let silence = self.options.chunk_timeout;
        StreamLimits {
            silence: caller.timeout().map_or(silence, |own| own.min(silence)),
            whole: self.options.stream_timeout,
            keep_alive: self.options.keep_alive,
            event_bytes: self.options.answer_bytes,
            drain: self.options.drain,
        }
    }

    fn echoed(&self, echo: &Echo, asked: &Asked) -> Result<Answer, LlmError> {
        if asked.stream {
            return Ok(Answer::Stream(AnswerStream::ready(echo.events(asked.usage))));
        }
        let mut body = Buffer::new(&self.memory, None);
        body.push(echo.whole())?;
        Ok(Answer::Whole(body.finish()?))
    }
}
