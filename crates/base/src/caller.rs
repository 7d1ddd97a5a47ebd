//! The one who asks: what a request says about its client, handed to every service and on to tools and models.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};
use template::value::SmolStr;

/// The one who asks: a request's id, its place in a trace, and the time that it gives.
///
/// Every service takes it first. What else is known of a client (such as the roles of its key) belongs here too.
#[derive(Debug, Clone)]
pub struct Caller {
    request_id: SmolStr,
    traceparent: OnceLock<String>,
    /// Whether the client began the trace itself.
    has_trace: bool,
    since: Instant,
    timeout: Option<Duration>,
}

impl Caller {
    /// The client of the request with this id, which begins now. A `traceparent` that does not follow W3C Trace Context is
    /// ignored. `timeout` is how long the client waits for its answer, if it says so.
    pub fn new(request_id: &str, traceparent: Option<&str>, timeout: Option<Duration>) -> Caller {
        let known = traceparent.filter(|text| is_traceparent(text));
        Caller {
            request_id: request_id.into(),
            traceparent: known.map(|text| text.to_owned().into()).unwrap_or_default(),
            has_trace: known.is_some(),
            since: Instant::now(),
            timeout,
        }
    }

    /// The request's id (`x-request-id`).
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The place in a trace that the client sent, in the form of W3C Trace Context.
    pub fn client_traceparent(&self) -> Option<&str> {
        self.has_trace.then(|| self.traceparent())
    }

    /// The place in a trace, in the form of W3C Trace Context. Where the client began no trace, one is made of the
    /// request's id.
    pub fn traceparent(&self) -> &str {
        self.traceparent.get_or_init(|| {
            let hash = Sha256::digest(self.request_id.as_bytes());
            let (trace, rest) =
                hash.split_first_chunk().map_or((0, &[][..]), |(t, r)| (u128::from_be_bytes(*t), r));
            let parent = rest.first_chunk().map_or(0, |parent| u64::from_be_bytes(*parent));
            format!("00-{trace:032x}-{parent:016x}-00")
        })
    }

    /// How long the client waits for its answer in all, if it says so.
    pub fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// What is left of that time.
    pub fn time_left(&self) -> Option<Duration> {
        self.timeout.map(|timeout| timeout.saturating_sub(self.since.elapsed()))
    }
}

/// Whether a text is a `traceparent` of W3C Trace Context, version 00.
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
