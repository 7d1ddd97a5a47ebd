//! Skills as people write them (`tests/skills/wild`), and what is read of each.

use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::*;

fn wild() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/skills/wild")
}

/// What is read of a skill, without what it does not say.
fn reading(skill: &Skill) -> Json {
    let problems = skill.problems.iter().map(|problem| match problem.line {
        Some(line) => format!("{line}: {}", problem.message),
        None => problem.message.clone(),
    });
    let all = json!({
        "name": skill.name,
        "description": skill.description,
        "params": skill.params,
        "history_mode": skill.history_mode,
        "history_max": skill.history_max,
        "model": skill.model,
        "temperature": skill.temperature,
        "max_tokens": skill.max_tokens,
        "allowed_tools": skill.allowed_tools,
        "argument_hint": skill.argument_hint,
        "disable_model_invocation": !skill.is_chosen_by_models,
        "front_matter": skill.front_matter,
        "content": skill.content,
        "problems": problems.collect::<Vec<_>>(),
    });
    let nothing = [json!(null), json!(false), json!([]), json!({}), json!("full"), json!(10)];
    let Json::Object(mut all) = all else { return all };
    all.retain(|_, value| !nothing.contains(value));
    Json::Object(all)
}

#[test]
fn skills_of_all_sorts_are_read_as_is_written_beside_them() {
    let id = Id::parse("wild.skill").unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(wild()).unwrap() {
        let folder = entry.unwrap().path();
        if !folder.is_dir() {
            continue;
        }
        let name = folder.file_name().unwrap().to_str().unwrap();
        let files = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        let file = files.into_iter().find(|file| is_skill_file(file.to_str().unwrap())).unwrap();
        let found = reading(&stored_skill(&id, Some(name), &std::fs::read(file).unwrap()).unwrap());
        let expected = std::fs::read_to_string(wild().join(format!("{name}.json"))).unwrap_or_default();
        if serde_json::from_str::<Json>(&expected).ok().as_ref() != Some(&found) {
            wrong.push(format!("{name}: {found:#}"));
        }
        count += 1;
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count >= 36, "{count}");
}
