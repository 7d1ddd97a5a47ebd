//! The judge for a command line: from settings, environment and the user's rules.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use policy::{Permissions, Policy, RuleSource, Rules, Surroundings};

use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::cli::target;
use crate::settings::Assistant;

/// The judge of commands in a workspace. What cannot be read is told by its reasons, and nothing is L0.
///
/// # Errors
/// When the working directory is not there.
pub fn judge(common: &Common, workspace: Option<&Path>, rules: Option<&Path>) -> Result<Policy, CliError> {
    let cwd = std::env::current_dir().map_err(|source| CliError::File { path: ".".to_owned(), source })?;
    let surroundings = Surroundings {
        workspace: workspace.map_or_else(|| cwd.clone(), |workspace| cwd.join(workspace)),
        cwd,
        home: home(),
        path: variable("PATH").unwrap_or_default().to_string_lossy().into_owned(),
    };
    let mut broken = Vec::new();
    let assistant = assistant(common).unwrap_or_else(|error| {
        broken.push(error);
        Assistant::narrowest()
    });
    let rules = user_rules(rules).unwrap_or_else(|error| {
        broken.push(error.to_string());
        Rules::default()
    });
    Ok(Policy::new(surroundings, permissions(assistant), rules).broken(broken))
}

/// The settings, with the plugin's file.
fn assistant(common: &Common) -> Result<Assistant, String> {
    let settings = target::settings(common).map_err(|error| error.to_string())?.assistant;
    match home() {
        Some(home) => settings.with_plugin_file(&home),
        None => Ok(settings),
    }
}

fn permissions(settings: Assistant) -> Permissions {
    let Assistant { allowed_programs, allow_network, allow_write, allow_sudo } = settings;
    let allowed_programs = Some(allowed_programs).filter(|programs| !programs.is_empty());
    Permissions { allow_network, allow_write, allow_sudo, allowed_programs }
}

fn user_rules(named: Option<&Path>) -> Result<Rules, CliError> {
    let (file, source) = read_rules(named)?;
    source.rules().map_err(|error| CliError::Rules { path: file.display().to_string(), error })
}

/// The user's rules: the file, and its text; an empty one if the default file is not there.
///
/// # Errors
/// When a file cannot be read, or one that was named is not there.
pub fn read_rules(named: Option<&Path>) -> Result<(PathBuf, RuleSource), CliError> {
    let file = named.map_or_else(rules_file, Path::to_path_buf);
    match std::fs::read_to_string(&file) {
        Ok(text) => Ok((file, RuleSource(text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && named.is_none() => {
            Ok((file, RuleSource(String::new())))
        }
        Err(error) => Err(CliError::file(&file, error)),
    }
}

/// `rules.toml` in the folder of the user's configuration.
fn rules_file() -> PathBuf {
    let configuration = variable("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = configuration.or_else(|| Some(home()?.join(".config"))).unwrap_or_default();
    folder.join("ai-prompt-shell/rules.toml")
}

fn home() -> Option<PathBuf> {
    variable("HOME").map(PathBuf::from)
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
