//! The session files of packages, by which their agents are tested.

use std::path::{Path, PathBuf};

use serde_json::Value as Json;

use super::document::own_name;
use super::packages::packages_in;
use base::model::{DocumentKind, Id};

/// The folder of a package with its session files.
const FOLDER: &str = "sessions";

/// The session files of a package, and its agents.
#[derive(Debug, PartialEq, Eq)]
pub struct AgentSessions {
    /// The files `sessions/*.json`, sorted.
    pub files: Vec<PathBuf>,
    /// The agents of the package, sorted.
    pub agents: Vec<Id>,
}

impl AgentSessions {
    /// Those of a package.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn of_package(package: &Path) -> std::io::Result<AgentSessions> {
        let folder = DocumentKind::Agent.package_folder().unwrap_or_default();
        let mut agents: Vec<Id> = json_files(&package.join(folder))?.iter().filter_map(agent).collect();
        agents.sort();
        Ok(AgentSessions { files: json_files(&package.join(FOLDER))?, agents })
    }

    /// The files of a folder that may be session files, sorted; none if it does not exist.
    ///
    /// # Errors
    /// If the folder cannot be listed.
    pub fn files_of(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
        json_files(folder)
    }

    /// Those of all packages below a folder that have some.
    ///
    /// # Errors
    /// If a folder cannot be listed.
    pub fn of_packages(dir: &Path) -> std::io::Result<Vec<AgentSessions>> {
        let all = packages_in(dir)?.iter().map(|package| AgentSessions::of_package(package)).collect();
        let all: std::io::Result<Vec<AgentSessions>> = all;
        Ok(all?.into_iter().filter(|sessions| !sessions.files.is_empty()).collect())
    }
}

/// The JSON files of a folder, sorted; none if it does not exist.
fn json_files(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries.collect::<Result<Vec<_>, _>>()?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let files = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|extension| extension == "json")).collect();
    files.sort();
    Ok(files)
}

/// The id of the agent whose document this is; none if it does not say it.
fn agent(file: &PathBuf) -> Option<Id> {
    let document: Json = serde_json::from_slice(&std::fs::read(file).ok()?).ok()?;
    Id::parse(&own_name(DocumentKind::Agent, &document)?).ok()
}
