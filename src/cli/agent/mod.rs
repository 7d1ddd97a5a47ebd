//! Agents in the terminal: run, and tested.
//!
//! - `run`: the loop between the user and an agent; `input`: what the user says
//! - `session`: the session over HTTP, with its events as they come; `show`: what is printed; `log`: the log file

mod input;
mod log;
mod run;
mod session;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::agent_tests;
use super::args::{Common, Values};
use super::error::CliError;

/// What can be done with agents alone.
#[derive(Debug, Subcommand)]
pub enum AgentAction {
    /// Talk to one: it hears a line, chooses a tool, and shows what comes of it
    Run(AgentRun),
    /// Play the sessions of agents (sessions/*.json), without models and tools; exit code 1 if one is not as expected
    Test {
        /// A package, a folder of packages, or a folder of session files
        dir: PathBuf,
    },
}

/// Options of `agent run`.
#[derive(Debug, Args)]
pub struct AgentRun {
    /// Its id
    pub id: String,
    /// Variables, which the texts and prompts of the agent see.
    #[command(flatten)]
    pub variables: Values,
    /// The file to which the agent's log is added
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Add to the log what models and tools are sent, and answer
    #[arg(long, requires = "log")]
    pub verbose: bool,
}

/// Runs a command about agents.
///
/// # Errors
/// The service's own error, that of a file, or the exit code of the agent.
pub async fn run(common: &Common, action: AgentAction) -> Result<(), CliError> {
    match action {
        AgentAction::Run(options) => run::run(common, &options).await,
        AgentAction::Test { dir } => agent_tests::print(common, &dir).await,
    }
}
