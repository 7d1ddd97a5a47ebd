//! `prompt chat`: a prompt answered by a model, printed as the answer comes.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::args::{Chat, Common};
use super::client::{Client, broken_off};
use super::documents::{self, print_json};
use super::error::CliError;
use super::output::{say, say_on};
use super::target;
use crate::llm::message::{self, CallPiece, Message, TextKind};
use base::events::{EventDecoder, EventTooLong, data, split};
use template::value::{RawObject, parse_json};

/// The longest event that is read, in bytes.
const EVENT_BYTES: usize = 64 << 20;

/// Renders a prompt, has a model answer it, and prints the answer.
///
/// # Errors
/// The service's own error, also in the middle of the answer.
pub async fn run(common: &Common, options: Chat) -> Result<(), CliError> {
    let messages: Vec<Json> =
        options.messages.iter().map(|text| json!({"role": "user", "content": text})).collect();
    let mut body = json!({"variables": options.variables.object()?, "messages": messages});
    if let (Some(model), Some(members)) = (options.model, body.as_object_mut()) {
        members.insert("model".to_owned(), model.into());
    }
    let client = target::open(common).await?;
    let path = documents::chat_path(&options.id);
    match options.full {
        true => print_json(&client.post(&path, &body).await?),
        false => print_pieces(&client, &path, body).await?,
    }
    Ok(())
}

async fn print_pieces(client: &Client, path: &str, mut body: Json) -> Result<(), CliError> {
    if let Some(members) = body.as_object_mut() {
        members.insert("stream".to_owned(), true.into());
    }
    let mut response = client.post_for_pieces(path, &body).await?;
    let mut events = EventDecoder::new(EVENT_BYTES);
    let mut calls = Calls::default();
    while let Some(bytes) = response.chunk().await.map_err(|error| client.unreachable(&error))? {
        let whole =
            events.push(bytes).map_err(|EventTooLong { .. }| client.unusable("an event is too long"))?;
        for data in split(&whole).filter_map(data) {
            // What is no JSON, such as the mark at the end, says nothing.
            let Ok(chunk) = parse_json(&data) else { continue };
            print_piece(&chunk, &mut calls)?;
        }
    }
    say("");
    calls.print();
    Ok(())
}

/// Prints what a chunk adds to the answer: a text, or a refusal.
fn print_piece(chunk: &RawObject, calls: &mut Calls) -> Result<(), CliError> {
    if let Some(error) = chunk.find::<Json>("error") {
        say("");
        return Err(broken_off(&json!({"error": error})));
    }
    let delta = message::choice(chunk, |_| true).and_then(|choice| Message::find(&choice, "delta"));
    let Some(Message { texts, calls: pieces }) = delta else { return Ok(()) };
    let texts = texts.into_iter().filter(|(kind, _)| *kind != TextKind::Reasoning);
    texts.for_each(|(_, text)| say_on(text));
    pieces.iter().for_each(|call| calls.add(call));
    Ok(())
}

/// The tool calls of the answer, by index; their parts arrive one by one.
#[derive(Default)]
struct Calls(BTreeMap<u64, (String, String)>);

impl Calls {
    fn add(&mut self, piece: &CallPiece) {
        let (name, arguments) = self.0.entry(piece.number).or_default();
        name.push_str(&piece.name);
        arguments.push_str(&piece.arguments);
    }

    fn print(&self) {
        self.0.values().for_each(|(name, arguments)| say(format_args!("{name} {arguments}")));
    }
}
