//! What is stored of a session: a head that all kinds share, the last events, and a body of its kind.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use super::SessionError;
use super::event::{EventKind, SessionEvent};
use crate::store::StoreError;

/// How many events are kept.
pub const EVENTS_MAX: usize = 1_000;

/// How long the data of the events that are stored may be in all, in bytes; the last event is stored in any case.
const EVENTS_BYTES: usize = 1 << 20;

/// A stored session.
#[derive(Debug, Serialize, Deserialize)]
pub struct Record {
    /// What all kinds share.
    pub head: Head,
    /// The number of the next event.
    next_event: u64,
    /// How many events were stored in all.
    stored: u64,
    /// The last of them.
    events: Vec<SessionEvent>,
    /// What only its kind knows.
    pub body: Box<RawValue>,
}

/// What sessions of all kinds share.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// What it is a session of.
    pub subject: Option<Subject>,
    /// Its state; never [`SessionState::Thinking`].
    pub state: SessionState,
    /// How many steps are done.
    pub step: usize,
    /// How many there may be.
    pub max_steps: usize,
    /// When it was started, in milliseconds since 1970.
    pub created_at: u64,
    /// When its last event was, in milliseconds since 1970.
    pub updated_at: u64,
}

impl Head {
    /// The head of a session that cannot be read.
    pub(super) fn failed() -> Head {
        let state = SessionState::Failed;
        Head { subject: None, state, step: 0, max_steps: 0, created_at: 0, updated_at: 0 }
    }
}

/// What a session is of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subject {
    /// Its kind.
    pub kind: SessionKind,
    /// The id of the document.
    pub id: String,
}

/// The kinds of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionKind {
    /// Of a skill.
    Skill,
    /// Of an agent.
    Agent,
}

impl SessionKind {
    /// What it is of, and what it takes.
    pub fn takes(self) -> &'static str {
        match self {
            SessionKind::Skill => "a skill: send events to /api/sessions/{sid}/events",
            SessionKind::Agent => "an agent: send messages to /api/sessions/{sid}/messages",
        }
    }
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// The model is to be asked.
    Idle,
    /// The model is asked.
    Thinking,
    /// A command is to be run.
    WaitingCmd,
    /// The user is to be asked.
    WaitingUser,
    /// A message of the user is awaited.
    Waiting,
    /// The user has to approve a call.
    WaitingConfirmation,
    /// It has come to its end.
    Done,
    /// The conversation with an agent is over.
    Ended,
    /// It was ended by a client.
    Cancelled,
    /// What is stored of it cannot be read.
    Failed,
}

impl SessionState {
    /// Whether nothing can follow.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            SessionState::Done | SessionState::Ended | SessionState::Cancelled | SessionState::Failed
        )
    }

    /// What a client can do.
    pub fn expects(self) -> &'static str {
        match self {
            SessionState::Idle => "send the event `continue`",
            SessionState::Thinking => "the model is asked; wait until it has answered",
            SessionState::WaitingCmd => "send a `command_result`",
            SessionState::WaitingUser => "send a `user_message`",
            SessionState::Waiting => "send a message",
            SessionState::WaitingConfirmation => "send `approve`, `reject` or `arguments`",
            SessionState::Done | SessionState::Ended => "the session has come to its end; start another one",
            SessionState::Cancelled => "the session was cancelled; start another one, or fork it",
            SessionState::Failed => "what is stored of the session cannot be read; delete it",
        }
    }

    /// Whether it waits for a command or a person.
    pub fn is_waiting(self) -> bool {
        matches!(
            self,
            SessionState::WaitingCmd
                | SessionState::WaitingUser
                | SessionState::Waiting
                | SessionState::WaitingConfirmation
        )
    }

    /// Its name in answers.
    pub fn name(self) -> &'static str {
        match self {
            SessionState::Idle => "idle",
            SessionState::Thinking => "thinking",
            SessionState::WaitingCmd => "waiting_cmd",
            SessionState::WaitingUser => "waiting_user",
            SessionState::Waiting => "waiting",
            SessionState::WaitingConfirmation => "waiting_confirmation",
            SessionState::Done => "done",
            SessionState::Ended => "ended",
            SessionState::Cancelled => "cancelled",
            SessionState::Failed => "failed",
        }
    }
}

impl fmt::Display for SessionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A session that is to be stored for the first time, or its next version.
#[derive(Debug)]
pub struct Draft {
    /// What it is a session of.
    pub subject: Subject,
    /// Its state.
    pub state: SessionState,
    /// How many steps are done.
    pub step: usize,
    /// How many there may be.
    pub max_steps: usize,
    /// What only its kind knows.
    pub body: Box<RawValue>,
}

impl Draft {
    /// What is stored of the body of a session.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn body_of(body: &impl Serialize) -> Result<Box<RawValue>, SessionError> {
        let unwritable = |error: serde_json::Error| StoreError::Unavailable { message: error.to_string() };
        to_raw_value(body).map_err(|error| SessionError::Store(unwritable(error)))
    }
}

impl Record {
    /// Reads the body.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if it cannot be read: the session has failed.
    pub fn read_body<T: DeserializeOwned>(&self) -> Result<T, SessionError> {
        let failed = |_| SessionError::OutOfTurn { state: SessionState::Failed };
        serde_json::from_str(self.body.get()).map_err(failed)
    }

    /// A record without events.
    pub(super) fn new(draft: Draft, now: u64) -> Record {
        let Draft { subject, state, step, max_steps, body } = draft;
        let head = Head { subject: Some(subject), state, step, max_steps, created_at: now, updated_at: now };
        Record { head, next_event: 1, stored: 0, events: Vec::new(), body }
    }

    /// The next version, at this time.
    pub(super) fn next(&self, draft: Draft, now: u64) -> Record {
        let Draft { subject, state, step, max_steps, body } = draft;
        let head =
            Head { subject: Some(subject), state, step, max_steps, updated_at: now, ..self.head.clone() };
        Record { head, body, events: self.events.clone(), ..*self }
    }

    /// The next version, which has ended in this state.
    pub(super) fn ended(&self, state: SessionState, now: u64) -> Record {
        let head = Head { state, updated_at: now, ..self.head.clone() };
        Record { head, body: self.body.clone(), events: self.events.clone(), ..*self }
    }

    /// Reads what is stored; if it cannot be read, the session has failed.
    pub(super) fn read(bytes: &[u8]) -> Record {
        serde_json::from_slice(bytes).unwrap_or_else(|_| Record::failed())
    }

    /// The record of a session that cannot be read.
    pub(super) fn failed() -> Record {
        Record {
            head: Head::failed(),
            next_event: 1,
            stored: 0,
            events: Vec::new(),
            body: RawValue::NULL.to_owned(),
        }
    }

    /// What is stored.
    pub(super) fn bytes(&self) -> Vec<u8> {
        // It holds only texts, numbers and JSON, which can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Adds an event, whose number is at least `id`.
    pub(super) fn add(&mut self, id: u64, kind: EventKind, data: &str) {
        let id = self.next_event.max(id);
        self.next_event = id + 1;
        self.stored += 1;
        self.events.push(SessionEvent { id, kind, data: data.into() });
        self.events.drain(..self.surplus());
    }

    /// How many events are too many, or too long, of the oldest ones.
    fn surplus(&self) -> usize {
        let mut bytes = 0;
        let kept = self.events.iter().rev().take(EVENTS_MAX).take_while(|event| {
            bytes += event.data.len();
            bytes <= EVENTS_BYTES
        });
        self.events.len() - kept.count().max(1).min(self.events.len())
    }

    /// How many events were stored in all.
    pub(super) fn stored(&self) -> u64 {
        self.stored
    }

    /// The number of the last event; 0 if there is none.
    pub(super) fn last_event(&self) -> u64 {
        self.next_event.saturating_sub(1)
    }

    /// The last events, of all that were stored after the first `seen` ones.
    pub(super) fn events_since(&self, seen: u64) -> &[SessionEvent] {
        let new = usize::try_from(self.stored.saturating_sub(seen)).unwrap_or(usize::MAX);
        let from = self.events.len().saturating_sub(new);
        self.events.get(from..).unwrap_or_default()
    }

    /// Whether events that were stored are not kept any more.
    pub(super) fn has_lost_events(&self) -> bool {
        usize::try_from(self.stored).is_ok_and(|stored| stored > self.events.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_so_many_events_are_stored_and_only_so_long_ones() {
        let subject = Subject { kind: SessionKind::Agent, id: "a".to_owned() };
        let body = RawValue::NULL.to_owned();
        let draft = Draft { subject, state: SessionState::Waiting, step: 0, max_steps: 0, body };
        let mut record = Record::new(draft, 0);
        for _ in 0..EVENTS_MAX + 5 {
            record.add(1, EventKind::Step, "{}");
        }
        assert_eq!((record.events.len(), record.events[0].id), (EVENTS_MAX, 6));
        let long = "x".repeat(EVENTS_BYTES / 2);
        for _ in 0..3 {
            record.add(1, EventKind::Step, &long);
        }
        assert_eq!(record.events.len(), 2);
        record.add(1, EventKind::Step, &"x".repeat(EVENTS_BYTES + 1));
        assert_eq!(record.events.len(), 1);
        assert!(record.has_lost_events());
    }
}
