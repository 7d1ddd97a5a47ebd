//! The errors of skills.

use std::time::Duration;

use crate::catalog::{NoDocumentError, NotLoadedError};
use crate::formats::UnusableSkill;
use crate::llm::LlmError;
use crate::render::RenderError;
use crate::requests::RequestError;
use crate::sessions::{SessionError, SessionState};
use base::error::{Kind, Kinded};
use dialogue::Refusal;

/// The error of starting a session or of an event; the session has not changed.
#[derive(Debug, thiserror::Error)]
pub enum SkillError {
    /// There is no skill with this id, or several may be meant.
    #[error(transparent)]
    NotFound(#[from] NoDocumentError),
    /// The skill of a client cannot be used.
    #[error("the skill {}", .0.0)]
    Unusable(#[from] UnusableSkill),
    /// The texts of the session are too long to be kept.
    #[error(
        "the texts of the session are longer than {limit} bytes; nothing has changed: send less, or start another session"
    )]
    TooLarge {
        /// The longest that all of them may be, in bytes.
        limit: usize,
    },
    /// Required parameters are missing.
    #[error("the skill `{skill}` needs parameters that are missing: {}; give them in `params`", names.join(", "))]
    MissingParams {
        /// The id of the skill.
        skill: String,
        /// The names of the parameters.
        names: Vec<String>,
    },
    /// The question needs an answer.
    #[error("`text` is empty, but the question has to be answered")]
    EmptyAnswer,
    /// There is no such step to go on from.
    #[error("`step` must be from 1 to {last}, the last step of the session, and not the one that ended it")]
    NoSuchStep {
        /// The last step.
        last: usize,
    },
    /// The model answered, twice, with something that is no directive.
    #[error(
        "the model's answer cannot be used: {cause}; nothing has changed: send the request again, or take another model"
    )]
    AnswerUnusable {
        /// What is wrong with the answer.
        cause: String,
    },
    /// The model did not answer in time.
    #[error("the model did not answer within {} ms (skills.timeout_ms); nothing has changed: send the request again", .0.as_millis())]
    Timeout(Duration),
    /// The upstream refused the request, which is no fault of a client that only tells what happened.
    #[error("the model did not answer: the upstream refused the request with {status}: {cause}")]
    Refused {
        /// The HTTP status.
        status: u16,
        /// The upstream's own message.
        cause: String,
    },
    /// The model did not answer.
    #[error(transparent)]
    Llm(LlmError),
    /// The instructions cannot be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// No skill can be chosen.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// The store was not read yet.
    #[error(transparent)]
    NotLoaded(#[from] NotLoadedError),
    /// The error of the session.
    #[error(transparent)]
    Session(#[from] SessionError),
}

impl From<LlmError> for SkillError {
    fn from(error: LlmError) -> SkillError {
        match error.refusal() {
            Some((status, cause)) => SkillError::Refused { status, cause },
            None => SkillError::Llm(error),
        }
    }
}

impl SkillError {
    /// Whether those who watch the session are told of it.
    pub fn is_of_model(&self) -> bool {
        matches!(
            self,
            SkillError::AnswerUnusable { .. }
                | SkillError::Timeout(_)
                | SkillError::Refused { .. }
                | SkillError::Llm(_)
        )
    }
}

impl From<Refusal> for SkillError {
    fn from(refusal: Refusal) -> SkillError {
        match refusal {
            Refusal::OutOfTurn(state) => SessionError::OutOfTurn { state: SessionState::from(state) }.into(),
            Refusal::EmptyAnswer => SkillError::EmptyAnswer,
        }
    }
}

impl From<dialogue::State> for SessionState {
    fn from(state: dialogue::State) -> SessionState {
        match state {
            dialogue::State::Idle => SessionState::Idle,
            dialogue::State::WaitingCommand => SessionState::WaitingCmd,
            dialogue::State::WaitingUser => SessionState::WaitingUser,
            dialogue::State::Done => SessionState::Done,
        }
    }
}

impl Kinded for SkillError {
    fn kind(&self) -> Kind {
        match self {
            SkillError::NotFound(error) => error.kind(),
            SkillError::TooLarge { .. } => Kind::TooLarge,
            SkillError::Unusable(_)
            | SkillError::MissingParams { .. }
            | SkillError::EmptyAnswer
            | SkillError::NoSuchStep { .. } => Kind::InvalidInput,
            SkillError::AnswerUnusable { .. } | SkillError::Timeout(_) | SkillError::Refused { .. } => {
                Kind::Upstream
            }
            SkillError::Llm(error) => error.kind(),
            SkillError::Render(error) => error.kind(),
            SkillError::Request(error) => error.kind(),
            SkillError::NotLoaded(error) => error.kind(),
            SkillError::Session(error) => error.kind(),
        }
    }
}
