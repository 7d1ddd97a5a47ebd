//! `skill check` beside the validators of others: the reference of agentskills.io, and its port for Node.js.

#![cfg(test)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use ai_prompt_shell::formats::check_skill;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// Skills on which the port does not agree with the reference, and whether it takes them: it knows not all letters, and it takes
/// objects in braces, and anchors.
const PORT_DIFFERS: [(&str, bool); 3] = [("anchors", true), ("flow-style", true), ("メモ-整理", false)];

/// How many texts are made up.
const MADE_UP: usize = 2_000;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn wild() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("tests/skills/wild")).unwrap();
    let mut folders: Vec<PathBuf> =
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn name(folder: &Path) -> &str {
    folder.file_name().unwrap().to_str().unwrap()
}

fn ours(folder: &Path) -> bool {
    let output =
        Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell")).args(["skill", "check"]).arg(folder).output();
    verdict(&output.unwrap())
}

fn reference(folder: &Path) -> bool {
    let program = root().join("target/skills/venv/skills-ref/bin/agentskills");
    verdict(&Command::new(program).arg("validate").arg(folder).output().unwrap())
}

fn port(folder: &Path) -> bool {
    let program = root().join("target/skills/node_modules/skills-ref/dist/cli.js");
    verdict(&Command::new("node").arg(program).arg("validate").arg(folder).output().unwrap())
}

fn verdict(output: &Output) -> bool {
    match output.status.code() {
        Some(0) => true,
        Some(1) => false,
        _ => panic!("{output:?}"),
    }
}

#[test]
fn the_verdict_on_every_example_is_that_of_the_reference() {
    let folders = wild();
    let valid = folders.iter().filter(|folder| ours(folder)).count();
    assert!(valid >= 10 && folders.len() - valid >= 10, "{valid} of {}", folders.len());
    let differ: Vec<&str> = folders
        .iter()
        .filter(|folder| ours(folder) != reference(folder))
        .map(|folder| name(folder))
        .collect();
    assert_eq!(differ, Vec::<&str>::new());
}

#[test]
fn the_port_differs_on_what_is_known_of_it() {
    let folders = wild();
    let told = |folder: &PathBuf| {
        let verdict = port(folder);
        (ours(folder) != verdict).then(|| (name(folder).to_owned(), verdict))
    };
    let differ: Vec<(String, bool)> = folders.iter().filter_map(told).collect();
    let differ: Vec<(&str, bool)> = differ.iter().map(|(name, verdict)| (name.as_str(), *verdict)).collect();
    assert_eq!(differ, PORT_DIFFERS);
}

/// Lines that are YAML, or nearly so.
const LINES: [&str; 72] = [
    "name: demo",
    "name: 'demo'",
    "description: It does this",
    "description: \"quoted: text\"",
    "description: plain: text",
    "description: >-",
    "description: |",
    "  more text",
    "  - item",
    "- item",
    "- a: b",
    "metadata:",
    "  author: me",
    "  version: \"1.0\"",
    "   odd: indent",
    "    deep: er",
    "\ttab: x",
    "license: MIT # free",
    "# comment",
    "",
    "key: [Read, Grep]",
    "key: {a: b}",
    "a: &b c",
    "a: *b",
    "a: !t c",
    "@at: x",
    "`tick`: x",
    "%percent",
    "? complex",
    ": value",
    "'open: x",
    "\"open: x",
    "a: 'b' c",
    "a: \"b\" c",
    "a:b",
    "a :b",
    "a : b",
    "...",
    "text",
    "key: - x",
    "key: a # b",
    "key: a#b",
    "key: ?x",
    "key: |x",
    "key: >",
    "key: @x",
    "key: [open",
    "key: x]",
    "key: 'it''s'",
    "key: \"\\q\"",
    "key: \"\\n\"",
    "<<: x",
    "name:",
    "description: ''",
    "key: \u{1f600}",
    "\"name\": demo",
    "'license': MIT",
    "~: x",
    "key:\u{a0}x",
    "key: a\tb",
    "key: |\n    a\tb",
    "key: |\t\n    a",
    "key: 'a\tb'",
    "key: x # a\tb",
    "key:\tx",
    "key: x\t",
    "<<:",
    "<<:\n    e: f",
    "key: |\n    a\n\t",
    "key: \"a\n    \tb\"",
    "key: %x",
    "key: x: ",
];

/// Texts that are nearly skills.
fn made_up() -> impl Strategy<Value = String> {
    const BEGINS: [&str; 6] = [
        "---\nname: demo\ndescription: x\n",
        "---\nname: demo\ndescription: x\nmetadata:\n  ",
        "---\nname: demo\ndescription: x\nlicense: ",
        "---\nname: demo\n",
        "--- \n",
        "",
    ];
    let ends = prop::sample::select(vec!["\n---\nBody\n", "\n---", "\n", "\n--- # end\n"]);
    let lines = prop::collection::vec(prop::sample::select(LINES.to_vec()), 0..4);
    (0..BEGINS.len() + 6, lines, ends).prop_map(|(begin, lines, end)| {
        // Most lines stand where all names are allowed, so that nothing but the YAML decides.
        let begin = BEGINS.get(begin).unwrap_or(&BEGINS[1]);
        let between = if begin.ends_with("  ") { "\n  " } else { "\n" };
        format!("{begin}{}{end}", lines.join(between))
    })
}

/// The texts that the reference takes, by their numbers.
fn taken_by_reference(folder: &Path) -> BTreeSet<usize> {
    let python = root().join("target/skills/venv/skills-ref/bin/python");
    let script = root().join("tests/skills/verdicts.py");
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(|line| line.parse().unwrap()).collect()
}

#[test]
fn the_verdict_on_texts_that_are_nearly_skills_is_that_of_the_reference() {
    let dir = tempfile::tempdir().unwrap();
    let mut runner = TestRunner::deterministic();
    let texts: Vec<String> =
        (0..MADE_UP).map(|_| made_up().new_tree(&mut runner).unwrap().current()).collect();
    for (at, text) in texts.iter().enumerate() {
        let folder = dir.path().join(format!("{at}/demo"));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("SKILL.md"), text).unwrap();
    }
    let taken = taken_by_reference(dir.path());
    assert!((20..MADE_UP - 20).contains(&taken.len()), "{}", taken.len());
    let differ = |(at, text): (usize, &String)| {
        let problems = check_skill("demo", text.as_bytes());
        (problems.is_empty() != taken.contains(&at)).then(|| format!("{text:?}: {problems:?}"))
    };
    let differ: Vec<String> = texts.iter().enumerate().filter_map(differ).collect();
    assert!(differ.is_empty(), "{} of {MADE_UP}:\n{}", differ.len(), differ.join("\n"));
}
