//! A conversation with an agent: a state machine from an event to what is said, and what is to be done next.
//!
//! - `main`, `model`, `valid`, `exec`: the steps; `stage`: what they share

mod event;
mod exec;
mod main;
mod model;
mod stage;
mod valid;

use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json};

pub use event::{Event, Failure, FailureKind, Moved, Note, OutOfTurn, Said, Task, ToolCall};

use super::compiled::Agent;
use super::history::History;
use stage::Stage;

/// A conversation. It can be stored at any moment: what was under way then is over, and the next line begins anew.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    history: History,
    place: Place,
    /// What texts and prompts see as `variables`.
    variables: JsonMap<String, Json>,
    turn: Turn,
    /// How many messages the user has sent.
    messages: usize,
}

/// Where a conversation is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Place {
    /// Nothing has been said.
    New,
    /// The user has the word.
    Listening,
    /// The user is asked for an argument.
    Asking {
        parameter: String,
    },
    /// The user has to approve the call.
    Confirming,
    Classifying,
    Selecting,
    CheckingHealth,
    Calling,
    Answering,
    Over {
        code: u8,
    },
}

/// What belongs to the last message of the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Turn {
    message: String,
    call: Option<ToolCall>,
    /// How many tools were called.
    calls: usize,
    /// What the tools answered: `{tool, arguments, result}` each.
    results: Vec<Json>,
}

impl Conversation {
    /// A conversation in which nothing has been said.
    pub fn new(variables: JsonMap<String, Json>) -> Conversation {
        Conversation {
            history: History::default(),
            place: Place::New,
            variables,
            turn: Turn::default(),
            messages: 0,
        }
    }

    /// Takes an event.
    ///
    /// # Errors
    /// [`OutOfTurn`] if it cannot come now; then nothing has changed.
    pub fn take(&mut self, agent: &Agent, event: Event) -> Result<Moved, OutOfTurn> {
        let mut stage = Stage::new(agent, self);
        let task = match (stage.place(), event) {
            (Place::Over { code }, _) => return Err(OutOfTurn::Over { code: *code }),
            (Place::New, Event::Start) => stage.start(),
            (Place::New, _) | (_, Event::Start) => return Err(OutOfTurn::Other),
            (_, Event::EndOfInput) => stage.end(0),
            (Place::Confirming, Event::Approve) => stage.execute(),
            (Place::Confirming, Event::Reject) => stage.reject(),
            (Place::Confirming, Event::Change(arguments)) => stage.change(arguments),
            (Place::Confirming, _) => return Err(OutOfTurn::Confirming),
            (_, Event::Line(line)) => stage.line(&line),
            (Place::Classifying, Event::Classified(result)) => stage.classified(result),
            (Place::Selecting, Event::Selected(result)) => stage.selected(result),
            (Place::CheckingHealth, Event::Health(result)) => stage.health(result),
            (Place::Calling, Event::Called(result)) => stage.called(result),
            (Place::Answering, Event::Answered(result)) => stage.answered(result),
            _ => return Err(OutOfTurn::Listening),
        };
        let notes = stage.into_notes();
        Ok(Moved { notes, task })
    }

    /// The messages so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// How many messages the user has sent.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// The last message of the user.
    pub fn message(&self) -> &str {
        &self.turn.message
    }

    /// What the tools answered to the last message: `{tool, arguments, result}` each.
    pub fn results(&self) -> &[Json] {
        &self.turn.results
    }

    /// The variables of the conversation.
    pub fn variables(&self) -> &JsonMap<String, Json> {
        &self.variables
    }

    /// The call that the user has to approve.
    pub fn pending(&self) -> Option<&ToolCall> {
        self.turn.call.as_ref().filter(|_| self.place == Place::Confirming)
    }

    /// The exit code, after the end.
    pub fn exit_code(&self) -> Option<u8> {
        match self.place {
            Place::Over { code } => Some(code),
            _ => None,
        }
    }
}
