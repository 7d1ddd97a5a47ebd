//! A chat completion put together from the chunks of its stream.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::completion::{Choice, Completion, FinishReason, Usage};
use super::error::{LlmError, UpstreamError};
use super::lenient;
use super::message::{self, CallPiece, Message, TextKind};
use super::protocol::named_calls;
use super::structured::FUNCTION;
use base::events;
use base::memory::Reservation;
use template::value::{RawObject, parse_json};

/// The first choice of a streamed chat completion, as far as it has come.
#[derive(Debug)]
pub struct Collector {
    text: String,
    refusal: String,
    calls: BTreeMap<u64, CallPiece>,
    /// The number of the call whose arguments are a value that was asked for.
    value_call: Option<u64>,
    finish_reason: Option<FinishReason>,
    usage: Usage,
    /// Whether a chunk brought something of the choice.
    has_choice: bool,
    /// The most bytes of all texts together.
    limit: usize,
    held: Reservation,
}

/// What some events added to an answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// To what the model says.
    pub text: String,
    /// To the arguments of the function that carries a value ([`FUNCTION`]).
    pub arguments: String,
}

impl Collector {
    /// An answer of which nothing has come yet; it may have `limit` bytes, which `held` covers.
    pub(super) fn new(limit: usize, held: Reservation) -> Collector {
        Collector {
            text: String::new(),
            refusal: String::new(),
            calls: BTreeMap::new(),
            value_call: None,
            finish_reason: None,
            usage: Usage::default(),
            has_choice: false,
            limit,
            held,
        }
    }

    /// Adds complete events, in OpenAI's format.
    ///
    /// # Errors
    /// [`LlmError::Interrupted`] if they report an error, or if the answer gets too long.
    pub fn push(&mut self, events: &[u8]) -> Result<Added, LlmError> {
        let mut added = Added::default();
        for data in events::split(events).filter_map(events::data) {
            // What is no JSON, such as the mark at the end, says nothing.
            let Ok(chunk) = parse_json::<RawObject>(&data) else { continue };
            self.chunk(&chunk, &mut added)?;
        }
        let bytes = self.bytes();
        if bytes > self.limit {
            return Err(interrupted("it is too long (llm.answer_bytes)".to_owned()));
        }
        self.held.resize(bytes).map_err(|error| interrupted(error.to_string()))?;
        Ok(added)
    }

    fn chunk(&mut self, chunk: &RawObject, added: &mut Added) -> Result<(), LlmError> {
        let choice = message::choice(chunk, |choice| choice.find::<u64>("index").unwrap_or(0) == 0);
        let error = chunk.find("error").or_else(|| choice.as_ref()?.find::<RawObject>("error"));
        if let Some(error) = error {
            let message = error.find("message").unwrap_or_else(|| "it gave no reason".to_owned());
            return Err(LlmError::Interrupted(UpstreamError::Reported { message }));
        }
        if let Some(usage) = lenient::find(chunk, "usage") {
            self.usage = usage;
        }
        let Some(choice) = choice else { return Ok(()) };
        self.has_choice = true;
        if let Some(delta) = Message::find(&choice, "delta") {
            self.delta(delta, added);
        }
        let finish_reason = choice.find("finish_reason").and_then(FinishReason::read);
        self.finish_reason = finish_reason.or(self.finish_reason.take());
        Ok(())
    }

    fn delta(&mut self, delta: Message, added: &mut Added) {
        for (kind, text) in delta.texts {
            match kind {
                TextKind::Output => {
                    self.text.push_str(&text);
                    added.text.push_str(&text);
                }
                TextKind::Refusal => self.refusal.push_str(&text),
                TextKind::Reasoning => {}
            }
        }
        for piece in delta.calls {
            self.call(piece, added);
        }
    }

    fn call(&mut self, piece: CallPiece, added: &mut Added) {
        let number = piece.number;
        if self.value_call == Some(number) {
            added.arguments.push_str(&piece.arguments);
        }
        let call = match self.calls.entry(number) {
            Entry::Occupied(entry) => {
                let call = entry.into_mut();
                call.name.push_str(&piece.name);
                call.arguments.push_str(&piece.arguments);
                call
            }
            Entry::Vacant(entry) => entry.insert(piece),
        };
        // The name may come in pieces, too.
        if self.value_call.is_none() && call.name == FUNCTION {
            self.value_call = Some(number);
            added.arguments.push_str(&call.arguments);
        }
    }

    fn bytes(&self) -> usize {
        let of_call = |call: &CallPiece| call.id.len() + call.name.len() + call.arguments.len() + CALL_BYTES;
        self.text.len() + self.refusal.len() + self.calls.values().map(of_call).sum::<usize>()
    }

    /// The whole answer.
    ///
    /// # Errors
    /// [`LlmError::Interrupted`] if it has no choice.
    pub fn completion(self) -> Result<Completion, LlmError> {
        if !self.has_choice {
            return Err(interrupted("it has no choices".to_owned()));
        }
        let refusal = Some(self.refusal).filter(|refusal| !refusal.is_empty());
        let tool_calls = named_calls(self.calls.into_values().collect());
        let choice = Choice { text: self.text, tool_calls, refusal, finish_reason: self.finish_reason };
        Ok(Completion { choices: vec![choice], usage: self.usage })
    }
}

/// What a call costs beside its texts, in bytes: a stream of many empty ones is bounded, too.
const CALL_BYTES: usize = 100;

fn interrupted(message: String) -> LlmError {
    LlmError::Interrupted(UpstreamError::Unusable { message })
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::memory::Memory;
    use serde_json::{Value as Json, json};

    fn collector(limit: usize) -> Collector {
        Collector::new(limit, Memory::new(1 << 20).reservation())
    }

    fn event(chunk: &Json) -> String {
        format!("data: {chunk}\n\n")
    }

    fn delta(delta: Json) -> String {
        event(&json!({"choices": [{"index": 0, "delta": delta}]}))
    }

    fn call(number: u64, name: Option<&str>, arguments: &str) -> String {
        let function = json!({"name": name, "arguments": arguments});
        delta(json!({"tool_calls": [{"index": number, "id": "c", "function": function}]}))
    }

    #[test]
    fn texts_and_calls_grow_piece_by_piece() {
        let mut collector = collector(1_000);
        let first =
            collector.push((delta(json!({"content": "a"})) + &delta(json!({"content": "b"}))).as_bytes());
        assert_eq!(first.unwrap(), Added { text: "ab".into(), arguments: String::new() });
        let pieces = call(0, Some("f"), "{\"x\"") + &call(0, None, ":1}");
        assert_eq!(collector.push(pieces.as_bytes()).unwrap(), Added::default());
        let end = event(&json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}));
        let usage = event(&json!({"choices": [], "usage": {"total_tokens": 3}}));
        collector.push((end + &usage + "data: [DONE]\n\n").as_bytes()).unwrap();
        let Completion { choices, usage } = collector.completion().unwrap();
        assert_eq!((choices[0].text.as_str(), usage.total_tokens), ("ab", Some(3)));
        assert_eq!(choices[0].tool_calls[0].arguments, "{\"x\":1}");
        assert_eq!(choices[0].finish_reason, Some(FinishReason::ToolCalls));
    }

    #[test]
    fn the_arguments_of_the_function_that_carries_a_value_are_told_as_they_come() {
        let mut collector = collector(1_000);
        let mut added = |piece: String| collector.push(piece.as_bytes()).unwrap().arguments;
        assert_eq!(added(call(0, Some("other"), "{\"o\":1}")), "");
        assert_eq!(added(call(1, Some("generate_"), "{")), "");
        assert_eq!(added(call(1, Some("response"), "\"a\":")), "{\"a\":");
        assert_eq!(added(call(0, None, " ") + &call(1, None, "1}")), "1}");
        assert_eq!(added(call(2, Some("generate_response"), "{}")), "");
    }

    #[test]
    fn an_error_and_too_long_an_answer_end_it() {
        let error = collector(10).push(event(&json!({"error": {"message": "busy"}})).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("busy"), "{error}");
        let error = collector(3).push(delta(json!({"content": "long"})).as_bytes()).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
    }

    #[test]
    fn a_stream_without_a_choice_is_no_answer() {
        let usage = event(&json!({"choices": [], "usage": {"total_tokens": 3}}));
        let other = event(&json!({"choices": [{"index": 1, "delta": {"content": "a"}}]}));
        for none in ["data: [DONE]\n\n", usage.as_str(), other.as_str(), ""] {
            let mut collector = collector(1_000);
            collector.push(none.as_bytes()).unwrap();
            let error = collector.completion().unwrap_err();
            assert!(
                matches!(&error, LlmError::Interrupted(UpstreamError::Unusable { .. })),
                "{none}: {error}"
            );
        }
        let mut collector = collector(1_000);
        collector
            .push(event(&json!({"choices": [{"delta": {}, "finish_reason": "stop"}]})).as_bytes())
            .unwrap();
        assert_eq!(collector.completion().unwrap().choices[0].text, "");
    }
}
