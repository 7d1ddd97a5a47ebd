//! The programs that use client libraries, each with what `scripts/setup-libraries` has installed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(60);

/// One of OpenAI's own libraries.
#[derive(Debug, Clone, Copy)]
pub enum Library {
    Python,
    Node,
}

impl Library {
    /// Runs a topic of the library's program, which must be content with what it sees.
    pub async fn check(self, topic: &str, service: &str, upstream: &str) {
        let mut command = match self {
            Library::Python => python("openai", "check.py"),
            Library::Node => node("check.mjs"),
        };
        command.arg(topic).env("UPSTREAM", upstream);
        succeed(&format!("{self:?} {topic}"), command, service).await;
    }
}

/// Runs a program of `tests/clients`, which must be content with what it sees.
pub async fn check_program(program: &str, service: &str) {
    check_program_with(program, service, &[]).await;
}

/// The same with these variables of the environment.
pub async fn check_program_with(program: &str, service: &str, variables: &[(&str, &str)]) {
    let mut command = match program.ends_with(".py") {
        true => python(environment(program), program),
        false => node(program),
    };
    command.envs(variables.iter().copied());
    succeed(program, command, service).await;
}

/// The Python environment with what a program needs, by its path or its text. Instructor has one of its own, as it needs older packages
/// than the others; so has GigaChat's library, which is compared with the newest of OpenAI's.
pub fn environment(program: &str) -> &'static str {
    let own = ["instructor", "gigachat"].into_iter().find(|name| program.contains(name));
    own.unwrap_or("frameworks")
}

fn python(venv: &str, program: &str) -> Command {
    let mut python = Command::new(installed().join("venv").join(venv).join("bin/python"));
    python.env_clear().arg(programs().join(program));
    python
}

fn node(program: &str) -> Command {
    let mut node = Command::new("node");
    // Modules are looked for where the program is; one that is read from a pipe is in the current folder.
    node.env_clear().args(["--input-type=module", "-"]).current_dir(installed());
    node.stdin(Stdio::from(File::open(programs().join(program)).unwrap()));
    node
}

/// Runs a command without the environment, as proxies and keys may be in it.
async fn succeed(name: &str, mut command: Command, service: &str) {
    let home = tempfile::tempdir().unwrap();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home.path()).env("SERVICE", service);
    // Nothing but the service is to be reached.
    command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True").env("OPENAI_AGENTS_DISABLE_TRACING", "1");
    let output = tokio::time::timeout(LIMIT, command.kill_on_drop(true).output()).await;
    let output = output.unwrap_or_else(|_| panic!("{name} is not done after {LIMIT:?}"));
    let output = output.unwrap_or_else(|error| panic!("{error}; run the tests by `make test-clients`"));
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&said));
}

fn programs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients")
}

fn installed() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("target/clients")
}
