//! How a command ended.

use std::path::PathBuf;
use std::time::Duration;

use crate::output::Output;
use crate::sandbox::Sandbox;

/// How a command ended, or why it did not begin.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The exit code, if the program ended by itself.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended the program (Unix).
    pub signal: Option<i32>,
    /// Whether the program was ended because it took longer than the time limit.
    pub timed_out: bool,
    /// Whether the program was ended because whoever ran it stopped it.
    pub stopped: bool,
    /// From the start to the end of the program, and of reading what it wrote.
    pub duration: Duration,
    /// What the program, and what it had started, wrote to standard output.
    pub stdout: Output,
    /// What they wrote to standard error.
    pub stderr: Output,
    /// Why the program did not start; then all else is empty.
    pub error: Option<RunError>,
    /// What the kernel kept the program from; nothing for a command that was not to be sandboxed, or did not start.
    pub sandbox: Option<Sandbox>,
}

/// Why a program did not start.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The working directory does not exist, or is no folder.
    #[error("{} is not a folder that can be entered", .0.display())]
    BadCwd(PathBuf),
    /// No such program: not in the folders of the clean `PATH`, or not at the path.
    #[error("the program {0:?} was not found")]
    NotFound(String),
    /// There is a file, but it is a folder or may not be executed.
    #[error("{} is not an executable file", .0.display())]
    NotExecutable(PathBuf),
    /// The program, an argument or the working directory contains a NUL byte, which no program can be given.
    #[error("a NUL byte in the program, the arguments or the working directory")]
    Nul,
    /// The operating system did not start the program.
    #[error("{program:?} could not be started: {source}")]
    Spawn {
        /// The program as it was named.
        program: String,
        /// What the operating system said.
        source: std::io::Error,
    },
}

impl RunError {
    /// The error as a word for machines: `bad_cwd` or `spawn_failed`.
    pub fn code(&self) -> &'static str {
        match self {
            RunError::BadCwd(_) => "bad_cwd",
            RunError::NotFound(_) | RunError::NotExecutable(_) | RunError::Nul | RunError::Spawn { .. } => {
                "spawn_failed"
            }
        }
    }
}
