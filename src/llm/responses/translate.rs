//! Answers of chat completions, whole or in chunks, as responses.
//!
//! A whole answer goes the same way as a stream, as one long chunk, so that both give the same response.

use bytes::{Bytes, BytesMut};
use serde_json::{Value as Json, json};

use super::output::{Output, TextKind};
use super::request::ResponseRequest;
use super::response::{Response, Status};

/// Where servers put the thoughts of a model (DeepSeek, vLLM and llama.cpp; OpenRouter).
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Turns the chunks of a chat completion into the events of a response.
#[derive(Debug)]
pub struct ResponseWriter {
    response: Response,
    output: Output,
    sequence: u64,
    has_begun: bool,
    finish: Option<Status>,
    usage: Option<Json>,
}

impl ResponseWriter {
    /// A writer of the response to `request`.
    pub fn new(request: &ResponseRequest) -> ResponseWriter {
        ResponseWriter {
            response: Response::to(request),
            output: Output::default(),
            sequence: 0,
            has_begun: false,
            finish: None,
            usage: None,
        }
    }

    /// The response to a whole chat completion.
    pub fn whole(mut self, completion: &Json) -> Json {
        self.read(completion, "message", &mut |_, _| {});
        self.end(&mut |_, _| {})
    }

    /// The bytes of the answer that are kept for the last event.
    pub fn bytes(&self) -> usize {
        self.output.bytes()
    }

    /// The events for a chunk.
    pub fn chunk(&mut self, chunk: &Json) -> Bytes {
        self.events(|writer, tell| writer.read(chunk, "delta", tell))
    }

    /// The last events.
    pub fn last(&mut self) -> Bytes {
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
            out.extend_from_slice(&event(kind, Some(sequence), members));
            sequence += 1;
        });
        self.sequence = sequence;
        out.freeze()
    }

    /// Reads a chunk, or a whole answer, whose choice says what is new in the member `news`.
    fn read(&mut self, chunk: &Json, news: &str, tell: &mut dyn FnMut(&'static str, Json)) {
        if !self.has_begun {
            self.has_begun = true;
            self.response.begin(chunk);
            let response = self.response.object(Status::InProgress, Vec::new(), None);
            tell("response.created", json!({"response": response}));
            tell("response.in_progress", json!({"response": response}));
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            self.usage = Some(usage.clone());
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return };
        if let Some(delta) = choice.get(news) {
            self.delta(delta, tell);
        }
        if let Some(reason) =
            choice.get("finish_reason").and_then(Json::as_str).filter(|reason| !reason.is_empty())
        {
            self.finish = Some(Status::of_finish_reason(reason));
        }
    }

    fn delta(&mut self, delta: &Json, tell: &mut dyn FnMut(&'static str, Json)) {
        let ResponseWriter { response, output, .. } = self;
        let text = |name: &str| delta.get(name).and_then(Json::as_str);
        let thoughts = REASONING.into_iter().find_map(text).unwrap_or_default();
        output.text(response, TextKind::Reasoning, thoughts, tell);
        match delta.get("content") {
            Some(Json::String(content)) => output.text(response, TextKind::Output, content, tell),
            Some(Json::Array(parts)) => {
                for part in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                    output.text(response, TextKind::Output, part, tell);
                }
            }
            _ => {}
        }
        output.text(response, TextKind::Refusal, text("refusal").unwrap_or_default(), tell);
        let calls = delta.get("tool_calls").and_then(Json::as_array).into_iter().flatten();
        for (at, call) in calls.enumerate() {
            let number = call.get("index").and_then(Json::as_u64).unwrap_or(at as u64);
            output.call(response, number, call, tell);
        }
    }

    /// Closes everything, and gives the whole response.
    fn end(&mut self, tell: &mut dyn FnMut(&'static str, Json)) -> Json {
        let status = self.finish.unwrap_or(Status::Completed);
        self.output.end(&self.response, status, tell);
        self.response.object(status, self.output.items().to_vec(), self.usage.as_ref())
    }
}

/// The members of the event `error`: those that OpenAI documents, and the error itself, for which client libraries look.
fn error_members(error: &Json) -> Json {
    let member = |name: &str| error.get(name).cloned().unwrap_or_default();
    json!({"code": member("code"), "message": member("message"), "param": member("param"), "error": error})
}

/// The event that tells of an error outside of the model's answer; its number in the stream is not known.
pub fn error_event(error: &Json) -> Bytes {
    event("error", None, error_members(error))
}

fn event(kind: &str, sequence: Option<u64>, members: Json) -> Bytes {
    let mut data = serde_json::Map::new();
    data.insert("type".to_owned(), kind.into());
    data.extend(sequence.map(|number| ("sequence_number".to_owned(), Json::from(number))));
    if let Json::Object(members) = members {
        data.extend(members);
    }
    format!("event: {kind}\ndata: {}\n\n", Json::Object(data)).into()
}
