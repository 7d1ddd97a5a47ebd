//! `skill run`: skills in the terminal. The service asks the model; the commands run here, or on a host.
//!
//! - `run`: from the options to a session; `drive`: its loop; `dialogue`: the session over HTTP
//! - `source`: where a skill comes from; `folders`: those of the project and the user; `choose`: by what is wanted;
//!   `bundle`: files beside it; `knowledge`: what else the model is told; `inside`: files that do not lead out of their folder
//! - `command`: one command, from the question to its end; `verdict`, `allowed`: what runs without a question; `edit`: what a person
//!   makes of it; `journal`: the log
//! - `machine`: where commands run; `host`: another machine
//! - `show`: what is printed

mod allowed;
mod args;
mod bundle;
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
mod machine;
mod run;
mod show;
mod source;
mod verdict;

use clap::Subcommand;

pub use args::SkillRun;

use super::args::Common;
use super::error::CliError;

/// What can be done with skills alone.
#[derive(Debug, Subcommand)]
pub enum SkillAction {
    /// Run one here: a model says what to do, you agree to its commands
    Run(Box<SkillRun>),
}

/// Runs a command about skills.
///
/// # Errors
/// [`CliError`].
pub async fn run(common: &Common, action: SkillAction) -> Result<(), CliError> {
    match action {
        SkillAction::Run(options) => run::run(common, &options).await,
    }
}
