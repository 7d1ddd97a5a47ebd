//! The libraries, and the programs that use them.

use std::fs::File;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(60);

/// A library that `scripts/setup-clients` has installed.
#[derive(Debug, Clone, Copy)]
pub enum Library {
    Python,
    Node,
}

impl Library {
    /// Runs a topic of the library's program, which must be content with what it sees.
    pub async fn check(self, topic: &str, service: &str, upstream: &str) {
        let mut command = self.command(topic);
        // Without the environment, as proxies and keys may be in it.
        command.env_clear().env("PATH", std::env::var_os("PATH").unwrap());
        command.env("SERVICE", service).env("UPSTREAM", upstream).kill_on_drop(true);
        let output = tokio::time::timeout(LIMIT, command.output()).await;
        let output = output.unwrap_or_else(|_| panic!("{self:?} is not done with {topic} after {LIMIT:?}"));
        let output = output.unwrap_or_else(|error| panic!("{error}; run the tests by `make test-clients`"));
        let said = [output.stdout, output.stderr].concat();
        assert!(output.status.success(), "{self:?}: {}", String::from_utf8_lossy(&said));
    }

    fn command(self, topic: &str) -> Command {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (programs, installed) = (root.join("tests/clients"), root.join("target/clients"));
        match self {
            Library::Python => {
                let mut python = Command::new(installed.join("venv/bin/python"));
                python.arg(programs.join("check.py")).arg(topic);
                python
            }
            Library::Node => {
                // Modules are looked for where the program is; one that is read from a pipe is in the current folder.
                let mut node = Command::new("node");
                node.args(["--input-type=module", "-", topic]).current_dir(installed);
                node.stdin(Stdio::from(File::open(programs.join("check.mjs")).unwrap()));
                node
            }
        }
    }
}
