//! Plays the session files of agents, `sessions/*.json` of packages, with their answers in the place of a model's and of tools'.
//!
//! - `file`, `answers`: reads a file; `differences`: what is not as it is expected

mod answers;
mod differences;
mod file;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::args::Common;
use super::check::counted;
use super::error::CliError;
use super::output::{on_one_line, say};
use super::target;
use crate::agents::AgentError;
use crate::app::App;
use crate::catalog::AgentSessions;
use crate::settings::{Agents, Settings};
use crate::store;
use crate::telemetry;
use base::caller::Caller;
use base::model::Id;
use differences::differences;
use file::{Case, cases};

/// How the cases of session files went.
#[derive(Debug, Default)]
pub struct Played {
    /// How many cases are as they are expected.
    pub passed: usize,
    /// How many are not; a file that cannot be read counts as one.
    pub failed: usize,
    /// A line for everything that is not.
    pub failures: Vec<String>,
}

/// Plays session files, and says how many of their sessions are as they are expected.
///
/// # Errors
/// [`CliError::Reported`] if one is not; as of [`run`].
pub async fn print(common: &Common, dir: &Path) -> Result<(), CliError> {
    let settings = target::settings(common)?;
    telemetry::init(&crate::settings::Log { level: "off".into(), ..settings.log.clone() })?;
    let Played { passed, failed, failures } = run(&settings, dir).await?;
    failures.iter().for_each(|line| say(on_one_line(line)));
    let passed = format!("{} passed", counted(passed, "session"));
    match failures.is_empty() {
        true => say(passed),
        false => say(format_args!("{passed}, {failed} failed")),
    }
    if failures.is_empty() { Ok(()) } else { Err(CliError::Reported) }
}

/// Plays the session files of a package, of all packages of a folder, or those of a folder itself, without the store.
///
/// # Errors
/// If there are none, a folder cannot be read, or the packages cannot be served.
async fn run(settings: &Settings, dir: &Path) -> Result<Played, CliError> {
    if !dir.is_dir() {
        return Err(CliError::Usage(format!("{} is not a folder", dir.display())));
    }
    let unreadable = |source| CliError::file(dir, source);
    let dir = std::fs::canonicalize(dir).map_err(unreadable)?;
    let (packages, sessions) = found(&dir).map_err(unreadable)?;
    if sessions.iter().all(|sessions| sessions.files.is_empty()) {
        let message = "has no session files: name a package with `sessions/*.json`, a folder of packages, or a folder of session files";
        return Err(CliError::Usage(format!("{} {message}", dir.display())));
    }
    let mut settings = settings.clone();
    settings.packages.dir = packages.unwrap_or(settings.packages.dir);
    settings.store.url = store::MEMORY.to_owned();
    // A session file means the same everywhere.
    settings.agents = Agents::default();
    play_all(&App::build(&settings).await?, sessions).await
}

/// Plays the session files of all packages in the folder of packages of a service.
///
/// # Errors
/// If the folder cannot be read.
pub async fn run_packages(app: &Arc<App>, dir: &Path) -> Result<Played, CliError> {
    let sessions = AgentSessions::of_packages(dir).map_err(|source| CliError::file(dir, source))?;
    play_all(app, sessions).await
}

/// The folder of packages, if it is another one than that of the settings, and the session files.
fn found(dir: &Path) -> std::io::Result<(Option<PathBuf>, Vec<AgentSessions>)> {
    let is_package =
        |dir: &Path| ["package.json", "agents", "sessions"].iter().any(|name| dir.join(name).exists());
    let above = |dir: &Path| dir.parent().map(Path::to_owned);
    if is_package(dir) {
        return Ok((above(dir), vec![AgentSessions::of_package(dir)?]));
    }
    let files = AgentSessions::files_of(dir)?;
    if files.is_empty() {
        return Ok((Some(dir.to_owned()), AgentSessions::of_packages(dir)?));
    }
    match above(dir).filter(|package| is_package(package)) {
        Some(package) => {
            let sessions = AgentSessions { files, ..AgentSessions::of_package(&package)? };
            Ok((above(&package), vec![sessions]))
        }
        None => Ok((None, vec![AgentSessions { files, agents: Vec::new() }])),
    }
}

async fn play_all(app: &Arc<App>, sessions: Vec<AgentSessions>) -> Result<Played, CliError> {
    let mut played = Played::default();
    for AgentSessions { files, agents } in sessions {
        for file in files {
            played.file(app, &file, &agents).await;
        }
    }
    Ok(played)
}

impl Played {
    async fn file(&mut self, app: &Arc<App>, file: &Path, agents: &[Id]) {
        let mut fail = |line: String| self.failures.push(format!("{}: {line}", file.display()));
        let cases = match std::fs::read(file) {
            Ok(text) => cases(&text, agents),
            Err(error) => Err(vec![error.to_string()]),
        };
        let cases = match cases {
            Ok(cases) => cases,
            Err(wrong) => {
                self.failed += 1;
                return wrong.into_iter().for_each(fail);
            }
        };
        for case in cases {
            let name = case.name.clone();
            let lines = play(app, case).await;
            *(if lines.is_empty() { &mut self.passed } else { &mut self.failed }) += 1;
            lines.into_iter().for_each(|line| fail(format!("{name}: {line}")));
        }
    }
}

/// What is not as a case expects it.
async fn play(app: &Arc<App>, case: Case) -> Vec<String> {
    let Case { script, expected, .. } = case;
    let caller = Caller::new("check", None, None);
    match app.agents.rehearse(&caller, script).await {
        Ok(rehearsal) => differences(&rehearsal, &expected),
        Err(AgentError::Unavailable { id, problems }) => {
            let problems = problems.iter();
            problems.map(|problem| format!("the agent `{id}` is unavailable: {}", problem.message)).collect()
        }
        Err(error) => vec![error.to_string()],
    }
}
