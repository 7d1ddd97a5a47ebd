//! `ai`: commands of models on the user's machine, and the policy that judges them.

mod args;
mod classify;
mod judge;
mod rules;

pub use args::{AiAction, AiCommand};
pub use judge::{judge, judge_elsewhere};

use super::args::Common;
use super::error::CliError;

/// Runs a command of the assistant.
///
/// # Errors
/// [`CliError`].
pub fn run(common: &Common, command: AiCommand) -> Result<(), CliError> {
    match command.action {
        AiAction::Classify(options) => classify::run(common, &options),
        AiAction::Rules(options) => rules::run(&options),
    }
}
