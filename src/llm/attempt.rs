//! One request to one upstream: sent, answered, and judged.

use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, StatusCode};
use reqwest::{Client, NoProxy, Proxy, Response, Url};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::error::{Cause, LlmError};
use super::upstream::Upstream;
use crate::outbound::{self, Secrets, heard, told};
use crate::trace::Trace;

/// How long setting a connection up may take.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);
/// What is read of a refusal, which is passed on whole.
const REFUSAL_BYTES: usize = 1 << 20;

/// A client for upstreams, which reaches all but this machine itself through `proxy`, if there is one.
///
/// # Errors
/// When the proxy's address is none, or the system's part of TLS cannot be set up.
pub fn client(proxy: Option<&str>) -> reqwest::Result<Client> {
    let mut client = outbound::client().tcp_nodelay(true).connect_timeout(CONNECT_LIMIT);
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
    /// For whom it is.
    pub trace: &'a Trace,
}

/// What came.
pub enum Came {
    /// The whole answer: a JSON object.
    Whole(Bytes),
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
        let request = request
            .header("x-request-id", self.trace.request_id())
            .header("traceparent", self.trace.traceparent())
            .body(self.body.clone());
        let response = request.send().await.map_err(|error| Failed::again(broken(&error)))?;
        match (response.status(), self.stream) {
            (status, _) if !status.is_success() => Err(self.failure(status, response).await),
            (_, true) => stream_of(response).map(Came::Stream),
            (_, false) => self.whole(response).await.map(Came::Whole),
        }
    }

    /// Tells the log of a failure that may yet be made good.
    pub fn log_failure(&self, cause: &Cause) {
        tracing::debug!(request_id = self.trace.request_id(), cause = cause.for_log(), "an attempt failed");
    }

    async fn whole(&self, mut response: Response) -> Result<Bytes, Failed> {
        let declared = content_type(response.headers());
        let mut body = Bytes::new();
        let mut more = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| Failed::again(broken(&error)))? {
            // Most answers are one chunk, which is not copied.
            match body.is_empty() {
                true => body = chunk,
                false => more.extend_from_slice(&chunk),
            }
            if body.len() + more.len() > self.answer_bytes {
                let limit = self.answer_bytes;
                return Err(Failed::elsewhere(format!("it is longer than {limit} bytes (llm.answer_bytes)")));
            }
        }
        if !more.is_empty() {
            body = [body, more.freeze()].concat().into();
        }
        // RFC 8259, section 8.1: a byte order mark may be ignored.
        if body.starts_with(b"\xef\xbb\xbf") {
            body = body.slice(3..);
        }
        match is_object(&body) {
            true => Ok(body),
            false => Err(Failed::elsewhere(format!("it is no JSON object, but {declared}"))),
        }
    }

    async fn failure(&self, status: StatusCode, response: Response) -> Failed {
        let after = retry_after(response.headers());
        let said = Said::read(&heard(response, REFUSAL_BYTES).await);
        let secrets = &self.upstream.secrets;
        let message = told(said.message(), secrets);
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

/// What an upstream says about a failure.
struct Said {
    text: String,
    json: Option<Json>,
}

impl Said {
    fn read(body: &[u8]) -> Said {
        Said { text: String::from_utf8_lossy(body).into_owned(), json: serde_json::from_slice(body).ok() }
    }

    /// Its words: the error's message, or whatever there is.
    fn message(&self) -> String {
        let text = |place| self.json.as_ref()?.pointer(place)?.as_str();
        let places = ["/error/message", "/error", "/message", "/detail", "/0/error/message"];
        places.into_iter().find_map(text).unwrap_or(&self.text).to_owned()
    }

    /// The body in the shape that all errors have: as it is if it has it, else made of its words.
    fn passed_on(&self, secrets: &Secrets) -> Bytes {
        let error = self.json.as_ref().and_then(|json| json.get("error"));
        if error.is_some_and(|error| error.get("message").is_some_and(Json::is_string)) {
            return secrets.strike(self.text.clone()).into();
        }
        let message = match told(self.message(), secrets) {
            message if message.is_empty() => "the upstream refused the request and says no more".to_owned(),
            message => message,
        };
        let error =
            json!({"message": message, "type": "upstream_error", "param": null, "code": "llm_refused"});
        json!({"error": error}).to_string().into()
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
    let essence = declared.and_then(|value| value.split(';').next()).map(str::trim);
    let Some(essence) = essence.filter(|text| !text.is_empty()) else { return NOTHING };
    TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(essence)).unwrap_or("of some other type")
}

fn is_object(body: &[u8]) -> bool {
    /// Any members.
    #[derive(Deserialize)]
    struct Object {}
    serde_json::from_slice::<Object>(body).is_ok() && body.trim_ascii_start().starts_with(b"{")
}

/// When the upstream would like to be asked again: `retry-after-ms`, or `retry-after` in seconds or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let seconds: f64 = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    if let Some(after) = text("retry-after-ms").and_then(seconds) {
        return Some(after / 1000);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after).or_else(|| {
        let date = httpdate::parse_http_date(after).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

/// What an error of the client means; it names neither the address nor what was sent.
pub fn broken(error: &reqwest::Error) -> Cause {
    Cause::Unreachable { message: outbound::in_words(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_shape_or_get_it() {
        let secrets = Secrets::new(["sk-hidden-key"].into_iter());
        let passed = |body: &str| {
            let body = Said::read(body.as_bytes()).passed_on(&secrets);
            String::from_utf8(body.to_vec()).unwrap()
        };
        let shaped = r#"{ "error": {"message": "no", "code": 7, "more": [1.0]}, "x": 1 }"#;
        assert_eq!(passed(shaped), shaped);
        assert_eq!(
            passed(r#"{"error":{"message":"bad key sk-hidden-key"}}"#),
            r#"{"error":{"message":"bad key …"}}"#
        );
        for (body, message) in [
            (r#"{"error":"model is required"}"#, "model is required"),
            (r#"{"detail":"not here"}"#, "not here"),
            ("<h1>Forbidden</h1>", "<h1>Forbidden</h1>"),
            ("", "the upstream refused the request and says no more"),
        ] {
            let wrapped: Json = serde_json::from_str(&passed(body)).unwrap();
            assert_eq!(wrapped["error"]["message"], message);
            assert_eq!(wrapped["error"]["code"], "llm_refused");
        }
    }

    #[test]
    fn the_wish_to_be_asked_later_is_read_in_all_its_forms() {
        let read = |name: &'static str, value: &str| {
            retry_after(&HeaderMap::from_iter([(
                http::HeaderName::from_static(name),
                value.parse().unwrap(),
            )]))
        };
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(read("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(read("retry-after", &later).is_some_and(|after| after > Duration::from_secs(90)));
        assert_eq!(read("retry-after", "1e400"), Some(Duration::MAX));
        for nonsense in ["-1", "soon", "NaN", ""] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }
}
