//! What can be done with the folders of skills on this machine.

mod check;
mod new;

use std::path::PathBuf;

use clap::Subcommand;

use super::error::CliError;

/// What can be done with skills in folders.
#[derive(Debug, Subcommand)]
pub enum SkillFolderAction {
    /// Check folders of skills by the rules of agentskills.io; exit code 1 if any is invalid
    Check {
        /// Folders: of a skill, or with skills in them
        #[arg(required = true, value_name = "DIR")]
        dirs: Vec<PathBuf>,
    },
    /// Write a SKILL.md to begin with
    New {
        /// The name of the skill, and of its folder
        name: String,
        /// The folder in which that of the skill is made
        #[arg(long, default_value = ".")]
        dir: PathBuf,
    },
}

/// Runs a command about folders of skills.
///
/// # Errors
/// [`CliError::Reported`] if a skill is invalid; the error of a file; wrong usage.
pub fn run(action: &SkillFolderAction) -> Result<(), CliError> {
    match action {
        SkillFolderAction::Check { dirs } => check::run(dirs),
        SkillFolderAction::New { name, dir } => new::run(name, dir),
    }
}
