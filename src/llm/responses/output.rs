//! The items of an answer as they grow, and the events that tell of it.
//!
//! Each item is opened, grows by deltas, and is closed; a text or a refusal is a part inside of a message, and is opened and
//! closed itself. Calls of functions are told one after the other: the next one begins when the arguments of the one before are
//! whole. So it also is when a server sends several at the same time.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::{Value as Json, json};

use super::response::{Response, Status};
use crate::llm::message::{CallPiece, TextKind};

/// Takes one event: its type and its other members.
pub type Tell<'t> = &'t mut dyn FnMut(&'static str, Json);

/// What an item costs beside its texts, in bytes: an answer of many empty ones is bounded, too.
const ITEM_BYTES: usize = 200;

/// A text with what is around it.
#[derive(Debug)]
struct Text {
    kind: TextKind,
    text: String,
    /// The probabilities of its tokens, as the upstream wrote them.
    logprobs: Vec<Json>,
}

/// A call of a function.
#[derive(Debug, Default)]
struct Call {
    /// Its number in the chat completion.
    number: u64,
    /// Its id in the chat completion, if the upstream gave one.
    given_id: String,
    /// Its id in the response, once it is open.
    id: String,
    name: String,
    arguments: String,
    /// How much of the arguments has been told.
    told: usize,
    /// Its place in the output, once it is open.
    place: Option<usize>,
}

/// The output so far.
#[derive(Debug, Default)]
pub struct Output {
    /// The items that are closed or open, by their places; an open one is null.
    items: Vec<Json>,
    /// The open message or reasoning: its place, and its parts, the last of which is open.
    open: Option<(usize, Vec<Text>)>,
    /// The calls that are not closed yet, in the order in which they began.
    calls: Vec<Call>,
    /// The ids of the last closed call of each number.
    closed: HashMap<u64, String>,
    bytes: usize,
}

impl TextKind {
    /// The event of a delta, and the event of the whole.
    fn events(self) -> (&'static str, &'static str) {
        match self {
            TextKind::Reasoning => ("response.reasoning_text.delta", "response.reasoning_text.done"),
            TextKind::Output => ("response.output_text.delta", "response.output_text.done"),
            TextKind::Refusal => ("response.refusal.delta", "response.refusal.done"),
        }
    }

    /// How the id of the item begins that such a text is in.
    fn id_prefix(self) -> &'static str {
        match self {
            TextKind::Reasoning => "rs",
            TextKind::Output | TextKind::Refusal => "msg",
        }
    }

    fn part(self, text: &str, logprobs: &[Json]) -> Json {
        match self {
            TextKind::Reasoning => json!({"type": "reasoning_text", "text": text}),
            TextKind::Output => {
                json!({"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs})
            }
            TextKind::Refusal => json!({"type": "refusal", "refusal": text}),
        }
    }

    /// The item with these parts.
    fn item(self, id: &str, status: Status, parts: Vec<Json>) -> Json {
        match self {
            TextKind::Reasoning => {
                json!({"id": id, "type": "reasoning", "status": status.name(), "summary": [], "content": parts})
            }
            TextKind::Output | TextKind::Refusal => {
                json!({"id": id, "type": "message", "status": status.name(), "role": "assistant", "content": parts})
            }
        }
    }
}

impl Call {
    fn item(&self, id: &str, status: Status, arguments: &str) -> Json {
        json!({
            "id": id, "type": "function_call", "status": status.name(), "call_id": self.id, "name": self.name,
            "arguments": arguments,
        })
    }

    fn is_whole(&self) -> bool {
        serde_json::from_str::<IgnoredAny>(&self.arguments).is_ok()
    }

    /// Whether a piece with the same number belongs to this call. Some servers give all calls the same number; some repeat id
    /// and name with every piece.
    fn continues_with(&self, piece: &CallPiece<'_>) -> bool {
        match piece.id {
            "" => piece.name.is_empty() || piece.arguments.is_empty() || !self.is_whole(),
            id => self.given_id.is_empty() || self.given_id == id,
        }
    }
}

impl Output {
    /// The bytes of all texts and arguments.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// The items so far; open ones are null.
    pub fn items(&self) -> &[Json] {
        &self.items
    }

    /// Adds to a text; `logprobs` are the probabilities of the tokens that are new.
    pub fn text(
        &mut self,
        response: &Response,
        kind: TextKind,
        delta: &str,
        logprobs: &[Json],
        tell: Tell<'_>,
    ) {
        let written: usize = logprobs.iter().map(|entry| entry.to_string().len()).sum();
        self.bytes = self.bytes.saturating_add(delta.len()).saturating_add(written);
        self.open_text(response, kind, tell);
        let Some((place, parts)) = &mut self.open else { return };
        let content_index = parts.len().saturating_sub(1);
        if let Some(part) = parts.last_mut() {
            part.text.push_str(delta);
            part.logprobs.extend_from_slice(logprobs);
        }
        let id = response.item_id(kind.id_prefix(), *place);
        let mut event =
            json!({"item_id": id, "output_index": place, "content_index": content_index, "delta": delta});
        if let (TextKind::Output, Some(members)) = (kind, event.as_object_mut()) {
            members.insert("logprobs".to_owned(), logprobs.into());
        }
        tell(kind.events().0, event);
    }

    /// Opens an item and a part for this kind of text, unless they are open.
    fn open_text(&mut self, response: &Response, kind: TextKind, tell: Tell<'_>) {
        let open = self.open.as_ref().and_then(|(_, parts)| parts.last()).map(|part| part.kind);
        if open == Some(kind) {
            return;
        }
        match open {
            Some(other) if other.id_prefix() == kind.id_prefix() => self.close_part(response, tell),
            _ => {
                self.close_text(response, Status::Completed, tell);
                self.tell_calls(response, None, tell);
                let place = self.new_place();
                self.open = Some((place, Vec::new()));
                let item =
                    kind.item(&response.item_id(kind.id_prefix(), place), Status::InProgress, Vec::new());
                tell("response.output_item.added", json!({"output_index": place, "item": item}));
            }
        }
        let Some((place, parts)) = &mut self.open else { return };
        let id = response.item_id(kind.id_prefix(), *place);
        let event = json!({"item_id": id, "output_index": place, "content_index": parts.len(), "part": kind.part("", &[])});
        parts.push(Text { kind, text: String::new(), logprobs: Vec::new() });
        tell("response.content_part.added", event);
    }

    fn close_part(&mut self, response: &Response, tell: Tell<'_>) {
        let Some((place, parts)) = &self.open else { return };
        let Some(Text { kind, text, logprobs }) = parts.last() else { return };
        let id = response.item_id(kind.id_prefix(), *place);
        let content_index = parts.len() - 1;
        let mut done = json!({"item_id": id, "output_index": place, "content_index": content_index});
        if let Some(members) = done.as_object_mut() {
            let name = if *kind == TextKind::Refusal { "refusal" } else { "text" };
            members.insert(name.to_owned(), text.as_str().into());
            if *kind == TextKind::Output {
                members.insert("logprobs".to_owned(), logprobs.as_slice().into());
            }
        }
        tell(kind.events().1, done);
        let part = kind.part(text, logprobs);
        tell(
            "response.content_part.done",
            json!({"item_id": id, "output_index": place, "content_index": content_index, "part": part}),
        );
    }

    fn close_text(&mut self, response: &Response, status: Status, tell: Tell<'_>) {
        self.close_part(response, tell);
        let Some((place, parts)) = self.open.take() else { return };
        let Some(kind) = parts.first().map(|part| part.kind) else { return };
        let content = parts.iter().map(|part| part.kind.part(&part.text, &part.logprobs)).collect();
        let item = kind.item(&response.item_id(kind.id_prefix(), place), status, content);
        self.close(place, item, tell);
    }

    fn close(&mut self, place: usize, item: Json, tell: Tell<'_>) {
        tell("response.output_item.done", json!({"output_index": place, "item": item}));
        if let Some(slot) = self.items.get_mut(place) {
            *slot = item;
        }
    }

    /// A new place in the output.
    fn new_place(&mut self) -> usize {
        self.items.push(Json::Null);
        self.bytes = self.bytes.saturating_add(ITEM_BYTES);
        self.items.len() - 1
    }

    /// Adds to the call that a piece belongs to, or begins one.
    pub fn call(&mut self, response: &Response, piece: &CallPiece<'_>, tell: Tell<'_>) {
        let known = self.calls.iter().rposition(|call| call.number == piece.number);
        let open = known.filter(|at| self.calls.get(*at).is_some_and(|call| call.continues_with(piece)));
        if open.is_none() && self.is_rest_of_closed(piece) {
            return;
        }
        let at = open.unwrap_or_else(|| {
            self.close_text(response, Status::Completed, tell);
            self.calls.push(Call { number: piece.number, ..Call::default() });
            self.calls.len() - 1
        });
        if let Some(call) = self.calls.get_mut(at) {
            if call.given_id.is_empty() {
                call.given_id = piece.id.to_owned();
            }
            if call.name.is_empty() {
                call.name = piece.name.to_owned();
            }
            self.bytes = self.bytes.saturating_add(piece.arguments.len());
            call.arguments.push_str(&piece.arguments);
        }
        self.tell_calls(response, None, tell);
    }

    /// Whether a piece is what some servers send after a whole call: nothing, or blanks.
    fn is_rest_of_closed(&self, piece: &CallPiece<'_>) -> bool {
        let is_known = self.closed.get(&piece.number).is_some_and(|id| piece.id.is_empty() || piece.id == id);
        is_known && piece.arguments.trim().is_empty()
    }

    /// Tells what is new of the calls, and closes those that are whole; all of them if the answer has ended with `end`.
    fn tell_calls(&mut self, response: &Response, end: Option<Status>, tell: Tell<'_>) {
        while let Some(call) = self.calls.first() {
            let may_close = end.is_some() || (self.calls.len() > 1 && call.is_whole());
            if call.name.is_empty() && !may_close {
                return;
            }
            if call.name.is_empty() && call.arguments.trim().is_empty() {
                // The upstream announced a call that never came.
                self.calls.remove(0);
                continue;
            }
            self.tell_first_call(response, tell);
            if !may_close {
                return;
            }
            let call = self.calls.remove(0);
            self.closed.insert(call.number, call.given_id.clone());
            let place = call.place.unwrap_or_default();
            let id = response.item_id("fc", place);
            tell(
                "response.function_call_arguments.done",
                json!({"item_id": id, "output_index": place, "name": call.name, "arguments": call.arguments}),
            );
            let item = call.item(&id, end.unwrap_or(Status::Completed), &call.arguments);
            self.close(place, item, tell);
        }
    }

    /// Opens the first call if it is not open, and tells what is new of its arguments.
    fn tell_first_call(&mut self, response: &Response, tell: Tell<'_>) {
        if self.calls.first().is_some_and(|call| call.place.is_none()) {
            let place = self.new_place();
            let Some(call) = self.calls.first_mut() else { return };
            call.place = Some(place);
            call.id = match call.given_id.as_str() {
                "" => response.item_id("call", place),
                given => given.to_owned(),
            };
            let item = call.item(&response.item_id("fc", place), Status::InProgress, "");
            tell("response.output_item.added", json!({"output_index": place, "item": item}));
        }
        let Some(call) = self.calls.first_mut() else { return };
        let Some(place) = call.place else { return };
        let delta = call.arguments.get(call.told..).unwrap_or_default();
        if !delta.is_empty() {
            let id = response.item_id("fc", place);
            tell(
                "response.function_call_arguments.delta",
                json!({"item_id": id, "output_index": place, "delta": delta}),
            );
            call.told = call.arguments.len();
        }
    }

    /// Closes everything: the answer has ended.
    pub fn end(&mut self, response: &Response, status: Status, tell: Tell<'_>) {
        self.tell_calls(response, Some(status), tell);
        self.close_text(response, status, tell);
    }
}
