//! What a conversation takes, and what it gives.

use base::model::Id;
use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json};
use template::value::Value;

use crate::outcome::Level;
use crate::step::Step;

/// Something that happens.
#[derive(Debug)]
pub enum Event {
    /// The conversation begins.
    Start,
    /// The user says something.
    Line(String),
    /// The user has left.
    EndOfInput,
    /// The user approves the call.
    Approve,
    /// The user refuses the call.
    Reject,
    /// The user approves the call with these arguments.
    Change(JsonMap<String, Json>),
    /// Whether the message is relevant.
    Classified(Result<bool, Failure>),
    /// The tool that the model chose, if it chose one.
    Selected(Result<Option<ToolCall>, Failure>),
    /// What the service says of its health, or why it says nothing.
    Health(Result<Value, String>),
    /// What a tool answered, or why it did not.
    Called(Result<Value, String>),
    /// What the model makes of the results.
    Answered(Result<String, Failure>),
}

/// Why there is no answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What texts see as `error`.
    pub message: String,
    /// The causes, the nearest one first.
    pub causes: Vec<String>,
}

/// The kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// There was no answer, or that of an error.
    Unanswered,
    /// The answer cannot be read.
    Unreadable,
}

impl Failure {
    /// An answer that cannot be read.
    pub fn unreadable(message: impl Into<String>) -> Failure {
        Failure { kind: FailureKind::Unreadable, message: message.into(), causes: Vec::new() }
    }

    /// The message and its causes, a line each.
    pub(super) fn chain(&self) -> String {
        let lines = [&self.message].into_iter().chain(&self.causes).map(String::as_str);
        format!("the model did not answer: {}", lines.collect::<Vec<_>>().join("\ncaused by: "))
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The name of the tool, as the agent's document calls it.
    pub tool: String,
    /// Its arguments.
    pub arguments: JsonMap<String, Json>,
}

impl ToolCall {
    /// A call as a model writes it: absent arguments are none.
    ///
    /// # Errors
    /// [`Failure`] if the arguments are no JSON object.
    pub fn read(tool: &str, arguments: &str) -> Result<ToolCall, Failure> {
        let arguments = match arguments.trim() {
            "" | "null" => JsonMap::new(),
            text => serde_json::from_str(text).map_err(|error| {
                Failure::unreadable(format!("the arguments of `{tool}` are no JSON object: {error}"))
            })?,
        };
        Ok(ToolCall { tool: tool.to_owned(), arguments })
    }
}

/// What is to be done next.
#[derive(Debug, Clone, PartialEq)]
pub enum Task {
    /// Wait for a line of the user.
    Listen,
    /// Have the user approve the call.
    Confirm,
    /// Ask a model whether the message is relevant.
    Classify,
    /// Have a model choose a tool.
    Select,
    /// Ask a service for its health.
    CheckHealth {
        /// The tool of the catalog.
        tool: Id,
    },
    /// Call a tool.
    Call {
        /// The tool of the catalog.
        tool: Id,
        /// Its arguments.
        arguments: JsonMap<String, Json>,
    },
    /// Have a model answer from the results.
    Answer,
    /// Nothing: the conversation is over.
    End {
        /// The exit code.
        code: u8,
    },
}

/// What comes of an event.
#[derive(Debug)]
pub struct Moved {
    /// What is said, in order.
    pub notes: Vec<Note>,
    /// What is to be done next.
    pub task: Task,
}

/// What is said when a step begins or ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The step.
    pub step: Step,
    /// How it ends, by the name in the document; none when it begins.
    pub outcome: Option<&'static str>,
    /// The texts, in order.
    pub said: Vec<Said>,
}

/// A text that is said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The user sees it.
    Shown(String),
    /// It goes into the log, without the prefix of the step.
    Logged(Level, String),
}

/// The event cannot come now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OutOfTurn {
    /// The conversation is over.
    #[error("the conversation is over")]
    Over {
        /// The exit code.
        code: u8,
    },
    /// The user has to approve a call.
    #[error("a call waits for approval")]
    Confirming,
    /// The user has the word.
    #[error("a line of the user is expected")]
    Listening,
    /// Nothing of this kind is under way.
    #[error("nothing of this kind is under way")]
    Other,
}
