//! Answers of an upstream's own Responses API: they pass byte by byte, and only their end is looked for.

use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};
use memchr::memmem::Finder;
use serde::Deserialize;

use crate::llm::error::UpstreamError;
use crate::llm::protocol::Output;
use base::events;
use base::outbound::Secrets;

/// Whether a whole body is a response.
///
/// # Errors
/// [`UpstreamError::Unusable`]: a server that does not know the API may answer anything.
pub fn answer(body: Bytes) -> Result<Bytes, UpstreamError> {
    #[derive(Deserialize)]
    struct Object {
        object: String,
    }
    match serde_json::from_slice::<Object>(&body) {
        Ok(Object { object }) if object == "response" => Ok(body),
        _ => Err(UpstreamError::unusable("it is not a response")),
    }
}

/// An event without any of these words passes without being read.
static MARKS: LazyLock<[Finder<'static>; 4]> = LazyLock::new(|| {
    ["\"response.completed\"", "\"response.incomplete\"", "\"response.failed\"", "\"error\""]
        .map(|word| Finder::new(word.as_bytes()).into_owned())
});

/// Passes the events of a response, up to the one that ends it.
#[derive(Debug)]
pub struct ResponseEvents {
    secrets: Arc<Secrets>,
}

/// What an event means for the stream.
enum Meaning {
    Plain,
    Last,
    Error,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: Option<String>,
    error: Option<serde_json::Value>,
}

impl ResponseEvents {
    /// A filter for one stream; errors in it have `secrets` redacted.
    pub fn new(secrets: Arc<Secrets>) -> ResponseEvents {
        ResponseEvents { secrets }
    }

    /// See [`crate::llm::protocol::StreamTranslator::translate`].
    pub fn translate(&mut self, whole: Bytes) -> Output {
        if !has_mark(&whole) {
            return Output::More(whole);
        }
        let mut out = BytesMut::with_capacity(whole.len());
        for event in events::split(&whole) {
            match meaning(event) {
                Meaning::Plain => out.extend_from_slice(event),
                Meaning::Last => {
                    out.extend_from_slice(event);
                    return Output::Last(out.freeze());
                }
                Meaning::Error => {
                    let text = self.secrets.redact(String::from_utf8_lossy(event).into_owned());
                    out.extend_from_slice(text.as_bytes());
                    return Output::Error(out.freeze());
                }
            }
        }
        Output::More(out.freeze())
    }

    /// See [`crate::llm::protocol::StreamTranslator::end`].
    pub fn end(&mut self, rest: &[u8]) -> Result<Output, UpstreamError> {
        // Some servers leave out the line ends after the last event.
        match self.translate([rest, b"\n\n"].concat().into()) {
            Output::More(_) => Err(UpstreamError::unusable("it ends before the answer is finished")),
            end => Ok(end),
        }
    }
}

fn has_mark(events: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.find(events).is_some())
}

fn meaning(event: &[u8]) -> Meaning {
    if !has_mark(event) {
        return Meaning::Plain;
    }
    let read = events::data(event).and_then(|data| serde_json::from_slice::<Event>(&data).ok());
    let Some(Event { kind, error }) = read else { return Meaning::Plain };
    match kind.as_deref() {
        Some("response.completed" | "response.incomplete") => Meaning::Last,
        Some("response.failed" | "error") => Meaning::Error,
        None if error.as_ref().is_some_and(super::error::is_error) => Meaning::Error,
        _ => Meaning::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DELTA: &str = "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"the \\\"error\\\" is \\\"response.completed\\\"\"}\n\n";
    const LAST: &str = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null}}\n\n";

    fn filter() -> ResponseEvents {
        ResponseEvents::new(Arc::new(Secrets::new(["sk-hidden-key"].into_iter())))
    }

    fn bytes(text: &str) -> Bytes {
        Bytes::copy_from_slice(text.as_bytes())
    }

    #[test]
    fn events_pass_up_to_the_last_one() {
        assert_eq!(filter().translate(bytes(DELTA)), Output::More(bytes(DELTA)));
        let all = [DELTA, LAST].concat();
        assert_eq!(filter().translate(bytes(&[&all, DELTA].concat())), Output::Last(bytes(&all)));
        assert_eq!(filter().end(LAST.trim_end().as_bytes()).unwrap(), Output::Last(bytes(LAST)));
        assert!(filter().end(b"").is_err() && filter().end(DELTA.as_bytes()).is_err());
    }

    #[test]
    fn an_error_is_the_last_event_and_tells_no_secret() {
        for kind in ["error", "response.failed"] {
            let event = format!("data: {{\"type\":\"{kind}\",\"message\":\"bad key sk-hidden-key\"}}\n\n");
            let told = bytes(&event.replace("sk-hidden-key", "…"));
            assert_eq!(filter().translate(bytes(&[&event, LAST].concat())), Output::Error(told));
        }
        let bare = "data: {\"error\":{\"message\":\"busy\"}}\n\n";
        assert_eq!(filter().translate(bytes(bare)), Output::Error(bytes(bare)));
    }

    #[test]
    fn only_a_response_is_an_answer() {
        assert!(answer(bytes(r#"{"id":"r","object":"response"}"#)).is_ok());
        for other in ["", "[]", r#"{"object":"chat.completion"}"#, "{}", "<html>"] {
            assert!(answer(bytes(other)).is_err(), "{other}");
        }
    }
}
