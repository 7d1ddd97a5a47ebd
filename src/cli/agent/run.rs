//! `agent run`: the loop between the user and an agent.

use serde_json::{Value as Json, json};

use super::AgentRun;
use super::input::{Decision, Input, Said};
use super::session::{Session, State, Turn};
use super::show;
use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::cli::log_file::LogFile;
use crate::cli::output::warn;
use crate::cli::{target, terminal};

/// Talks to an agent until it, or the user, ends the conversation.
///
/// # Errors
/// [`CliError::Ended`] with the exit code of the agent, [`CliError::Cancelled`]; the service's own error, and that of the log file.
pub async fn run(common: &Common, options: &AgentRun) -> Result<(), CliError> {
    let log = LogFile::open(options.log.as_deref())?;
    let variables = options.variables.object()?;
    let client = target::open(common).await?;
    let body = json!({"variables": variables, "log": if options.verbose { "verbose" } else { "lines" }});
    let session = Session::start(&client, &options.id, &body, log).await?;
    let mut talk = Talk { session, input: Input::new()?, is_attended: terminal::is_attended() };
    let ended = talk.until_end().await;
    match &ended {
        Ok(End::Ended) => {}
        // Nobody goes on with it.
        Ok(End::Left) | Err(CliError::Cancelled) => talk.cancel().await,
        Err(_) => warn(format_args!("The session {} stays as it is.", talk.session.id)),
    }
    match ended? {
        End::Left => Ok(()),
        End::Ended => match talk.session.exit_code() {
            0 => Ok(()),
            code => Err(CliError::Ended { code }),
        },
    }
}

/// How a conversation ends.
enum End {
    /// The agent ends it.
    Ended,
    /// The input ends.
    Left,
}

/// A conversation.
struct Talk<'c> {
    session: Session<'c>,
    input: Input,
    is_attended: bool,
}

impl Talk<'_> {
    async fn until_end(&mut self) -> Result<End, CliError> {
        let mut turn = Turn::default();
        loop {
            let body = match turn.state {
                State::Ended => return Ok(End::Ended),
                State::Other => {
                    warn(format_args!("The session {} was ended, or is used, elsewhere.", self.session.id));
                    return Err(CliError::Reported);
                }
                State::WaitingConfirmation => self.decided(&turn).await?,
                State::Waiting => self.line().await?,
            };
            let Some(body) = body else { return Ok(End::Left) };
            turn = match self.session.send(&body).await {
                Ok(turn) => turn,
                // What was refused can be said in another way.
                Err(error @ CliError::Refused { .. }) if self.is_attended => {
                    warn(format_args!("error: {error}"));
                    self.session.now().await?
                }
                Err(error) => return Err(error),
            };
        }
    }

    /// The next line of the user; nothing at the end of input.
    async fn line(&mut self) -> Result<Option<Json>, CliError> {
        loop {
            match self.input.line("> ", "").await? {
                Said::End => return Ok(None),
                Said::Line(line) if line.trim().is_empty() => {}
                Said::Line(line) => return Ok(Some(json!({"text": line}))),
            }
        }
    }

    /// What the user makes of a call that waits; nothing at the end of input.
    async fn decided(&mut self, turn: &Turn) -> Result<Option<Json>, CliError> {
        let arguments = turn.pending.as_ref().map(|call| call.arguments.clone()).unwrap_or_default();
        // Elsewhere than on a terminal only the agent's own texts are printed.
        if let Some(call) = turn.pending.as_ref().filter(|_| self.is_attended) {
            show::pending(call);
        }
        loop {
            let Said::Line(line) = self.input.line("[a]pprove / [r]eject / [e]dit: ", "").await? else {
                return Ok(None);
            };
            match Decision::read(&line) {
                Some(Decision::Approve) => return Ok(Some(json!({"approve": true}))),
                Some(Decision::Reject) => return Ok(Some(json!({"reject": true}))),
                Some(Decision::Arguments(arguments)) => return Ok(Some(json!({"arguments": arguments}))),
                Some(Decision::Edit) if self.is_attended => {
                    match self.input.line("arguments: ", &Json::Object(arguments.clone()).to_string()).await?
                    {
                        Said::End => return Ok(None),
                        Said::Line(line) => {
                            match serde_json::from_str::<serde_json::Map<String, Json>>(&line) {
                                Ok(arguments) => return Ok(Some(json!({"arguments": arguments}))),
                                Err(error) => {
                                    warn(format_args!("The arguments must be a JSON object: {error}"))
                                }
                            }
                        }
                    }
                }
                _ => warn("Say `approve`, `reject`, or other arguments as a JSON object."),
            }
        }
    }

    /// Ends the session, with which nobody goes on.
    async fn cancel(&mut self) {
        if let Err(error) = self.session.cancel().await {
            warn(format_args!("The session {} could not be ended: {error}", self.session.id));
        }
    }
}
