//! The context of a request: what is known of its client, passed to every service and on to tools and models.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use template::value::SmolStr;

/// The client of a request: the request's id, its trace, and how long the client waits.
///
/// Every service takes it as its first argument. Whatever else is known of a client, such as the roles of its key, belongs
/// here too.
#[derive(Debug, Clone)]
pub struct Caller {
    request_id: SmolStr,
    traceparent: OnceLock<String>,
    /// Whether the client sent a valid `traceparent`.
    has_trace: bool,
    since: Instant,
    timeout: Option<Duration>,
    retries: Option<usize>,
}

impl Caller {
    /// The client of a request that begins now. A `traceparent` that does not follow W3C Trace Context is ignored.
    /// `timeout` is how long the client waits for the answer, if it says so.
    pub fn new(request_id: &str, traceparent: Option<&str>, timeout: Option<Duration>) -> Caller {
        let valid = traceparent.filter(|text| is_traceparent(text));
        Caller {
            request_id: request_id.into(),
            traceparent: valid.map(|text| text.to_owned().into()).unwrap_or_default(),
            has_trace: valid.is_some(),
            since: Instant::now(),
            timeout,
            retries: None,
        }
    }

    /// The same client with a part of its request that begins now: it waits for this time at most, and for so many retries of what
    /// fails.
    pub fn within(&self, time: Duration, retries: usize) -> Caller {
        let time = self.time_left().map_or(time, |left| left.min(time));
        Caller { since: Instant::now(), timeout: Some(time), retries: Some(retries), ..self.clone() }
    }

    /// How often a call may be made again that fails; `None` for the usual number.
    pub fn retries(&self) -> Option<usize> {
        self.retries
    }

    /// The value of `x-request-id`: from the client, or made by the service.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The `traceparent` that the client sent (W3C Trace Context); `None` if it sent none, or an invalid one.
    pub fn client_traceparent(&self) -> Option<&str> {
        self.has_trace.then(|| self.traceparent())
    }

    /// The `traceparent` to pass on (W3C Trace Context): that of the client, else one derived from the request's id, with the
    /// flag "not sampled".
    pub fn traceparent(&self) -> &str {
        self.traceparent.get_or_init(|| {
            let hash = Sha256::digest(self.request_id.as_bytes());
            let (trace, rest) =
                hash.split_first_chunk().map_or((0, &[][..]), |(t, r)| (u128::from_be_bytes(*t), r));
            let parent = rest.first_chunk().map_or(0, |parent| u64::from_be_bytes(*parent));
            format!("00-{trace:032x}-{parent:016x}-00")
        })
    }

    /// How long the client waits for the answer in all, if it says so.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// What is left of [`Caller::timeout`] now.
    pub fn time_left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.since.elapsed()))
    }
}

/// Whether a text is a valid `traceparent` of W3C Trace Context, version 00.
fn is_traceparent(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let hex = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    let not_zero = |part: &str| part.bytes().any(|b| b != b'0');
    match parts.as_slice() {
        ["00", trace, parent, flags] => {
            hex(trace, 32) && hex(parent, 16) && hex(flags, 2) && not_zero(trace) && not_zero(parent)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_without_a_trace_begins_one() {
        let caller = Caller::new("abc", Some("nonsense"), None);
        assert!(caller.request_id() == "abc" && is_traceparent(caller.traceparent()), "{caller:?}");
        assert_eq!(caller.client_traceparent(), None);
        for text in ["", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-00"] {
            assert!(!is_traceparent(text), "{text}");
        }
    }
}
