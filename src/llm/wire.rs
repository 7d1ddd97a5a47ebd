//! What a client sees of an upstream's stream: every event, but for those that must change.

use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};
use memchr::memmem::{Finder, FinderRev};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::error::Cause;
use super::events;
use base::outbound::Secrets;

/// The event that ends a stream.
pub const DONE: &str = "data: [DONE]\n\n";

/// Words without which no event has to be looked at.
static MARKS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| {
    ["[DONE]", "\"usage\"", "\"error\""].map(|word| Finder::new(word.as_bytes()).into_owned())
});

/// A member that says how an answer ended, if it is no null. Inside of a text its quotes would be escaped.
static FINISHED: LazyLock<FinderRev<'static>> =
    LazyLock::new(|| FinderRev::new(b"\"finish_reason\"").into_owned());

/// Makes of an upstream's events those that the client gets.
#[derive(Debug)]
pub struct Wire {
    usage_asked: bool,
    /// What is struck out of an error that the upstream reports.
    secrets: Arc<Secrets>,
    /// Whether the last choice that was told of has said how it ended.
    finished: bool,
}

/// What the client gets of some events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Passed {
    /// These bytes; there is more to come.
    On(Bytes),
    /// These bytes, and that was all.
    Last(Bytes),
    /// These bytes, in which the upstream reports an error, and that was all.
    Failed(Bytes),
}

/// The members that decide about an event.
#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<IgnoredAny>>,
    usage: Option<IgnoredAny>,
    error: Option<Json>,
    object: Option<Json>,
}

/// What an event means for the stream.
enum Meaning {
    Plain,
    Usage,
    Error,
    /// The error itself, without the member `error` around it.
    BareError(Vec<u8>),
    Done,
}

impl Wire {
    /// The wire to a client that asked for the usage, or did not.
    pub fn new(usage_asked: bool, secrets: Arc<Secrets>) -> Wire {
        Wire { usage_asked, secrets, finished: false }
    }

    /// Passes whole events on: untouched, but for the end, which is always the same, and for a usage that nobody asked for.
    pub fn pass(&mut self, whole: Bytes) -> Passed {
        self.finished = says_how_it_ended(&whole).unwrap_or(self.finished);
        if MARKS.iter().all(|mark| mark.find(&whole).is_none()) {
            return Passed::On(whole);
        }
        let mut out = BytesMut::with_capacity(whole.len());
        for event in events::split(&whole) {
            match meaning(event) {
                Meaning::Usage if !self.usage_asked => {}
                Meaning::Plain | Meaning::Usage => out.extend_from_slice(event),
                // The upstream has said what went wrong; nothing is to be added.
                Meaning::Error => return self.failed(out, event),
                Meaning::BareError(data) => {
                    return self.failed(out, &[b"data: {\"error\":", &data[..], b"}\n\n"].concat());
                }
                Meaning::Done => {
                    out.extend_from_slice(DONE.as_bytes());
                    return Passed::Last(out.freeze());
                }
            }
        }
        Passed::On(out.freeze())
    }

    fn failed(&self, mut out: BytesMut, event: &[u8]) -> Passed {
        let told = self.secrets.redact(String::from_utf8_lossy(event).into_owned());
        out.extend_from_slice(told.as_bytes());
        Passed::Failed(out.freeze())
    }

    /// What the client gets when the upstream has closed an orderly stream, with `rest` after its last whole event.
    ///
    /// # Errors
    /// When the answer was not finished.
    pub fn end(&mut self, rest: &[u8]) -> Result<Passed, Cause> {
        let mut last = BytesMut::new();
        // Some leave out the line ends at the very end.
        if let Some(data) = events::data(rest) {
            let whole = data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<Chunk>(&data).is_ok();
            if !whole {
                return Err(Cause::unusable("it ends in the middle of an event"));
            }
            let event = [rest, b"\n\n"].concat();
            match self.pass(event.into()) {
                Passed::On(bytes) => last.extend_from_slice(&bytes),
                ended => return Ok(ended),
            }
        }
        if !self.finished {
            return Err(Cause::unusable("it ends before the answer is finished"));
        }
        last.extend_from_slice(DONE.as_bytes());
        Ok(Passed::Last(last.freeze()))
    }
}

/// Whether the last choice in these events has said how it ended; nothing if there are no choices.
fn says_how_it_ended(events: &[u8]) -> Option<bool> {
    let at = FINISHED.rfind(events)?;
    let after = events.get(at + FINISHED.needle().len()..)?.trim_ascii_start();
    Some(after.strip_prefix(b":")?.trim_ascii_start().starts_with(b"\""))
}

/// Whether a member `error` means one; the client libraries see it in the same way.
fn says_something(error: &Json) -> bool {
    match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Array(items) => !items.is_empty(),
        Json::Object(members) => !members.is_empty(),
        Json::Bool(true) | Json::Number(_) => true,
    }
}

fn meaning(event: &[u8]) -> Meaning {
    let Some(data) = events::data(event) else { return Meaning::Plain };
    if data.trim_ascii() == b"[DONE]" {
        return Meaning::Done;
    }
    match serde_json::from_slice::<Chunk>(&data) {
        Ok(Chunk { error: Some(error), .. }) if says_something(&error) => Meaning::Error,
        Ok(Chunk { object: Some(Json::String(object)), .. }) if object == "error" => Meaning::BareError(data),
        // Azure's first chunk has no choices either, but no usage.
        Ok(Chunk { choices, usage: Some(_), .. }) if choices.as_ref().is_none_or(Vec::is_empty) => {
            Meaning::Usage
        }
        _ => Meaning::Plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire(usage_asked: bool) -> Wire {
        Wire::new(usage_asked, Arc::new(Secrets::new(["sk-hidden-key"].into_iter())))
    }

    fn passed(usage_asked: bool, events: &str) -> Passed {
        wire(usage_asked).pass(Bytes::copy_from_slice(events.as_bytes()))
    }

    fn on(events: &str) -> Passed {
        Passed::On(Bytes::copy_from_slice(events.as_bytes()))
    }

    fn last(events: &str) -> Passed {
        Passed::Last(Bytes::copy_from_slice(events.as_bytes()))
    }

    const FIRST: &str = "data: {\"choices\":[],\"prompt_filter_results\":[]}\r\n\r\n";
    const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"[DONE] \\\"usage\\\" \\\"error\\\"\"}}],\"usage\":null}\n\n";
    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
    const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\": \"stop\"}]}\n\n";

    #[test]
    fn events_pass_untouched_and_a_usage_only_where_it_was_asked_for() {
        let all = [FIRST, ": ping\n\n", TEXT, USAGE].concat();
        assert_eq!(passed(true, &all), on(&all));
        assert_eq!(passed(false, &all), on(&[FIRST, ": ping\n\n", TEXT].concat()));
    }

    #[test]
    fn the_end_is_always_the_same_and_nothing_comes_after_it() {
        for done in ["data: [DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE] \r\r"] {
            assert_eq!(passed(false, &[TEXT, done, TEXT].concat()), last(&[TEXT, DONE].concat()));
        }
    }

    #[test]
    fn an_error_of_the_upstream_is_the_last_event() {
        let error = "data: {\"error\":{\"message\":\"bad key sk-hidden-key\"}}\n\n";
        let told = [TEXT, &error.replace("sk-hidden-key", "…")].concat();
        assert_eq!(passed(false, &[TEXT, error, DONE].concat()), Passed::Failed(told.into()));
        let bare = "data: {\"object\":\"error\",\"message\":\"busy\"}\n\n";
        let told = "data: {\"error\":{\"object\":\"error\",\"message\":\"busy\"}}\n\n";
        assert_eq!(passed(false, bare), Passed::Failed(told.into()));
        for none in ["null", "\"\"", "false", "{}", "[]"] {
            let none = format!("data: {{\"error\":{none},\"choices\":[{{}}]}}\n\n");
            assert_eq!(passed(false, &none), on(&none));
        }
        assert_eq!(passed(false, "data: {\"usage\":{\"total_tokens\":1}}\n\n"), on(""));
    }

    #[test]
    fn a_stream_that_ends_without_its_last_event_is_good_only_when_the_answer_was_finished() {
        let ended = |before: &str, rest: &str| {
            let mut wire = wire(false);
            wire.pass(Bytes::copy_from_slice(before.as_bytes()));
            wire.end(rest.as_bytes())
        };
        assert_eq!(ended(END, "").unwrap(), last(DONE));
        assert_eq!(ended(TEXT, "data: [DONE]").unwrap(), last(DONE));
        assert_eq!(ended(TEXT, END.trim_end()).unwrap(), last(&[END, DONE].concat()));
        assert!(ended(TEXT, "").is_err());
        assert!(ended(END, "data: {\"choi").is_err());
        let quoted = "data: {\"choices\":[{\"delta\":{\"content\":\"\\\"finish_reason\\\":\\\"stop\\\"\"},\"finish_reason\":null}]}\n\n";
        assert!(ended(quoted, "").is_err());
        let other =
            "data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"b\"},\"finish_reason\":null}]}\n\n";
        assert!(ended(&[END, other].concat(), "").is_err());
    }
}
