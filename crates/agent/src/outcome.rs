//! What is said when a step begins or ends, and what follows: the same shape everywhere.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::step::Step;
use super::text::Text;

/// How important a line of the log is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// For those who look for a fault.
    Debug,
    /// The user has to say it in another way.
    Warning,
    /// A tool failed.
    Error,
    /// The conversation ends.
    Critical,
}

impl Level {
    /// All levels.
    pub(super) const ALL: [Level; 4] = [Level::Debug, Level::Warning, Level::Error, Level::Critical];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Level::Debug => "debug",
            Level::Warning => "warning",
            Level::Error => "error",
            Level::Critical => "critical",
        }
    }
}

impl fmt::Display for Level {
    /// As it stands in the log: in upper case.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name().to_ascii_uppercase())
    }
}

/// One text that is said.
#[derive(Debug)]
pub enum Item {
    /// The user sees it.
    Shown {
        /// The text.
        text: Text,
        /// Whether it joins the history.
        in_history: bool,
    },
    /// It goes into the log.
    Logged {
        /// How important it is.
        level: Level,
        /// The text.
        text: Text,
    },
}

/// What follows an outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// A step.
    Step(Step),
    /// The end, with an exit code.
    End(u8),
}

/// How a step ends.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What is said.
    pub items: Vec<Item>,
    /// What follows, where it is not what usually follows.
    pub next: Option<Next>,
}
