//! `ai classify` and `ai rules`, run as their users run them.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::{Value as Json, json};
use tempfile::TempDir;

use crate::commands::text;

/// A workspace, a home folder beside it, and nothing else of the environment.
struct Desk {
    root: TempDir,
}

impl Desk {
    fn new() -> Desk {
        let root = tempfile::tempdir().unwrap();
        for folder in ["work/src", "home/.config/ai-prompt-shell", "home/.slothtool/plugin-configs"] {
            std::fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        Desk { root }
    }

    fn write(&self, path: &str, contents: &str) {
        std::fs::write(self.root.path().join(path), contents).unwrap();
    }

    fn run_with(&self, arguments: &[&str], input: &[u8]) -> Output {
        let home = self.root.path().join("home");
        let mut child = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"))
            .current_dir(self.root.path().join("work"))
            .env_clear()
            .envs([("HOME", home.as_path()), ("PATH", Path::new("/usr/bin:/bin"))])
            .arg("ai")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || stdin.write_all(&input));
        let output = child.wait_with_output().unwrap();
        // A command that reads nothing closes the pipe.
        let _ = writer.join().unwrap();
        output
    }

    fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        text(&self.run_with(arguments, b""))
    }

    /// The answers to lines.
    fn classify(&self, lines: &[u8]) -> Vec<Json> {
        let (code, out, err) = text(&self.run_with(&["classify", "--json"], lines));
        assert_eq!(code, 0, "{err}");
        out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    fn level(&self, words: &[&str]) -> String {
        let (program, args) = words.split_first().unwrap();
        let line = json!({"program": program, "args": args}).to_string();
        self.classify(line.as_bytes())[0]["level"].as_str().unwrap().to_owned()
    }
}

#[test]
fn each_line_has_one_answer_in_order() {
    let desk = Desk::new();
    let long = format!(r#"{{"program": "echo", "args": ["{}"]}}"#, "x".repeat(1 << 20));
    let lines = [
        r#"{"program": "ls", "args": ["-l"]}"#.as_bytes(),
        b"no JSON",
        b"",
        br#"{"program": "ls"}"#,
        br#"{"program": "ls", "args": "-l"}"#,
        br#"{"program": "ls", "args": [], "args": []}"#,
        br#"{"program": "ls", "args": [], "requires": {"network": "yes"}}"#,
        br#"{"program": "ls", "args": [1]}"#,
        br#"["ls", []]"#,
        br#"{"program": "ls", "args": [], "requires": [true]}"#,
        b"\xff",
        long.as_bytes(),
        br#"{"program": "ls", "args": [], "cwd": null, "requires": null, "more": 1}"#,
        br#"{"program": "ls", "args": [], "cwd": "/etc"}"#,
        br#"{"program": "ls", "args": [], "requires": {"confirm": true}}"#,
        br#"{"program": "sudo", "args": ["ls"]}"#,
        br#"{"program": "l\u0000s", "args": []}"#,
    ];
    let answers = desk.classify(&lines.join(&b"\n"[..]));
    let levels: Vec<&str> = answers.iter().map(|answer| answer["level"].as_str().unwrap()).collect();
    let broken = ["L2"; 11];
    assert_eq!(levels, [&["L0"][..], &broken, &["L0", "L1", "L1", "L2", "L2"]].concat());
    for answer in &answers[1..12] {
        assert_eq!(answer["reasons"][0]["rule"], "invalid_input", "{answer}");
    }
    assert_eq!(
        answers[0],
        json!({"level": "L0", "reasons": [{"rule": "harmless", "message": "`ls` lists files"}]})
    );
    assert_eq!(answers[15]["reasons"][0]["rule"], "privilege");
}

#[test]
fn a_command_can_stand_on_the_command_line() {
    let desk = Desk::new();
    let (code, out, _) = desk.run(&["classify", "git", "log", "--output=a b", "-p"]);
    assert_eq!(code, 0);
    assert_eq!(
        out,
        "git log '--output=a b' -p\n  L1: needs your agreement\n  - `git log --output` writes files, or changes something (write)\n"
    );
    let (_, out, _) = desk.run(&["classify", "--json", "rm", "-rf", "x"]);
    assert!(out.starts_with(r#"{"level":"L2","reasons":[{"rule":"destructive","#), "{out}");
    let (_, out, _) = desk.run(&["classify", "--workspace", "..", "cat", "../home/x"]);
    assert!(out.contains("L0"), "{out}");
}

#[test]
fn the_settings_the_plugins_file_and_the_users_rules_count() {
    let desk = Desk::new();
    assert_eq!(desk.level(&["curl", "https://example.com"]), "L1");
    desk.write(
        "work/ai-prompt-shell.toml",
        "[assistant]\nallow_network = false\nallowed_programs = [\"curl\", \"ls\"]\n",
    );
    assert_eq!(desk.level(&["curl", "https://example.com"]), "L2");
    assert_eq!(desk.level(&["cat", "src"]), "L2");
    desk.write("home/.slothtool/plugin-configs/ai.json", r#"{"allowNetwork": true}"#);
    assert_eq!(desk.level(&["curl", "https://example.com"]), "L1");
    let rules = "[[rule]]\ndecision = \"deny\"\nprefix = [\"curl\"]\n[[rule]]\ndecision = \"ask\"\nexact = [\"ls\"]\n";
    desk.write("home/.config/ai-prompt-shell/rules.toml", rules);
    assert_eq!(desk.level(&["curl", "https://example.com"]), "L2");
    assert_eq!(desk.level(&["ls"]), "L1");
    assert_eq!(desk.level(&["ls", "-l"]), "L0");
}

#[test]
fn a_settings_file_of_the_workspace_only_takes_away() {
    let desk = Desk::new();
    let wide = "[assistant]\nallow_sudo = true\nallow_network = false\nallowed_programs = [\"docker\", \"ls\", \"curl\", \"sudo\"]\n";
    desk.write("work/ai-prompt-shell.toml", wide);
    for (words, level) in [
        (&["sudo", "ls"][..], "L2"),
        (&["docker", "ps"], "L2"),
        (&["curl", "https://example.com"], "L2"),
        (&["cat", "src"], "L2"),
        (&["ls"], "L0"),
    ] {
        assert_eq!(desk.level(words), level, "{words:?}");
    }
    let named = desk.run(&["classify", "--json", "--config", "ai-prompt-shell.toml", "docker", "ps"]);
    assert!(named.1.contains("L1"), "a file that is named is meant: {named:?}");
    desk.write("work/ai-prompt-shell.toml", "[assistant]\nallowed_programs = []\n");
    assert_eq!(desk.level(&["ls"]), "L2", "an empty list permits nothing");
    let (code, _, err) = desk.run(&["classify", "--workspace", "nowhere", "ls"]);
    assert!(code == 2 && err.contains("nowhere is not a folder"), "{err}");
}

#[test]
fn what_is_broken_is_named_and_nothing_runs_by_itself() {
    for (file, contents) in [
        ("work/ai-prompt-shell.toml", "[assistant]\nallow_network = 1\nallow_nothing = 2\n"),
        ("home/.slothtool/plugin-configs/ai.json", r#"{"allowWrite": "no"}"#),
        ("home/.config/ai-prompt-shell/rules.toml", "[[rule]]\ndecision = \"always\"\nprefix = [\"ls\"]\n"),
    ] {
        let desk = Desk::new();
        desk.write(file, contents);
        let answers = desk.classify(br#"{"program": "ls", "args": []}"#);
        assert_eq!(answers[0]["level"], "L1", "{file}");
        let reasons = answers[0]["reasons"].to_string();
        let named = file.rsplit('/').next().unwrap();
        assert!(
            reasons.contains("policy_broken") && (reasons.contains(named) || reasons.contains("settings:")),
            "{reasons}"
        );
    }
    let desk = Desk::new();
    desk.write("home/.slothtool/plugin-configs/ai.json", r#"{"allowWrite": "no"}"#);
    assert_eq!(desk.level(&["touch", "x"]), "L2", "what was meant by a broken file is not known");
}

#[test]
fn rules_are_listed_checked_and_taken_out() {
    let desk = Desk::new();
    let (code, out, _) = desk.run(&["rules", "list"]);
    assert!(code == 0 && out.ends_with("rules.toml: 0 rules\n"), "{out}");
    let file = "home/.config/ai-prompt-shell/rules.toml";
    let rules = "# mine\n[[rule]]\ndecision = \"allow\"\nprefix = [\"cargo\", \"test\"]\nmatch = [[\"cargo\", \"test\", \"x\"]]\n\n\
                 # no deletions\n[[rule]]\ndecision = \"deny\"\nprefix = [\"rm\"]\n";
    desk.write(file, rules);
    let (_, out, _) = desk.run(&["rules", "list"]);
    assert_eq!(out, "1  allow prefix [\"cargo\", \"test\"]\n2  deny prefix [\"rm\"]\n");
    let (code, out, _) = desk.run(&["rules", "check"]);
    assert!(code == 0 && out.ends_with("rules.toml: 2 rules\n"), "{out}");
    assert_eq!(desk.level(&["cargo", "test"]), "L0");
    let (code, _, err) = desk.run(&["rules", "rm", "3"]);
    assert!(code == 1 && err.contains("there is no rule 3; there are 2"), "{err}");
    let (code, out, _) = desk.run(&["rules", "rm", "1"]);
    assert!(code == 0 && out.starts_with("rule 1 is removed from "), "{out}");
    let left = std::fs::read_to_string(desk.root.path().join(file)).unwrap();
    assert!(left.contains("# no deletions") && !left.contains("cargo"), "{left}");
    assert_eq!(desk.level(&["cargo", "test"]), "L1");
    desk.write(file, "[[rule]]\ndecision = \"ask\"\nexact = [\"a\"]\nmatch = [[\"b\"]]\n");
    let (code, _, err) = desk.run(&["rules", "check"]);
    assert!(code == 1 && err.contains("the example [\"b\"] of `match` does not match"), "{err}");
    let (code, _, err) = desk.run(&["rules", "--rules", "nowhere.toml", "check"]);
    assert!(code == 1 && err.contains("nowhere.toml"), "{err}");
}

#[test]
fn nothing_is_started_by_a_judgement() {
    let desk = Desk::new();
    let marker = desk.root.path().join("work/marker");
    for words in [&["touch", "marker"][..], &["sh", "-c", "touch marker"], &["ls"], &["git", "status"]] {
        desk.level(words);
    }
    assert!(!marker.exists());
}
