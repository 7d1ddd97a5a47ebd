//! A command that a person changes: on the line, or in an editor if it has several lines.

use std::io::{Read, Write};

use crate::cli::error::CliError;
use crate::cli::output::warn;
use crate::cli::terminal::{self, Typed};
use crate::cli::user;

/// The longest command that is read back from an editor, in bytes.
const EDITED_BYTES: u64 = 128 << 10;

/// The command as a person wants it; nothing if it is to stay, or nothing is left of it.
///
/// # Errors
/// When the terminal or the editor cannot be used.
pub async fn edited(command: &str) -> Result<Option<String>, CliError> {
    let text = match editor().filter(|_| command.contains('\n')) {
        Some(editor) => in_editor(editor, command.to_owned()).await?,
        None => match terminal::read_line("$ ", command).await? {
            Typed::Line(line) => Some(line),
            Typed::Leave | Typed::End => None,
        },
    };
    let text = text.map(|text| text.trim_end_matches(['\n', '\r']).to_owned());
    Ok(text.filter(|text| !text.trim().is_empty()))
}

/// What the user has named, with its options.
fn editor() -> Option<String> {
    let named = user::variable("VISUAL").or_else(|| user::variable("EDITOR"))?;
    named.into_string().ok()
}

async fn in_editor(editor: String, command: String) -> Result<Option<String>, CliError> {
    let editing = tokio::task::spawn_blocking(move || {
        let mut file = tempfile::Builder::new().prefix("command-").suffix(".sh").tempfile()?;
        file.write_all(command.as_bytes())?;
        // The user's own setting is a line for a shell, as for all programs that start editors; the file is its argument.
        let script = format!("{editor} \"$1\"");
        let status =
            std::process::Command::new("sh").args(["-c", &script, "sh"]).arg(file.path()).status()?;
        // Editors write another file in its place.
        let mut text = String::new();
        std::fs::File::open(file.path())?.take(EDITED_BYTES).read_to_string(&mut text)?;
        Ok::<_, std::io::Error>((status.success(), text))
    });
    let failed = |message: String| CliError::Usage(format!("the editor cannot be used: {message}"));
    let (is_success, text) = editing
        .await
        .map_err(|error| failed(error.to_string()))?
        .map_err(|error| failed(error.to_string()))?;
    if !is_success {
        warn("The editor has failed.");
    }
    Ok(is_success.then_some(text))
}
