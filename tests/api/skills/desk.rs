//! A folder, a home, and a scripted model, for runs of skills on the command line.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value as Json;
use tempfile::TempDir;

use crate::commands::text;
use support::app::write;
use support::upstream::{Act, Seen, Upstream, completion, json as reply_json};

/// `work` is the project, `home` the user's home; neither has anything that this machine has.
pub struct Desk {
    root: TempDir,
    pub upstream: Upstream,
}

/// How a command ended: its code, standard output, standard error.
pub type Ended = (i32, String, String);

impl Desk {
    /// With a model that gives these answers one after the other, then the last one again and again.
    pub async fn new(answers: &[&str]) -> Desk {
        let answers: Vec<String> = answers.iter().map(|answer| (*answer).to_owned()).collect();
        let asked = AtomicUsize::new(0);
        Desk::scripted(move |_| {
            let at = asked.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            reply_json(200, completion(&answers[at]))
        })
        .await
    }

    pub async fn scripted(script: impl Fn(&Seen) -> Vec<Act> + Send + Sync + 'static) -> Desk {
        let upstream = Upstream::start(script).await;
        let root = tempfile::tempdir().unwrap();
        for folder in ["work", "home", "bin"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        let store = root.path().join("store");
        let settings = format!(
            "[store]\nurl = \"embedded:{}\"\n[llm]\nbase_url = \"{}\"\ndefault_model = \"CHEAP\"\n",
            store.display(),
            upstream.base
        );
        write(root.path(), "settings.toml", settings);
        Desk { root, upstream }
    }

    /// A path below the folder that has all of it.
    pub fn path(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    pub fn write(&self, path: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        write(self.root.path(), path, contents)
    }

    /// A skill of the project with this front matter (lines) and this text.
    pub fn skill(&self, name: &str, front: &str, body: &str) {
        self.write(&format!("work/.claude/skills/{name}/SKILL.md"), format!("---\n{front}---\n{body}\n"));
    }

    /// Makes the project a git repository with one commit and one changed file.
    pub fn repository(&self) {
        self.write("work/server/skills.js", "old\n");
        self.git(&["init", "-q", "-b", "main"]);
        self.git(&["add", "server"]);
        self.git(&["commit", "-q", "-m", "first"]);
        self.write("work/server/skills.js", "new\n");
    }

    /// What git prints in the project.
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .current_dir(self.path("work"))
            .env_clear()
            .envs(self.environment())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The environment of commands, with an identity for git.
    pub fn environment(&self) -> Vec<(&'static str, String)> {
        self.write("home/.gitconfig", "[user]\n\tname = Test\n\temail = test@example.com\n");
        vec![
            ("HOME", self.path("home").display().to_string()),
            ("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display())),
            ("LANG", "C.UTF-8".to_owned()),
            ("TERM", "xterm".to_owned()),
            ("EDITOR", "sed -i s/one/two/".to_owned()),
        ]
    }

    /// The words of a command line of the program.
    pub fn words(&self, arguments: &[&str]) -> Vec<String> {
        let config = self.path("settings.toml").display().to_string();
        let program = env!("CARGO_BIN_EXE_ai-prompt-shell").to_owned();
        [program, "--config".to_owned(), config]
            .into_iter()
            .chain(arguments.iter().map(|a| (*a).to_owned()))
            .collect()
    }

    /// Runs the program in the project, without a terminal.
    pub async fn run(&self, arguments: &[&str]) -> Ended {
        let (words, environment) = (self.words(arguments), self.environment());
        let folder = self.path("work");
        let running = move || {
            let mut command = Command::new(&words[0]);
            command.args(&words[1..]).current_dir(folder).env_clear().envs(environment).stdin(Stdio::null());
            text(&command.output().unwrap())
        };
        tokio::task::spawn_blocking(running).await.unwrap()
    }

    /// Runs the program, which must succeed, and gives what it printed.
    pub async fn good(&self, arguments: &[&str]) -> String {
        let (code, out, err) = self.run(arguments).await;
        assert_eq!(code, 0, "{arguments:?}: {out}{err}");
        out
    }

    /// The last message of each request to the model.
    pub fn told(&self) -> Vec<String> {
        let last = |seen: &Seen| {
            let body = seen.json();
            body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned()
        };
        self.upstream.seen().iter().map(last).collect()
    }

    /// The system message of the first request.
    pub fn system(&self) -> String {
        self.upstream.seen()[0].json()["messages"][0]["content"].as_str().unwrap().to_owned()
    }
}

/// The lines of a log.
pub fn lines(log: &Path) -> Vec<Json> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
