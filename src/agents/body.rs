//! What a session of an agent keeps: what was frozen at its start, and the conversation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::sessions::{Draft, Record, SessionError, SessionKind, SessionState, Subject};
use agent::{Agent, Conversation, Overrides};
use base::model::Id;

/// How much a session tells of its log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogDetail {
    /// Nothing.
    #[default]
    Off,
    /// The lines of the agent's log.
    Lines,
    /// Also what models and tools are sent, and answer.
    Verbose,
}

/// What a session of an agent keeps.
#[derive(Debug, Serialize, Deserialize)]
pub struct Body {
    /// What was frozen at its start.
    pub frozen: Arc<Frozen>,
    /// The conversation.
    pub conversation: Conversation,
}

/// What no change of the catalog or the settings touches.
#[derive(Debug, Serialize, Deserialize)]
pub struct Frozen {
    /// The id of the agent.
    pub agent: String,
    /// Its document.
    pub document: Json,
    /// What overrides its settings.
    pub overrides: Overrides,
    /// How much is told of the log.
    pub log: LogDetail,
}

impl Body {
    /// The body of a stored session.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if it cannot be read.
    pub fn read(record: &Record) -> Result<Body, SessionError> {
        record.read_body()
    }

    /// The agent as it was at the start.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if its document cannot be read any more.
    pub fn agent(&self) -> Result<Agent, SessionError> {
        let failed = || SessionError::OutOfTurn { state: SessionState::Failed };
        let id = Id::parse(&self.frozen.agent).map_err(|_| failed())?;
        let agent = Agent::read(&self.frozen.document, &self.frozen.overrides).map_err(|_| failed())?;
        Ok(agent.stored_as(id))
    }

    /// The next version of the session.
    ///
    /// # Errors
    /// If the texts cannot be written.
    pub fn draft(&self) -> Result<Draft, SessionError> {
        Ok(Draft {
            subject: Subject { kind: SessionKind::Agent, id: self.frozen.agent.clone() },
            state: self.state(),
            step: self.conversation.messages(),
            max_steps: 0,
            body: Draft::body_of(self)?,
        })
    }

    /// What the session waits for.
    pub fn state(&self) -> SessionState {
        state_of(&self.conversation)
    }
}

/// What a conversation waits for.
pub fn state_of(conversation: &Conversation) -> SessionState {
    match (conversation.exit_code(), conversation.pending()) {
        (Some(_), _) => SessionState::Ended,
        (None, Some(_)) => SessionState::WaitingConfirmation,
        (None, None) => SessionState::Waiting,
    }
}
