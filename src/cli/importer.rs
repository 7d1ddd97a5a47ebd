//! Storing the prompts of files, and what became of each.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::args::Common;
use super::check::{counted, without_new_store};
use super::client::Client;
use super::documents::path;
use super::error::{CliError, Place};
use super::target;
use crate::app::App;
use crate::formats::{FoundPrompt, dialect_of, is_template_file};
use crate::store;
use base::model::{DocumentKind, Id, Origin, Prompt, without_files};

/// What became of one prompt.
pub struct Outcome<'a> {
    /// What was found in the file.
    pub prompt: &'a FoundPrompt,
    /// Its id.
    pub id: Id,
    /// The dialect, and what a render gives, or why it was not stored.
    pub became: Result<(String, String), Failure>,
}

/// Why a prompt was not stored.
pub struct Failure {
    /// The reason.
    pub reason: String,
    /// Where in the file, from 1.
    pub line: Option<usize>,
}

/// A service's refusal of a prompt, with the line of the prompt's file.
fn failure(prompt: &FoundPrompt, id: &Id, message: String, place: Option<Place>) -> Failure {
    let hint = match dialect_of(&prompt.file) {
        None if is_template_file(&prompt.file) => {
            " (for a text that is no template, store a prompt document with `\"syntax\": \"text\"`)"
        }
        _ => "",
    };
    let line = place.as_ref().and_then(|place| line_in_file(prompt, id, &message, place));
    let place = place.filter(|_| line.is_none()).map(|place| place.to_string()).unwrap_or_default();
    Failure { reason: format!("{message}{place}{hint}"), line }
}

/// The line of a file for a place in one of its texts; none if the place is that of an included file.
fn line_in_file(prompt: &FoundPrompt, id: &Id, message: &str, place: &Place) -> Option<usize> {
    let read = Prompt::from_document(id.clone(), Origin::Direct, prompt.document.clone());
    let is_own = |at: &str| match at {
        "" => !message.starts_with("partial `"),
        at => message.strip_prefix(at).is_some_and(|rest| rest.starts_with(": ")),
    };
    let text = read.texts().iter().find(|text| text.file.is_some() && is_own(&text.place))?;
    Some(text.lines_before + place.line)
}

/// A client of the store as it is, and one of a service over a store in memory.
pub async fn in_memory(common: &Common) -> Result<(Client, Option<Client>), CliError> {
    let known = match &common.server {
        Some(_) => target::open(common).await?,
        None => target::open_with(&without_new_store(&target::settings(common)?)).await?,
    };
    let mut settings = target::settings(common)?;
    settings.store.url = store::MEMORY.to_owned();
    let app = App::build(&settings).await?;
    Ok((known, Some(target::inside(&app, &settings)?)))
}

/// Stores prompts.
pub struct Importer<'a> {
    /// The service that knows what is stored.
    pub known: &'a Client,
    /// The service that prompts are stored with.
    pub client: &'a Client,
    /// The extension of all prompts.
    pub extension: &'a Id,
    /// Whether stored documents that differ are replaced.
    pub replace: bool,
}

impl Importer<'_> {
    /// Stores the texts that templates include, in the extension's document.
    pub async fn put_partials(&self, partials: &BTreeMap<String, String>) -> Result<(), CliError> {
        if partials.is_empty() {
            return Ok(());
        }
        let document = json!({"name": self.extension, "contributes": {"partials": partials}});
        let at = path(DocumentKind::Extension, self.extension.as_str());
        let before = self.known.get_bytes(&format!("{at}?raw=store")).await?;
        let before = before.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        if before.as_ref().is_some_and(|before| *before != document) && !self.replace {
            let id = self.extension;
            let message = format!(
                "an extension `{id}` is already stored, and differs: --replace replaces it, --as NAME names another"
            );
            return Err(CliError::Usage(message));
        }
        let stored = self.client.put(&at, document.to_string().into_bytes()).await;
        stored.map(drop).map_err(|error| match error {
            CliError::Refused { code, message, place } => {
                let bytes: usize = partials.values().map(String::len).sum();
                let files = counted(partials.len(), "file");
                let message = format!(
                    "the {files} that templates include ({bytes} bytes together) cannot be stored: {message}"
                );
                CliError::Refused { code, message, place }
            }
            error => error,
        })
    }

    /// Stores all prompts. One may include another one that comes later: those that were refused are tried again as long as
    /// something gets through.
    pub async fn put_all<'p>(&mut self, prompts: &'p [FoundPrompt]) -> Result<Vec<Outcome<'p>>, CliError> {
        let mut outcomes: Vec<Outcome<'p>> = Vec::new();
        let mut waiting: Vec<&FoundPrompt> = prompts.iter().collect();
        loop {
            let before = waiting.len();
            let mut refused = Vec::new();
            for prompt in waiting {
                let outcome = self.put(prompt).await?;
                if outcome.became.is_err() { &mut refused } else { &mut outcomes }.push(outcome);
            }
            if refused.is_empty() || refused.len() == before {
                outcomes.extend(refused);
                outcomes.sort_by(|one, other| one.prompt.file.cmp(&other.prompt.file));
                return Ok(outcomes);
            }
            waiting = refused.into_iter().map(|outcome| outcome.prompt).collect();
        }
    }

    async fn put<'p>(&self, prompt: &'p FoundPrompt) -> Result<Outcome<'p>, CliError> {
        let id = self.extension.child(&prompt.name).map_err(|error| CliError::Usage(error.to_string()))?;
        let document = without_files(prompt.document.clone());
        let at = path(DocumentKind::Prompt, id.as_str());
        let before = self.known.get_bytes(&format!("{at}?raw=store")).await?;
        let before = before.and_then(|bytes| serde_json::from_slice::<Json>(&bytes).ok());
        if before.is_some_and(|before| before != document) && !self.replace {
            let reason =
                "a prompt of this id is already stored, and differs: --replace replaces it".to_owned();
            return Ok(Outcome { prompt, id, became: Err(Failure { reason, line: None }) });
        }
        let became = match self.client.put(&at, document.to_string().into_bytes()).await {
            Ok(_) => Ok((self.syntax_of(&at).await?, became(&document))),
            Err(CliError::Refused { message, place, .. }) => Err(failure(prompt, &id, message, place)),
            Err(error) => return Err(error),
        };
        Ok(Outcome { prompt, id, became })
    }

    async fn syntax_of(&self, at: &str) -> Result<String, CliError> {
        let shown = self.client.get(at).await?;
        Ok(shown.get("syntax").and_then(Json::as_str).unwrap_or_default().to_owned())
    }
}

/// What a render of the document gives.
fn became(document: &Json) -> String {
    let messages = document.get("messages").and_then(Json::as_array);
    let roles =
        messages.map(|messages| messages.iter().filter_map(|m| m.get("role")?.as_str()).collect::<Vec<_>>());
    let text = if document.get("roles").is_some() { "messages by headings" } else { "text" };
    roles.map_or_else(|| text.to_owned(), |roles| roles.join("+"))
}
