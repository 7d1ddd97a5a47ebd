//! A server that runs as a child process of ours.

use std::fmt;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// What a child process sees of our environment.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// How long is waited for the exit status of a child that closed its pipes.
const EXIT_LIMIT: Duration = Duration::from_millis(200);

/// A server that the settings name, and that runs as a child process.
#[derive(Clone)]
pub struct Command {
    /// The program, by its path, or by a name that is looked up in `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has besides `PATH` and `HOME`.
    pub env: Vec<(String, String)>,
}

/// Shows neither arguments nor values of the environment: both may be secrets.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A child process; it and what it started are killed when this is dropped.
pub(super) struct Child(tokio::process::Child);

impl Child {
    /// Starts a server, and takes the pipes to it.
    pub(super) fn start(command: &Command) -> io::Result<(Child, ChildStdin, ChildStdout)> {
        let inherited = INHERITED.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
        let mut process = tokio::process::Command::new(&command.program);
        process.args(&command.args).env_clear().envs(inherited).envs(command.env.iter().cloned());
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
        #[cfg(unix)]
        process.process_group(0);
        let mut child = process.spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok((Child(child), stdin, stdout))
    }

    /// How it ended, if it did: `the server ended with exit status: 1`.
    pub(super) fn end(&mut self) -> Option<String> {
        let status = self.0.try_wait().ok().flatten()?;
        Some(format!("the server ended with {status}"))
    }

    /// As [`Child::end`], for a child that is about to end.
    pub(super) async fn wait(&mut self) -> Option<String> {
        let _ = timeout(EXIT_LIMIT, self.0.wait()).await;
        self.end()
    }
}

impl Drop for Child {
    /// The process itself is killed by `kill_on_drop`; this is for what a starter like `npx` started.
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?)) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
