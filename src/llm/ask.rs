//! Asking for an answer until one comes: attempts, pauses between them, and other models in the end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Client;
use serde_json::value::to_raw_value;
use tokio::time::{sleep, timeout};

use super::attempt::{Attempt, Came, Failed, Next};
use super::echo::Echo;
use super::error::{Cause, LlmError};
use super::routes::Target;
use super::upstream::Upstream;
use base::caller::Caller;
use base::memory::Memory;
use template::value::RawObject;

/// The pauses before the second attempt and the third one, which is the last.
const PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_millis(300)];

/// Which of an upstream's services is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Chat completions.
    Chat,
    /// Embeddings.
    Embeddings,
}

/// A question: what is asked, and for how long.
pub struct Question<'q> {
    /// The service.
    pub service: Service,
    /// The payload.
    pub payload: &'q RawObject,
    /// The model that was asked for.
    pub model: &'q str,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// When all attempts must have ended.
    pub deadline: Instant,
    /// The usual time for one attempt.
    pub attempt: Duration,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// The budget that the answer is part of.
    pub memory: &'q Arc<Memory>,
    /// For whom it is.
    pub caller: &'q Caller,
}

/// The first answer.
pub enum Found {
    /// From an upstream.
    Came(Came, Arc<Upstream>),
    /// From the built-in model.
    Echo(Echo),
}

/// The failures so far.
struct Failures {
    attempts: usize,
    last: Option<(Cause, Option<Duration>)>,
}

impl Question<'_> {
    /// Asks those in `chain` in turn, each up to three times.
    ///
    /// # Errors
    /// [`LlmError::Refused`] at once, or [`LlmError::Unavailable`] when nobody has answered in time.
    pub async fn ask(&self, client: &Client, chain: &[Target]) -> Result<Found, LlmError> {
        let mut failures = Failures { attempts: 0, last: None };
        for (at, target) in chain.iter().enumerate() {
            let Target::Model { upstream, name, timeout } = target else {
                return Ok(Found::Echo(Echo::answer(self.payload)));
            };
            let body = self.body(name)?;
            // What is left of the time is shared, so that one who is silent leaves some for the others.
            let share = self.time_left() / u32::try_from(chain.len() - at).unwrap_or(u32::MAX);
            let turn = Turn {
                attempt: self.attempt(upstream, body),
                until: Instant::now() + share,
                limit: timeout.unwrap_or(self.attempt),
            };
            match turn.take(client, &mut failures).await {
                Ok(Some(came)) => return Ok(Found::Came(came, upstream.clone())),
                // What the model that was asked for refuses is wrong; a fallback may only be the wrong one.
                Err(refused) if at == 0 => return Err(refused),
                Ok(None) | Err(_) => {}
            }
        }
        let (cause, retry_after) = failures.last.unwrap_or((Cause::timeout(Duration::ZERO), None));
        let (model, attempts) = (self.model.to_owned(), failures.attempts);
        Err(LlmError::Unavailable { model, attempts, cause, retry_after })
    }

    fn time_left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// The payload as this model's upstream gets it.
    fn body(&self, model: &str) -> Result<Bytes, LlmError> {
        let written = to_raw_value(model).and_then(|model| self.payload.to_json_with("model", &model));
        written
            .map(Bytes::from)
            .map_err(|error| LlmError::Invalid { param: "model", message: error.to_string() })
    }

    fn attempt<'a>(&'a self, upstream: &'a Upstream, body: Bytes) -> Attempt<'a> {
        let url = match self.service {
            Service::Chat => &upstream.chat,
            Service::Embeddings => &upstream.embeddings,
        };
        let (stream, answer_bytes, memory, caller) =
            (self.stream, self.answer_bytes, self.memory, self.caller);
        Attempt { upstream, url, body, stream, answer_bytes, memory, caller }
    }
}

/// The turn of one of those who are asked.
struct Turn<'a> {
    attempt: Attempt<'a>,
    until: Instant,
    /// The time for one attempt.
    limit: Duration,
}

impl Turn<'_> {
    /// Up to three attempts; nothing when they have failed.
    async fn take(&self, client: &Client, failures: &mut Failures) -> Result<Option<Came>, LlmError> {
        let mut pauses = PAUSES.iter();
        while !self.time_left().is_zero() {
            failures.attempts += 1;
            let limit = self.limit.min(self.time_left());
            let result = timeout(limit, self.attempt.make(client)).await;
            let Failed { cause, next } = match result.unwrap_or_else(|_| Err(Failed::timeout(limit))) {
                Ok(came) => return Ok(Some(came)),
                Err(failed) => failed,
            };
            self.attempt.log_failure(&cause);
            let after = if let Next::Again(after) = next { after } else { None };
            failures.last = Some((cause, after));
            let pause = pauses.next().map(|pause| after.unwrap_or_default().max(*pause));
            match (next, pause) {
                (Next::Nowhere(refused), _) => return Err(refused),
                (Next::Again(_), Some(pause)) if pause < self.time_left() => sleep(pause).await,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn time_left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}
