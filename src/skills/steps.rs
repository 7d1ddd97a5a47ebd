//! From an event to the directives that follow, each of which is stored before it is told.

use std::sync::Arc;

use serde_json::json;

use super::body::{Body, Frozen};
use super::{SkillError, Skills};
use crate::sessions::{EventKind, SessionError, SessionKind, SessionState, Thinking, Work};
use base::caller::Caller;
use dialogue::{Dialogue, Directive, Event, Next};

/// How long all texts of a session may be, in bytes: as one value of the store, with room for its events.
const BYTES_MAX: usize = 4 << 20;

/// How far a session has come.
#[derive(Debug)]
pub struct Progress {
    /// Its id.
    pub session: String,
    /// The id of the skill.
    pub skill: String,
    /// Its state.
    pub state: SessionState,
    /// How many steps are done.
    pub step: usize,
    /// How many there may be.
    pub max_steps: usize,
    /// The directives that are new: messages, and the one that waits.
    pub directives: Vec<Directive>,
    /// Why no more came after a message.
    pub error: Option<SkillError>,
}

impl Skills {
    /// Takes an event, and goes on until somebody has to answer.
    ///
    /// # Errors
    /// [`SkillError`]; then nothing has changed.
    pub async fn event(&self, caller: &Caller, session: &str, event: Event) -> Result<Progress, SkillError> {
        let mut work = self.sessions.work(session, SessionKind::Skill, self.options.timeout).await?;
        let progress = self.take(caller, &mut work, &event).await;
        work.finish().await;
        progress
    }

    async fn take(&self, caller: &Caller, work: &mut Work, event: &Event) -> Result<Progress, SkillError> {
        let Body { frozen, dialogue } = Body::read(work.record())?;
        let next = dialogue.accept(event, frozen.cleaning)?;
        self.advance(caller, work, &frozen, next).await
    }

    /// Asks the model, again after each message if the session goes on by itself, and stores each answer.
    pub(super) async fn advance(
        &self,
        caller: &Caller,
        work: &mut Work,
        frozen: &Arc<Frozen>,
        next: Next,
    ) -> Result<Progress, SkillError> {
        let mut dialogue = self.step(caller, work, frozen, next).await?;
        let mut directives = Vec::new();
        loop {
            directives.extend(dialogue.last().cloned());
            if !(frozen.auto_continue && matches!(dialogue.last(), Some(Directive::Message { .. }))) {
                return Ok(progress(work, frozen, &dialogue, directives, None));
            }
            let next = dialogue.clone().accept(&Event::Continue, frozen.cleaning)?;
            dialogue = match self.step(caller, work, frozen, next).await {
                Ok(dialogue) => dialogue,
                // The messages before are told, unless a client has ended the session.
                Err(error) if !is_ended(&error) => {
                    return Ok(progress(work, frozen, &dialogue, directives, Some(error)));
                }
                Err(error) => return Err(error),
            };
        }
    }

    /// One step, which is stored; those who watch are told how it goes.
    async fn step(
        &self,
        caller: &Caller,
        work: &mut Work,
        frozen: &Arc<Frozen>,
        next: Next,
    ) -> Result<Dialogue, SkillError> {
        let asking = match next {
            Next::Ask(asking) => asking,
            Next::Over(dialogue) => return self.save(work, frozen, dialogue).await,
        };
        if frozen.system.len() + asking.bytes() > BYTES_MAX {
            return Err(SkillError::TooLarge { limit: BYTES_MAX });
        }
        let before = asking.dialogue();
        let thinking = Thinking::new(work.teller(), state_json(before.state().into(), before.step()));
        let done = match self.ask(caller, work, frozen, &asking).await {
            Ok(directive) => self.save(work, frozen, asking.answered(directive)).await,
            Err(error) => Err(error),
        };
        match &done {
            Err(error) if !is_ended(error) => thinking.end(Some(&error.to_string())),
            _ => thinking.end(None),
        }
        done
    }

    async fn save(
        &self,
        work: &mut Work,
        frozen: &Arc<Frozen>,
        dialogue: Dialogue,
    ) -> Result<Dialogue, SkillError> {
        let body = Body { frozen: frozen.clone(), dialogue };
        let draft = body.draft()?;
        let state = state_json(draft.state, draft.step);
        let mut events = vec![(EventKind::Directive, json!(body.dialogue.last()).to_string())];
        events.push((EventKind::State, state.clone()));
        if draft.state.is_end() {
            events.push((EventKind::End, state));
        }
        work.save(draft, &events).await?;
        Ok(body.dialogue)
    }
}

/// Whether a client has ended the session.
fn is_ended(error: &SkillError) -> bool {
    matches!(error, SkillError::Session(SessionError::OutOfTurn { .. }))
}

/// What those who watch are told of a state.
pub(super) fn state_json(state: SessionState, step: usize) -> String {
    json!({"state": state, "step": step}).to_string()
}

fn progress(
    work: &Work,
    frozen: &Frozen,
    dialogue: &Dialogue,
    directives: Vec<Directive>,
    error: Option<SkillError>,
) -> Progress {
    Progress {
        session: work.id().to_owned(),
        skill: frozen.skill.clone(),
        state: dialogue.state().into(),
        step: dialogue.step(),
        max_steps: dialogue.max_steps(),
        directives,
        error,
    }
}
