//! What happens in a session, for those who watch it.

use serde::{Deserialize, Serialize};
use template::value::SmolStr;

/// What kind of event it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EventKind {
    /// The model wants something.
    Directive,
    /// A step of an agent has ended.
    Step,
    /// A piece of the model's text, as it comes.
    Delta,
    /// The session has another state.
    State,
    /// The model did not answer; nothing has changed.
    Error,
    /// The session has ended.
    End,
    /// Events are gone: the whole session.
    Reset,
}

impl EventKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Directive => "directive",
            EventKind::Step => "step",
            EventKind::Delta => "delta",
            EventKind::State => "state",
            EventKind::Error => "error",
            EventKind::End => "end",
            EventKind::Reset => "reset",
        }
    }
}

/// An event of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionEvent {
    /// Its number in the session, from 1; later events have larger ones.
    pub id: u64,
    /// Its kind.
    pub kind: EventKind,
    /// What happened, as JSON; of a [`EventKind::Delta`] the text itself.
    pub data: SmolStr,
}
