//! Runs the tests that packages bring: `prompts/NAME.test.json`, a list of cases, and the sessions of skills and agents.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::client::Client;
use super::documents;
use super::error::CliError;
use super::{agent_tests, session_tests, target};
use crate::app::App;
use crate::catalog::test_files;
use crate::settings::{Agents, Settings, Skills};
use crate::store;
use base::model::Id;

/// One case: variables, and the expected text, messages or error.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    #[serde(default)]
    variables: Map<String, Json>,
    expect: Option<Json>,
    error: Option<ExpectedError>,
}

/// An error that a case expects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedError {
    code: String,
    missing: Option<Vec<String>>,
}

/// Runs all tests of the package folder, on the packages alone, without the store. Returns a line for each case that failed.
///
/// # Errors
/// When the folder cannot be read or the packages cannot be served.
pub async fn run(settings: &Settings) -> Result<Vec<String>, CliError> {
    let dir = &settings.packages.dir;
    let files = test_files(dir).map_err(|source| CliError::file(dir, source))?;
    let mut settings = settings.clone();
    settings.store.url = store::MEMORY.to_owned();
    // A session file means the same everywhere.
    settings.skills = Skills::default();
    settings.agents = Agents::default();
    let app = App::build(&settings).await?;
    let client = target::inside(&app, &settings)?;
    let mut failed = Vec::new();
    for (file, id) in files {
        match (cases(&file), id) {
            (Ok(cases), Some(id)) => {
                for case in cases {
                    let line = run_case(&client, &id, &case).await?;
                    failed.extend(line.map(|why| format!("{}: {}: {why}", file.display(), case.name)));
                }
            }
            (Err(why), _) => failed.push(format!("{}: {why}", file.display())),
            (_, None) => failed.push(format!("{}: its package has no name", file.display())),
        }
    }
    failed.extend(session_tests::run(&app).await);
    failed.extend(agent_tests::run_packages(&app, dir).await?.failures);
    Ok(failed)
}

fn cases(file: &Path) -> Result<Vec<Case>, String> {
    let text = std::fs::read(file).map_err(|error| error.to_string())?;
    let cases: Vec<Case> = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    let unclear = cases.iter().find(|case| case.expect.is_some() == case.error.is_some());
    match unclear {
        Some(case) => Err(format!("the case `{}` needs exactly one of `expect` and `error`", case.name)),
        None => Ok(cases),
    }
}

/// Why the case fails, if it does.
async fn run_case(client: &Client, id: &Id, case: &Case) -> Result<Option<String>, CliError> {
    let path = documents::render_path(id.as_str());
    let answer = client.post_any(&path, &json!({"variables": case.variables})).await?;
    let rendered = answer.get("rendered_prompt");
    let error = answer.get("error");
    Ok(match (&case.expect, &case.error) {
        (Some(expected), _) if rendered == Some(expected) => None,
        (Some(expected), _) => {
            Some(format!("expected {expected}, got {}", rendered.or(error).unwrap_or(&Json::Null)))
        }
        (None, Some(expected)) if expected.matches(error) => None,
        (None, Some(expected)) => Some(format!("expected the error {expected}, got {answer}")),
        (None, None) => None,
    })
}

impl std::fmt::Display for ExpectedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.code)?;
        match &self.missing {
            Some(missing) => write!(f, " of {}", missing.join(", ")),
            None => Ok(()),
        }
    }
}

impl ExpectedError {
    /// Whether an error of the service is this one.
    pub fn matches(&self, error: Option<&Json>) -> bool {
        let code = error.and_then(|error| error.get("code")).and_then(Json::as_str);
        let missing = error.and_then(|error| error.pointer("/details/missing"));
        code == Some(self.code.as_str())
            && self.missing.as_ref().is_none_or(|wanted| missing == Some(&json!(wanted)))
    }
}
