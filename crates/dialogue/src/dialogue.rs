//! The states of a dialogue: what may happen in each, and what comes next.
//!
//! A dialogue is a list of turns. Its state follows from the last directive, so no state can contradict what was said. An event
//! makes an [`Asking`] of it, which is the state in which the model thinks; if the model does not answer, the asking is dropped, and
//! nothing has changed.

use serde::{Deserialize, Serialize};

use super::directive::Directive;
use super::history::{History, Message, messages};
use super::output::Cleaning;
use super::texts::{self, CommandResult};

/// What the dialogue says when its steps are used up.
const LIMIT_REACHED: &str = "Maximum steps reached";

/// A dialogue between turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dialogue {
    /// The first message of the user, without the number of its step.
    start: String,
    max_steps: usize,
    turns: Vec<Turn>,
    /// What the model wants; none before its first answer.
    pending: Option<Directive>,
}

/// One step: a message of the user, and what the model answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Turn {
    pub(super) user: String,
    pub(super) reply: String,
}

/// The state of a dialogue between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// The model is to be asked: for its first answer, or after a message.
    Idle,
    /// A command is to be run.
    WaitingCommand,
    /// The user is to be asked.
    WaitingUser,
    /// It has come to its end.
    Done,
}

/// What happened at the client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Event {
    /// The command was run, or was not.
    CommandResult(CommandResult),
    /// The user answered.
    UserMessage {
        /// The answer.
        text: String,
    },
    /// The message was shown.
    Continue,
}

/// Why an event is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// Not this event in this state.
    OutOfTurn(State),
    /// The question needs an answer.
    EmptyAnswer,
}

/// What follows an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// The model is asked.
    Ask(Asking),
    /// The steps are used up.
    Over(Dialogue),
}

/// A dialogue whose model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    dialogue: Dialogue,
    user: String,
}

impl Dialogue {
    /// A dialogue that begins with this message, and has so many steps at most.
    pub fn new(start: String, max_steps: usize) -> Dialogue {
        Dialogue { start, max_steps, turns: Vec::new(), pending: None }
    }

    /// Its state.
    pub fn state(&self) -> State {
        match &self.pending {
            None | Some(Directive::Message { .. }) => State::Idle,
            Some(Directive::Command { .. }) => State::WaitingCommand,
            Some(Directive::Ask { .. }) => State::WaitingUser,
            Some(Directive::Done { .. }) => State::Done,
        }
    }

    /// How often the model has answered.
    pub fn step(&self) -> usize {
        self.turns.len()
    }

    /// How often it may answer.
    pub fn max_steps(&self) -> usize {
        self.max_steps
    }

    /// The last directive.
    pub fn last(&self) -> Option<&Directive> {
        self.pending.as_ref()
    }

    /// All messages but the system message.
    pub fn messages(&self) -> impl Iterator<Item = Message<'_>> {
        messages(&self.turns)
    }

    /// Takes an event.
    ///
    /// # Errors
    /// [`Refusal`].
    pub fn accept(self, event: &Event, cleaning: Cleaning) -> Result<Next, Refusal> {
        let text = self.text_of(event, cleaning)?;
        let step = self.step() + 1;
        if step > self.max_steps {
            let pending = Directive::Done { content: String::new(), message: LIMIT_REACHED.to_owned() };
            return Ok(Next::Over(Dialogue { pending: Some(pending), ..self }));
        }
        let user = texts::numbered(&text, step, self.max_steps);
        Ok(Next::Ask(Asking { dialogue: self, user }))
    }

    /// The message that an event makes.
    fn text_of(&self, event: &Event, cleaning: Cleaning) -> Result<String, Refusal> {
        let out_of_turn = || Err(Refusal::OutOfTurn(self.state()));
        match (&self.pending, event) {
            (None, Event::Continue) => Ok(self.start.clone()),
            (Some(Directive::Message { .. }), Event::Continue) => Ok(texts::AFTER_MESSAGE.to_owned()),
            (Some(Directive::Command { command, .. }), Event::CommandResult(result)) => {
                Ok(texts::command(command, result, cleaning))
            }
            (Some(Directive::Ask { required, .. }), Event::UserMessage { text }) => {
                match *required && text.trim().is_empty() {
                    true => Err(Refusal::EmptyAnswer),
                    false => Ok(texts::response(text)),
                }
            }
            _ => out_of_turn(),
        }
    }

    /// The dialogue as it was after a step, from 1 on; `read` reads an answer that was kept. None if there was no such step, or if it
    /// was the last one of the skill.
    pub fn at_step(&self, step: usize, read: impl Fn(&str) -> Option<Directive>) -> Option<Dialogue> {
        let turns = self.turns.get(..step)?.to_vec();
        let pending = read(&turns.last()?.reply).filter(|last| !matches!(last, Directive::Done { .. }))?;
        Some(Dialogue { start: self.start.clone(), max_steps: self.max_steps, turns, pending: Some(pending) })
    }
}

impl Asking {
    /// The dialogue before it.
    pub fn dialogue(&self) -> &Dialogue {
        &self.dialogue
    }

    /// The length of all messages, in bytes.
    pub fn bytes(&self) -> usize {
        self.dialogue.messages().map(|message| message.content.len()).sum::<usize>() + self.user.len()
    }

    /// The messages that are sent beside the system message.
    pub fn messages(&self, history: History) -> Vec<Message<'_>> {
        history.select(&self.dialogue.turns, &self.user)
    }

    /// The dialogue with the model's answer.
    #[must_use]
    pub fn answered(self, directive: Directive) -> Dialogue {
        let Asking { mut dialogue, user } = self;
        dialogue.turns.push(Turn { user, reply: directive.content().to_owned() });
        Dialogue { pending: Some(directive), ..dialogue }
    }
}
