//! One request to one upstream: sent, answered, and judged.
//!
//! What an error means for further attempts ([`Next`]):
//!
//! - A connection that breaks, before the answer or in the middle of it, silence, and the statuses 408, 409, 429 and 5xx: the
//!   same request may succeed later.
//! - A good status with something that is no answer (a page of HTML, a JSON answer to a request for a stream, one that is too
//!   long): the upstream would send the same again, but a fallback may do better.
//! - Any other status 4xx: the request is wrong, or not allowed.
//!
//! Of the type that an answer declares, only well-known ones are named in messages: others are the upstream's own words.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::{HeaderName, StatusCode};
use reqwest::{Client, Response};

use super::error::{LlmError, UpstreamError};
use super::protocol::{ErrorBody, Service, Wanted};
use super::structured::{Parameter, Refusal};
use super::transport::{retry_after, unreachable};
use super::upstream::Upstream;
use base::caller::Caller;
use base::encoding::without_bom;
use base::memory::{Buffer, BufferedBytes, Memory, OutOfMemory};
use base::outbound::{self, BodyError, error_body};

/// The headers that tell an upstream for whom a request is.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// How much is read of the body of an error, in bytes. It may be passed on to the client, and must then be whole.
const ERROR_BYTES: usize = 1 << 20;

/// One request.
pub struct Attempt<'a> {
    /// To whom it goes.
    pub upstream: &'a Upstream,
    /// What sends it.
    pub client: Client,
    /// What the upstream calls the model.
    pub model: &'a str,
    /// The service that it asks for.
    pub service: Service,
    /// Whether its answer is told in another format, and so has to be read.
    pub is_translated: bool,
    /// The parameter whose refusal means that the model is asked in another way.
    pub refusable: Option<Parameter>,
    /// Its body, in the upstream's protocol.
    pub body: Bytes,
    /// What its answer has to look like.
    pub wanted: Wanted,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// The budget that the answer is part of.
    pub memory: &'a Arc<Memory>,
    /// Whose request id and trace go along with it.
    pub caller: &'a Caller,
}

/// What is made of an answer.
pub trait Form {
    /// The answer in this form.
    type Answer: Send;

    /// Reads the answer to `attempt`, as far as belongs to the attempt: an error means that there is none.
    fn read(
        attempt: &Attempt<'_>,
        response: Response,
    ) -> impl Future<Output = Result<Self::Answer, AttemptError>> + Send;
}

/// Why an attempt gave no answer, and what that means for further ones.
#[derive(Debug)]
pub struct AttemptError {
    /// What happened.
    pub error: UpstreamError,
    /// What may help.
    pub next: Next,
}

/// What may help after an error.
#[derive(Debug)]
pub enum Next {
    /// The same request later; the upstream may say when.
    Retry(Option<Duration>),
    /// Another model.
    Fallback,
    /// Another service of the same upstream: it does not offer this one, as far as its answer tells. If that was the status of
    /// an error, this is the error for the client.
    OtherService(Option<Box<LlmError>>),
    /// Another way to ask the same model: it refuses a parameter.
    OtherWay(Refusal),
    /// Nothing: the request itself is refused.
    GiveUp(Box<LlmError>),
}

/// What a status that is an error means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// The same request may succeed later.
    Retry,
    /// The request is wrong, or not allowed.
    Refused,
    /// It is no answer.
    Other,
}

impl Meaning {
    /// The meaning of a status.
    pub fn of(status: u16) -> Meaning {
        match status {
            408 | 409 | 429 | 500.. => Meaning::Retry,
            400..500 => Meaning::Refused,
            _ => Meaning::Other,
        }
    }
}

impl AttemptError {
    fn retry(error: UpstreamError) -> AttemptError {
        AttemptError { error, next: Next::Retry(None) }
    }

    /// After an answer that tells that the upstream does not know the service.
    pub fn other_service(error: UpstreamError) -> AttemptError {
        AttemptError { error, next: Next::OtherService(None) }
    }

    /// After an answer that is none.
    pub fn fallback(error: UpstreamError) -> AttemptError {
        AttemptError { error, next: Next::Fallback }
    }

    fn of_body(error: BodyError) -> AttemptError {
        match error {
            BodyError::TooLong { .. } => {
                AttemptError::fallback(UpstreamError::unusable(format!("{error} (llm.answer_bytes)")))
            }
            BodyError::Broken(error) => AttemptError::retry(unreachable(&error)),
        }
    }

    /// After an answer for which there is no memory.
    pub fn out_of_memory(error: OutOfMemory) -> AttemptError {
        AttemptError {
            error: UpstreamError::unusable(error.to_string()),
            next: Next::GiveUp(Box::new(error.into())),
        }
    }

    /// After a request that could not be sent. A token that is refused would be refused again.
    fn of_sending(error: UpstreamError) -> AttemptError {
        let UpstreamError::NoToken { after, .. } = &error else { return AttemptError::retry(error) };
        let next = match error.status().map(Meaning::of) {
            None | Some(Meaning::Retry) => Next::Retry(*after),
            Some(Meaning::Refused | Meaning::Other) => Next::Fallback,
        };
        AttemptError { error, next }
    }

    /// After this time without an answer.
    pub fn timeout(limit: Duration) -> AttemptError {
        AttemptError::retry(UpstreamError::timeout(limit))
    }
}

impl Attempt<'_> {
    /// Sends the request and reads the answer in the form `F`.
    ///
    /// # Errors
    /// [`AttemptError`].
    pub async fn make<F: Form>(&self) -> Result<F::Answer, AttemptError> {
        let response = self.send().await?;
        F::read(self, response).await
    }

    /// Sends the request and waits for an answer with a good status.
    async fn send(&self) -> Result<Response, AttemptError> {
        let request = self.client.post(self.upstream.endpoint(self.service).clone());
        let request = request.header(REQUEST_ID, self.caller.request_id()).body(self.body.clone());
        let request = match self.caller.client_traceparent() {
            Some(traceparent) => request.header(TRACEPARENT, traceparent),
            None => request,
        };
        let response = self.upstream.send(&self.client, request).await.map_err(AttemptError::of_sending)?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(self.error_of(status, response).await),
        }
    }

    /// Whether the upstream may not know the service at all, or not for this model.
    pub fn may_lack_service(&self) -> bool {
        self.service == Service::Responses && self.upstream.responses.is_uncertain(self.model)
    }

    /// Tells the log of an error that another attempt may make good.
    pub fn log_error(&self, error: &UpstreamError) {
        tracing::debug!(request_id = self.caller.request_id(), cause = error.for_log(), "an attempt failed");
    }

    /// The whole body of an answer, without the byte order mark that it may begin with.
    ///
    /// # Errors
    /// [`AttemptError`].
    pub async fn body(&self, response: Response) -> Result<BufferedBytes, AttemptError> {
        let expected = response.content_length().and_then(|length| usize::try_from(length).ok());
        let expected = expected.unwrap_or(0).min(self.answer_bytes);
        let mut body = Buffer::reserved(self.memory, expected).map_err(AttemptError::out_of_memory)?;
        let mut chunks = outbound::body(response, self.answer_bytes);
        while let Some(chunk) = chunks.next().await {
            body.push(chunk.map_err(AttemptError::of_body)?).map_err(AttemptError::out_of_memory)?;
        }
        let BufferedBytes { bytes, held } = body.finish().map_err(AttemptError::out_of_memory)?;
        let bytes = bytes.slice_ref(without_bom(&bytes));
        Ok(BufferedBytes { bytes, held })
    }

    async fn error_of(&self, status: StatusCode, response: Response) -> AttemptError {
        let after = retry_after(response.headers());
        let body = error_body(response, ERROR_BYTES).await;
        let ErrorBody { message, param, for_client } =
            self.upstream.protocol.error(&body, &self.upstream.secrets);
        let status = status.as_u16();
        let refused = LlmError::Refused { status, body: for_client };
        let of_parameter =
            self.refusable.and_then(|parameter| parameter.refused_by(status, &message, param.as_deref()));
        let next = match (status, of_parameter) {
            (_, Some(refusal)) => Next::OtherWay(refusal),
            (404 | 405 | 501, _) if self.may_lack_service() => Next::OtherService(Some(Box::new(refused))),
            _ => match Meaning::of(status) {
                Meaning::Retry => Next::Retry(after),
                Meaning::Refused => Next::GiveUp(Box::new(refused)),
                Meaning::Other => Next::Fallback,
            },
        };
        AttemptError { error: UpstreamError::Status { status, message }, next }
    }
}
