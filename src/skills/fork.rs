//! A new session that goes on from a step of another one.

use super::body::Body;
use super::steps::Progress;
use super::{SkillError, Skills};
use crate::sessions::{Session, SessionKind};
use dialogue::{Answer, read};

impl Skills {
    /// Makes a session that goes on from this step of another one, which stays as it is.
    ///
    /// # Errors
    /// [`SkillError::NoSuchStep`].
    pub async fn fork(&self, session: &Session, step: usize) -> Result<Progress, SkillError> {
        session.must_be(SessionKind::Skill)?;
        let Body { frozen, dialogue } = Body::read(&session.record)?;
        let again = |text: &str| read(Answer { text, is_cut: false }, frozen.unknown_format).ok();
        let last = dialogue.step();
        let dialogue = dialogue.at_step(step, again).ok_or(SkillError::NoSuchStep { last })?;
        let body = Body { frozen, dialogue };
        let fork = self.sessions.keep(body.draft()?).await?;
        Ok(Progress {
            session: fork.id,
            skill: body.frozen.skill.clone(),
            state: fork.state,
            step: body.dialogue.step(),
            max_steps: body.dialogue.max_steps(),
            directives: body.dialogue.last().cloned().into_iter().collect(),
            error: None,
        })
    }
}
