//! Language models: a request to an answer, whole, streamed or read.
//!
//! - [`Llm`]: chat completions, embeddings, the list of models
//! - `structured`: values that fit a JSON Schema; `prospects`: how they would be asked for
//! - `client_format`: the format of our clients, which is OpenAI's; [`Completion`]: an answer to a chat, read
//! - `responses`: OpenAI's newer format, the Responses API; `text_completion`: its older one;
//!   `request`: a request in any of these formats
//! - `protocol`: everything that depends on what an upstream speaks. Another protocol is one folder and one variant there, and a
//!   setting
//! - `options`, `capabilities`: what the settings say; `routes`: which upstreams are asked for which model; `upstream`: one of them;
//!   `shared`: what several of them have in common; `offer`: what one offers; `echo`: the built-in model
//! - [`ToolForm`]: `tools`, or `functions` as they were before
//! - `retry`: attempts, backoff and fallbacks; `attempt`: one request; `form`: what is read of its
//!   answer; `transport`: HTTP clients and headers
//! - [`GivenReply`]: what an upstream would have sent, given beforehand
//! - `spoken`: a chat whose answer is told as it comes, and read
//! - `stream`: a streamed answer; `translator`: its events in the format of the client; `collect`: read as one answer;
//!   `kept_events`: as they came; `idle`: its time limits; `coalesce`: one piece of chunks that are ready at the same time
//! - `pointer`: what references in schemas refer to
//! - `message`: what a message says, in all the ways in which servers write it; `lenient`: reading what may be of another type
//! - `listing`: the models that upstreams list; `log`: what the log says of a call; `error`: why there is no answer

mod attempt;
mod capabilities;
mod client_format;
mod coalesce;
mod collect;
mod completion;
mod echo;
mod error;
mod form;
mod given;
mod idle;
mod kept_events;
mod listing;
mod log;
mod lenient;
pub mod message;
mod offer;
mod options;
mod pointer;
mod prospects;
mod protocol;
mod request;
mod responses;
mod retry;
mod routes;
mod shared;
mod spoken;
mod stream;
pub mod structured;
mod text_completion;
mod tool_form;
mod translator;
mod transport;
mod upstream;

use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

pub use capabilities::Capabilities;
pub use client_format::{AnswerChoice, AnswerWriter, DONE};
pub use collect::{Added, Collector};
pub use completion::{Choice, Completion, FinishReason, ToolCall, Usage};
pub use error::{LlmError, UpstreamError};
pub use given::GivenReply;
pub use kept_events::KeptEvents;
pub use options::{LlmOptions, ModelOptions, UpstreamOptions};
pub use prospects::{Preview, Prospects};
pub use protocol::Protocol;
pub use request::Request;
pub use responses::{Params, ResponseRequest, Turn, error_event as response_error_event, refuse_state};
pub use routes::{ECHO, InvalidModels, PROMPT};
pub use stream::AnswerStream;
pub use text_completion::as_chat as text_as_chat;
pub use tool_form::ToolForm;

use attempt::Form;
use base::caller::Caller;
use base::memory::{Buffer, BufferedBytes, Memory, Reservation};
use client_format::RequestOptions;
use echo::Echo;
use form::{Events, Typed, Whole};
use listing::Listings;
use log::Log;
use options::StreamLimits;
use protocol::{Output, Service, StreamTranslator, Wanted};
use responses::KeptItems;
use retry::{Call, Reply};
use routes::{Routes, Target};
use stream::StreamParts;
use structured::Way;
use template::value::{RawObject, parse_json};
use translator::{OfChat, Translator, Writer};
use upstream::Upstream;

/// What a model answered, in OpenAI's format.
#[derive(Debug)]
pub enum Answer {
    /// One JSON object; an OpenAI-compatible upstream's own bytes.
    Whole(BufferedBytes),
    /// Server-sent events.
    Stream(AnswerStream),
}

/// An answer that was read.
#[derive(Debug)]
pub struct Answered {
    /// What it says.
    pub completion: Completion,
    /// Its bytes, in OpenAI's format.
    pub body: BufferedBytes,
    /// The model: the one that was asked for, or a fallback.
    pub model: String,
    /// In which way an upstream was asked for a value, if it was asked for one.
    pub way: Option<Way>,
}

/// A streamed answer that is to be read.
#[derive(Debug)]
pub struct StreamedAnswer {
    /// Its events, in OpenAI's format.
    pub events: AnswerStream,
    /// The model: the one that was asked for, or a fallback.
    pub model: String,
    /// In which way an upstream was asked for a value, if it was asked for one.
    pub way: Option<Way>,
}

/// A stream that an upstream has begun.
struct Streamed {
    response: reqwest::Response,
    upstream: Arc<Upstream>,
    service: Service,
    permit: OwnedSemaphorePermit,
}

/// The models.
pub struct Llm {
    options: LlmOptions,
    routes: Routes,
    /// A permit for each call of an upstream that may be under way.
    permits: Arc<Semaphore>,
    listings: Listings,
    memory: Arc<Memory>,
    kept: Arc<KeptItems>,
}

impl Llm {
    /// Models by these options; their answers are part of `memory`.
    ///
    /// # Errors
    /// [`InvalidModels`].
    pub fn new(options: LlmOptions, memory: Arc<Memory>) -> Result<Llm, InvalidModels> {
        let routes = Routes::new(options.upstream.as_ref(), &options.models, options.proxy.as_deref())?;
        let defaults = [&options.default_model, &options.default_embedding_model];
        let unknown: Vec<String> = defaults
            .into_iter()
            .flatten()
            .filter(|model| model.is_empty() || routes.chain(model).is_empty())
            .map(|model| format!("llm: there is no model {model:?}"))
            .collect();
        if !unknown.is_empty() {
            return Err(InvalidModels(unknown));
        }
        let listings = Listings::new(&routes);
        let permits = Arc::new(Semaphore::new(options.parallel.min(Semaphore::MAX_PERMITS)));
        let kept = Arc::new(KeptItems::new(options.kept_bytes));
        Ok(Llm { options, routes, permits, listings, memory, kept })
    }

    /// The model of chats that name none.
    pub fn default_model(&self) -> Option<&str> {
        let built_in = self.options.upstream.is_none().then_some(ECHO);
        self.options.default_model.as_deref().or(built_in)
    }

    /// Whether the built-in model answers chats that name no model.
    pub fn is_offline(&self) -> bool {
        self.default_model() == Some(ECHO)
    }

    /// Whether calls are read to their end when their clients have left.
    pub fn drains(&self) -> bool {
        self.options.drain
    }

    /// Has a model answer a client. The payload is that of OpenAI's API, and goes to an OpenAI-compatible upstream as it is but
    /// for `model`; with `stream: true` the answer is a stream. Where the upstream does not offer what was asked for, it is asked
    /// for a chat completion, and its answer is told in the format of the request.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn serve(&self, caller: &Caller, request: Request<'_>) -> Result<Answer, LlmError> {
        let log = self.log(caller, request.payload());
        let answer = self.serve_unlogged(caller, request, &log).await;
        match &answer {
            Ok(Answer::Whole(body)) => log.piece(&body.bytes),
            Ok(Answer::Stream(_)) => {}
            Err(error) => log.error(error),
        }
        answer
    }

    /// Has a model answer a chat, or a request for a value, and reads its answer: for those who go on working with it. The payload
    /// is that of a chat completion, without `stream`; routes, retries, fallbacks and limits are the same, and a fallback is
    /// asked also when an answer cannot be read.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once; [`LlmError::Invalid`] for `stream: true`.
    pub async fn answer(&self, caller: &Caller, request: Request<'_>) -> Result<Answered, LlmError> {
        let log = self.log(caller, request.payload());
        let answer = self.complete(caller, request).await;
        match &answer {
            Ok(answered) => log.completion(&answered.completion),
            Err(error) => log.error(error),
        }
        answer
    }

    /// The same as a stream, which ends with the usage if the upstream tells it.
    ///
    /// # Errors
    /// [`LlmError`], which is logged here, once.
    pub async fn stream_answer(
        &self,
        caller: &Caller,
        request: Request<'_>,
        include_usage: bool,
    ) -> Result<StreamedAnswer, LlmError> {
        let log = self.log(caller, request.payload());
        let options = RequestOptions::of_chat(request.payload(), self.default_model())?;
        let call = self.call(caller, request, &options.model);
        let answer = self.stream(&call, include_usage, &log).await;
        answer.inspect_err(|error| log.error(error))
    }

    /// Puts together a streamed answer, within the limit on answers.
    pub fn collector(&self) -> Collector {
        Collector::new(self.options.answer_bytes, self.reservation())
    }

    /// A part of the budget for answers, which can grow.
    pub fn reservation(&self) -> Reservation {
        self.memory.reservation()
    }

    /// Keeps the events of a streamed answer as they came, within the limit on answers.
    pub fn kept_events(&self) -> KeptEvents {
        KeptEvents::new(Buffer::new(&self.memory, None), self.options.answer_bytes)
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
            Err(error) => log.error(error),
        }
        answer
    }

    /// The models that can be asked, as entries of OpenAI's list: those of the settings, the built-in one, and those that the
    /// upstreams list.
    pub async fn models(&self) -> Vec<RawObject> {
        self.listings.models(&self.routes).await
    }

    async fn serve_unlogged(
        &self,
        caller: &Caller,
        request: Request<'_>,
        log: &Log,
    ) -> Result<Answer, LlmError> {
        let options = RequestOptions::of_chat(request.payload(), self.default_model())?;
        let call = self.call(caller, request, &options.model);
        if options.stream {
            // The last event of a response always tells the usage.
            let include_usage = options.include_usage || matches!(request, Request::Response(_));
            let streamed = self.stream(&call, include_usage, log).await?;
            return Ok(Answer::Stream(streamed.events));
        }
        let (answer, service) = match self.ask::<Whole>(&call, self.chain(call.model)?).await? {
            Reply::Upstream { answer, service, .. } => (answer, service),
            Reply::Echo(echo) => (self.buffered(echo.whole())?, Service::Chat),
        };
        match Writer::of(request, &self.kept).filter(|_| service == Service::Chat) {
            None => Ok(Answer::Whole(answer)),
            Some(writer) => {
                // It was read as an object already, in the same way.
                let completion = parse_json(&answer.bytes).unwrap_or_default();
                self.buffered(writer.whole(&completion).to_string().into()).map(Answer::Whole)
            }
        }
    }

    async fn stream(
        &self,
        call: &Call<'_>,
        include_usage: bool,
        log: &Log,
    ) -> Result<StreamedAnswer, LlmError> {
        match self.ask::<Events>(call, self.chain(call.model)?).await? {
            Reply::Upstream { answer: response, upstream, service, model, way, permit } => {
                let streamed = Streamed { response, upstream, service, permit };
                let events = self.events_of(call, streamed, include_usage, log).await;
                Ok(StreamedAnswer { events, model, way })
            }
            Reply::Echo(echo) => {
                let chunks = echo.events(include_usage);
                let events = AnswerStream::ready(match Writer::of(call.request, &self.kept) {
                    Some(writer) => rewritten(chunks, writer),
                    None => chunks,
                });
                Ok(StreamedAnswer { events, model: ECHO.to_owned(), way: None })
            }
        }
    }

    /// The events of an upstream's stream, in the format of the request.
    async fn events_of(
        &self,
        call: &Call<'_>,
        streamed: Streamed,
        include_usage: bool,
        log: &Log,
    ) -> AnswerStream {
        let Streamed { response, upstream, service, permit } = streamed;
        let (secrets, wanted) = (upstream.secrets.clone(), Wanted::of(call.request.payload()));
        let translator = match (service, Writer::of(call.request, &self.kept)) {
            (Service::Responses, _) => Translator::Same(upstream.protocol.response_stream(secrets)),
            (Service::Chat, Some(writer)) => {
                of_chat(upstream.protocol.stream(include_usage, wanted, secrets), writer)
            }
            _ => Translator::Same(upstream.protocol.stream(include_usage, wanted, secrets)),
        };
        let parts = StreamParts {
            response,
            translator,
            limits: StreamLimits::new(&self.options, call.caller),
            first: call.deadline,
            log: log.clone(),
            permit,
            held: self.memory.reservation(),
        };
        AnswerStream::upstream(parts).await
    }

    async fn complete(&self, caller: &Caller, request: Request<'_>) -> Result<Answered, LlmError> {
        let options = RequestOptions::of_chat(request.payload(), self.default_model())?;
        if options.stream {
            let message = "must be false: the answer is read as a whole".to_owned();
            return Err(LlmError::Invalid { param: "stream", message });
        }
        let call = self.call(caller, request, &options.model);
        match self.ask::<Typed>(&call, self.chain(call.model)?).await? {
            Reply::Upstream { answer: (completion, body), model, way, .. } => {
                Ok(Answered { completion, body, model, way })
            }
            Reply::Echo(echo) => {
                let body = self.buffered(echo.whole())?;
                Ok(Answered { completion: echo.completion(), body, model: ECHO.to_owned(), way: None })
            }
        }
    }

    async fn embed(&self, caller: &Caller, payload: &RawObject) -> Result<BufferedBytes, LlmError> {
        let default = self.options.default_embedding_model.as_deref();
        let request = RequestOptions::of_embeddings(payload, default)?;
        let mut chain = self.chain(&request.model)?;
        chain.retain(|target| matches!(target, Target::Model { .. }));
        let no_embeddings = || LlmError::NoEmbeddings { model: request.model.clone() };
        if chain.is_empty() {
            return Err(no_embeddings());
        }
        let call = self.call(caller, Request::Embeddings(payload), &request.model);
        match self.ask::<Whole>(&call, chain).await? {
            Reply::Upstream { answer, .. } => Ok(answer),
            Reply::Echo(_) => Err(no_embeddings()),
        }
    }

    /// Makes a call. The built-in model needs no permit.
    async fn ask<F: Form>(&self, call: &Call<'_>, chain: Vec<Target>) -> Result<Reply<F::Answer>, LlmError> {
        if let [Target::Echo, ..] = chain.as_slice() {
            return Ok(Reply::Echo(Echo::of(call.request, &self.kept)?));
        }
        let permit = self.permit()?;
        call.make::<F>(&chain, permit).await
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

    fn permit(&self) -> Result<OwnedSemaphorePermit, LlmError> {
        let parallel = self.options.parallel;
        self.permits.clone().try_acquire_owned().map_err(|_| LlmError::Overloaded { parallel })
    }

    fn call<'q>(&'q self, caller: &'q Caller, request: Request<'q>, model: &'q str) -> Call<'q> {
        let attempt_timeout = self.options.timeout;
        let limit = self.routes.timeout(model).map_or(attempt_timeout, |own| own.max(attempt_timeout));
        Call {
            request,
            model,
            deadline: Instant::now() + caller.time_left().map_or(limit, |own| own.min(limit)),
            attempt_timeout,
            answer_bytes: self.options.answer_bytes,
            memory: &self.memory,
            kept: &self.kept,
            caller,
        }
    }

    /// An answer of our own, as part of the budget of memory.
    ///
    /// # Errors
    /// [`LlmError::OutOfMemory`].
    pub fn buffered(&self, bytes: Bytes) -> Result<BufferedBytes, LlmError> {
        let mut body = Buffer::new(&self.memory, None);
        body.push(bytes)?;
        Ok(body.finish()?)
    }
}

fn of_chat(chat: StreamTranslator, writer: Writer) -> Translator {
    Translator::OfChat(OfChat { chat, writer })
}

/// The chunks of the built-in model, written by `writer`.
fn rewritten(chunks: Vec<Bytes>, writer: Writer) -> Vec<Bytes> {
    let mut translator = of_chat(Protocol::OpenAi.stream(true, Wanted::default(), Arc::default()), writer);
    let events = chunks.into_iter().map(|chunk| match translator.translate(chunk) {
        Output::More(events) | Output::Last(events) | Output::Error(events) => events,
    });
    events.filter(|events| !events.is_empty()).collect()
}
