//! What a session of a skill keeps: what was frozen at its start, and the dialogue.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json};

use crate::sessions::{Draft, Record, SessionError, SessionKind, SessionState, Subject};
use dialogue::{Cleaning, Dialogue, History, UnknownFormat};

/// What a session of a skill keeps.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Body {
    /// What was frozen at its start.
    pub frozen: Arc<Frozen>,
    /// The dialogue.
    pub dialogue: Dialogue,
}

/// What no change of the catalog or the settings touches.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Frozen {
    /// The id of the skill.
    pub skill: String,
    /// The system message.
    pub system: String,
    /// The model; none for the service's own.
    pub model: Option<String>,
    /// The temperature of answers.
    pub temperature: f64,
    /// The most tokens of an answer.
    pub max_tokens: u64,
    /// What the model is sent of the steps before.
    pub history: History,
    /// Whether the service goes on by itself after a message.
    pub auto_continue: bool,
    /// What an answer without a tag means.
    pub unknown_format: UnknownFormat,
    /// How outputs of commands are cleaned.
    pub cleaning: Cleaning,
    /// Members of the upstream's body that nobody else sets.
    pub params: JsonMap<String, Json>,
}

impl Body {
    /// The body of a stored session; none if it has failed.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if it cannot be read.
    pub fn read(record: &Record) -> Result<Body, SessionError> {
        record.read_body()
    }

    /// The next version of the session.
    ///
    /// # Errors
    /// If the texts of the dialogue cannot be written.
    pub fn draft(&self) -> Result<Draft, SessionError> {
        let dialogue = &self.dialogue;
        Ok(Draft {
            subject: Subject { kind: SessionKind::Skill, id: self.frozen.skill.clone() },
            state: SessionState::from(dialogue.state()),
            step: dialogue.step(),
            max_steps: dialogue.max_steps(),
            body: Draft::body_of(self)?,
        })
    }
}
