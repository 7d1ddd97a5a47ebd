//! The errors of skills, agents and sessions as answers.

use serde_json::json;

use super::error::ApiError;
use crate::agents::AgentError;
use crate::catalog::BundledFileError;
use crate::sessions::SessionError;
use crate::skills::SkillError;
use base::error::Kinded;

impl From<SessionError> for ApiError {
    fn from(error: SessionError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match &error {
            SessionError::NotFound { .. } => answer("session_not_found").about("id"),
            SessionError::OutOfTurn { state } => {
                answer("session_state").with_details(json!({"state": state}))
            }
            SessionError::OtherKind { .. } => answer("invalid_request"),
            SessionError::Store(store) => store.into(),
        }
    }
}

impl From<SkillError> for ApiError {
    fn from(error: SkillError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            SkillError::NotFound(ref error) => error.into(),
            SkillError::Unusable(_) => answer("invalid_document").about("skill"),
            SkillError::TooLarge { .. } => answer("session_too_large"),
            SkillError::MissingParams { ref names, .. } => {
                answer("missing_variables").about("params").with_details(json!({"missing": names}))
            }
            SkillError::EmptyAnswer => answer("invalid_request").about("text"),
            SkillError::NoSuchStep { .. } => answer("invalid_request").about("step"),
            SkillError::AnswerUnusable { ref cause } => {
                answer("answer_unusable").with_details(json!({"cause": cause}))
            }
            SkillError::Timeout(_) => answer("llm_unavailable"),
            SkillError::Refused { status, ref cause } => {
                answer("llm_unavailable").with_details(json!({"cause": cause, "status": status}))
            }
            SkillError::Llm(error) => error.into(),
            SkillError::Render(error) => error.into(),
            SkillError::Request(error) => error.into(),
            SkillError::NotLoaded(error) => error.into(),
            SkillError::Session(error) => error.into(),
        }
    }
}

impl From<AgentError> for ApiError {
    fn from(error: AgentError) -> ApiError {
        let answer = |code| ApiError::new(error.kind(), code, error.to_string());
        match error {
            AgentError::NotFound(ref error) => error.into(),
            AgentError::Unavailable { ref problems, .. } => {
                answer("agent_unavailable").with_details(json!({"problems": problems}))
            }
            AgentError::TooLarge { .. } => answer("session_too_large"),
            AgentError::NotLoaded(error) => error.into(),
            AgentError::Session(error) => error.into(),
        }
    }
}

impl From<BundledFileError> for ApiError {
    fn from(error: BundledFileError) -> ApiError {
        match &error {
            BundledFileError::NoSkill(error) => error.into(),
            BundledFileError::NoFile { .. } => {
                ApiError::new(error.kind(), "file_not_found", error.to_string()).about("path")
            }
            BundledFileError::Unreadable { .. } => {
                ApiError::new(error.kind(), "file_unreadable", error.to_string()).about("path")
            }
        }
    }
}
