//! From an event to the directives that follow, each of which is stored before it is told.

use std::sync::Arc;

use serde_json::json;

use super::body::{Body, Frozen};
use super::{SkillError, Skills};
use crate::sessions::{EventKind, SessionError, SessionState, Teller, Work};
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
        let mut work = self.sessions.work(session, self.options.timeout).await?;
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
        let back = Back::to(asking.dialogue(), work);
        let done = match self.ask(caller, work, frozen, &asking).await {
            Ok(directive) => self.save(work, frozen, asking.answered(directive)).await,
            Err(error) => Err(error),
        };
        back.after(&done);
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

/// Tells those who watch that the model is not asked any more, and the state before, when a step comes to nothing: also because whoever
/// waited for it has left.
struct Back {
    teller: Option<Teller>,
    state: String,
}

impl Back {
    /// Back to this dialogue.
    fn to(dialogue: &Dialogue, work: &Work) -> Back {
        let state = state_json(dialogue.state().into(), dialogue.step());
        Back { teller: Some(work.teller()), state }
    }

    /// Ends a step. The state before is told only if the step has failed and the session goes on.
    fn after<T>(mut self, done: &Result<T, SkillError>) {
        match (done, &self.teller) {
            (Err(error), Some(teller)) if !is_ended(error) => {
                teller.tell(EventKind::Error, json!({"message": error.to_string()}).to_string());
            }
            _ => self.teller = None,
        }
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        if let Some(teller) = &self.teller {
            teller.tell(EventKind::State, std::mem::take(&mut self.state));
        }
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
