//! Asking for an answer until one comes: attempts, pauses between them, and other models in the end.

use std::time::{Duration, Instant};

use bytes::Bytes;
use reqwest::Client;
use tokio::time::{sleep, timeout_at};

use super::attempt::{Attempt, Came, Failed, Next};
use super::echo::Echo;
use super::error::{Cause, LlmError};
use super::routes::Target;
use super::upstream::Upstream;
use crate::trace::Trace;
use crate::value::RawObject;

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
    /// For whom it is.
    pub trace: &'q Trace,
}

/// The first answer.
pub enum Found {
    /// From an upstream.
    Came(Came),
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
        for target in chain {
            let Target::Model { upstream, name, timeout } = target else {
                return Ok(Found::Echo(Echo::answer(self.payload)));
            };
            let body = self.body(name)?;
            let attempt = self.attempt(upstream, body);
            let limit = timeout.unwrap_or(self.attempt);
            if let Some(came) = self.attempts(client, &attempt, limit, &mut failures).await? {
                return Ok(Found::Came(came));
            }
        }
        let (cause, retry_after) = failures.last.unwrap_or((Cause::timeout(Duration::ZERO), None));
        let (model, attempts) = (self.model.to_owned(), failures.attempts);
        Err(LlmError::Unavailable { model, attempts, cause, retry_after })
    }

    /// The payload as this model's upstream gets it.
    fn body(&self, model: &str) -> Result<Bytes, LlmError> {
        let mut payload = self.payload.clone();
        let unwritable =
            |error: serde_json::Error| LlmError::Invalid { param: "model", message: error.to_string() };
        payload.set("model", model).map_err(unwritable)?;
        serde_json::to_vec(&payload).map(Bytes::from).map_err(unwritable)
    }

    fn attempt<'a>(&'a self, upstream: &'a Upstream, body: Bytes) -> Attempt<'a> {
        let url = match self.service {
            Service::Chat => &upstream.chat,
            Service::Embeddings => &upstream.embeddings,
        };
        let (stream, answer_bytes, trace) = (self.stream, self.answer_bytes, self.trace);
        Attempt { upstream, url, body, stream, answer_bytes, trace }
    }

    /// Up to three attempts at one model; nothing when they have failed.
    async fn attempts(
        &self,
        client: &Client,
        attempt: &Attempt<'_>,
        limit: Duration,
        failures: &mut Failures,
    ) -> Result<Option<Came>, LlmError> {
        let mut pauses = PAUSES.iter();
        while Instant::now() < self.deadline {
            failures.attempts += 1;
            let until = self.deadline.min(Instant::now() + limit);
            let result = timeout_at(until.into(), attempt.make(client)).await;
            let Failed { cause, next } = match result.unwrap_or_else(|_| Err(Failed::timeout(limit))) {
                Ok(came) => return Ok(Some(came)),
                Err(failed) => failed,
            };
            tracing::debug!(
                request_id = self.trace.request_id(),
                cause = cause.for_log(),
                "an attempt failed"
            );
            let after = match next {
                Next::Nowhere(refused) => return Err(refused),
                Next::Again(after) => after,
                Next::Elsewhere => None,
            };
            failures.last = Some((cause, after));
            let pause = pauses.next().map(|pause| after.unwrap_or_default().max(*pause));
            match pause.filter(|_| matches!(next, Next::Again(_))) {
                Some(pause) if Instant::now() + pause < self.deadline => sleep(pause).await,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }
}
