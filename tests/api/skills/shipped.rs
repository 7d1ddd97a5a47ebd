//! The skills that ship: their sessions hold what commands really write, and change nothing that nobody asked for.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use ai_prompt_shell::formats;
use base::model::Id;
use serde_json::Value as Json;

/// Author, dates and settings that make the outputs of git the same everywhere.
const ENVIRONMENT: [(&str, &str); 11] = [
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_AUTHOR_NAME", "Tests"),
    ("GIT_AUTHOR_EMAIL", "tests@example.com"),
    ("GIT_AUTHOR_DATE", "2024-05-01T12:00:00Z"),
    ("GIT_COMMITTER_NAME", "Tests"),
    ("GIT_COMMITTER_EMAIL", "tests@example.com"),
    ("GIT_COMMITTER_DATE", "2024-05-01T12:00:00Z"),
    // What git takes for now.
    ("GIT_TEST_DATE_NOW", "1714564800"),
    ("LC_ALL", "C"),
    ("TZ", "UTC"),
];

/// All that a session may change: the files, the branches, and what is staged.
const STATE: &str = "find . -name .git -prune -o -type f -exec cksum {} + | sort
    git for-each-ref 2>/dev/null; git ls-files --stage 2>/dev/null; true";

/// One case of a session file.
struct Case {
    skill: String,
    case: Json,
}

impl Case {
    fn name(&self) -> &str {
        self.case["name"].as_str().unwrap()
    }

    fn steps(&self) -> &[Json] {
        self.case["steps"].as_array().unwrap()
    }

    /// The commands that are run, each with its event and the number of its step.
    fn commands(&self) -> impl Iterator<Item = (usize, &str, &Json)> {
        let run = self.steps().iter().enumerate().filter(|(_, step)| step["event"]["skipped"] != true);
        run.filter_map(|(at, step)| Some((at, step["expect"]["command"].as_str()?, &step["event"])))
    }

    /// Whether the user has said before a step what is to be done.
    fn is_agreed(&self, at: usize) -> bool {
        let is_answer = |step: &Json| step["event"]["type"] == "user_message";
        self.steps()[..at].iter().any(is_answer) || self.case["params"].is_object()
    }
}

fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("extensions/skills/skills");
    let mut folders: Vec<PathBuf> =
        std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    folders
}

fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap().to_str().unwrap().to_owned()
}

fn cases() -> Vec<Case> {
    let of = |folder: PathBuf| {
        let text = std::fs::read(folder.join("session.test.json")).unwrap();
        let cases: Vec<Json> = serde_json::from_slice(&text).unwrap();
        cases.into_iter().map(move |case| Case { skill: name_of(&folder), case })
    };
    let cases: Vec<Case> = folders().into_iter().flat_map(of).collect();
    assert!(cases.len() > 20, "the test looks at the wrong folder");
    cases
}

/// The folder in which a case is played.
struct Project {
    dir: tempfile::TempDir,
}

impl Project {
    /// The folder as `shipped/{skill}.sh` makes it.
    fn prepared(case: &Case) -> Project {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("project")).unwrap();
        let project = Project { dir };
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/api/skills/shipped")
            .join(format!("{}.sh", case.skill));
        let made = project.sh(&["-e", script.to_str().unwrap(), case.name()]);
        assert!(made.status.success(), "{}: {made:?}", case.name());
        project
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    fn sh(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new("sh");
        command.args(arguments).current_dir(self.folder()).env_clear().envs(ENVIRONMENT);
        command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", self.dir.path());
        command.stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command; what it wrote, with `/project` for the folder.
    fn run(&self, command: &str) -> (String, String, i32) {
        let output = self.sh(&["-c", command]);
        let folder = self.folder();
        let text =
            |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(folder.to_str().unwrap(), "/project");
        (text(&output.stdout), text(&output.stderr), output.status.code().unwrap())
    }

    fn state(&self) -> String {
        self.run(STATE).0
    }
}

/// What of an output is the same on all machines: not how full a disk is, and how many blocks a file takes.
fn same_everywhere(command: &str, output: &str) -> String {
    let without_size = |line: &str| line.split_once('\t').map_or(line, |(_, path)| path).to_owned();
    match command.split(' ').next() {
        Some("df") => output.split_whitespace().next().unwrap_or_default().to_owned(),
        Some("du") => output.lines().map(without_size).collect::<Vec<_>>().join("\n"),
        _ => output.to_owned(),
    }
}

#[test]
fn commands_write_what_the_sessions_say() {
    for case in cases() {
        let project = Project::prepared(&case);
        for (at, command, event) in case.commands() {
            let place = format!("{}: {}: step {}: {command}", case.skill, case.name(), at + 1);
            let (stdout, stderr, code) = project.run(command);
            let told = event["stdout"].as_str().unwrap_or_default();
            assert_eq!(same_everywhere(command, &stdout), same_everywhere(command, told), "{place}");
            // The words of git and make are not the same in all versions.
            assert_eq!(stderr.is_empty(), event["stderr"].is_null(), "{place}: {stderr}");
            assert_eq!(Json::from(code), event["exit_code"], "{place}");
        }
    }
}

#[test]
fn nothing_changes_before_the_user_has_said_so() {
    for case in cases() {
        let project = Project::prepared(&case);
        for (at, command, _) in case.commands() {
            let before = project.state();
            project.run(command);
            let place = format!("{}: {}: step {}: {command}", case.skill, case.name(), at + 1);
            assert!(case.is_agreed(at) || project.state() == before, "{place}");
        }
    }
}

#[test]
fn what_runs_without_a_question_stands_in_a_session_and_changes_nothing() {
    for folder in folders() {
        let name = name_of(&folder);
        let text = std::fs::read_to_string(folder.join("SKILL.md")).unwrap();
        let skill = formats::skill(&Id::parse(&name).unwrap(), Some(&name), &text);
        assert_eq!(skill.problems, [], "{name}");
        assert!(!skill.allowed_tools.is_empty() && skill.argument_hint.is_some(), "{name}");
        for tool in &skill.allowed_tools {
            let allowed = tool.strip_prefix("Bash(").unwrap().strip_suffix(')').unwrap();
            // A prefix would allow options that write.
            assert!(!allowed.contains('*'), "{name}: {tool}");
            let all = cases();
            let mut playing = all.iter().filter(|case| {
                case.skill == name && case.commands().any(|(_, command, _)| command == allowed)
            });
            let project = Project::prepared(playing.next().unwrap_or_else(|| panic!("{name}: {tool}")));
            let before = project.state();
            project.run(allowed);
            assert_eq!(project.state(), before, "{name}: {tool}");
        }
    }
}

#[test]
fn answers_name_no_commit_that_no_output_has_named() {
    let is_hash = |word: &&str| {
        word.len() >= 7
            && word.chars().all(|c| c.is_ascii_hexdigit())
            && word.contains(|c: char| c.is_ascii_digit())
    };
    for case in cases() {
        let mut outputs = String::new();
        for step in case.steps() {
            let answer = step["answer"].as_str().unwrap();
            for hash in answer.split(|c: char| !c.is_alphanumeric()).filter(is_hash) {
                assert!(outputs.contains(hash), "{}: {}: {hash}", case.skill, case.name());
            }
            outputs.push_str(step["event"]["stdout"].as_str().unwrap_or_default());
        }
    }
}
