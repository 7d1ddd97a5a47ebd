//! From an event to the directives that follow, each of which is stored before it is told.

use serde_json::json;

use super::body::{Body, Frozen};
use super::{SkillError, Skills};
use crate::sessions::{EventKind, SessionError, SessionState, Work};
use base::caller::Caller;
use dialogue::{Asking, Dialogue, Directive, Event, Next};

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
        let next = dialogue.accept(event, self.options.cleaning)?;
        self.advance(caller, work, &frozen, next).await
    }

    /// Asks the model, again after each message if the session goes on by itself, and stores each answer.
    pub(super) async fn advance(
        &self,
        caller: &Caller,
        work: &mut Work,
        frozen: &Frozen,
        mut next: Next,
    ) -> Result<Progress, SkillError> {
        let mut directives = Vec::new();
        loop {
            let dialogue = match next {
                Next::Over(dialogue) => dialogue,
                Next::Ask(asking) => {
                    let before = asking.dialogue().clone();
                    match self.answered(caller, work, frozen, asking).await {
                        Ok(dialogue) => dialogue,
                        // The messages before are told, unless a client has ended the session.
                        Err(error) if !directives.is_empty() && !is_ended(&error) => {
                            return Ok(progress(work, frozen, &before, directives, Some(error)));
                        }
                        Err(error) => return Err(error),
                    }
                }
            };
            self.save(work, frozen, &dialogue).await?;
            directives.extend(dialogue.last().cloned());
            if !(frozen.auto_continue && matches!(dialogue.last(), Some(Directive::Message { .. }))) {
                return Ok(progress(work, frozen, &dialogue, directives, None));
            }
            next = dialogue.accept(&Event::Continue, self.options.cleaning)?;
        }
    }

    /// The dialogue with the model's answer; those who watch are told how it goes.
    async fn answered(
        &self,
        caller: &Caller,
        work: &mut Work,
        frozen: &Frozen,
        asking: Asking,
    ) -> Result<Dialogue, SkillError> {
        let (state, step) = (asking.dialogue().state(), asking.dialogue().step());
        match self.ask(caller, work, frozen, &asking).await {
            Ok(directive) => Ok(asking.answered(directive)),
            Err(error) => {
                if !is_ended(&error) {
                    let told = json!({"message": error.to_string()});
                    work.tell(EventKind::Error, told.to_string());
                    work.tell(EventKind::State, state_json(state.into(), step));
                }
                Err(error)
            }
        }
    }

    async fn save(&self, work: &mut Work, frozen: &Frozen, dialogue: &Dialogue) -> Result<(), SkillError> {
        let body = Body { frozen: frozen.clone(), dialogue: dialogue.clone() };
        let draft = body.draft()?;
        let state = state_json(draft.state, draft.step);
        let mut events = vec![(EventKind::Directive, json!(dialogue.last()).to_string())];
        events.push((EventKind::State, state.clone()));
        if draft.state.is_end() {
            events.push((EventKind::End, state));
        }
        Ok(work.save(draft, &events).await?)
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
