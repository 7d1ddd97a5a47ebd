//! What a model wants to happen next.

use serde::{Deserialize, Serialize};

/// One directive of the model: exactly one in each answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type")]
pub enum Directive {
    /// Run a command of the shell, and tell its output.
    #[serde(rename = "CMD")]
    Command {
        /// The directive as the history keeps it, with its tag.
        content: String,
        /// The command.
        command: String,
    },
    /// Ask the user, and tell the answer.
    #[serde(rename = "ASK")]
    Ask {
        /// The directive as the history keeps it, with its tag.
        content: String,
        /// The question.
        question: String,
        /// Whether the answer may not be empty.
        required: bool,
    },
    /// Show a message, and go on at once.
    #[serde(rename = "MESSAGE")]
    Message {
        /// The directive as the history keeps it, with its tag.
        content: String,
        /// The message.
        message: String,
    },
    /// Show a message: the skill is complete.
    #[serde(rename = "DONE")]
    Done {
        /// The directive as the history keeps it, with its tag; empty if it is not the model's.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        content: String,
        /// The message.
        message: String,
    },
}

impl Directive {
    /// The directive as the history keeps it.
    pub fn content(&self) -> &str {
        match self {
            Directive::Command { content, .. }
            | Directive::Ask { content, .. }
            | Directive::Message { content, .. }
            | Directive::Done { content, .. } => content,
        }
    }
}
