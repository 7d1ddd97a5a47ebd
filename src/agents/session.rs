//! A session of an agent, to be shown.

use super::body::Body;
use crate::sessions::{Record, SessionState};
use agent::{Message, ToolCall};

/// What was said in a session of an agent so far.
#[derive(Debug)]
pub struct AgentSession {
    /// None if what is stored cannot be read.
    body: Option<Body>,
    state: SessionState,
}

impl AgentSession {
    /// The session of a record, in this state.
    pub fn new(record: &Record, state: SessionState) -> AgentSession {
        AgentSession { body: Body::read(record).ok(), state }
    }

    /// The call that waits for approval.
    pub fn pending(&self) -> Option<&ToolCall> {
        self.body.as_ref()?.conversation.pending().filter(|_| self.state.is_waiting())
    }

    /// The exit code, after the end.
    pub fn exit_code(&self) -> Option<u8> {
        self.body.as_ref()?.conversation.exit_code()
    }

    /// All messages.
    pub fn messages(&self) -> &[Message] {
        self.body.as_ref().map_or(&[], |body| body.conversation.history().all())
    }

    /// Its state: failed, if it cannot be read.
    pub fn state(&self) -> SessionState {
        if self.body.is_some() { self.state } else { SessionState::Failed }
    }
}
