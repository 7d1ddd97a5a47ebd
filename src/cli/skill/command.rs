//! One command of a model: shown, judged, asked about, run, logged.

use policy::{Decision, Line};

use super::dialogue::CommandResult;
use super::drive::choose;
use super::edit;
use super::journal::{End, Entry, Journal};
use super::machine::{Machine, Ran};
use super::show;
use super::verdict::{Choice, Judge, Verdict};
use crate::cli::error::CliError;
use crate::cli::output::{say, warn};
use crate::cli::terminal;

/// What carries out commands.
pub struct Commands {
    judge: Judge,
    machine: Machine,
    journal: Journal,
    /// Whether it was said that the kernel has no sandbox.
    told_of_sandbox: bool,
}

/// What a person says about a command.
enum Said {
    Run,
    Skip,
    /// Another command, which is judged anew.
    Edit(String),
}

impl Commands {
    /// What carries out commands by these.
    pub fn new(judge: Judge, machine: Machine, journal: Journal) -> Commands {
        Commands { judge, machine, journal, told_of_sandbox: false }
    }

    /// What the model is told of a command: how it ended, or that it was skipped.
    ///
    /// # Errors
    /// [`CliError::Cancelled`]; the log's or the terminal's.
    pub async fn result(&mut self, session: &str, command: &str) -> Result<CommandResult, CliError> {
        let mut text = command.to_owned();
        loop {
            let line = Line::read(&text);
            let (verdict, decision) = self.judge.verdict(&line);
            show::command(&text, &decision);
            let choice = match self.said(verdict, &text).await? {
                Ok(choice) => choice,
                Err(edited) => {
                    text = edited;
                    continue;
                }
            };
            let choice = if choice == Choice::Asked && text != command { Choice::Edited } else { choice };
            show::choice(choice);
            return match choice {
                Choice::Skipped | Choice::Refused => self.skipped(session, &text, &decision, choice),
                _ => self.ran(session, command, (&line, &decision), choice).await,
            };
        }
    }

    /// Who or what decides; or else the command that a person wants in its place.
    async fn said(&self, verdict: Verdict, text: &str) -> Result<Result<Choice, String>, CliError> {
        let said = match verdict {
            Verdict::Runs(choice) => return Ok(Ok(choice)),
            Verdict::Skips => return Ok(Ok(Choice::Skipped)),
            Verdict::Refuses if !self.judge.is_attended => return Ok(Ok(Choice::Refused)),
            Verdict::Refuses => {
                ask("It is refused. [s]kip / [e]dit / [c]ancel: ", &['s', 'e', 'c'], text).await?
            }
            Verdict::Asks => {
                ask("Run it? [y]es / [s]kip / [e]dit / [c]ancel: ", &['y', 's', 'e', 'c'], text).await?
            }
        };
        Ok(match said {
            Said::Run => Ok(Choice::Asked),
            Said::Skip if verdict == Verdict::Refuses => Ok(Choice::Refused),
            Said::Skip => Ok(Choice::Skipped),
            Said::Edit(edited) => Err(edited),
        })
    }

    fn skipped(
        &mut self,
        session: &str,
        command: &str,
        decision: &Decision,
        choice: Choice,
    ) -> Result<CommandResult, CliError> {
        self.journal.add(&Entry { session, command, decision, choice, end: None })?;
        Ok(CommandResult { skipped: true, ..CommandResult::default() })
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
        let ran = self.machine.run(line, sandboxed, Box::pin(terminal::interrupted())).await;
        show::end(&ran);
        self.tell_of_sandbox(&ran);
        let end = End { exit_code: Some(ran.exit_code), duration: ran.duration };
        self.journal.add(&Entry { session, command: line.text(), decision, choice, end: Some(end) })?;
        if ran.stopped && !self.goes_on().await? {
            return Err(CliError::Cancelled);
        }
        let other = (line.text() != command).then(|| line.text().to_owned());
        Ok(CommandResult {
            stdout: ran.stdout,
            stderr: ran.stderr,
            exit_code: Some(ran.exit_code),
            skipped: false,
            command: other,
        })
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

/// Asks about a command.
async fn ask(prompt: &str, letters: &[char], text: &str) -> Result<Said, CliError> {
    loop {
        match choose(prompt, letters).await? {
            Some('y') => return Ok(Said::Run),
            Some('s') => return Ok(Said::Skip),
            Some('e') => match edit::edited(text).await? {
                Some(edited) => return Ok(Said::Edit(edited)),
                None => say("Nothing is changed."),
            },
            _ => return Err(CliError::Cancelled),
        }
    }
}
