//! An MCP server that runs as a child process.

use std::fmt;
use std::io;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

/// The environment variables that a child process inherits.
const INHERITED: [&str; 2] = ["PATH", "HOME"];

/// How long to wait for the exit status of a child that has closed its pipes.
const EXIT_LIMIT: Duration = Duration::from_millis(200);

/// How to start an MCP server of the settings.
#[derive(Clone)]
pub struct ServerCommand {
    /// The program: a path, or a name that is looked up in `PATH`.
    pub program: String,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Its environment variables besides `PATH` and `HOME`, which it inherits.
    pub env: Vec<(String, String)>,
}

/// Leaves out arguments and environment: both may hold secrets.
impl fmt::Debug for ServerCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerCommand").field("program", &self.program).finish_non_exhaustive()
    }
}

/// A child process; dropping it kills its whole process group.
pub(super) struct Child(tokio::process::Child);

impl Child {
    /// Starts a server, and gives the pipes to it.
    pub(super) fn start(command: &ServerCommand) -> io::Result<(Child, ChildStdin, ChildStdout)> {
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

    /// How the process ended, if it has: `the server ended with exit status: 1`.
    pub(super) fn end(&mut self) -> Option<String> {
        let status = self.0.try_wait().ok().flatten()?;
        Some(format!("the server ended with {status}"))
    }

    /// As [`Child::end`], after waiting a moment for a child that is about to end.
    pub(super) async fn wait(&mut self) -> Option<String> {
        let _ = timeout(EXIT_LIMIT, self.0.wait()).await;
        self.end()
    }
}

impl Drop for Child {
    /// Kills the process group: `kill_on_drop` would leave what a launcher such as `npx` has started.
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.0.id().and_then(|id| rustix::process::Pid::from_raw(id.try_into().ok()?)) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}
