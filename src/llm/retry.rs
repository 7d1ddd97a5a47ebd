//! Attempts until one gives an answer: pauses between them (backoff), and fallbacks to other models.
//!
//! - All attempts together have `llm.timeout_ms`, or the `timeout_ms` of the model that was asked for if that is longer;
//!   `timeout_ms` of a model is the limit of one attempt. The models that are asked in turn have equal shares of the time that is
//!   left, so that one that is silent leaves time for the others. A single one that is silent uses all of it in its first attempt.
//! - Each model is asked three times at most, or as often as the caller wants it. The pauses between are minimums: the upstream's
//!   `retry-after` makes them longer, never shorter. The last `retry-after` is part of [`LlmError::Unavailable`].
//! - What the model that was asked for refuses is passed on to the client. What a fallback refuses counts as an error of that
//!   fallback only.
//! - A model that is asked for a value may refuse what a way needs; it is then asked in the next way, which is no retry.
//! - There is no retry once the client has got a byte: of a stream only its beginning is tried again, of any other answer all.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{sleep, timeout};

use super::attempt::{Attempt, AttemptError, Form, Next};
use super::capabilities::Capabilities;
use super::echo::Echo;
use super::error::{LlmError, UpstreamError};
use super::protocol::{Service, Wanted};
use super::request::Request;
use super::responses::KeptItems;
use super::routes::Target;
use super::structured::{Ladder, Refusal, Step, StructuredRequest, Way};
use super::upstream::Upstream;
use base::caller::Caller;
use base::memory::{Memory, Reservation};

/// The pauses before the second attempt and before the third, which is the last.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(300)];

/// A call of a model: what is asked for, and its limits.
pub struct Call<'q> {
    /// What is asked for.
    pub request: Request<'q>,
    /// The model that was asked for.
    pub model: &'q str,
    /// When all attempts must have ended.
    pub deadline: Instant,
    /// The usual time limit for one attempt.
    pub attempt_timeout: Duration,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// The budget that the answer is part of.
    pub memory: &'q Arc<Memory>,
    /// The items that the request may refer to.
    pub kept: &'q KeptItems,
    /// Whose request id and trace go along with the requests.
    pub caller: &'q Caller,
}

/// The first answer to a call.
pub enum Reply<T> {
    /// From an upstream.
    Upstream {
        /// The answer.
        answer: T,
        /// Who gave it.
        upstream: Arc<Upstream>,
        /// The service that gave it.
        service: Service,
        /// The name of the model by which requests ask for it.
        model: String,
        /// How it was asked for a value.
        way: Option<Way>,
        /// The call's place among those that may be under way; held until the answer has ended.
        permit: OwnedSemaphorePermit,
    },
    /// From the built-in model.
    Echo(Echo),
}

/// The attempts so far, none of which gave an answer.
#[derive(Default)]
struct Attempts {
    count: usize,
    /// The last error, and when the upstream would like to be asked again.
    last_error: Option<(UpstreamError, Option<Duration>)>,
}

impl Call<'_> {
    /// Asks the targets of `chain` in turn until one gives an answer in the form `F`.
    ///
    /// # Errors
    /// [`LlmError::Unavailable`] when nobody has answered in time; at once what the first target's protocol or upstream refuses
    /// ([`LlmError::Invalid`], [`LlmError::Refused`]), and [`LlmError::OutOfMemory`].
    pub async fn make<F: Form>(
        &self,
        chain: &[Target],
        permit: OwnedSemaphorePermit,
    ) -> Result<Reply<F::Answer>, LlmError> {
        let mut attempts = Attempts::default();
        for (at, target) in chain.iter().enumerate() {
            let Target::Model { upstream, name, asked, timeout, capabilities } = target else {
                return self.echo();
            };
            let limit = timeout.unwrap_or(self.attempt_timeout);
            let targets = chain.len() - at;
            let candidate = Candidate { upstream, model: name, limit, capabilities: *capabilities, targets };
            let given = match self.request {
                Request::Structured(request) => {
                    self.ask_in_turn::<F>(candidate, request, &mut attempts).await
                }
                _ => self.ask::<F>(candidate, &mut attempts).await,
            };
            match given {
                Ok(Some(Given { answer, service, way })) => {
                    let (upstream, model) = (upstream.clone(), asked.clone());
                    return Ok(Reply::Upstream { answer, upstream, service, model, way, permit });
                }
                Err(refused) if at == 0 => return Err(refused),
                Ok(None) | Err(_) => {}
            }
        }
        Err(attempts.unavailable(self.model))
    }

    /// Asks one target; if it does not know the service, as a chat completion.
    async fn ask<F: Form>(
        &self,
        candidate: Candidate<'_>,
        attempts: &mut Attempts,
    ) -> Result<Option<Given<F::Answer>>, LlmError> {
        let service = self.request.service(candidate.upstream, candidate.model);
        let offer = &candidate.upstream.responses;
        let refused = match self.turn(candidate, service, None)?.take::<F>(attempts).await? {
            Taken::Answer(answer) => {
                if service == Service::Responses {
                    offer.offers(candidate.model);
                }
                return Ok(Some(Given { answer, service, way: None }));
            }
            Taken::Nothing | Taken::OtherWay(_) => return Ok(None),
            Taken::OtherService(refused) => refused,
        };
        // It does not seem to offer what it was asked for.
        let as_chat = match self.turn(candidate, Service::Chat, None) {
            Ok(turn) => turn.take::<F>(attempts).await,
            Err(error) => Err(error),
        };
        match (as_chat, refused) {
            (Ok(Taken::Answer(answer)), refused) => {
                if refused.is_some() {
                    offer.lacks(candidate.model);
                }
                Ok(Some(Given { answer, service: Service::Chat, way: None }))
            }
            // It knows the service, so that this is what it has to say.
            (Err(_), Some(refused)) if offer.is_seen() => Err(*refused),
            (Err(error), _) => Err(error),
            (Ok(_), _) => Ok(None),
        }
    }

    /// Asks one target for a value, in one way after the other: it may refuse what a way needs.
    async fn ask_in_turn<F: Form>(
        &self,
        candidate: Candidate<'_>,
        request: &StructuredRequest,
        attempts: &mut Attempts,
    ) -> Result<Option<Given<F::Answer>>, LlmError> {
        let offers = &candidate.upstream.structured;
        let ladder = Ladder::new(candidate.capabilities, offers, candidate.model, request.plan);
        let mut refused: Vec<(Way, Refusal)> = Vec::new();
        for step in ladder.0 {
            if request.plan.native != Some(step.way)
                && let Some(emulation) = &request.emulation
            {
                emulation.notify_one();
            }
            let turn = self.turn(candidate, Service::Chat, Some(step))?;
            match turn.take::<F>(attempts).await? {
                Taken::Answer(answer) => {
                    // Only an answer shows that it was the way, and not something else of the request.
                    refused.iter().for_each(|(way, refusal)| offers.lacks(*way, candidate.model, *refusal));
                    return Ok(Some(Given { answer, service: Service::Chat, way: Some(step.way) }));
                }
                Taken::OtherWay(refusal) => refused.push((step.way, refusal)),
                Taken::Nothing | Taken::OtherService(_) => break,
            }
        }
        Ok(None)
    }

    /// The answer of the built-in model.
    fn echo<T>(&self) -> Result<Reply<T>, LlmError> {
        Ok(Reply::Echo(Echo::of(self.request, self.kept)?))
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The turn of a target.
    fn turn<'a>(
        &'a self,
        candidate: Candidate<'a>,
        service: Service,
        step: Option<Step>,
    ) -> Result<Turn<'a>, LlmError> {
        let Candidate { upstream, model, limit, targets, .. } = candidate;
        let way = step.map(|step| step.way);
        let body = self.request.body(service, way, upstream, model, self.kept)?;
        let is_translated = self.request.is_translated(service);
        let mut held = self.memory.reservation();
        // Items that the request only refers to, answers that did not fit, or the protocol may have made it long.
        let is_longer = matches!(self.request, Request::Response(_) | Request::Structured(_));
        if is_longer || upstream.protocol.may_lengthen() {
            held.resize(body.len())?;
        }
        let attempt = Attempt {
            upstream,
            client: upstream.clients.get()?,
            model,
            service,
            is_translated,
            refusable: step.and_then(|step| step.refusable),
            body,
            wanted: Wanted::of(self.request.payload()),
            answer_bytes: self.answer_bytes,
            memory: self.memory,
            caller: self.caller,
        };
        let share = self.time_left() / u32::try_from(targets).unwrap_or(u32::MAX);
        Ok(Turn { attempt, until: Instant::now() + share, limit, _held: held })
    }
}

impl Attempts {
    fn unavailable(self, model: &str) -> LlmError {
        let (cause, retry_after) = self.last_error.unwrap_or((UpstreamError::timeout(Duration::ZERO), None));
        LlmError::Unavailable { model: model.to_owned(), attempts: self.count, cause, retry_after }
    }
}

/// A target whose turn it is.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    upstream: &'a Upstream,
    /// What it calls the model.
    model: &'a str,
    /// The time limit for one attempt.
    limit: Duration,
    capabilities: Capabilities,
    /// How many targets, itself among them, share the time that is left.
    targets: usize,
}

/// What a target gave.
struct Given<T> {
    answer: T,
    service: Service,
    /// How it was asked for a value.
    way: Option<Way>,
}

/// What a turn gave.
enum Taken<T> {
    Answer(T),
    /// No attempt gave an answer.
    Nothing,
    /// The upstream does not seem to know the service; what it said for the client, if it was an error.
    OtherService(Option<Box<LlmError>>),
    /// The model refuses what this way needs.
    OtherWay(Refusal),
}

/// The turn of one target.
struct Turn<'a> {
    attempt: Attempt<'a>,
    until: Instant,
    /// The time limit for one attempt.
    limit: Duration,
    /// The part of the budget for a body that was made of a shorter request.
    _held: Reservation,
}

impl Turn<'_> {
    /// Makes up to three attempts.
    async fn take<F: Form>(&self, attempts: &mut Attempts) -> Result<Taken<F::Answer>, LlmError> {
        let mut pauses = PAUSES.iter().take(self.attempt.caller.retries().unwrap_or(PAUSES.len()));
        while !self.time_left().is_zero() {
            attempts.count += 1;
            let limit = self.limit.min(self.time_left());
            let answer = timeout(limit, self.attempt.make::<F>()).await;
            let AttemptError { error, next } =
                match answer.unwrap_or_else(|_| Err(AttemptError::timeout(limit))) {
                    Ok(answer) => return Ok(Taken::Answer(answer)),
                    Err(error) => error,
                };
            self.attempt.log_error(&error);
            let after = if let Next::Retry(after) = &next { *after } else { None };
            attempts.last_error = Some((error, after));
            let pause = pauses.next().map(|pause| after.unwrap_or_default().max(*pause));
            match (next, pause) {
                (Next::GiveUp(refused), _) => return Err(*refused),
                (Next::OtherService(refused), _) => return Ok(Taken::OtherService(refused)),
                (Next::OtherWay(refusal), _) => return Ok(Taken::OtherWay(refusal)),
                (Next::Retry(_), Some(pause)) if pause < self.time_left() => sleep(pause).await,
                _ => return Ok(Taken::Nothing),
            }
        }
        Ok(Taken::Nothing)
    }

    fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}
