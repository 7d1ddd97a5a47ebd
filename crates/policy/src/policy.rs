//! What a decision depends on: the settings, the workspace, the environment and the user's rules.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::place;
use crate::rules::Rules;
use crate::tables::Tables;

/// What is permitted at all. The names are those of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permissions {
    /// Whether the network may be used, after a question.
    pub allow_network: bool,
    /// Whether something may be written, after a question.
    pub allow_write: bool,
    /// Whether privilege may be gained, after a question.
    pub allow_sudo: bool,
    /// The programs that may run; by default, those that have a table, and the usual tools of developers.
    pub allowed_programs: Option<Vec<String>>,
}

impl Default for Permissions {
    fn default() -> Permissions {
        Permissions { allow_network: true, allow_write: true, allow_sudo: false, allowed_programs: None }
    }
}

/// Where commands run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The folder that commands may read.
    pub workspace: PathBuf,
    /// The session's folder, in which commands run that name none.
    pub cwd: PathBuf,
    /// The user's home folder, if any.
    pub home: Option<PathBuf>,
    /// The value of `PATH`.
    pub path: String,
}

/// The judge: everything that a decision depends on.
#[derive(Debug)]
pub struct Policy {
    pub(crate) permissions: Permissions,
    pub(crate) workspace: PathBuf,
    pub(crate) cwd: PathBuf,
    pub(crate) home: Option<PathBuf>,
    /// The folders of `PATH` in which a program may be found.
    pub(crate) folders: Vec<PathBuf>,
    pub(crate) rules: Rules,
    pub(crate) broken: Vec<String>,
    /// The other machine that lines run on.
    pub(crate) host: Option<String>,
    pub(crate) tables: &'static Tables,
    allowed: HashSet<String>,
}

/// Folders of installed programs, whatever `PATH` says.
const TRUSTED: &[&str] =
    &["/bin", "/opt/homebrew/bin", "/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin", "/usr/sbin"];

impl Policy {
    /// A judge.
    pub fn new(surroundings: Surroundings, permissions: Permissions, rules: Rules) -> Policy {
        let root = Path::new("/");
        let workspace = place::resolve(root, &surroundings.workspace);
        let cwd = place::resolve(&workspace, &surroundings.cwd);
        let tables = Tables::built_in();
        let allowed = match &permissions.allowed_programs {
            Some(names) => names.iter().cloned().collect(),
            None => default_programs().map(str::to_owned).collect(),
        };
        Policy {
            folders: clean_folders(&surroundings.path, &workspace),
            permissions,
            cwd,
            home: surroundings.home,
            rules,
            broken: Vec::new(),
            host: None,
            tables,
            allowed,
            workspace,
        }
    }

    /// A judge that lets nothing run by itself, because its rules or settings cannot be read.
    pub fn broken(mut self, because: impl IntoIterator<Item = String>) -> Policy {
        self.broken.extend(because);
        self
    }

    /// A judge of lines that run on another machine, of which nothing is known: none of them is L0.
    pub fn elsewhere(mut self, host: &str) -> Policy {
        self.host = Some(host.to_owned());
        self
    }

    /// Whether a program (a bare name) may run at all.
    pub(crate) fn is_allowed(&self, name: &str) -> bool {
        self.allowed.contains(name)
    }

    /// Whether a folder, as it is written, is one of installed programs.
    pub(crate) fn is_trusted(&self, folder: &str) -> bool {
        TRUSTED.contains(&folder) || self.folders.iter().any(|trusted| trusted.as_os_str() == folder)
    }
}

/// The programs that may run if the settings do not say otherwise: those of which some form is harmless, and the usual tools of
/// developers (`rules/allowed.txt`).
pub fn default_programs() -> impl Iterator<Item = &'static str> {
    let tools = include_str!("../rules/allowed.txt").lines().filter(|line| !line.starts_with('#'));
    Tables::built_in().harmless_names().chain(tools.flat_map(str::split_whitespace))
}

/// The folders of `PATH` in which programs may be found: absolute, and not inside of the workspace.
fn clean_folders(path: &str, workspace: &Path) -> Vec<PathBuf> {
    let folders = path.split(':').map(Path::new).filter(|folder| folder.is_absolute());
    let outside = folders.filter(|folder| !place::resolve(Path::new("/"), folder).starts_with(workspace));
    outside.map(Path::to_path_buf).collect()
}
