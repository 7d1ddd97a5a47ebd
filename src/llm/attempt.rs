//! One request to one upstream: sent, answered, and judged.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, StatusCode};
use reqwest::{Client, NoProxy, Proxy, Response, Url};
use serde::Deserialize;

use super::error::{Cause, LlmError};
use super::refusal::{Said, retry_after};
use super::upstream::Upstream;
use base::caller::Caller;
use base::encoding::{media_type, without_bom};
use base::memory::{Buffer, BufferedBytes, Memory, OutOfMemory};
use base::outbound::{self, BodyError, error_body, redacted};

/// How long setting a connection up may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// For whom it is.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");
/// What is read of a refusal, which is passed on whole.
const REFUSAL_BYTES: usize = 1 << 20;

/// A client for upstreams, which reaches all but this machine itself through `proxy`, if there is one.
///
/// # Errors
/// When the proxy's address is none, or the system's part of TLS cannot be set up.
pub fn client(proxy: Option<&str>) -> reqwest::Result<Client> {
    let mut client = outbound::client().connect_timeout(CONNECT_LIMIT);
    if let Some(address) = proxy {
        client = client.proxy(by_proxy(address)?);
    }
    client.build()
}

/// The proxy at an address.
///
/// # Errors
/// When it is no address.
pub fn by_proxy(address: &str) -> reqwest::Result<Proxy> {
    Ok(Proxy::all(address)?.no_proxy(NoProxy::from_string(THIS_MACHINE)))
}

/// Addresses that no proxy is asked for.
const THIS_MACHINE: &str = "localhost,127.0.0.0/8,::1";

/// What is sent, to whom, and what is wanted.
pub struct Attempt<'a> {
    /// The upstream.
    pub upstream: &'a Upstream,
    /// One of its addresses.
    pub url: &'a Url,
    /// The payload.
    pub body: Bytes,
    /// Whether the answer is wanted as a stream.
    pub stream: bool,
    /// The longest answer, in bytes.
    pub answer_bytes: usize,
    /// The budget that the answer is part of.
    pub memory: &'a Arc<Memory>,
    /// For whom it is.
    pub caller: &'a Caller,
}

/// What came.
pub enum Came {
    /// The whole answer: a JSON object.
    Whole(BufferedBytes),
    /// The head of a stream.
    Stream(Response),
}

/// Why nothing came, and what that means.
pub struct Failed {
    /// What happened.
    pub cause: Cause,
    /// What to do about it.
    pub next: Next,
}

/// What a failure means for further attempts.
pub enum Next {
    /// The same request may succeed later; the upstream may say when.
    Again(Option<Duration>),
    /// Only another model may do better.
    Elsewhere,
    /// The request itself is refused.
    Nowhere(LlmError),
}

impl Failed {
    fn again(cause: Cause) -> Failed {
        Failed { cause, next: Next::Again(None) }
    }

    fn elsewhere(message: impl Into<String>) -> Failed {
        Failed { cause: Cause::unusable(message), next: Next::Elsewhere }
    }

    fn body(error: BodyError) -> Failed {
        match error {
            BodyError::TooLong { .. } => Failed::elsewhere(format!("{error} (llm.answer_bytes)")),
            BodyError::Broken(error) => Failed::again(broken(&error)),
        }
    }

    fn out_of_memory(error: OutOfMemory) -> Failed {
        Failed { cause: Cause::unusable(error.to_string()), next: Next::Nowhere(error.into()) }
    }

    /// After a time that was too long.
    pub fn timeout(limit: Duration) -> Failed {
        Failed::again(Cause::timeout(limit))
    }
}

impl Attempt<'_> {
    /// Sends the request and waits for what is wanted of the answer.
    ///
    /// # Errors
    /// [`Failed`].
    pub async fn make(&self, client: &Client) -> Result<Came, Failed> {
        let request = client.post(self.url.clone()).headers(self.upstream.headers.clone());
        let request = request.header(REQUEST_ID, self.caller.request_id()).body(self.body.clone());
        let request = match self.caller.client_traceparent() {
            Some(place) => request.header(TRACEPARENT, place),
            None => request,
        };
        let response = request.send().await.map_err(|error| Failed::again(broken(&error)))?;
        match (response.status(), self.stream) {
            (status, _) if !status.is_success() => Err(self.failure(status, response).await),
            (_, true) => stream_of(response).map(Came::Stream),
            (_, false) => self.whole(response).await.map(Came::Whole),
        }
    }

    /// Tells the log of a failure that may yet be made good.
    pub fn log_failure(&self, cause: &Cause) {
        tracing::debug!(request_id = self.caller.request_id(), cause = cause.for_log(), "an attempt failed");
    }

    async fn whole(&self, response: Response) -> Result<BufferedBytes, Failed> {
        let declared = content_type(response.headers());
        let expected = response.content_length().and_then(|length| usize::try_from(length).ok());
        let expected = expected.unwrap_or(0).min(self.answer_bytes);
        let mut body = Buffer::reserved(self.memory, expected).map_err(Failed::out_of_memory)?;
        let mut chunks = outbound::body(response, self.answer_bytes);
        while let Some(chunk) = chunks.next().await {
            body.push(chunk.map_err(Failed::body)?).map_err(Failed::out_of_memory)?;
        }
        let BufferedBytes { bytes, held } = body.finish().map_err(Failed::out_of_memory)?;
        let bytes = bytes.slice_ref(without_bom(&bytes));
        match is_object(&bytes) {
            true => Ok(BufferedBytes { bytes, held }),
            false => Err(Failed::elsewhere(format!("it is no JSON object, but {declared}"))),
        }
    }

    async fn failure(&self, status: StatusCode, response: Response) -> Failed {
        let after = retry_after(response.headers());
        let said = Said::read(&error_body(response, REFUSAL_BYTES).await);
        let secrets = &self.upstream.secrets;
        let message = redacted(said.message(), secrets);
        let cause = Cause::Status { status: status.as_u16(), message };
        let next = match status.as_u16() {
            408 | 409 | 429 | 500.. => Next::Again(after),
            400..500 => {
                Next::Nowhere(LlmError::Refused { status: status.as_u16(), body: said.passed_on(secrets) })
            }
            _ => Next::Elsewhere,
        };
        Failed { cause, next }
    }
}

/// The response, if it can be a stream of events.
fn stream_of(response: Response) -> Result<Response, Failed> {
    let declared = content_type(response.headers());
    // Some servers declare nothing in particular.
    match declared {
        "text/event-stream" | "text/plain" | "application/octet-stream" | NOTHING => Ok(response),
        _ => Err(Failed::elsewhere(format!("a stream was asked for, and it is {declared}"))),
    }
}

/// What stands for a content type that is not declared.
const NOTHING: &str = "of no declared type";

/// The types that are told by name; others are the upstream's own words.
const TYPES: [&str; 7] = [
    "text/event-stream",
    "text/plain",
    "text/html",
    "text/xml",
    "application/json",
    "application/octet-stream",
    "application/xml",
];

fn content_type(headers: &HeaderMap) -> &'static str {
    let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    match declared.map(media_type).unwrap_or_default() {
        "" => NOTHING,
        declared => {
            let known = TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(declared));
            known.unwrap_or("of some other type")
        }
    }
}

fn is_object(body: &[u8]) -> bool {
    /// Any members.
    #[derive(Deserialize)]
    struct Object {}
    serde_json::from_slice::<Object>(body).is_ok() && body.trim_ascii_start().starts_with(b"{")
}

/// What an error of the client means; it names neither the address nor what was sent.
pub fn broken(error: &reqwest::Error) -> Cause {
    Cause::Unreachable { message: outbound::in_words(error) }
}
