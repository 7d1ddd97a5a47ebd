//! One command of a model: shown, judged, asked about, run, logged.

use ::dialogue::CommandResult;
use policy::{Decision, Line};

use super::drive::choose;
use super::edit;
use super::journal::{End, Entry, Journal};
use super::known::judged;
use super::machine::{Machine, Ran};
use super::show;
use super::verdict::{Choice, Judge, Verdict};
use crate::cli::error::CliError;
use crate::cli::output::{say, warn};
use crate::cli::terminal;

/// The question about a command that a person may agree to.
const QUESTION: &str = "Run it? [y]es / [s]kip / [e]dit / [c]ancel: ";

/// The question about one that is refused.
const REFUSED: &str = "It is refused. [s]kip / [e]dit / [c]ancel: ";

/// What carries out commands.
pub struct Commands {
    judge: Judge,
    machine: Machine,
    journal: Journal,
    /// Whether it was said that the kernel has no sandbox.
    told_of_sandbox: bool,
}

/// What is said about a command.
enum Said {
    /// It runs, or does not.
    Decided(Choice),
    /// Another one is to be judged in its place.
    Edited(String),
}

impl Commands {
    /// What carries out commands by these.
    pub fn new(judge: Judge, machine: Machine, journal: Journal) -> Commands {
        Commands { judge, machine, journal, told_of_sandbox: false }
    }

    /// What the model is told of a command: how it ended, or that it was skipped.
    ///
    /// # Errors
    /// [`CliError::Cancelled`]; the terminal's.
    pub async fn result(&mut self, session: &str, command: &str) -> Result<CommandResult, CliError> {
        let mut text = command.to_owned();
        loop {
            let line = judged(&text, self.machine.skill_dir());
            let (verdict, decision) = self.judge.verdict(&line);
            show::command(&text, &decision);
            let choice = match self.said(verdict, &text).await? {
                Said::Decided(Choice::Asked) if text != command => Choice::Edited,
                Said::Decided(choice) => choice,
                Said::Edited(edited) => {
                    text = edited;
                    continue;
                }
            };
            show::choice(choice);
            return match choice {
                Choice::Skipped | Choice::Refused => {
                    self.log(&Entry { session, command: &text, decision: &decision, choice, end: None });
                    Ok(CommandResult { skipped: true, ..CommandResult::default() })
                }
                _ => {
                    let other = (text != command).then(|| text.clone());
                    let mut result = self.ran(session, &text, (&line, &decision), choice).await?;
                    result.command = other;
                    Ok(result)
                }
            };
        }
    }

    /// What the verdict says, or a person where that leaves it open.
    async fn said(&self, verdict: Verdict, text: &str) -> Result<Said, CliError> {
        match verdict {
            Verdict::Runs(choice) => Ok(Said::Decided(choice)),
            Verdict::Skips => Ok(Said::Decided(Choice::Skipped)),
            Verdict::Refuses if !self.judge.is_attended => Ok(Said::Decided(Choice::Refused)),
            Verdict::Refuses => ask(REFUSED, &['s', 'e', 'c'], Choice::Refused, text).await,
            Verdict::Asks => ask(QUESTION, &['y', 's', 'e', 'c'], Choice::Skipped, text).await,
        }
    }

    async fn ran(
        &mut self,
        session: &str,
        command: &str,
        (line, decision): (&Line, &Decision),
        choice: Choice,
    ) -> Result<CommandResult, CliError> {
        // What nobody has looked at may only read.
        let sandboxed = choice == Choice::Safe && decision.is_sandboxed();
        let harmless = Some(line).filter(|_| sandboxed);
        let ran = self.machine.run(command, harmless, Box::pin(terminal::interrupted())).await;
        show::end(&ran);
        self.tell_of_sandbox(&ran);
        let end = End { exit_code: Some(ran.exit_code), duration: ran.duration };
        self.log(&Entry { session, command, decision, choice, end: Some(end) });
        if ran.stopped && !self.goes_on().await? {
            return Err(CliError::Cancelled);
        }
        Ok(CommandResult {
            stdout: ran.stdout,
            stderr: ran.stderr,
            exit_code: Some(ran.exit_code.into()),
            skipped: false,
            command: None,
        })
    }

    /// Adds to the log. What has happened is told to the model also where the disk is full.
    fn log(&mut self, entry: &Entry<'_>) {
        if let Err(error) = self.journal.add(entry) {
            warn(format_args!("warning: the log cannot be written: {error}"));
        }
    }

    /// Whether a run goes on whose command was stopped.
    async fn goes_on(&self) -> Result<bool, CliError> {
        if !self.judge.is_attended {
            return Ok(false);
        }
        say("The command is stopped.");
        let said =
            choose("[g]o on, and tell the model what it has written / [c]ancel: ", &['g', 'c']).await?;
        Ok(said == Some('g'))
    }

    fn tell_of_sandbox(&mut self, ran: &Ran) {
        if ran.lacks_sandbox && !self.told_of_sandbox {
            self.told_of_sandbox = true;
            warn("note: this kernel has not all of the sandbox in which commands run that only read");
        }
    }
}

/// Asks about a command; `skipped` is what it means to skip it.
async fn ask(prompt: &str, letters: &[char], skipped: Choice, text: &str) -> Result<Said, CliError> {
    loop {
        match choose(prompt, letters).await? {
            Some('y') => return Ok(Said::Decided(Choice::Asked)),
            Some('s') => return Ok(Said::Decided(skipped)),
            Some('e') => match edit::edited(text).await? {
                Some(edited) => return Ok(Said::Edited(edited)),
                None => say("Nothing is changed."),
            },
            _ => return Err(CliError::Cancelled),
        }
    }
}
