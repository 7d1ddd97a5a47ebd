//! A session without a model and without a store: its answers are given beforehand, and all else is as in every session.

use super::body::{Body, Frozen};
use super::{SkillError, Skills, Start};
use crate::sessions::SessionState;
use base::caller::Caller;
use dialogue::{Answer, AnswerError, Asking, Cleaning, Dialogue, Directive, Event, Next, State, read};

/// What happens in one step.
#[derive(Debug, Clone)]
pub struct Act {
    /// What the model answers.
    pub answer: String,
    /// What the client tells then.
    pub event: Option<Event>,
}

/// How a rehearsal went.
#[derive(Debug)]
pub struct Rehearsal {
    /// The system message.
    pub system: String,
    /// The steps that were played.
    pub steps: Vec<Rehearsed>,
    /// The state at the end.
    pub state: SessionState,
    /// Why it went no further, if the acts make no session.
    pub stopped: Option<Stopped>,
}

/// One step that was played.
#[derive(Debug)]
pub struct Rehearsed {
    /// The message of the user that the model got.
    pub sent: String,
    /// What the model's answer says.
    pub directive: Directive,
}

/// Why a rehearsal went no further.
#[derive(Debug)]
pub struct Stopped {
    /// The number of the step, from 1 on.
    pub step: usize,
    /// Why.
    pub reason: StopReason,
}

/// What keeps acts from making a session.
#[derive(Debug, thiserror::Error)]
pub enum StopReason {
    /// No directive can be read from the answer.
    #[error("the answer cannot be used: {0}")]
    Answer(#[from] AnswerError),
    /// The session does not take the event.
    #[error("the event is refused: {0}")]
    Event(#[from] SkillError),
    /// The session waits for no event.
    #[error("the session goes on by itself after a message, and takes no event (`auto_continue`)")]
    GoesOn,
    /// Nobody says what the client tells.
    #[error("the session is in the state `{}`, and no event says how it goes on", .0.name())]
    NoEvent(SessionState),
    /// The model is asked again.
    #[error("the model is asked again, and no answer follows")]
    NoAnswer,
    /// The session has come to its end.
    #[error("the session is over, and one more answer follows")]
    Over,
}

impl Skills {
    /// Plays a session. Nothing is kept, and no model is asked.
    ///
    /// # Errors
    /// [`SkillError`] if the session cannot be started.
    pub async fn rehearse(
        &self,
        caller: &Caller,
        start: Start,
        acts: Vec<Act>,
    ) -> Result<Rehearsal, SkillError> {
        let Body { frozen, dialogue } = self.frozen(caller, start).await?;
        let cleaning = self.options.cleaning;
        let next = dialogue.accept(&Event::Continue, cleaning)?;
        let mut stage = Stage { frozen: &frozen, cleaning, steps: Vec::new() };
        let (state, reason) = stage.play(next, acts);
        let steps = stage.steps;
        let stopped = reason.map(|reason| Stopped { step: reason.step(steps.len()), reason });
        Ok(Rehearsal { system: frozen.system.clone(), steps, state: state.into(), stopped })
    }
}

impl StopReason {
    /// The number of the step that it is about, if so many were played.
    fn step(&self, played: usize) -> usize {
        match self {
            StopReason::Answer(_) | StopReason::Over => played + 1,
            _ => played,
        }
    }
}

/// A rehearsal under way.
struct Stage<'s> {
    frozen: &'s Frozen,
    cleaning: Cleaning,
    steps: Vec<Rehearsed>,
}

impl Stage<'_> {
    /// The state at the end, and what keeps the acts from going on.
    fn play(&mut self, mut next: Next, acts: Vec<Act>) -> (State, Option<StopReason>) {
        let mut acts = acts.into_iter().peekable();
        loop {
            let asking = match next {
                Next::Over(dialogue) => return (dialogue.state(), acts.next().map(|_| StopReason::Over)),
                Next::Ask(asking) => asking,
            };
            let state = asking.dialogue().state();
            let Some(act) = acts.next() else { return (state, Some(StopReason::NoAnswer)) };
            let dialogue = match self.answered(asking, &act.answer) {
                Ok(dialogue) => dialogue,
                Err(error) => return (state, Some(error.into())),
            };
            let state = dialogue.state();
            next = match self.told(dialogue, act.event, acts.peek().is_some()) {
                Ok(Some(next)) => next,
                Ok(None) => return (state, None),
                Err(reason) => return (state, Some(reason)),
            };
        }
    }

    /// The dialogue with an answer, which counts as played.
    fn answered(&mut self, asking: Asking, text: &str) -> Result<Dialogue, AnswerError> {
        let directive = read(Answer { text, is_cut: false }, self.frozen.unknown_format)?;
        let sent = asking.messages(self.frozen.history).last().map(|last| last.content.to_owned());
        self.steps.push(Rehearsed { sent: sent.unwrap_or_default(), directive: directive.clone() });
        Ok(asking.answered(directive))
    }

    /// What follows an event; nothing if there is none, and no act that needs one.
    fn told(
        &self,
        dialogue: Dialogue,
        event: Option<Event>,
        goes_on: bool,
    ) -> Result<Option<Next>, StopReason> {
        let is_message = matches!(dialogue.last(), Some(Directive::Message { .. }));
        let event = match (event, is_message && self.frozen.auto_continue) {
            (None, true) => Event::Continue,
            (Some(_), true) => return Err(StopReason::GoesOn),
            (Some(event), false) => event,
            (None, false) if !goes_on => return Ok(None),
            (None, false) if dialogue.state() == State::Done => return Err(StopReason::Over),
            (None, false) => return Err(StopReason::NoEvent(dialogue.state().into())),
        };
        Ok(Some(dialogue.accept(&event, self.cleaning).map_err(SkillError::from)?))
    }
}
