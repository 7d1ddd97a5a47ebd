//! A session of a skill, to be shown.

use super::body::Body;
use crate::sessions::{Record, SessionState};
use dialogue::{Directive, Message};

/// What a session of a skill has said so far.
#[derive(Debug)]
pub struct SkillSession {
    /// None if what is stored cannot be read.
    body: Option<Body>,
    state: SessionState,
}

impl SkillSession {
    /// The session of a record, in this state.
    pub fn new(record: &Record, state: SessionState) -> SkillSession {
        SkillSession { body: Body::read(record).ok(), state }
    }

    /// What is waited for.
    pub fn pending(&self) -> Option<&Directive> {
        self.body.as_ref()?.dialogue.last().filter(|_| self.state.is_waiting())
    }

    /// All messages, the system message first.
    pub fn messages(&self) -> Vec<Message<'_>> {
        let Some(Body { frozen, dialogue }) = &self.body else { return Vec::new() };
        [Message::system(&frozen.system)].into_iter().chain(dialogue.messages()).collect()
    }

    /// Its state: failed, if it cannot be read.
    pub fn state(&self) -> SessionState {
        if self.body.is_some() { self.state } else { SessionState::Failed }
    }
}
