//! The events of an answer to a chat, as OpenAI's chunks.
//!
//! A call comes in one piece. The usage, which GigaChat tells beside the last choice, becomes a chunk of its own, if it was asked for. Notes on
//! functions of GigaChat's own that are at work (the role `function_in_progress`) are no part of the answer, and left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde_json::{Value as Json, json};

use super::{answer, call};
use crate::llm::client_format::{self, DONE};
use crate::llm::error::UpstreamError;
use crate::llm::protocol::{Output, openai};
use crate::llm::tool_form::ToolForm;
use base::events;
use base::outbound::Secrets;
use template::value::{RawObject, parse_json};

/// How many choices an answer may have: as many as OpenAI gives.
const CHOICES: usize = 128;

/// Turns an upstream's events into those that the client gets.
#[derive(Debug)]
pub struct Chunks {
    id: String,
    form: ToolForm,
    include_usage: bool,
    secrets: Arc<Secrets>,
    /// What was told of each choice, by its index.
    choices: BTreeMap<u64, Progress>,
    /// The chunk that brings the usage, once it is known.
    usage: Option<Json>,
}

/// What was told of a choice.
#[derive(Debug, Default)]
struct Progress {
    /// How many calls.
    calls: u64,
    /// Whether it has a `finish_reason`.
    is_finished: bool,
}

/// The stream reports an error; the event for the client.
struct Reported(Bytes);

impl Chunks {
    /// A translator for one stream. The client gets a usage only with `include_usage`, calls in its `form`, and errors with `secrets`
    /// redacted.
    pub fn new(include_usage: bool, form: ToolForm, secrets: Arc<Secrets>) -> Chunks {
        let (id, choices, usage) = (answer::new_id(), BTreeMap::new(), None);
        Chunks { id, form, include_usage, secrets, choices, usage }
    }

    /// See [`crate::llm::protocol::StreamTranslator::translate`].
    pub fn translate(&mut self, whole: &[u8]) -> Output {
        let mut out = BytesMut::with_capacity(whole.len());
        for event in events::split(whole) {
            let Some(data) = events::data(event) else {
                out.extend_from_slice(event);
                continue;
            };
            if data.trim_ascii() == b"[DONE]" {
                return self.done(out);
            }
            match self.event(&data) {
                Ok(chunk) => out.extend(chunk),
                Err(Reported(error)) => {
                    out.extend_from_slice(&error);
                    return Output::Error(out.freeze());
                }
            }
        }
        Output::More(out.freeze())
    }

    /// See [`crate::llm::protocol::StreamTranslator::end`].
    pub fn end(&mut self, rest: &[u8]) -> Result<Output, UpstreamError> {
        let mut last = BytesMut::new();
        // Some servers leave out the line ends after the last event.
        if let Some(data) = events::data(rest) {
            if data.trim_ascii() != b"[DONE]" && parse_json::<RawObject>(&data).is_err() {
                return Err(UpstreamError::unusable("it ends in the middle of an event"));
            }
            match self.translate(&[rest, b"\n\n"].concat()) {
                Output::More(bytes) => last.extend_from_slice(&bytes),
                end => return Ok(end),
            }
        }
        let is_finished = !self.choices.is_empty() && self.choices.values().all(|choice| choice.is_finished);
        match is_finished {
            true => Ok(self.done(last)),
            false => Err(UpstreamError::unusable("it ends before the answer is finished")),
        }
    }

    fn done(&mut self, mut out: BytesMut) -> Output {
        let usage = self.usage.take().filter(|_| self.include_usage);
        out.extend(usage.map(|chunk| event(&chunk)).unwrap_or_default());
        out.extend_from_slice(DONE.as_bytes());
        Output::Last(out.freeze())
    }

    /// The event for the client, or nothing.
    fn event(&mut self, data: &[u8]) -> Result<Bytes, Reported> {
        let unreadable =
            || Reported(error_event(&client_format::upstream_error("an event of its stream cannot be read")));
        let mut chunk: RawObject = parse_json(data).map_err(|_| unreadable())?;
        match chunk.find::<Vec<RawObject>>("choices") {
            None if chunk.get("usage").is_none() => {
                Err(Reported(error_event(&openai::error(data, &self.secrets).for_client)))
            }
            choices => self.chunk(&mut chunk, choices.unwrap_or_default()).map_err(|_| unreadable()),
        }
    }

    fn chunk(&mut self, chunk: &mut RawObject, choices: Vec<RawObject>) -> Result<Bytes, serde_json::Error> {
        let mut told = Vec::with_capacity(choices.len());
        for choice in choices {
            told.extend(self.choice(choice)?);
        }
        chunk.set("id", &self.id)?;
        chunk.set("object", "chat.completion.chunk")?;
        let usage = chunk.remove("usage").filter(|usage| usage.get() != "null");
        if let Some(usage) = usage {
            chunk.set("choices", &json!([]))?;
            let mut with_usage = serde_json::to_value(&*chunk)?;
            if let Some(members) = with_usage.as_object_mut() {
                members.insert("usage".to_owned(), answer::told_usage(parse_json(usage.get().as_bytes())?));
            }
            self.usage = Some(with_usage);
        }
        if told.is_empty() {
            return Ok(Bytes::new());
        }
        chunk.set("choices", &told)?;
        Ok(event(chunk))
    }

    /// A choice for the client; none if it only notes that a function of GigaChat's own is at work.
    fn choice(&mut self, mut choice: RawObject) -> Result<Option<RawObject>, serde_json::Error> {
        let mut delta: RawObject = choice.find("delta").unwrap_or_default();
        if delta.find::<String>("role").as_deref() == Some("function_in_progress") {
            return Ok(None);
        }
        let index = choice.find("index").unwrap_or_default();
        if self.choices.len() >= CHOICES && !self.choices.contains_key(&index) {
            return Err(serde::de::Error::custom(format!("there are more than {CHOICES} choices")));
        }
        let progress = self.choices.entry(index).or_default();
        if call::tell(&mut delta, self.form, Some(progress.calls))? {
            progress.calls += 1;
        }
        choice.set("delta", &delta)?;
        let reason: String = choice.find("finish_reason").unwrap_or_default();
        progress.is_finished = !reason.is_empty();
        choice.set("finish_reason", &call::finish_reason(&reason, self.form))?;
        Ok(Some(choice))
    }
}

fn event(chunk: &impl serde::Serialize) -> Bytes {
    // Written from what was read as JSON, it cannot fail.
    let json = serde_json::to_string(chunk).unwrap_or_default();
    format!("data: {json}\n\n").into()
}

fn error_event(error: &[u8]) -> Bytes {
    [b"data: ", error, b"\n\n"].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunks(include_usage: bool, form: ToolForm) -> Chunks {
        Chunks::new(include_usage, form, Arc::new(Secrets::new(["hidden-key-x"].into_iter())))
    }

    fn sent(choice: Json, usage: Option<Json>) -> String {
        let mut chunk =
            json!({"choices": [choice], "created": 7, "model": "GigaChat:1", "object": "chat.completion"});
        if let Some(usage) = usage {
            chunk["usage"] = usage;
        }
        format!("data: {chunk}\n\n")
    }

    fn text(text: &str) -> String {
        sent(json!({"delta": {"content": text, "role": "assistant"}, "index": 0}), None)
    }

    fn last() -> String {
        let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
        sent(json!({"delta": {"content": ""}, "index": 0, "finish_reason": "stop"}), Some(usage))
    }

    fn told(output: &Output) -> Vec<Json> {
        let (Output::More(bytes) | Output::Last(bytes) | Output::Error(bytes)) = output;
        let datas = events::split(bytes).filter_map(events::data);
        datas.filter_map(|data| serde_json::from_slice(&data).ok()).collect()
    }

    #[test]
    fn texts_come_in_chunks_of_one_id_and_the_usage_only_if_it_was_asked_for() {
        let all = text("a") + ": ping\n\n" + &text("b") + &last() + "data: [DONE]\n\n" + &text("c");
        for (include_usage, count) in [(true, 4), (false, 3)] {
            let output = chunks(include_usage, ToolForm::Tools).translate(all.as_bytes());
            assert!(matches!(&output, Output::Last(bytes) if bytes.ends_with(DONE.as_bytes())));
            let told = told(&output);
            assert_eq!(told.len(), count);
            assert!(
                told.iter()
                    .all(|chunk| chunk["id"] == told[0]["id"] && chunk["object"] == "chat.completion.chunk")
            );
            assert_eq!(told[0]["choices"][0]["finish_reason"], Json::Null);
            assert_eq!(told[2]["choices"][0]["finish_reason"], "stop");
            assert!(told[2].get("usage").is_none());
        }
        let output = chunks(true, ToolForm::Tools).translate(all.as_bytes());
        assert_eq!(
            (&told(&output)[3]["usage"]["total_tokens"], &told(&output)[3]["choices"]),
            (&json!(3), &json!([]))
        );
    }

    #[test]
    fn a_call_comes_in_one_piece_in_the_clients_form() {
        let delta = json!({"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": {"x": 1}}, "functions_state_id": "s-1"});
        let call = sent(json!({"delta": delta, "index": 0, "finish_reason": "function_call"}), None);
        let tools = told(&chunks(false, ToolForm::Tools).translate(call.as_bytes()));
        let choice = &tools[0]["choices"][0];
        assert_eq!(choice["finish_reason"], "tool_calls");
        let call_told = &choice["delta"]["tool_calls"][0];
        assert_eq!(
            (&call_told["index"], &call_told["function"]["arguments"]),
            (&json!(0), &json!("{\"x\":1}"))
        );
        assert_eq!(call::state_of(call_told["id"].as_str().unwrap()), Some("s-1"));
        let functions = told(&chunks(false, ToolForm::Functions).translate(call.as_bytes()));
        let choice = &functions[0]["choices"][0];
        assert_eq!(
            (&choice["finish_reason"], &choice["delta"]["function_call"]["arguments"]),
            (&json!("function_call"), &json!("{\"x\":1}"))
        );
    }

    #[test]
    fn choices_are_told_each_by_itself() {
        let call = |index: usize| {
            let delta = json!({"role": "assistant", "function_call": {"name": "f", "arguments": {}}});
            sent(json!({"delta": delta, "index": index, "finish_reason": "function_call"}), None)
        };
        let said = |index: usize| sent(json!({"delta": {"content": "a"}, "index": index}), None);
        let mut two = chunks(false, ToolForm::Tools);
        let told = told(&two.translate((said(1) + &call(0) + &call(1)).as_bytes()));
        for chunk in &told[1..] {
            assert_eq!(chunk["choices"][0]["delta"]["tool_calls"][0]["index"], 0);
        }
        assert!(two.end(b"").is_ok());
        // One of them breaks off, whichever came last.
        let mut one = chunks(false, ToolForm::Tools);
        one.translate((said(0) + &call(1)).as_bytes());
        assert!(one.end(b"").is_err());
        let many: String = (0..=CHOICES).map(said).collect();
        assert!(matches!(chunks(false, ToolForm::Tools).translate(many.as_bytes()), Output::Error(_)));
    }

    #[test]
    fn functions_of_gigachats_own_are_no_part_of_the_answer() {
        let note = sent(
            json!({"delta": {"role": "function_in_progress", "content": "30 s left"}, "index": 0}),
            None,
        );
        assert_eq!(chunks(false, ToolForm::Tools).translate(note.as_bytes()), Output::More(Bytes::new()));
    }

    #[test]
    fn an_error_is_the_last_event_and_tells_no_secret() {
        let error = text("a") + "data: {\"status\":500,\"message\":\"busy hidden-key-x\"}\n\n" + &text("b");
        let output = chunks(false, ToolForm::Tools).translate(error.as_bytes());
        assert!(matches!(output, Output::Error(_)));
        assert_eq!((told(&output).len(), &told(&output)[1]["error"]["message"]), (2, &json!("busy …")));
        let unreadable = chunks(false, ToolForm::Tools).translate(b"data: {\"choi\n\n");
        assert!(matches!(unreadable, Output::Error(_)));
    }

    #[test]
    fn a_stream_that_ends_without_its_last_event_is_good_only_when_the_answer_was_finished() {
        let ended = |before: &str, rest: &str| {
            let mut chunks = chunks(false, ToolForm::Tools);
            chunks.translate(before.as_bytes());
            chunks.end(rest.as_bytes())
        };
        assert_eq!(ended(&last(), "").unwrap(), Output::Last(DONE.into()));
        assert_eq!(ended(&text("a"), "data: [DONE]").unwrap(), Output::Last(DONE.into()));
        assert!(matches!(ended(&text("a"), last().trim_end()).unwrap(), Output::Last(_)));
        assert!(ended(&text("a"), "").is_err() && ended(&last(), "data: {\"choi").is_err());
    }
}
