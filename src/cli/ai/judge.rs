//! The judge for a command line: from settings, environment and the user's rules.

use std::path::{Path, PathBuf};

use policy::{Permissions, Policy, RuleSource, Rules, Surroundings};

use crate::cli::args::Common;
use crate::cli::error::CliError;
use crate::cli::target;
use crate::cli::user::{configuration, home, variable};
use crate::settings::{Assistant, DEFAULT_FILE};

/// A file of settings without any.
const NO_FILE: &str = "/dev/null";

/// A folder that is not on this machine.
const ELSEWHERE: &str = "/nowhere-on-this-machine";

/// The judge of commands in a workspace. What cannot be read is told by its reasons, and nothing is L0.
///
/// # Errors
/// When the working directory or the workspace is not there.
pub fn judge(common: &Common, workspace: Option<&Path>, rules: Option<&Path>) -> Result<Policy, CliError> {
    let cwd = std::env::current_dir().map_err(|source| CliError::File { path: ".".to_owned(), source })?;
    if let Some(workspace) = workspace.filter(|workspace| !workspace.is_dir()) {
        return Err(CliError::Usage(format!("{} is not a folder", workspace.display())));
    }
    let surroundings = Surroundings {
        workspace: workspace.map_or_else(|| cwd.clone(), |workspace| cwd.join(workspace)),
        cwd,
        home: home(),
        path: variable("PATH").unwrap_or_default().to_string_lossy().into_owned(),
    };
    Ok(judge_in(common, surroundings, rules))
}

/// The judge of lines that run on another machine, of which nothing is known: none of them is L0.
pub fn judge_elsewhere(common: &Common, host: &str, rules: Option<&Path>) -> Policy {
    // Folders that are not here, so that nothing of this machine counts for the other one.
    let surroundings = Surroundings {
        workspace: Path::new(ELSEWHERE).join("work"),
        cwd: Path::new(ELSEWHERE).join("work"),
        home: Some(Path::new(ELSEWHERE).join("home")),
        path: String::new(),
    };
    judge_in(common, surroundings, rules).elsewhere(host)
}

fn judge_in(common: &Common, surroundings: Surroundings, rules: Option<&Path>) -> Policy {
    let mut broken = Vec::new();
    let assistant = assistant(common).unwrap_or_else(|error| {
        broken.push(error);
        Assistant::narrowest()
    });
    let rules = user_rules(rules).unwrap_or_else(|error| {
        broken.push(format!("{error}; `ai-prompt-shell ai rules check` checks it"));
        Rules::default()
    });
    Policy::new(surroundings, permissions(assistant), rules).broken(broken)
}

/// The settings, with the plugin's file.
///
/// A settings file that is only found in the working directory may be anybody's who can write there, a model's among them: it can take away
/// from what the other sources permit, and add nothing.
fn assistant(common: &Common) -> Result<Assistant, String> {
    let of = |common: &Common| {
        target::settings(common).map_err(|error| error.to_string()).map(|settings| settings.assistant)
    };
    let mut settings = of(common)?;
    if common.config.is_none() && Path::new(DEFAULT_FILE).exists() {
        let without_file = Common { config: Some(NO_FILE.into()), ..common.clone() };
        let may_run = |name: &str| policy::default_programs().any(|program| program == name);
        settings = settings.narrowed_by(of(&without_file)?, may_run);
    }
    match home() {
        Some(home) => settings.with_plugin_file(&home),
        None => Ok(settings),
    }
}

fn permissions(settings: Assistant) -> Permissions {
    let Assistant { allowed_programs, allow_network, allow_write, allow_sudo } = settings;
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
    configuration().unwrap_or_default().join("ai-prompt-shell/rules.toml")
}
