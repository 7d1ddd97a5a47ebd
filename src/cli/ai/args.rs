//! The arguments of `ai`. Doc comments here are its help.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// Commands of models on this machine.
#[derive(Debug, Args)]
pub struct AiCommand {
    /// What to do.
    #[command(subcommand)]
    pub action: AiAction,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum AiAction {
    /// Judge commands: what may run by itself (L0), what needs your agreement (L1), what is refused (L2). Nothing is started
    Classify(Classify),
    /// List, remove and check your own rules
    Rules(RulesCommand),
}

/// Options of `ai classify`.
#[derive(Debug, Args)]
pub struct Classify {
    /// Print answers as JSON, one a line
    #[arg(long)]
    pub json: bool,
    /// The folder that commands may read [default: the working directory]
    #[arg(long, value_name = "DIR")]
    pub workspace: Option<PathBuf>,
    /// The file of your rules [default: rules.toml in ~/.config/ai-prompt-shell]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// The command to judge; without one, lines {"program", "args", "cwd"?, "requires"?} are read from standard input
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Options of `ai rules`.
#[derive(Debug, Args)]
pub struct RulesCommand {
    /// The file of your rules [default: rules.toml in ~/.config/ai-prompt-shell]
    #[arg(long, global = true, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// What to do.
    #[command(subcommand)]
    pub action: RulesAction,
}

/// What can be done with the user's rules.
#[derive(Debug, Subcommand)]
pub enum RulesAction {
    /// List them, numbered
    List,
    /// Remove one from the file
    Rm {
        /// Its number
        number: usize,
    },
    /// Check the file, with its examples; exit code 1 if anything is wrong
    Check,
}
