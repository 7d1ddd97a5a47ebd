//! Where commands run: on this machine, or on a host.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use executor::{Environment, Executor, Invocation, Limits, Outcome, Supervision};
use policy::Line;

use super::args::SkillRun;
use super::host::{self, Host};
use crate::cli::error::CliError;
use crate::cli::user;
use base::masking::mask;

/// How much of each output is kept, in bytes: its end.
const KEPT_BYTES: usize = 1 << 20;

/// What shells say of a command that could not be started.
const NOT_STARTED: i32 = 127;

/// What shells add to the number of the signal that ended a command.
const BY_SIGNAL: i32 = 128;

/// A machine, with the limits of its commands.
pub struct Machine {
    executor: Executor,
    folder: PathBuf,
    time: Duration,
    host: Option<Host>,
    skill_dir: Option<String>,
}

/// What became of a command that was run, with secrets masked: a model is told.
#[derive(Debug)]
pub struct Ran {
    /// What it wrote to standard output; a line says if the beginning is missing.
    pub stdout: String,
    /// What it wrote to standard error, and why it did not end by itself.
    pub stderr: String,
    /// Its exit code, as a shell tells it.
    pub exit_code: i32,
    /// How long it ran.
    pub duration: Duration,
    /// Whether the user has stopped it.
    pub stopped: bool,
    /// Whether it was to run in the sandbox, and the kernel has not all of that.
    pub lacks_sandbox: bool,
}

/// What may end a command before its time.
pub type Stop<'s> = Pin<Box<dyn Future<Output = ()> + Send + 's>>;

impl Machine {
    /// The machine that the options name; `skill_dir` is the folder of the skill's files there.
    ///
    /// # Errors
    /// When the working directory is not there.
    pub fn new(
        options: &SkillRun,
        host: Option<Host>,
        skill_dir: Option<&Path>,
    ) -> Result<Machine, CliError> {
        let folder =
            std::env::current_dir().map_err(|source| CliError::File { path: ".".to_owned(), source })?;
        let time = Duration::from_secs(options.timeout);
        let limits = Limits { time, kept_bytes: KEPT_BYTES };
        let skill_dir = skill_dir.map(|folder| folder.display().to_string());
        let executor = match &host {
            Some(_) => host::executor(&folder, limits),
            None => local_executor(&folder, limits, options, skill_dir.as_deref()),
        };
        Ok(Machine { executor, folder, time, host, skill_dir })
    }

    /// The folder of the skill's files, if it has one.
    pub fn skill_dir(&self) -> Option<&str> {
        self.skill_dir.as_deref()
    }

    /// Runs a command. `harmless` is the line as it was judged, if that says that it only reads: then it runs in the sandbox.
    pub async fn run(&self, command: &str, harmless: Option<&Line>, stop: Stop<'_>) -> Ran {
        let watcher = |piece: &str| crate::cli::output::say_on(piece);
        let mut supervision = Supervision { watcher: Some(&watcher), stop: Some(stop), input: None };
        let invocation = match &self.host {
            Some(host) if command.len() > host::COMMAND_BYTES => {
                return Ran::not_run(format!("the command has more than {} bytes", host::COMMAND_BYTES));
            }
            Some(host) => {
                let (invocation, input) = host.command(command, self.skill_dir.as_deref(), self.time);
                supervision.input = Some(input);
                invocation
            }
            None => self.invocation(command, harmless),
        };
        let outcome = self.executor.run_supervised(&invocation, supervision).await;
        Ran::of(outcome, self.time)
    }

    /// A line for a shell; in the sandbox, a single command is a program with arguments, so that git's can be hardened.
    fn invocation(&self, command: &str, harmless: Option<&Line>) -> Invocation {
        let (program, args) = match harmless.and_then(Line::only_command) {
            Some((program, args)) => (program.to_owned(), policy::hardened(program, args)),
            None => ("sh".to_owned(), vec!["-c".to_owned(), command.to_owned()]),
        };
        Invocation { program, args, cwd: self.folder.clone(), sandboxed: harmless.is_some() }
    }
}

fn local_executor(folder: &Path, limits: Limits, options: &SkillRun, skill_dir: Option<&str>) -> Executor {
    let wanted = options.variables.iter().filter_map(|name| Some((name.into(), user::variable(name)?)));
    let mut more: Environment = wanted.collect();
    more.extend(skill_dir.map(|folder| ("SKILL_DIR".into(), folder.into())));
    Executor::new(&std::env::vars_os().collect(), folder, limits).with(more)
}

impl Ran {
    fn of(outcome: Outcome, time: Duration) -> Ran {
        let mut notes = Vec::new();
        if outcome.timed_out {
            notes.push(format!("[The command was killed after {} s, its time limit.]", time.as_secs()));
        }
        if outcome.stopped {
            notes.push("[The user stopped the command.]".to_owned());
        }
        notes.extend(outcome.error.as_ref().map(|error| format!("[The command was not started: {error}.]")));
        let exit_code = match (outcome.exit_code, outcome.signal) {
            (Some(code), _) => code,
            (None, Some(signal)) => BY_SIGNAL + signal,
            (None, None) => NOT_STARTED,
        };
        Ran {
            stdout: told(&outcome.stdout),
            stderr: with_notes(told(&outcome.stderr), &notes),
            exit_code,
            duration: outcome.duration,
            stopped: outcome.stopped,
            lacks_sandbox: outcome.sandbox.is_some_and(|sandbox| !sandbox.is_complete()),
        }
    }

    /// How it ended, for people.
    pub fn end_in_words(&self) -> String {
        match (self.stopped, self.exit_code) {
            (true, _) => "stopped".to_owned(),
            (false, code) => format!("exit code {code}"),
        }
    }

    fn not_run(why: String) -> Ran {
        Ran {
            stdout: String::new(),
            stderr: format!("[The command was not started: {why}.]"),
            exit_code: NOT_STARTED,
            duration: Duration::ZERO,
            stopped: false,
            lacks_sandbox: false,
        }
    }
}

fn told(output: &executor::Output) -> String {
    let text = mask(&output.text);
    match output.truncated {
        true => format!("[… the beginning of {} bytes is cut]\n{text}", output.total_bytes),
        false => text.into_owned(),
    }
}

fn with_notes(mut text: String, notes: &[String]) -> String {
    for note in notes {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(note);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome() -> Outcome {
        Outcome { exit_code: Some(0), ..Outcome::default() }
    }

    #[test]
    fn a_model_is_told_why_a_command_did_not_end_by_itself() {
        let stderr = executor::Output { text: "half a line".to_owned(), ..Default::default() };
        let killed = Outcome { exit_code: None, signal: Some(9), timed_out: true, stderr, ..outcome() };
        let ran = Ran::of(killed, Duration::from_secs(3));
        assert_eq!(ran.stderr, "half a line\n[The command was killed after 3 s, its time limit.]");
        assert_eq!(ran.exit_code, 137);
        let error = executor::RunError::NotFound("x".to_owned());
        let ran = Ran::of(Outcome { exit_code: None, error: Some(error), ..outcome() }, Duration::ZERO);
        assert!(ran.stderr.contains("not found") && ran.exit_code == 127, "{ran:?}");
    }

    #[test]
    fn output_loses_its_secrets_and_says_what_is_cut() {
        let text = "TOKEN=abcdefgh12345678\nü\n".to_owned();
        let stdout = executor::Output { text, truncated: true, total_bytes: 9_000_000 };
        let ran = Ran::of(Outcome { stdout, ..outcome() }, Duration::ZERO);
        assert!(ran.stdout.starts_with("[… the beginning of 9000000 bytes is cut]\n"), "{ran:?}");
        assert!(ran.stdout.ends_with("ü\n") && !ran.stdout.contains("abcdefgh"), "{ran:?}");
    }
}
