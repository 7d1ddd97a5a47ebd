//! What can be typed.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

use base::model::DocumentKind;

/// Turns prompt templates into finished prompts: a service, and its tools for the command line.
#[derive(Debug, Parser)]
#[command(name = "ai-prompt-shell", version, about)]
pub struct Cli {
    /// What every command understands.
    #[command(flatten)]
    pub common: Common,
    /// What to do; `serve` when nothing is said.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What every command understands.
#[derive(Debug, Args)]
pub struct Common {
    /// The settings file [default: ai-prompt-shell.toml, if there is one]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// One setting, as in the file: -s render.timeout_ms=1000 (may be repeated)
    #[arg(short = 's', long = "set", global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// The store: embedded:PATH, redis://… or rediss://… (setting store.url)
    #[arg(long, global = true, value_name = "URL")]
    pub store: Option<String>,
    /// The address to listen on (setting server.listen)
    #[arg(long, global = true, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// The folder of packages (setting packages.dir)
    #[arg(long, global = true, value_name = "DIR")]
    pub packages: Option<PathBuf>,
    /// Use the running service at this address instead of the store
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service (the default)
    Serve,
    /// Check settings, packages and store; exit code 1 if anything is wrong
    Check(Check),
    /// Write the documents of the store into a folder
    Export {
        /// The folder; it is made if need be
        dir: PathBuf,
        /// The documents of packages too
        #[arg(long)]
        all: bool,
    },
    /// Put the documents of an exported folder into the store
    Import {
        /// The folder
        dir: PathBuf,
    },
    /// A command for each kind of documents.
    #[command(flatten)]
    Documents(KindCommand),
    /// Print the completions for a shell
    Completions {
        /// bash, zsh, fish, …
        shell: clap_complete::Shell,
    },
}

/// Options of `check`.
#[derive(Debug, Args)]
pub struct Check {
    /// The folder of packages to check [default: setting packages.dir]
    pub dir: Option<PathBuf>,
    /// Run the packages' prompts/*.test.json
    #[arg(long)]
    pub test: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do with documents.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the ids
    List {
        /// As JSON, with details
        #[arg(long)]
        json: bool,
    },
    /// Show one
    Show {
        /// Its id
        id: String,
    },
    /// Store one
    Set {
        /// Its id
        id: String,
        /// The file with the JSON document; - for standard input
        #[arg(default_value = "-")]
        file: PathBuf,
        /// The JSON document itself, instead of a file
        #[arg(long, conflicts_with = "file")]
        value: Option<String>,
    },
    /// Remove one from the store
    Rm {
        /// Its id
        id: String,
    },
}

/// What to do with documents of a kind: `prompt list`, `tool call …`.
#[derive(Debug)]
pub struct KindCommand {
    /// The kind, whose noun is the command's name.
    pub kind: DocumentKind,
    /// What to do.
    pub action: KindAction,
}

/// What can be done with documents of a kind.
#[derive(Debug)]
pub enum KindAction {
    /// What all kinds have.
    Document(Action),
    /// What prompts have beside that.
    Prompt(PromptAction),
    /// What tools have beside that.
    Tool(ToolAction),
}

/// What can be done with prompts, beside what all kinds have.
#[derive(Debug, Subcommand)]
pub enum PromptAction {
    /// Render one
    Render(Render),
    /// Render one and have a model answer it
    Chat(Chat),
}

/// What can be done with tools, beside what all kinds have.
#[derive(Debug, Subcommand)]
pub enum ToolAction {
    /// Call one and print its answer
    Call {
        /// Its id
        id: String,
        /// Its arguments.
        #[command(flatten)]
        arguments: Values,
    },
}

impl KindCommand {
    fn command(kind: DocumentKind) -> clap::Command {
        let command = clap::Command::new(kind.noun()).subcommand_required(true).arg_required_else_help(true);
        let command = Action::augment_subcommands(command);
        let command = match kind {
            DocumentKind::Prompt => PromptAction::augment_subcommands(command),
            DocumentKind::Tool => ToolAction::augment_subcommands(command),
            _ => command,
        };
        let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        let about = format!("Work with {}: {}", kind.about(), verbs.join(", "));
        command.about(about)
    }
}

impl KindAction {
    fn read(kind: DocumentKind, matches: &ArgMatches) -> Result<KindAction, clap::Error> {
        match (kind, matches.subcommand_name().unwrap_or_default()) {
            (DocumentKind::Prompt, name) if PromptAction::has_subcommand(name) => {
                PromptAction::from_arg_matches(matches).map(KindAction::Prompt)
            }
            (DocumentKind::Tool, name) if ToolAction::has_subcommand(name) => {
                ToolAction::from_arg_matches(matches).map(KindAction::Tool)
            }
            _ => Action::from_arg_matches(matches).map(KindAction::Document),
        }
    }
}

impl Subcommand for KindCommand {
    fn augment_subcommands(command: clap::Command) -> clap::Command {
        command.subcommands(DocumentKind::ALL.map(KindCommand::command))
    }

    fn augment_subcommands_for_update(command: clap::Command) -> clap::Command {
        KindCommand::augment_subcommands(command)
    }

    fn has_subcommand(name: &str) -> bool {
        DocumentKind::ALL.into_iter().any(|kind| kind.noun() == name)
    }
}

impl FromArgMatches for KindCommand {
    fn from_arg_matches(matches: &ArgMatches) -> Result<KindCommand, clap::Error> {
        let (kind, matches) = DocumentKind::ALL
            .into_iter()
            .find_map(|kind| Some((kind, matches.subcommand_matches(kind.noun())?)))
            .ok_or_else(|| clap::Error::new(ErrorKind::InvalidSubcommand))?;
        Ok(KindCommand { kind, action: KindAction::read(kind, matches)? })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = KindCommand::from_arg_matches(matches)?;
        Ok(())
    }
}

/// Named values: the variables of a prompt, the arguments of a tool.
#[derive(Debug, Args)]
pub struct Values {
    /// A text by name (may be repeated)
    #[arg(short = 'v', long = "var", value_name = "NAME=TEXT", value_parser = key_value)]
    pub texts: Vec<(String, String)>,
    /// All of them as one JSON object; -v adds to it
    #[arg(long, value_name = "OBJECT")]
    pub json: Option<String>,
}

/// Options of `prompt render`.
#[derive(Debug, Args)]
pub struct Render {
    /// Its id
    pub id: String,
    /// Its variables.
    #[command(flatten)]
    pub variables: Values,
    /// Show how the render went, as JSON
    #[arg(long)]
    pub explain: bool,
}

/// Options of `prompt chat`.
#[derive(Debug, Args)]
pub struct Chat {
    /// Its id
    pub id: String,
    /// Its variables.
    #[command(flatten)]
    pub variables: Values,
    /// The model; that of the prompt, or the default one, if none is named
    #[arg(short, long)]
    pub model: Option<String>,
    /// What the user says after the prompt (may be repeated)
    #[arg(long = "message", value_name = "TEXT")]
    pub messages: Vec<String>,
    /// Print the whole answer at once, as JSON
    #[arg(long)]
    pub full: bool,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it as NAME=VALUE".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
