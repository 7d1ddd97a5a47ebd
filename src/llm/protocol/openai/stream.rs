//! The events of a stream: they pass as they were written, but for the few that have to change.
//!
//! What the client gets is regular whatever the upstream does:
//!
//! - The last event is `data: [DONE]`, always written in the same way. A stream that ends without it counts as complete if the
//!   last choice has a `finish_reason`.
//! - An event in which the upstream reports an error is the last one. Secrets in it are redacted.
//! - A chunk without choices is left out if it brings a usage that the client did not ask for.
//! - Everything else passes untouched, comments too. Events are read only if they hold one of a few words ([`MARKS`]).

use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};
use memchr::memmem::{Finder, FinderRev};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value as Json;

use super::error::is_error;
use crate::llm::client_format::DONE;
use crate::llm::error::UpstreamError;
use crate::llm::protocol::Output;
use base::events;
use base::outbound::Secrets;

/// An event without any of these words passes without being read.
static MARKS: LazyLock<[Finder<'static>; 3]> = LazyLock::new(|| {
    ["[DONE]", "\"usage\"", "\"error\""].map(|word| Finder::new(word.as_bytes()).into_owned())
});

/// The name of the member that says why an answer ended. Inside of a text its quotes would be escaped.
static FINISH_REASON: LazyLock<FinderRev<'static>> =
    LazyLock::new(|| FinderRev::new(b"\"finish_reason\"").into_owned());

/// Turns an upstream's events into those that the client gets.
#[derive(Debug)]
pub struct EventFilter {
    include_usage: bool,
    secrets: Arc<Secrets>,
    /// Whether the last choice so far has a `finish_reason`.
    is_finished: bool,
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
    /// The data are the error itself, without the member `error` around it.
    BareError(Vec<u8>),
    Done,
}

impl EventFilter {
    /// A filter for one stream. The client gets a usage only with `include_usage`, and errors with `secrets` redacted.
    pub fn new(include_usage: bool, secrets: Arc<Secrets>) -> EventFilter {
        EventFilter { include_usage, secrets, is_finished: false }
    }

    /// See [`crate::llm::protocol::StreamTranslator::translate`].
    pub fn translate(&mut self, whole: Bytes) -> Output {
        self.is_finished = ends_finished(&whole).unwrap_or(self.is_finished);
        if !has_mark(&whole) {
            return Output::More(whole);
        }
        let mut out = BytesMut::with_capacity(whole.len());
        for event in events::split(&whole) {
            let meaning = if has_mark(event) { meaning(event) } else { Meaning::Plain };
            match meaning {
                Meaning::Usage if !self.include_usage => {}
                Meaning::Plain | Meaning::Usage => out.extend_from_slice(event),
                // The upstream has said what is wrong; nothing is added to it.
                Meaning::Error => return self.error(out, event),
                Meaning::BareError(data) => {
                    return self.error(out, &[b"data: {\"error\":", &data[..], b"}\n\n"].concat());
                }
                Meaning::Done => {
                    out.extend_from_slice(DONE.as_bytes());
                    return Output::Last(out.freeze());
                }
            }
        }
        Output::More(out.freeze())
    }

    fn error(&self, mut out: BytesMut, event: &[u8]) -> Output {
        let redacted = self.secrets.redact(String::from_utf8_lossy(event).into_owned());
        out.extend_from_slice(redacted.as_bytes());
        Output::Error(out.freeze())
    }

    /// See [`crate::llm::protocol::StreamTranslator::end`].
    pub fn end(&mut self, rest: &[u8]) -> Result<Output, UpstreamError> {
        let mut last = BytesMut::new();
        // Some servers leave out the line ends after the last event.
        if let Some(data) = events::data(rest) {
            let is_whole = data.trim_ascii() == b"[DONE]" || serde_json::from_slice::<Chunk>(&data).is_ok();
            if !is_whole {
                return Err(UpstreamError::unusable("it ends in the middle of an event"));
            }
            let event = [rest, b"\n\n"].concat();
            match self.translate(event.into()) {
                Output::More(bytes) => last.extend_from_slice(&bytes),
                end => return Ok(end),
            }
        }
        if !self.is_finished {
            return Err(UpstreamError::unusable("it ends before the answer is finished"));
        }
        last.extend_from_slice(DONE.as_bytes());
        Ok(Output::Last(last.freeze()))
    }
}

/// Whether events have to be read.
fn has_mark(events: &[u8]) -> bool {
    MARKS.iter().any(|mark| mark.find(events).is_some())
}

/// Whether the last choice in these events has a `finish_reason`; `None` if there are no choices.
fn ends_finished(events: &[u8]) -> Option<bool> {
    let at = FINISH_REASON.rfind(events)?;
    let after = events.get(at + FINISH_REASON.needle().len()..)?.trim_ascii_start();
    Some(after.strip_prefix(b":")?.trim_ascii_start().starts_with(b"\""))
}

fn meaning(event: &[u8]) -> Meaning {
    let Some(data) = events::data(event) else { return Meaning::Plain };
    if data.trim_ascii() == b"[DONE]" {
        return Meaning::Done;
    }
    match serde_json::from_slice::<Chunk>(&data) {
        Ok(Chunk { error: Some(error), .. }) if is_error(&error) => Meaning::Error,
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

    fn filter(include_usage: bool) -> EventFilter {
        EventFilter::new(include_usage, Arc::new(Secrets::new(["sk-hidden-key"].into_iter())))
    }

    fn translated(include_usage: bool, events: &str) -> Output {
        filter(include_usage).translate(Bytes::copy_from_slice(events.as_bytes()))
    }

    fn more(events: &str) -> Output {
        Output::More(Bytes::copy_from_slice(events.as_bytes()))
    }

    fn last(events: &str) -> Output {
        Output::Last(Bytes::copy_from_slice(events.as_bytes()))
    }

    const FIRST: &str = "data: {\"choices\":[],\"prompt_filter_results\":[]}\r\n\r\n";
    const TEXT: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"[DONE] \\\"usage\\\" \\\"error\\\"\"}}],\"usage\":null}\n\n";
    const USAGE: &str = "data: {\"choices\":[],\"usage\":{\"total_tokens\":3}}\n\n";
    const END: &str = "data: {\"choices\":[{\"delta\":{},\"finish_reason\": \"stop\"}]}\n\n";

    #[test]
    fn events_pass_untouched_and_a_usage_only_where_it_was_asked_for() {
        let all = [FIRST, ": ping\n\n", TEXT, USAGE].concat();
        assert_eq!(translated(true, &all), more(&all));
        assert_eq!(translated(false, &all), more(&[FIRST, ": ping\n\n", TEXT].concat()));
    }

    #[test]
    fn the_end_is_always_the_same_and_nothing_comes_after_it() {
        for done in ["data: [DONE]\n\n", "data:[DONE]\r\n\r\n", "data: [DONE] \r\r"] {
            assert_eq!(translated(false, &[TEXT, done, TEXT].concat()), last(&[TEXT, DONE].concat()));
        }
    }

    #[test]
    fn an_error_of_the_upstream_is_the_last_event() {
        let error = "data: {\"error\":{\"message\":\"bad key sk-hidden-key\"}}\n\n";
        let told = [TEXT, &error.replace("sk-hidden-key", "…")].concat();
        assert_eq!(translated(false, &[TEXT, error, DONE].concat()), Output::Error(told.into()));
        let bare = "data: {\"object\":\"error\",\"message\":\"busy\"}\n\n";
        let told = "data: {\"error\":{\"object\":\"error\",\"message\":\"busy\"}}\n\n";
        assert_eq!(translated(false, bare), Output::Error(told.into()));
        for none in ["null", "\"\"", "false", "{}", "[]"] {
            let none = format!("data: {{\"error\":{none},\"choices\":[{{}}]}}\n\n");
            assert_eq!(translated(false, &none), more(&none));
        }
        assert_eq!(translated(false, "data: {\"usage\":{\"total_tokens\":1}}\n\n"), more(""));
    }

    #[test]
    fn a_stream_that_ends_without_its_last_event_is_good_only_when_the_answer_was_finished() {
        let ended = |before: &str, rest: &str| {
            let mut filter = filter(false);
            filter.translate(Bytes::copy_from_slice(before.as_bytes()));
            filter.end(rest.as_bytes())
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
