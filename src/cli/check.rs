//! Checks settings, packages and store, and runs the packages' tests.

use serde_json::{Value as Json, json};

use super::args::{Check, Common};
use super::documents::print_json;
use super::error::CliError;
use super::{package_tests, target};
use crate::app::{App, BuildError};
use crate::settings::Settings;
use crate::store::{self, StoreError};
use crate::telemetry;

/// Checks everything; what is wrong is printed.
///
/// # Errors
/// [`CliError::Reported`] when something is wrong.
pub async fn run(common: &Common, options: Check) -> Result<(), CliError> {
    let mut settings = target::settings(common)?;
    telemetry::init(&crate::settings::Log { level: "off".into(), ..settings.log.clone() })?;
    if let Some(dir) = options.dir {
        if !dir.is_dir() {
            return Err(CliError::Usage(format!("{} is not a folder", dir.display())));
        }
        settings.packages.dir = dir;
    }
    let problems = problems(common, &settings).await?;
    let failures = if options.test { package_tests::run(&settings).await? } else { Vec::new() };
    match options.json {
        true => print_json(&json!({"problems": problems, "failures": failures})),
        false => print(&problems, &failures, options.test),
    }
    if problems.is_empty() && failures.is_empty() { Ok(()) } else { Err(CliError::Reported) }
}

async fn problems(common: &Common, settings: &Settings) -> Result<Vec<Json>, CliError> {
    let settings = match common.server {
        Some(_) => settings.clone(),
        None => without_new_store(settings),
    };
    let client = match (&common.server, App::build(&settings).await) {
        (Some(_), _) | (None, Err(BuildError::Store(StoreError::Locked { .. }))) => {
            target::open(common).await?
        }
        (None, Ok(app)) => target::inside(&app, &settings)?,
        (None, Err(error)) => return Err(error.into()),
    };
    let status = client.get("/api/status").await?;
    let mut problems = status.get("problems").and_then(Json::as_array).cloned().unwrap_or_default();
    if let Some(error) = status.pointer("/store/error").and_then(Json::as_str) {
        problems.push(json!({"kind": "store", "key": status.pointer("/store/url"), "message": error}));
    }
    Ok(problems)
}

/// The settings with a store in memory in place of an embedded one that does not exist yet: a check makes no files.
pub fn without_new_store(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let path = settings.store.url.strip_prefix("embedded:").map(std::path::Path::new);
    if path.is_some_and(|path| !path.exists()) {
        settings.store.url = store::MEMORY.to_owned();
    }
    settings
}

fn print(problems: &[Json], failures: &[String], tested: bool) {
    for problem in problems {
        let text = |member: &str| problem.get(member).and_then(Json::as_str).unwrap_or_default();
        let number = |member: &str| problem.get(member).and_then(Json::as_u64);
        let file = match text("file") {
            "" => text("key"),
            file => file,
        };
        let place: String =
            [number("line"), number("column")].iter().flatten().map(|n| format!(":{n}")).collect();
        println!("{file}{place}: {}", text("message"));
    }
    failures.iter().for_each(|failure| println!("{failure}"));
    match (problems.len(), failures.len(), tested) {
        (0, 0, false) => println!("all is well"),
        (0, 0, true) => println!("all is well, and all tests pass"),
        (problems, _, false) => println!("{problems} problems"),
        (problems, failures, true) => println!("{problems} problems, {failures} failed tests"),
    }
}
