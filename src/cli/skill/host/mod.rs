//! Another machine, over the system's `ssh`.
//!
//! What runs there is one of three constant scripts, on the standard input of `sh -s`. Names and commands are its arguments, written as
//! octal numbers: ssh joins the arguments to a line for the login shell of the other side, whichever that is, and digits mean the same
//! in all of them.

use std::path::Path;
use std::time::Duration;

use executor::{Environment, Executor, Invocation, Limits, Outcome, Supervision};

use super::folders::SKILL_BYTES;
use super::knowledge::KNOWLEDGE_BYTES;
use crate::cli::error::CliError;
use crate::cli::user;

const RUN: &str = include_str!("run.sh");
const LOOK: &str = include_str!("look.sh");
const FIND: &str = include_str!("find.sh");

/// How long looking for knowledge and skills may take.
const LOOK_TIME: Duration = Duration::from_secs(5);

/// How much longer the other side waits than this one, which kills `ssh`, and with it the connection.
const SPARE_SECONDS: u64 = 5;

/// The longest command, in bytes: the line of a login shell is bounded, and each byte becomes three digits.
pub const COMMAND_BYTES: usize = 32 << 10;

/// The exit code of `ssh` when there is no connection.
const NO_CONNECTION: i32 = 255;

/// A machine that `ssh` reaches without a question.
#[derive(Debug, Clone)]
pub struct Host {
    name: String,
    folder: std::path::PathBuf,
}

/// What a host tells of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sight {
    /// What `uname -s` says there.
    pub system: String,
    /// Its file of knowledge.
    pub knowledge: Option<String>,
}

/// The name of a host, as `ssh` takes it.
///
/// # Errors
/// For one that `ssh` could take for an option, or that is no name.
pub fn name(text: &str) -> Result<String, String> {
    if text.is_empty()
        || text.starts_with('-')
        || text.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        return Err("write it as USER@SERVER, without white space, and not beginning with `-`".to_owned());
    }
    Ok(text.to_owned())
}

impl Host {
    /// A host by its [`name`]; `folder` is where `ssh` runs on this machine.
    pub fn new(name: &str, folder: &Path) -> Host {
        Host { name: name.to_owned(), folder: folder.to_path_buf() }
    }

    /// As it was named.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What `ssh` is started with for a command of the host, with its input. It ends with the command, or with the connection.
    pub fn command(
        &self,
        command: &str,
        skill_dir: Option<&str>,
        time: Duration,
    ) -> (Invocation, &'static [u8]) {
        let seconds = (time.as_secs() + SPARE_SECONDS).to_string();
        let mut arguments = vec![octal(command), seconds];
        // Nothing would be left of an argument that is empty.
        arguments.extend(skill_dir.map(octal));
        (self.invocation(&arguments), RUN.as_bytes())
    }

    /// The system, and the knowledge, which is empty if that takes too long.
    ///
    /// # Errors
    /// When there is no connection.
    pub async fn look(&self) -> Result<Sight, CliError> {
        let text = self.ask(LOOK, &[KNOWLEDGE_BYTES.to_string()]).await?.unwrap_or_default();
        let (system, knowledge) = text.split_once('\n').unwrap_or((&text, ""));
        let knowledge = Some(knowledge.to_owned()).filter(|knowledge| !knowledge.trim().is_empty());
        Ok(Sight { system: system.trim().to_owned(), knowledge })
    }

    /// The folder and the text of a skill; nothing if there is none.
    ///
    /// # Errors
    /// When there is no connection, it takes too long, or the skill is too long.
    pub async fn skill(&self, name: &str) -> Result<Option<(String, String)>, CliError> {
        let Some(text) = self.ask(FIND, &[octal(name), (SKILL_BYTES + 1).to_string()]).await? else {
            let message = format!("looking for the skill took more than {} s", LOOK_TIME.as_secs());
            return Err(CliError::Host { name: self.name.clone(), message });
        };
        let Some((folder, text)) = text.split_once('\n') else { return Ok(None) };
        if text.len() > SKILL_BYTES {
            let message = format!("{}:{folder}: a skill has at most {SKILL_BYTES} bytes", self.name);
            return Err(CliError::Usage(message));
        }
        Ok(Some((folder.to_owned(), text.to_owned())))
    }

    /// What a script prints; nothing if it takes too long.
    async fn ask(&self, script: &str, arguments: &[String]) -> Result<Option<String>, CliError> {
        let supervision = Supervision { input: Some(script.as_bytes()), ..Supervision::default() };
        let limits = Limits { time: LOOK_TIME, kept_bytes: 2 * SKILL_BYTES };
        let executor = executor(&self.folder, limits);
        let outcome = executor.run_supervised(&self.invocation(arguments), supervision).await;
        match outcome {
            Outcome { timed_out: true, .. } => Ok(None),
            Outcome { error: Some(error), .. } => {
                Err(CliError::Host { name: self.name.clone(), message: error.to_string() })
            }
            Outcome { exit_code: Some(NO_CONNECTION), stderr, .. } => {
                Err(CliError::Host { name: self.name.clone(), message: stderr.text.trim().to_owned() })
            }
            Outcome { stdout, .. } => Ok(Some(stdout.text)),
        }
    }

    fn invocation(&self, arguments: &[String]) -> Invocation {
        let fixed = ["-o", "BatchMode=yes", "-T", "--", &self.name, "sh", "-s", "--"].map(str::to_owned);
        let args = fixed.into_iter().chain(arguments.iter().cloned()).collect();
        Invocation { program: "ssh".to_owned(), args, cwd: self.folder.clone(), sandboxed: false }
    }
}

/// What starts `ssh`, which needs the user's agent.
pub fn executor(folder: &Path, limits: Limits) -> Executor {
    let agent = user::variable("SSH_AUTH_SOCK").map(|socket| ("SSH_AUTH_SOCK".into(), socket));
    Executor::new(&std::env::vars_os().collect(), folder, limits)
        .with(agent.into_iter().collect::<Environment>())
}

/// The bytes of a text as octal numbers of three digits each.
fn octal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:03o}")).collect()
}

#[cfg(test)]
mod tests;
