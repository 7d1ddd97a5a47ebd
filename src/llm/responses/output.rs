//! The items of an answer as they grow, and the events that tell of it.
//!
//! Each item is opened, grows by deltas, and is closed; a text or a refusal is a part inside of a message, and is opened and
//! closed itself. Calls of functions are told one after the other: the next one begins when the arguments of the one before are
//! whole. So it also is when a server sends several at the same time.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::json_end::JsonEnd;
use super::response::{Response, Status};
use crate::llm::message::{CallPiece, TextKind};
use base::random::random;

/// Takes one event: its type and its other members.
pub type Tell<'t> = &'t mut dyn FnMut(&'static str, Json);

/// What an item costs beside its texts, in bytes: an answer of many empty ones is bounded, too.
const ITEM_BYTES: usize = 200;

/// The most calls that are open at the same time. Beyond it, the first one is taken to be whole.
const OPEN_CALLS: usize = 256;

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
    /// Where the JSON of the arguments stands.
    json: JsonEnd,
    /// How much of the arguments has been told.
    told: usize,
    /// Its place in the output, once it is open.
    place: Option<usize>,
}

/// What is left of a call that is closed.
#[derive(Debug)]
struct ClosedCall {
    given_id: String,
    name: String,
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
    /// The last closed call of each number.
    closed: HashMap<u64, ClosedCall>,
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

    /// Whether a piece with the same number belongs to this call. Some servers give all calls the same number, or none; some
    /// repeat id and name with every piece.
    fn continues_with(&self, piece: &CallPiece) -> bool {
        match (piece.id.as_str(), piece.name.as_str()) {
            ("", "") => true,
            ("", name) if self.name == name => !self.json.is_over || piece.arguments.is_empty(),
            ("", _) => self.name.is_empty(),
            (id, _) => self.given_id.is_empty() || self.given_id == id,
        }
    }

    fn add(&mut self, piece: &CallPiece) {
        if self.given_id.is_empty() {
            self.given_id = piece.id.clone();
        }
        if self.name.is_empty() {
            self.name = piece.name.clone();
        }
        self.json.read(&piece.arguments);
        self.arguments.push_str(&piece.arguments);
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
                self.tell_calls(response, tell);
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
    pub fn call(&mut self, response: &Response, piece: &CallPiece, tell: Tell<'_>) {
        let open = self.open_call(piece);
        if open.is_none() && self.is_rest_of_closed(piece) {
            return;
        }
        let at = open.unwrap_or_else(|| {
            self.close_text(response, Status::Completed, tell);
            if self.calls.len() >= OPEN_CALLS {
                self.close_first_call(response, Status::Completed, tell);
            }
            self.calls.push(Call { number: piece.number, ..Call::default() });
            self.bytes = self.bytes.saturating_add(ITEM_BYTES);
            self.calls.len() - 1
        });
        let bytes = piece.id.len() + piece.name.len() + piece.arguments.len();
        self.bytes = self.bytes.saturating_add(bytes);
        if let Some(call) = self.calls.get_mut(at) {
            call.add(piece);
        }
        self.tell_calls(response, tell);
    }

    /// Where the open call is that a piece belongs to: one with its id, or else the last one with its number.
    fn open_call(&self, piece: &CallPiece) -> Option<usize> {
        let has_id = |call: &Call| !piece.id.is_empty() && call.given_id == piece.id;
        self.calls.iter().position(has_id).or_else(|| {
            let known = self.calls.iter().rposition(|call| call.number == piece.number)?;
            self.calls.get(known)?.continues_with(piece).then_some(known)
        })
    }

    /// Whether a piece is what some servers send after a whole call: nothing, or blanks.
    fn is_rest_of_closed(&self, piece: &CallPiece) -> bool {
        let is_of = |call: &ClosedCall| {
            if piece.id.is_empty() {
                piece.name.is_empty() || piece.name == call.name
            } else {
                piece.id == call.given_id
            }
        };
        piece.arguments.trim().is_empty() && self.closed.get(&piece.number).is_some_and(is_of)
    }

    /// Tells what is new of the calls, and closes those that are whole when others have begun.
    fn tell_calls(&mut self, response: &Response, tell: Tell<'_>) {
        loop {
            self.tell_first_call(response, tell);
            let is_over = self.calls.first().is_some_and(|call| call.json.is_over);
            if self.calls.len() < 2 || !is_over {
                return;
            }
            self.close_first_call(response, Status::Completed, tell);
        }
    }

    /// Closes the first call. One that was announced and never named is none.
    fn close_first_call(&mut self, response: &Response, status: Status, tell: Tell<'_>) {
        self.tell_first_call(response, tell);
        if self.calls.is_empty() {
            return;
        }
        let call = self.calls.remove(0);
        let Some(place) = call.place else { return };
        let id = response.item_id("fc", place);
        tell(
            "response.function_call_arguments.done",
            json!({"item_id": id, "output_index": place, "name": call.name, "arguments": call.arguments}),
        );
        let item = call.item(&id, status, &call.arguments);
        self.close(place, item, tell);
        self.closed.insert(call.number, ClosedCall { given_id: call.given_id, name: call.name });
    }

    /// Opens the first call, as soon as it has a name, and tells what is new of its arguments.
    fn tell_first_call(&mut self, response: &Response, tell: Tell<'_>) {
        if self.calls.first().is_some_and(|call| call.place.is_none() && !call.name.is_empty()) {
            let place = self.new_place();
            let Some(call) = self.calls.first_mut() else { return };
            call.place = Some(place);
            call.id = match call.given_id.as_str() {
                "" => format!("call_{:032x}", random()),
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
        while !self.calls.is_empty() {
            self.close_first_call(response, status, tell);
        }
        self.close_text(response, status, tell);
    }
}
