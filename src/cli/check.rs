//! Checks settings, packages and store, and runs the packages' tests.

use serde_json::{Value as Json, json};

use super::args::{Check, Common};
use super::client::Client;
use super::documents::print_json;
use super::error::CliError;
use super::output::{on_one_line, say};
use super::{package_tests, target};
use crate::app::{App, BuildError};
use crate::catalog::package_notes;
use crate::settings::{Settings, SettingsError};
use crate::store::{self, StoreError};
use crate::telemetry;
use agent::override_name;

/// Checks everything and prints what is wrong.
///
/// # Errors
/// [`CliError::Reported`] when something is wrong.
pub async fn run(common: &Common, options: Check) -> Result<(), CliError> {
    let mut settings = match target::settings(common) {
        Err(CliError::Settings(SettingsError::Invalid(values))) => {
            values.iter().for_each(|value| say(format_args!("settings: {value}")));
            return Err(CliError::Reported);
        }
        settings => settings?,
    };
    telemetry::init(&crate::settings::Log { level: "off".into(), ..settings.log.clone() })?;
    if let Some(dir) = options.dir {
        if !dir.is_dir() {
            return Err(CliError::Usage(format!("{} is not a folder", dir.display())));
        }
        settings.packages.dir = dir;
    }
    let Checked { problems, agents } = checked(common, &settings).await?;
    let failed = if options.test { package_tests::run(&settings).await? } else { Vec::new() };
    let notes = package_notes(&settings.packages.dir);
    let mut notes = notes.map_err(|source| CliError::file(&settings.packages.dir, source))?;
    if let (None, Some(agents)) = (&common.server, &agents) {
        notes.extend(unknown_agents(&settings, agents));
    }
    match options.json {
        true => print_json(&json!({"problems": problems, "failures": failed, "notes": notes})),
        false => {
            notes.iter().for_each(|note| say(on_one_line(&format!("note: {note}"))));
            print(&problems, &failed, options.test);
        }
    }
    if problems.is_empty() && failed.is_empty() { Ok(()) } else { Err(CliError::Reported) }
}

/// What is wrong, and which agents there are.
#[derive(Default)]
struct Checked {
    problems: Vec<Json>,
    /// None if that is not known.
    agents: Option<Vec<String>>,
}

async fn checked(common: &Common, settings: &Settings) -> Result<Checked, CliError> {
    if common.server.is_some() {
        return checked_at(&target::open(common).await?).await;
    }
    let mut checked = Checked::default();
    let mut settings = without_new_store(settings);
    let app = match App::build(&settings).await {
        Err(BuildError::Store(StoreError::Locked { .. })) => {
            // The running service knows the store; the packages are checked here.
            checked = checked_at(&target::open(common).await?).await?;
            settings.store.url = store::MEMORY.to_owned();
            App::build(&settings).await?
        }
        built => built?,
    };
    let Checked { problems, agents } = checked_at(&target::inside(&app, &settings)?).await?;
    for problem in problems {
        if !checked.problems.contains(&problem) {
            checked.problems.push(problem);
        }
    }
    checked.agents = agents.map(|agents| checked.agents.into_iter().flatten().chain(agents).collect());
    Ok(checked)
}

async fn checked_at(client: &Client) -> Result<Checked, CliError> {
    let status = client.get("/api/status").await?;
    let mut problems = status.get("problems").and_then(Json::as_array).cloned().unwrap_or_default();
    for problem in problems.iter_mut().filter_map(Json::as_object_mut) {
        problem.shift_remove("since");
    }
    if let Some(error) = status.pointer("/store/error").and_then(Json::as_str) {
        problems.push(json!({"kind": "store", "key": status.pointer("/store/url"), "message": error}));
        // Which agents there are is not known.
        return Ok(Checked { problems, agents: None });
    }
    let agents = client.get("/api/agents").await?;
    let agents = agents.as_array().into_iter().flatten().filter_map(Json::as_str).map(str::to_owned);
    Ok(Checked { problems, agents: Some(agents.collect()) })
}

/// The settings of agents that there are not: often a name is misspelt.
fn unknown_agents(settings: &Settings, agents: &[String]) -> Vec<String> {
    let is_known = |name: &str| agents.iter().any(|id| override_name(id) == override_name(name));
    let unknown = settings.agents.0.keys().filter(|name| !is_known(name));
    unknown.map(|name| format!("the settings [agents.{name}] are for an agent that does not exist")).collect()
}

/// The settings with a store in memory in place of an embedded one that does not exist yet, since a check creates no files.
pub fn without_new_store(settings: &Settings) -> Settings {
    let mut settings = settings.clone();
    let path = settings.store.url.strip_prefix("embedded:").map(std::path::Path::new);
    if path.is_some_and(|path| !path.exists()) {
        settings.store.url = store::MEMORY.to_owned();
    }
    settings
}

fn print(problems: &[Json], failed: &[String], tested: bool) {
    for problem in problems {
        let text = |member: &str| problem.get(member).and_then(Json::as_str).unwrap_or_default();
        let number = |member: &str| problem.get(member).and_then(Json::as_u64);
        let file = match text("file") {
            "" => text("key"),
            file => file,
        };
        let place: String =
            [number("line"), number("column")].iter().flatten().map(|n| format!(":{n}")).collect();
        say(format_args!("{}{place}: {}", on_one_line(file), text("message")));
    }
    failed.iter().for_each(|line| say(format_args!("{line}")));
    match (problems.len(), failed.len(), tested) {
        (0, 0, false) => say(format_args!("all is well")),
        (0, 0, true) => say(format_args!("all is well, and all tests pass")),
        (problems, _, false) => say(counted(problems, "problem")),
        (problems, failed, true) => {
            say(format_args!("{}, {}", counted(problems, "problem"), counted(failed, "failed test")));
        }
    }
}

/// A number with its noun.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
