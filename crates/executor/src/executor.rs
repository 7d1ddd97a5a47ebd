//! Running a command from its start to its end.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tokio::process::Command;

use crate::environment::{Environment, of_the_sandbox, scrubbed};
use crate::lookup::{clean_path, find_program};
use crate::outcome::{Outcome, RunError};
use crate::running::Running;
use crate::sandbox::{self, Sandbox};
use crate::supervision::Supervision;

/// A command that has been judged.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// The program: a name, which is searched in the clean `PATH`, or a path.
    pub program: String,
    /// Its arguments, which nothing interprets but the program.
    pub args: Vec<String>,
    /// The working directory; relative programs and paths begin there.
    pub cwd: PathBuf,
    /// Whether the program runs in the sandbox, if the kernel has one.
    pub sandboxed: bool,
}

/// What a command may take.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long a program may run. After that it is killed, with all that it has started.
    pub time: Duration,
    /// How many bytes of text are kept of each output: the last ones.
    pub kept_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: Duration::from_secs(30), kept_bytes: 1024 * 1024 }
    }
}

/// Runs commands, each in a process group of its own, by default without standard input.
#[derive(Clone)]
pub struct Executor {
    environment: Environment,
    folders: Vec<PathBuf>,
    limits: Limits,
}

/// Leaves out the environment: it is the user's.
impl fmt::Debug for Executor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executor").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Executor {
    /// Commands get the [`scrubbed`] form of `environment`. This process's own environment is never read.
    pub fn new(environment: &Environment, workspace: &Path, limits: Limits) -> Executor {
        let environment = scrubbed(environment, workspace);
        let path = environment.get(std::ffi::OsStr::new("PATH")).cloned().unwrap_or_default();
        Executor { folders: clean_path(&path, workspace), environment, limits }
    }

    /// Gives commands these variables besides, whatever the scrubbing has taken.
    pub fn with(mut self, variables: Environment) -> Executor {
        self.environment.extend(variables);
        self
    }

    /// The environment that commands get. Each gets `AI_PROMPT_SHELL_COMMAND` besides, by which what it has started is found, and sandboxed
    /// ones `GIT_NO_LAZY_FETCH` and `GIT_ALLOW_PROTOCOL`.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Runs a command. Dropping the future kills it, with all that it has started.
    ///
    /// Errors are part of the outcome: a program that did not start, one that failed, and one that took too long are all shown to
    /// whoever asked for the command. Must be called on a tokio runtime with I/O and time.
    pub async fn run(&self, invocation: &Invocation) -> Outcome {
        self.run_supervised(invocation, Supervision::default()).await
    }

    /// As [`Executor::run`], for somebody who feeds, watches or stops the command meanwhile.
    pub async fn run_supervised(&self, invocation: &Invocation, supervision: Supervision<'_>) -> Outcome {
        let started = Instant::now();
        let begun = self.start(invocation, supervision.input.is_some()).await;
        let mut outcome = match begun {
            Ok((running, sandbox)) => Outcome { sandbox, ..running.outcome(&self.limits, supervision).await },
            Err(error) => Outcome { error: Some(error), ..Outcome::default() },
        };
        outcome.duration = started.elapsed();
        outcome
    }

    async fn start(
        &self,
        invocation: &Invocation,
        has_input: bool,
    ) -> Result<(Running, Option<Sandbox>), RunError> {
        let mut command = self.command(invocation)?;
        if has_input {
            command.stdin(Stdio::piped());
        }
        let started = if invocation.sandboxed {
            sandbox::start(command).await.map(|(running, sandbox)| (running, Some(sandbox)))
        } else {
            Running::start(command).map(|running| (running, None))
        };
        started.map_err(|source| RunError::Spawn { program: invocation.program.clone(), source })
    }

    fn command(&self, invocation: &Invocation) -> Result<Command, RunError> {
        let Invocation { program, args, cwd, .. } = invocation;
        let mut texts = args.iter().chain([program]);
        if texts.any(|text| text.contains('\0')) || cwd.as_os_str().as_encoded_bytes().contains(&0) {
            return Err(RunError::Nul);
        }
        let cwd = std::path::absolute(cwd).map_err(|_| RunError::BadCwd(cwd.clone()))?;
        if !can_be_entered(&cwd) {
            return Err(RunError::BadCwd(cwd));
        }
        let mut command = Command::new(find_program(program, &cwd, &self.folders)?);
        #[cfg(unix)]
        command.arg0(program).process_group(0);
        command.args(args).current_dir(cwd).env_clear().envs(&self.environment);
        if invocation.sandboxed {
            command.envs(of_the_sandbox());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }
}

/// Whether a path is a folder that this user may enter.
fn can_be_entered(folder: &Path) -> bool {
    folder.join(".").metadata().is_ok_and(|metadata| metadata.is_dir())
}
