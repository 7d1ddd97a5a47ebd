//! The arguments of `skill run`. Doc comments here are its help.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::args::Values;

/// Options of `skill run`.
#[derive(Debug, Args)]
pub struct SkillRun {
    /// The skill: the name of its folder, its own name, or its id; without one, those of the folders are listed
    pub id: Option<String>,
    /// Its arguments: $ARGUMENTS, $1, $2, … in its text
    pub arguments: Vec<String>,
    /// Its parameters.
    #[command(flatten)]
    pub params: Values,
    /// What you want, in place of `Execute skill: NAME`
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,
    /// The model [default: that of the skill, or of the settings]
    #[arg(short, long)]
    pub model: Option<String>,
    /// The most steps [default: setting skills.max_steps]
    #[arg(long, value_name = "NUMBER")]
    pub max_steps: Option<u64>,
    /// Run the commands on this machine, over ssh
    #[arg(long, value_name = "USER@SERVER", value_parser = super::host::name)]
    pub host: Option<String>,
    /// Run by itself what only reads (L0), and what the skill's allowed-tools name; never what is refused (L2)
    #[arg(long, value_name = "WHAT", value_enum)]
    pub yes: Option<Yes>,
    /// Choose the skill by what you want
    #[arg(long, value_name = "TEXT", conflicts_with = "id")]
    pub auto: Option<String>,
    /// Append what was run to this file, one JSON object a line
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// How many seconds a command may run
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
    /// Give commands this variable of your environment too, though its name looks like that of a secret (can be repeated)
    #[arg(long = "env", value_name = "NAME")]
    pub variables: Vec<String>,
    /// The file of your rules [default: rules.toml in ~/.config/ai-prompt-shell]
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
}

/// What runs without a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Yes {
    /// What only reads, and what the skill's allowed-tools name
    Safe,
}
