//! `prompt chat`: a prompt answered by a model, printed as the answer comes.

use serde_json::{Value as Json, json};

use super::args::{Chat, Common};
use super::client::{Client, broken_off};
use super::documents::{self, print_json};
use super::error::CliError;
use super::output::{say, say_on};
use super::target;
use crate::llm::events::{Collector, TooLong, data, split};

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
    let mut events = Collector::new(EVENT_BYTES);
    while let Some(bytes) = response.chunk().await.map_err(|error| client.unreachable(&error))? {
        let whole =
            events.push(bytes).map_err(|TooLong| CliError::Usage("an event is too long".to_owned()))?;
        for data in split(&whole).filter_map(data) {
            print_piece(&serde_json::from_slice(&data).unwrap_or_default())?;
        }
    }
    say("");
    Ok(())
}

/// Prints what a chunk adds to the answer: a text, or parts of calls of tools.
fn print_piece(chunk: &Json) -> Result<(), CliError> {
    if chunk.get("error").is_some_and(|error| !error.is_null()) {
        say("");
        return Err(broken_off(chunk));
    }
    let delta = chunk.pointer("/choices/0/delta");
    if let Some(text) = delta.and_then(|delta| delta.get("content")).and_then(Json::as_str) {
        say_on(text);
    }
    if let Some(calls) = delta.and_then(|delta| delta.get("tool_calls")) {
        say(calls);
    }
    Ok(())
}
