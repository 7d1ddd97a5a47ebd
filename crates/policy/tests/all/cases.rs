//! The table of judged commands: each line of `cases/*.jsonl` with its level, and a rule that must be among the reasons.

use std::collections::BTreeMap;

use policy::{Command, Permissions, Requires};
use serde::Deserialize;

use crate::fixture::Fixture;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    level: String,
    command: Vec<String>,
    rule: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    requires: Requires,
    #[serde(rename = "why")]
    _why: String,
}

/// The permissions for a file of cases, by its name.
fn permissions(file: &str) -> Permissions {
    let mut permissions = Permissions::default();
    match file {
        "no_network" => permissions.allow_network = false,
        "no_write" => permissions.allow_write = false,
        "sudo_allowed" => permissions.allow_sudo = true,
        _ => {}
    }
    permissions
}

fn cases() -> BTreeMap<String, Vec<Case>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = files.map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let case = |(at, line)| {
            serde_json::from_str(line)
                .unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), at + 1))
        };
        (path.file_stem().unwrap().to_str().unwrap().to_owned(), text.lines().enumerate().map(case).collect())
    });
    read.collect()
}

#[test]
fn every_command_of_the_table_has_its_level_and_its_reason() {
    let fixture = Fixture::new();
    let (mut wrong, mut count) = (Vec::new(), 0);
    for (file, cases) in cases() {
        assert!(!cases.is_empty(), "{file} is empty");
        let policy = fixture.policy(permissions(&file));
        for case in cases {
            count += 1;
            let words: Vec<String> = case.command.iter().map(|word| fixture.filled(word)).collect();
            let (program, args) =
                words.split_first().map_or((String::new(), Vec::new()), |(p, a)| (p.clone(), a.to_vec()));
            let cwd = case.cwd.as_deref().map(|cwd| fixture.filled(cwd));
            let decision = policy.classify(&Command { program, args, cwd, requires: case.requires });
            let told = serde_json::to_value(&decision).unwrap();
            let reasons = told["reasons"].as_array().unwrap();
            let has_rule =
                case.rule.as_ref().is_none_or(|rule| reasons.iter().any(|reason| reason["rule"] == **rule));
            if told["level"] != *case.level || !has_rule {
                let expected = format!("{} {}", case.level, case.rule.unwrap_or_default());
                wrong.push(format!("{file}: {:?}: expected {expected}, got {told}", case.command));
            }
        }
    }
    assert!(count >= 5_700, "only {count} cases");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}
