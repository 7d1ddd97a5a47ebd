//! For whom a request is handled: what joins the logs of all who work on it.

use std::sync::OnceLock;

use sha2::{Digest, Sha256};

/// For whom something is done: goes on to whatever is called for a request, so that the logs of all can be joined.
#[derive(Debug, Clone, Default)]
pub struct Trace {
    request_id: String,
    traceparent: OnceLock<String>,
    /// Whether the place in a trace is the client's own.
    brought: bool,
}

impl Trace {
    /// A request of this id, and the client's place in a trace, if that is one by W3C Trace Context.
    pub fn new(request_id: String, traceparent: Option<&str>) -> Trace {
        let known = traceparent.filter(|text| is_traceparent(text));
        let brought = known.is_some();
        Trace {
            request_id,
            traceparent: known.map(|text| text.to_owned().into()).unwrap_or_default(),
            brought,
        }
    }

    /// The request's id.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The place in a trace that the client brought, in the form of W3C Trace Context.
    pub fn brought(&self) -> Option<&str> {
        self.brought.then(|| self.traceparent())
    }

    /// The place in a trace, in the form of W3C Trace Context. Where the client began no trace, one is made of the
    /// request's id.
    pub fn traceparent(&self) -> &str {
        self.traceparent.get_or_init(|| {
            let hash = Sha256::digest(&self.request_id);
            let (trace, rest) =
                hash.split_first_chunk().map_or((0, &[][..]), |(t, r)| (u128::from_be_bytes(*t), r));
            let parent = rest.first_chunk().map_or(0, |parent| u64::from_be_bytes(*parent));
            format!("00-{trace:032x}-{parent:016x}-00")
        })
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
        let trace = Trace::new("abc".into(), Some("nonsense"));
        assert!(trace.request_id() == "abc" && is_traceparent(trace.traceparent()), "{trace:?}");
        for text in ["", "00-0-0-00", "00-00000000000000000000000000000000-00f067aa0ba902b7-00"] {
            assert!(!is_traceparent(text), "{text}");
        }
    }
}
