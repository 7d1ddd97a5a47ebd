//! Plays the session files of skills, `skills/NAME/session.test.json`, with their answers in the place of a model's.
//!
//! - `file`: reads a file

mod file;

use std::path::Path;

use serde_json::{Value as Json, json};

use super::package_tests::ExpectedError;
use crate::app::App;
use crate::http::ApiError;
use crate::skills::{Rehearsal, Rehearsed, SkillError};
use base::caller::Caller;
use base::model::Id;
use file::{Case, Expected, ExpectedStep, cases};

/// The file beside SKILL.md.
const FILE: &str = "session.test.json";

/// Plays the sessions of all skills in the folder of packages. Gives a line for each failure.
pub async fn run(app: &App) -> Vec<String> {
    let mut failures = Vec::new();
    for (skill, source) in &*app.catalog.snapshot().documents.skill_sources {
        let Some(file) = source.file_of_package(FILE) else { continue };
        let lines = failures_of(app, &file, skill).await;
        failures.extend(lines.iter().map(|why| format!("{}: {why}", file.display())));
    }
    failures
}

async fn failures_of(app: &App, file: &Path, skill: &Id) -> Vec<String> {
    let text = match std::fs::read(file) {
        Ok(text) => text,
        Err(error) => return vec![error.to_string()],
    };
    let cases = match cases(&text, skill) {
        Ok(cases) => cases,
        Err(wrong) => return wrong,
    };
    let mut failures = Vec::new();
    for case in cases {
        let name = case.name.clone();
        failures.extend(play(app, case).await.into_iter().map(|why| format!("{name}: {why}")));
    }
    failures
}

/// What is not as a case expects it.
async fn play(app: &App, case: Case) -> Vec<String> {
    let Case { start, acts, expected, error, .. } = case;
    let caller = Caller::new("check", None, None);
    match (app.skills.rehearse(&caller, start, acts).await, error) {
        (Ok(rehearsal), None) => differences(&rehearsal, &expected),
        (Ok(_), Some(error)) => vec![format!("expected the error {error}, but the session starts")],
        (Err(found), error) => refused(found, error).into_iter().collect(),
    }
}

/// Why the error of a start is not the one that is expected.
fn refused(found: SkillError, expected: Option<ExpectedError>) -> Option<String> {
    let found = ApiError::from(found).to_json();
    match expected {
        Some(error) if error.matches(Some(&found)) => None,
        Some(error) => Some(format!("expected the error {error}, got {found}")),
        None => Some(format!("expected a session, got {found}")),
    }
}

fn differences(rehearsal: &Rehearsal, expected: &Expected) -> Vec<String> {
    let Rehearsal { system, steps, state, stopped } = rehearsal;
    let mut failures: Vec<String> = expected.system.iter().filter_map(|text| lack(system, text)).collect();
    for (at, (step, expected)) in steps.iter().zip(&expected.steps).enumerate() {
        let differences = [differs(expected, step), lacks(expected, step)];
        failures.extend(differences.into_iter().flatten().map(|why| format!("step {}: {why}", at + 1)));
    }
    failures.extend(match stopped {
        Some(stopped) => Some(format!("step {}: {}", stopped.step, stopped.reason)),
        None if *state == expected.state => None,
        None => {
            Some(format!("expected the state `{}` at the end, got `{}`", expected.state.name(), state.name()))
        }
    });
    failures
}

fn lack(system: &str, text: &str) -> Option<String> {
    let message = || format!("the system message lacks {}: it is {}", json!(text), json!(system));
    (!system.contains(text)).then(message)
}

fn differs(expected: &ExpectedStep, found: &Rehearsed) -> Option<String> {
    let sent = expected.sent.as_ref().filter(|sent| **sent != found.sent)?;
    Some(format!("expected that the model is sent {}, got {}", json!(sent), json!(found.sent)))
}

/// What a directive lacks of the members that are expected.
fn lacks(expected: &ExpectedStep, found: &Rehearsed) -> Option<String> {
    let directive = json!(found.directive);
    let is_there = |(name, value): (&String, &Json)| directive.get(name) == Some(value);
    let message = || format!("expected {}, got {directive}", json!(expected.directive));
    (!expected.directive.iter().all(is_there)).then(message)
}
