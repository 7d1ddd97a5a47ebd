//! The arguments of the command line. Doc comments here are its help.

use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{ArgMatches, Args, FromArgMatches, Parser, Subcommand};

use super::agent::AgentAction;
use super::ai::AiCommand;
use super::import_args::ToolImport;
use super::session::SessionAction;
use super::skill::SkillAction;
use base::model::DocumentKind;

/// Turns prompt templates into finished prompts, and has them answered by language models
#[derive(Debug, Parser)]
#[command(name = "ai-prompt-shell", version, about)]
pub struct Cli {
    /// Options of all commands.
    #[command(flatten)]
    pub common: Common,
    /// The command; `serve` by default.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Options of all commands.
#[derive(Debug, Clone, Args)]
pub struct Common {
    /// The settings file [default: ai-prompt-shell.toml, if it exists]
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Sets one setting, as in the file: -s render.timeout_ms=1000 (can be repeated)
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

/// A command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the service (the default)
    Serve,
    /// Check settings, packages and store; exit code 1 if anything is wrong
    Check(Check),
    /// Write the documents of the store into a folder
    Export {
        /// The folder; it is created if it does not exist
        dir: PathBuf,
        /// Also write the documents of packages
        #[arg(long)]
        all: bool,
    },
    /// Store the documents of an exported folder, or a folder of prompt files (Jinja, Go, Prompty, GitHub Models, fabric,
    /// promptflow)
    Import(Import),
    /// Have a model give a value that fits a JSON Schema
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Request(RequestCommand),
    /// Work with ideas, the requests that were solved: show, replay
    Idea {
        /// What to do.
        #[command(subcommand)]
        action: IdeaAction,
    },
    /// A command for each kind of documents.
    #[command(flatten)]
    Documents(KindCommand),
    /// The sessions of skills and agents: list, show, export, remove
    #[command(subcommand)]
    Session(SessionAction),
    /// Commands of models on this machine: how they are judged, and your own rules
    Ai(AiCommand),
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
    /// Run the packages' tests: prompts/*.test.json, skills/NAME/session.test.json and sessions/*.json
    #[arg(long)]
    pub test: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

/// Options of `import`.
#[derive(Debug, Args)]
pub struct Import {
    /// The folder
    pub dir: PathBuf,
    /// The extension for prompt files: their ids are NAME.… [default: the folder's name]
    #[arg(long = "as", visible_alias = "extension", value_name = "NAME")]
    pub extension: Option<String>,
    /// Store nothing, but say what would be stored (prompt files only)
    #[arg(long)]
    pub dry_run: bool,
    /// Replace stored prompts that differ (prompt files only; exported documents always replace)
    #[arg(long)]
    pub replace: bool,
    /// Print the result as JSON (prompt files only)
    #[arg(long)]
    pub json: bool,
}

/// What can be done with documents of all kinds.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List the ids
    List {
        /// Print them as JSON, with details
        #[arg(long)]
        json: bool,
    },
    /// Show one
    Show {
        /// Its id
        id: String,
        /// Print it as JSON, as all but skills are printed anyway
        #[arg(long)]
        json: bool,
    },
    /// Store one
    Set {
        /// Its id
        id: String,
        /// The file with the document, which is JSON (of skills a SKILL.md, too); - is standard input
        #[arg(default_value = "-")]
        file: PathBuf,
        /// The document itself, in place of a file
        #[arg(long, conflicts_with = "file")]
        value: Option<String>,
    },
    /// Remove one from the store
    Rm {
        /// Its id
        id: String,
    },
}

/// A command about documents of a kind: `prompt list`, `tool call …`.
#[derive(Debug)]
pub struct KindCommand {
    /// The kind, whose noun is the command's name.
    pub kind: DocumentKind,
    /// What to do with them.
    pub action: KindAction,
}

/// What can be done with documents of a kind.
#[derive(Debug)]
pub enum KindAction {
    /// What all kinds have.
    Document(Action),
    /// What only prompts have.
    Prompt(PromptAction),
    /// What only tools have.
    Tool(ToolAction),
    /// What only skills have.
    Skill(SkillAction),
    /// What only agents have.
    Agent(AgentAction),
}

/// What can be done with prompts alone.
#[derive(Debug, Subcommand)]
pub enum PromptAction {
    /// Render one
    Render(Render),
    /// Render one and have a model answer it
    Chat(Chat),
}

/// What can be done with tools alone.
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
    /// Store the tools of an MCP server, a gRPC server or an OpenAPI document; again, to bring them up to date
    Import(ToolImport),
}

impl KindCommand {
    fn command(kind: DocumentKind) -> clap::Command {
        let command = clap::Command::new(kind.noun()).subcommand_required(true).arg_required_else_help(true);
        let command = Action::augment_subcommands(command);
        let command = match kind {
            DocumentKind::Prompt => PromptAction::augment_subcommands(command),
            DocumentKind::Tool => ToolAction::augment_subcommands(command),
            DocumentKind::Skill => SkillAction::augment_subcommands(command),
            DocumentKind::Agent => AgentAction::augment_subcommands(command),
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
            (DocumentKind::Skill, name) if SkillAction::has_subcommand(name) => {
                SkillAction::from_arg_matches(matches).map(KindAction::Skill)
            }
            (DocumentKind::Agent, name) if AgentAction::has_subcommand(name) => {
                AgentAction::from_arg_matches(matches).map(KindAction::Agent)
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
    /// One text value by its name (can be repeated)
    #[arg(short = 'v', long = "var", value_name = "NAME=TEXT", value_parser = key_value)]
    pub texts: Vec<(String, String)>,
    /// All values as one JSON object; -v adds to it
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
    /// Print how the render went, as JSON
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
    /// The model [default: that of the prompt, or of the settings]
    #[arg(short, long)]
    pub model: Option<String>,
    /// A message of the user after the prompt (can be repeated)
    #[arg(long = "message", value_name = "TEXT")]
    pub messages: Vec<String>,
    /// Print the whole answer at once, as JSON
    #[arg(long)]
    pub full: bool,
}

/// A request, or a batch of them.
#[derive(Debug, Args)]
pub struct RequestCommand {
    /// What to do, if it is not one request.
    #[command(subcommand)]
    pub action: Option<RequestAction>,
    /// The one request.
    #[command(flatten)]
    pub request: Request,
}

/// Options of `request`.
#[derive(Debug, Args)]
pub struct Request {
    /// The file with the JSON Schema; - is standard input [default: `returns` of the prompt]
    #[arg(long, value_name = "FILE", required_unless_present = "prompt")]
    pub schema: Option<PathBuf>,
    /// The prompt that is rendered for the model
    #[arg(long, value_name = "ID", conflicts_with_all = ["context", "messages"])]
    pub prompt: Option<String>,
    /// The prompt's variables.
    #[command(flatten)]
    pub variables: Values,
    /// The file with the messages for the model, a JSON list; - is standard input
    #[arg(long, value_name = "FILE")]
    pub context: Option<PathBuf>,
    /// A message of the user after the context (can be repeated)
    #[arg(long = "message", value_name = "TEXT")]
    pub messages: Vec<String>,
    /// The model [default: that of the prompt, or of the settings]
    #[arg(short, long)]
    pub model: Option<String>,
    /// The only strategy: json_schema, tools or json_object
    #[arg(long)]
    pub strategy: Option<String>,
    /// How often an answer that does not fit is sent back [default: setting requests.max_repairs]
    #[arg(long, value_name = "NUMBER")]
    pub max_repairs: Option<usize>,
    /// Print the whole answer, with each attempt
    #[arg(long)]
    pub explain: bool,
    /// Print what would be sent to the model
    #[arg(long)]
    pub dry_run: bool,
}

/// What can be done with requests beside one of them.
#[derive(Debug, Subcommand)]
pub enum RequestAction {
    /// Solve many: a file with one request a line, as in the body of POST /api/requests (or with `prompt` and `variables`)
    Batch(RequestBatch),
}

/// Options of `request batch`.
#[derive(Debug, Args)]
pub struct RequestBatch {
    /// The file with JSON lines; - is standard input
    pub file: PathBuf,
    /// Keep no ideas
    #[arg(long)]
    pub no_save: bool,
}

/// What can be done with ideas.
#[derive(Debug, Subcommand)]
pub enum IdeaAction {
    /// Show one
    Show {
        /// Its id
        id: String,
    },
    /// Ask a model again, and print the old and the new solution
    Replay {
        /// Its id
        id: String,
        /// The model [default: that of the idea]
        #[arg(short, long)]
        model: Option<String>,
    },
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
