//! `[skills]`: sessions in steps.

use serde::{Deserialize, Serialize};

use super::section::section;

section! {
    /// `[skills]`
    pub struct Skills in "skills" {
        /// The model, where neither the start of a session nor the skill names one; else that of `[llm]`.
        model: Option<String> = None;
        /// The temperature, where the skill does not say it.
        temperature: f64 = 0.3, at_least 0.0, at_most 2.0;
        /// The most tokens of an answer, where the skill does not say it.
        max_tokens: u64 = 512, at_least 1;
        /// How long the model may take for an answer, in milliseconds.
        timeout_ms: u64 = 30_000, at_least 1;
        /// The most steps of a session.
        max_steps: usize = 100, at_least 1;
        /// How long sessions live after their last event, in seconds.
        ttl_seconds: u64 = 1_800, at_least 1;
        /// How long sessions live that wait for a command or a person, in seconds.
        ttl_waiting_seconds: u64 = 86_400, at_least 1;
        /// What an answer without a tag means.
        unknown_format: UnknownFormat = UnknownFormat::Command;
        /// Which repeated lines of a command's output are left out.
        duplicates: Duplicates = Duplicates::All;
        /// The most characters of a command's output that a model is sent.
        output_chars: usize = 8_000, at_least 1;
    }
}

/// What an answer without a tag means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnknownFormat {
    /// Its first line is a command.
    Command,
    /// It cannot be used.
    Error,
}

/// Which repeated lines are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// All but the first of equal lines.
    All,
    /// All but the first of equal lines that follow each other.
    Consecutive,
    /// None.
    None,
}
