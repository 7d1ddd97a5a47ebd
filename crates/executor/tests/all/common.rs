//! What the tests share: an executor with this process's environment, and commands for it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use ai_prompt_executor::{Executor, Invocation, Limits, Outcome};

/// More than any command of the tests takes on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// An executor whose workspace is `workspace`.
pub fn executor(workspace: &Path, limits: Limits) -> Executor {
    Executor::new(&std::env::vars_os().collect(), workspace, limits)
}

pub fn patient(workspace: &Path) -> Executor {
    executor(workspace, Limits { time: PATIENCE, ..Limits::default() })
}

pub fn invocation(cwd: &Path, sandboxed: bool, command: &[&str]) -> Invocation {
    let args = command[1..].iter().map(|argument| (*argument).to_owned()).collect();
    Invocation { program: command[0].to_owned(), args, cwd: cwd.to_owned(), sandboxed }
}

/// Runs a command in `cwd`, which is the workspace.
pub async fn run(cwd: &Path, sandboxed: bool, command: &[&str]) -> Outcome {
    patient(cwd).run(&invocation(cwd, sandboxed, command)).await
}

/// The program that tries things, `examples/attempts.rs`.
pub fn attempts() -> String {
    let test = std::env::current_exe().unwrap();
    let program: PathBuf = test.ancestors().nth(2).unwrap().join("examples/attempts");
    assert!(program.exists(), "{}: run `cargo build -p ai-prompt-executor --examples`", program.display());
    program.to_str().unwrap().to_owned()
}

/// Whether a process exists, and is no zombie.
pub fn is_alive(process: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().unwrap_or_default().split_whitespace().next().is_some_and(|state| state != "Z")
}

/// Waits until something is so.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let started = std::time::Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "it never came about that {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
