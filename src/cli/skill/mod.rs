//! Skills in the terminal: run, checked, begun. The service asks the model; the commands of a run are started here, or on a host.
//!
//! - `check`, `new`: the folders of skills
//! - `run`: from the options to a session; `drive`: its loop; `dialogue`: the session over HTTP
//! - `source`: where a skill comes from; `folders`: those of the project and the user; `choose`: by what is wanted;
//!   `bundle`: files beside it; `knowledge`: what else the model is told; `inside`: files that do not lead out of their folder
//! - `command`: one command, from the question to its end; `known`: as it is judged; `verdict`, `allowed`: what runs without a question; `edit`: what a person
//!   makes of it; `journal`: the log
//! - `machine`: where commands run; `host`: another machine
//! - `show`: what is printed

mod allowed;
mod args;
mod bundle;
mod check;
mod choose;
mod command;
mod dialogue;
mod drive;
mod edit;
mod folders;
mod host;
mod inside;
mod journal;
mod knowledge;
mod known;
mod machine;
mod new;
mod run;
mod show;
mod source;
mod verdict;

use std::path::PathBuf;

use clap::Subcommand;

use super::args::Common;
use super::error::CliError;
use args::SkillRun;

/// What can be done with skills alone.
#[derive(Debug, Subcommand)]
pub enum SkillAction {
    /// Run one: a model says what to do, and you agree to its commands
    Run(Box<SkillRun>),
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

/// Runs a command about skills.
///
/// # Errors
/// [`CliError::Reported`] if a skill is invalid; the error of a file, of a run; wrong usage.
pub async fn run(common: &Common, action: SkillAction) -> Result<(), CliError> {
    match action {
        SkillAction::Run(options) => run::run(common, &options).await,
        SkillAction::Check { dirs } => check::run(&dirs),
        SkillAction::New { name, dir } => new::run(&name, &dir),
    }
}
