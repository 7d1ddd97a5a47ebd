//! Cleans what a command has written, for the model.
//!
//! - `terminal`: lines as a terminal shows them; `escape`: the sequences that it obeys
//! - `prompt` and `banner`: what shells write by themselves; `echo`: the command that a terminal repeats
//! - `duplicates`: lines that occur more than once
//! - `cut`: the head and the tail of what is too long
//!
//! Each line is cleaned by itself: a sequence that is not finished cannot swallow the lines after it.

mod banner;
mod cut;
mod duplicates;
mod echo;
mod escape;
mod prompt;
mod terminal;

use serde::{Deserialize, Serialize};

use super::space;
use echo::Echo;

/// Which lines that occur more than once are left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// All but the first of equal lines.
    #[default]
    All,
    /// All but the first of equal lines that follow each other.
    Consecutive,
    /// None.
    None,
}

/// How outputs are cleaned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleaning {
    /// Which repeated lines are left out.
    pub duplicates: Duplicates,
    /// The most characters that are kept: of the head and of the tail together.
    pub chars: usize,
}

/// What the model gets if nothing is left.
const NOTHING: &str = "(no output)";

/// The output of `command` as the model gets it; `(no output)` if nothing is left.
pub fn clean(output: &str, command: &str, cleaning: Cleaning) -> String {
    let mut echo = Echo::of(command);
    let mut cleaned = String::with_capacity(output.len());
    for line in output.split('\n') {
        let shown = terminal::shown(line);
        if let Some(line) = kept(&shown, &mut echo) {
            cleaned.push_str(line);
            cleaned.push('\n');
        }
    }
    let cleaned = duplicates::without(cleaned, cleaning.duplicates);
    match cleaned.trim_end_matches('\n') {
        "" => NOTHING.to_owned(),
        text => cut::to_characters(text, cleaning.chars),
    }
}

/// What is kept of a line as a terminal shows it.
fn kept<'a>(shown: &'a str, echo: &mut Echo<'_>) -> Option<&'a str> {
    let line = shown.trim_end_matches(space::is_space);
    let (line, has_prompt) = prompt::after_all(line).map_or((line, false), |after| (after, true));
    let is_output = !line.is_empty() && !banner::is_part(line) && !echo.repeats(line, has_prompt);
    is_output.then_some(line)
}
