//! The loop of a run: the model's directives are carried out, and it is told what came of them.

use ::dialogue::{Directive, Event};

use super::command::Commands;
use super::dialogue::{Session, Turn};
use super::show;
use crate::cli::error::CliError;
use crate::cli::output::warn;
use crate::cli::terminal::{self, Typed};

/// A run of a skill.
pub struct Run<'c> {
    /// Its session.
    pub session: Session<'c>,
    /// What runs its commands.
    pub commands: Commands,
    /// Whether there is somebody to ask.
    pub is_attended: bool,
    /// The most steps.
    pub max_steps: u64,
}

impl Run<'_> {
    /// Goes on until the skill is complete. A session that comes to no such end is cancelled.
    ///
    /// # Errors
    /// [`CliError::Cancelled`], [`CliError::Unanswered`], and the service's own, after which the session can be continued.
    pub async fn until_done(mut self, first: Turn) -> Result<(), CliError> {
        let ended = self.turns(first).await;
        match &ended {
            Err(CliError::Cancelled) => {
                self.cancel().await;
            }
            Err(CliError::Unanswered { .. }) => self.cancel().await,
            Err(_) => warn(format_args!("The session {} stays as it is.", self.session.id)),
            Ok(()) => {}
        }
        ended
    }

    async fn turns(&mut self, first: Turn) -> Result<(), CliError> {
        let mut turn = first;
        loop {
            show::step(turn.step, self.max_steps);
            let Some(event) = self.carried_out(&turn.directives).await? else { return Ok(()) };
            if let Some(error) = &turn.error {
                try_again(&error.message, self.is_attended).await?;
            }
            turn = self.sent(&event, turn.step).await?;
        }
    }

    /// What the model is to be told; nothing after the end.
    async fn carried_out(&mut self, directives: &[Directive]) -> Result<Option<Event>, CliError> {
        for directive in directives {
            match directive {
                Directive::Message { message, .. } => show::message(message),
                Directive::Done { message, .. } => {
                    show::done(message);
                    return Ok(None);
                }
                Directive::Ask { question, required, .. } => {
                    let text = self.answer(question, *required).await?;
                    return Ok(Some(Event::UserMessage { text }));
                }
                Directive::Command { command, .. } => {
                    let result = self.commands.result(&self.session.id, command).await?;
                    return Ok(Some(Event::CommandResult(result)));
                }
            }
        }
        Ok(Some(Event::Continue))
    }

    /// The user's answer to a question. Where nobody is, there is none to an optional one.
    async fn answer(&self, question: &str, required: bool) -> Result<String, CliError> {
        show::question(question, required);
        if !self.is_attended {
            return match required {
                true => Err(CliError::Unanswered { question: question.to_owned() }),
                false => Ok(String::new()),
            };
        }
        loop {
            match terminal::read_line("> ", "").await? {
                Typed::Leave | Typed::End => return Err(CliError::Cancelled),
                Typed::Line(line) if required && line.trim().is_empty() => {
                    warn("An answer is needed (Ctrl-C cancels).");
                }
                Typed::Line(line) => return Ok(line),
            }
        }
    }

    /// Sends the event that follows a step; after a failure again, if the user wants it.
    async fn sent(&self, event: &Event, step: u64) -> Result<Turn, CliError> {
        loop {
            let error = match self.session.send(event).await {
                Ok(turn) => return Ok(turn),
                Err(error) => error,
            };
            let is_lost = matches!(error, CliError::Unreachable { .. });
            if !self.is_attended || !(is_lost || can_be_tried_again(&error)) {
                return Err(error);
            }
            try_again(&error.to_string(), self.is_attended).await?;
            // The event may have been taken, and only the answer was lost.
            if is_lost && let Some(turn) = self.session.after(step).await? {
                return Ok(turn);
            }
        }
    }

    /// Ends the session before its time.
    async fn cancel(&self) {
        match self.session.cancel().await {
            Ok(()) => warn("The session is cancelled."),
            Err(error) => {
                warn(format_args!("The session {} could not be cancelled: {error}", self.session.id));
            }
        }
    }
}

/// Asks whether to go on after a failure of the model. Where nobody is, the failure ends the run.
///
/// # Errors
/// [`CliError::Cancelled`], or the failure.
pub async fn try_again(message: &str, is_attended: bool) -> Result<(), CliError> {
    if !is_attended {
        return Err(CliError::Model { message: message.to_owned() });
    }
    warn(format_args!("error: {message}"));
    match choose("[t]ry again / [c]ancel: ", &['t', 'c']).await? {
        Some('t') => Ok(()),
        _ => Err(CliError::Cancelled),
    }
}

/// The codes of errors that may be over at the next attempt, beside those of models.
const PASSING: [&str; 6] =
    ["answer_unusable", "overloaded", "store_unavailable", "not_ready", "stopping", "request_timeout"];

/// Whether the same request may be sent again: the service says that nothing has changed.
pub fn can_be_tried_again(error: &CliError) -> bool {
    match error {
        CliError::Refused { code, .. } => code.starts_with("llm_") || PASSING.contains(&code.as_str()),
        _ => false,
    }
}

/// The letter that a person chooses; nothing if the person leaves.
///
/// # Errors
/// When the terminal cannot be used.
pub async fn choose(prompt: &str, letters: &[char]) -> Result<Option<char>, CliError> {
    loop {
        let Typed::Line(line) = terminal::read_line(prompt, "").await? else { return Ok(None) };
        let first = line.trim().chars().next().map(|letter| letter.to_ascii_lowercase());
        if let Some(letter) = first.filter(|letter| letters.contains(letter)) {
            return Ok(Some(letter));
        }
    }
}
