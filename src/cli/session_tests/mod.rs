//! Plays the session files of skills, `skills/NAME/session.test.json`, with their answers in the place of a model's.
//!
//! - `file`: reads a file

mod file;

use std::path::Path;

use serde_json::{Map, Value as Json, json};

use crate::app::App;
use crate::http::ApiError;
use crate::skills::{Act, Rehearsal, SkillError, Start};
use base::caller::Caller;
use base::model::Id;
use file::{Case, Step, cases};

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
    let Case { start, system, steps, state, error, .. } = case;
    let (expected, acts): (Vec<_>, Vec<Act>) =
        steps.into_iter().map(|Step { sent, expect, act }| ((sent, expect), act)).unzip();
    let rehearsal = match (rehearse(app, start, acts).await, error) {
        (Ok(rehearsal), None) => rehearsal,
        (Ok(_), Some(error)) => return vec![format!("expected the error {error}, but the session starts")],
        (Err(found), error) => {
            let found = ApiError::from(found).to_json();
            return match error {
                Some(error) if error.matches(Some(&found)) => Vec::new(),
                Some(error) => vec![format!("expected the error {error}, got {found}")],
                None => vec![format!("expected a session, got {found}")],
            };
        }
    };
    let mut failures: Vec<String> = system.iter().filter_map(|text| lack(&rehearsal.system, text)).collect();
    for (at, (step, (sent, expect))) in rehearsal.steps.iter().zip(expected).enumerate() {
        let differences = [differs(sent, &step.sent), lacks(&expect, json!(step.directive))];
        failures.extend(differences.into_iter().flatten().map(|why| format!("step {}: {why}", at + 1)));
    }
    match rehearsal.stopped {
        Some(stopped) => failures.push(format!("step {}: {}", stopped.step, stopped.reason)),
        None if rehearsal.state == state => {}
        None => failures.push(format!(
            "expected the state `{}` at the end, got `{}`",
            state.name(),
            rehearsal.state.name()
        )),
    }
    failures
}

async fn rehearse(app: &App, start: Start, acts: Vec<Act>) -> Result<Rehearsal, SkillError> {
    app.skills.rehearse(&Caller::new("check", None, None), start, acts).await
}

fn lack(system: &str, text: &str) -> Option<String> {
    let message = || format!("the system message lacks {}: it is {}", json!(text), json!(system));
    (!system.contains(text)).then(message)
}

fn differs(sent: Option<String>, found: &str) -> Option<String> {
    let sent = sent.filter(|sent| sent != found)?;
    Some(format!("expected that the model is sent {}, got {}", json!(sent), json!(found)))
}

/// What a directive lacks of the members that are expected.
fn lacks(expected: &Map<String, Json>, directive: Json) -> Option<String> {
    let is_there = |(name, value): (&String, &Json)| directive.get(name) == Some(value);
    (!expected.iter().all(is_there)).then(|| format!("expected {}, got {directive}", json!(expected)))
}
