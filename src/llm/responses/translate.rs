//! Answers of chat completions, whole or in chunks, as responses.
//!
//! A whole answer goes the same way as a stream, as one long chunk, so that both give the same response.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde_json::{Value as Json, json};

use super::kept::KeptItems;
use super::output::Output;
use super::request::ResponseRequest;
use super::response::{Response, Status};
use crate::llm::message::{self, Message, TextKind};
use template::value::RawObject;

/// What is read of an answer at a time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Whole,
    Chunk,
}

impl Piece {
    /// Where a choice says what is new.
    fn member(self) -> &'static str {
        match self {
            Piece::Whole => "message",
            Piece::Chunk => "delta",
        }
    }
}

/// Turns the chunks of a chat completion into the events of a response.
#[derive(Debug)]
pub struct ResponseWriter {
    response: Response,
    output: Output,
    sequence: u64,
    /// The number of the choice that is told: the first one that the upstream has sent anything of.
    choice: Option<u64>,
    finish: Option<Status>,
    usage: Option<Json>,
    /// Where the items of the answer are kept for requests that refer to them.
    kept: Option<Arc<KeptItems>>,
}

impl ResponseWriter {
    /// A writer of the response to `request`, whose items are kept unless it says otherwise (`store`: false).
    pub fn new(request: &ResponseRequest, kept: &Arc<KeptItems>) -> ResponseWriter {
        let keeps = request.payload.get("store").is_none_or(|store| store.get() != "false");
        ResponseWriter {
            response: Response::to(request),
            output: Output::default(),
            sequence: 0,
            choice: None,
            finish: None,
            usage: None,
            kept: keeps.then(|| kept.clone()),
        }
    }

    /// The response to a whole chat completion.
    pub fn whole(mut self, completion: &RawObject) -> Json {
        self.read(completion, Piece::Whole, &mut |_, _| {});
        self.end(&mut |_, _| {})
    }

    /// The bytes of the answer that are kept for the last event.
    pub fn bytes(&self) -> usize {
        self.output.bytes()
    }

    /// The events for a chunk.
    pub fn chunk(&mut self, chunk: &RawObject) -> Bytes {
        self.events(|writer, tell| writer.read(chunk, Piece::Chunk, tell))
    }

    /// The last events.
    pub fn last(&mut self) -> Bytes {
        if self.choice.is_none() {
            let error = json!({"type": "upstream_error", "code": "llm_unavailable", "message": "the upstream's stream ended without an answer"});
            return self.error(&error);
        }
        self.events(|writer, tell| {
            let response = writer.end(tell);
            let kind = match response.get("status").and_then(Json::as_str) {
                Some("incomplete") => "response.incomplete",
                _ => "response.completed",
            };
            tell(kind, json!({"response": response}));
        })
    }

    /// The event that tells of an error and ends the stream.
    pub fn error(&mut self, error: &Json) -> Bytes {
        self.events(|_, tell| tell("error", error_members(error)))
    }

    /// Numbers and writes the events that `work` tells.
    fn events(
        &mut self,
        work: impl FnOnce(&mut ResponseWriter, &mut dyn FnMut(&'static str, Json)),
    ) -> Bytes {
        let mut out = BytesMut::new();
        let mut sequence = self.sequence;
        work(self, &mut |kind, members| {
            out.extend_from_slice(&event(kind, sequence, members));
            sequence += 1;
        });
        self.sequence = sequence;
        out.freeze()
    }

    /// Reads a chunk, or a whole answer. Of several choices, one counts.
    fn read(&mut self, chunk: &RawObject, piece: Piece, tell: &mut dyn FnMut(&'static str, Json)) {
        if let Some(usage) = chunk.find("usage").filter(Json::is_object) {
            self.usage = Some(usage);
        }
        let is_told = |choice: &RawObject| self.choice.is_none_or(|told| told == number_of(choice));
        // Azure's first chunk has no choices, and an empty id.
        let Some(choice) = message::choice(chunk, is_told) else { return };
        if self.choice.is_none() {
            self.choice = Some(number_of(&choice));
            self.response.begin(chunk);
            let response = self.response.object(Status::InProgress, Vec::new(), None);
            tell("response.created", json!({"response": response}));
            tell("response.in_progress", json!({"response": response}));
        }
        self.message(&choice, piece, tell);
        let reason: Option<String> = choice.find("finish_reason");
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.finish = Some(Status::of_finish_reason(&reason));
        }
    }

    fn message(&mut self, choice: &RawObject, piece: Piece, tell: &mut dyn FnMut(&'static str, Json)) {
        let Some(message) = Message::find(choice, piece.member()) else { return };
        let ResponseWriter { response, output, .. } = self;
        let logprobs = choice.find("logprobs").and_then(|logprobs: RawObject| logprobs.find("content"));
        let mut logprobs: Vec<Json> = logprobs.unwrap_or_default();
        for (kind, text) in message.texts {
            // They are those of the whole text, however many parts it has.
            let its = if kind == TextKind::Output { std::mem::take(&mut logprobs) } else { Vec::new() };
            output.text(response, kind, &text, &its, tell);
        }
        for (at, mut call) in message.calls.into_iter().enumerate() {
            if piece == Piece::Whole {
                // Some servers give all calls the same number.
                call.number = at as u64;
            }
            output.call(response, &call, tell);
        }
    }

    /// Closes everything, and gives the whole response.
    fn end(&mut self, tell: &mut dyn FnMut(&'static str, Json)) -> Json {
        let status = self.finish.unwrap_or(Status::Completed);
        self.output.end(&self.response, status, tell);
        if let Some(kept) = &self.kept {
            kept.keep(self.output.items());
        }
        self.response.object(status, self.output.items().to_vec(), self.usage.as_ref())
    }
}

fn number_of(choice: &RawObject) -> u64 {
    choice.find("index").unwrap_or_default()
}

/// The members of the event `error`: those that OpenAI documents, and the error itself, for which client libraries look. Upstreams
/// write errors in many ways; clients read these members as texts.
fn error_members(error: &Json) -> Json {
    let text = |name: &str| error.get(name).and_then(Json::as_str);
    let message = text("message").or(error.as_str()).map_or_else(|| error.to_string(), str::to_owned);
    let code = match error.get("code") {
        Some(Json::String(code)) => Some(code.clone()),
        Some(Json::Number(code)) => Some(code.to_string()),
        _ => None,
    };
    let mut whole = error.as_object().cloned().unwrap_or_default();
    whole.insert("type".to_owned(), text("type").unwrap_or("upstream_error").into());
    for (name, member) in
        [("code", json!(code)), ("message", json!(message)), ("param", json!(text("param")))]
    {
        whole.insert(name.to_owned(), member);
    }
    json!({"code": code, "message": message, "param": text("param"), "error": whole})
}

/// The event that tells of an error outside of the model's answer, with its number in the stream.
pub fn error_event(error: &Json, sequence: u64) -> Bytes {
    event("error", sequence, error_members(error))
}

fn event(kind: &str, sequence: u64, members: Json) -> Bytes {
    let mut data = serde_json::Map::new();
    data.insert("type".to_owned(), kind.into());
    data.insert("sequence_number".to_owned(), sequence.into());
    if let Json::Object(members) = members {
        data.extend(members);
    }
    format!("event: {kind}\ndata: {}\n\n", Json::Object(data)).into()
}
