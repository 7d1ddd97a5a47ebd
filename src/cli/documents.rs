//! Lists, shows, stores and removes documents.

use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;

use super::args::{Action, Common};
use super::error::CliError;
use super::output::say;
use super::target;
use crate::formats::{is_skill_document, skill_file};
use base::encoding::percent_encoded;
use base::model::DocumentKind;

/// Runs a command about documents of a kind.
///
/// # Errors
/// The service's own error, or that of a file.
pub async fn run(common: &Common, kind: DocumentKind, action: Action) -> Result<(), CliError> {
    let client = target::open(common).await?;
    match action {
        Action::List { json: true } => {
            print_json(&client.get(&format!("/api/{kind}s?detail=true")).await?);
        }
        Action::List { json: false } => {
            let ids = client.get(&format!("/api/{kind}s")).await?;
            ids.as_array()
                .into_iter()
                .flatten()
                .filter_map(Json::as_str)
                .for_each(|id| say(format_args!("{id}")));
        }
        Action::Show { id, json: false } if kind == DocumentKind::Skill => {
            let text = client.get_raw(&format!("{}?raw=any", path(kind, &id))).await?;
            say(String::from_utf8_lossy(&skill_file(&text)).trim_end());
        }
        Action::Show { id, .. } => print_json(&client.get(&path(kind, &id)).await?),
        Action::Set { id, file, value } => {
            let document = match value {
                Some(value) => value.into_bytes(),
                None => read(&file)?,
            };
            let created = client.put_as(&path(kind, &id), media_type_of(kind, &document), document).await?;
            say(format_args!("{kind} {id} {}", if created { "created" } else { "replaced" }));
        }
        Action::Rm { id } => {
            client.delete(&path(kind, &id)).await?;
            say(format_args!("{kind} {id} removed"));
        }
    }
    Ok(())
}

/// The path of a document. Characters that no id has are encoded, so that the service can name the wrong id.
pub fn path(kind: DocumentKind, id: &str) -> String {
    format!("/api/{kind}s/{}", percent_encoded(id))
}

/// The path at which a prompt is rendered.
pub fn render_path(id: &str) -> String {
    path(DocumentKind::Prompt, id).replacen("/api/", "/api/render/", 1)
}

/// The path at which a prompt is answered by a model.
pub fn chat_path(id: &str) -> String {
    path(DocumentKind::Prompt, id).replacen("/api/", "/api/chat/", 1)
}

/// The media type in which a document of a kind is sent.
pub fn media_type_of(kind: DocumentKind, document: &[u8]) -> &'static str {
    match kind {
        DocumentKind::Skill if !is_skill_document(document) => "text/markdown",
        _ => "application/json",
    }
}

/// Prints indented JSON.
pub fn print_json(json: &Json) {
    say(format_args!("{json:#}"));
}

fn read(file: &Path) -> Result<Vec<u8>, CliError> {
    if file != Path::new("-") {
        return std::fs::read(file).map_err(|source| CliError::file(file, source));
    }
    let mut document = Vec::new();
    std::io::stdin().read_to_end(&mut document).map_err(|source| CliError::file(file, source))?;
    Ok(document)
}
