//! `--auto`: the skill is chosen by what somebody wants.

use serde::Deserialize;
use serde_json::json;

use crate::cli::client::Client;
use crate::cli::error::CliError;
use crate::cli::output::{on_one_line, say, summary};
use crate::cli::terminal::{self, Typed, waiting};

/// The most skills that are offered.
const OFFERED: usize = 5;

/// A skill that fits.
#[derive(Debug, Deserialize)]
struct Fitting {
    id: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    description: String,
}

/// The id of the skill that fits best, or that a person chooses among those that fit.
///
/// # Errors
/// When none fits; [`CliError::Cancelled`]; the service's own.
pub async fn choose(client: &Client, wanted: &str, is_attended: bool) -> Result<String, CliError> {
    let body = json!({"prompt": wanted, "limit": OFFERED});
    let reply = waiting("skills are compared", client.post("/api/skills/match", &body)).await?;
    let fitting: Vec<Fitting> = serde_json::from_value(reply)
        .map_err(|error| client.unusable(&format!("the answer cannot be read: {error}")))?;
    let Some(best) = fitting.first() else {
        return Err(CliError::Usage("no skill of the catalog fits; `skill list` lists them".to_owned()));
    };
    if !is_attended {
        say(format_args!("Chosen: {}", on_one_line(&best.id)));
        return Ok(best.id.clone());
    }
    for (number, Fitting { id, name, description }) in (1..).zip(&fitting) {
        say(format_args!("{number}  {} ({}): {}", on_one_line(id), on_one_line(name), summary(description)));
    }
    loop {
        let Typed::Line(line) = terminal::read_line("Which one? [1] ", "").await? else {
            return Err(CliError::Cancelled);
        };
        let number = if line.trim().is_empty() { Ok(1) } else { line.trim().parse::<usize>() };
        let chosen = number.ok().and_then(|number| fitting.get(number.checked_sub(1)?));
        if let Some(chosen) = chosen {
            return Ok(chosen.id.clone());
        }
    }
}
