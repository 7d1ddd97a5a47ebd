//! The command line: one binary, one line a command.
//!
//! Every command but `serve` and `check` is a client of the HTTP API: of the server that `--server` names, or of one that runs
//! inside the command, on the store of the settings, behind a private Unix socket.

mod agent;
mod agent_tests;
mod ai;
mod args;
mod case_files;
mod chat;
mod check;
mod client;
mod documents;
mod error;
mod idea;
mod import;
mod importer;
mod import_args;
mod log_file;
mod output;
mod package_tests;
mod render;
mod request;
mod serve;
mod session;
mod session_tests;
mod signals;
mod skill;
mod target;
mod terminal;
mod tool;
mod tool_import;
mod transfer;
mod user;
mod values;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Cli, Command, KindAction, KindCommand, PromptAction, RequestAction, RequestCommand, ToolAction};
use error::CliError;
use output::{last_words, say, warn};

use crate::telemetry;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    // clap itself ends the process for --help (0) and wrong usage (2).
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            warn(format_args!("error: the asynchronous runtime cannot be started: {error}"));
            return ExitCode::from(1);
        }
    };
    let result = runtime.block_on(run(cli));
    // A blocking read of a store that hangs must not keep the process.
    runtime.shutdown_background();
    telemetry::flush();
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(message) = error.message() {
                last_words(format!("error: {message}"));
            }
            ExitCode::from(error.exit_code())
        }
    }
}

async fn run(cli: Cli) -> Result<(), CliError> {
    let Cli { common, command } = cli;
    match command.unwrap_or(Command::Serve) {
        Command::Serve => serve::run(&common).await,
        Command::Check(check) => check::run(&common, check).await,
        Command::Export { dir, all } => transfer::export(&common, &dir, all).await,
        Command::Import(options) => transfer::import(&common, options).await,
        Command::Request(RequestCommand { action: Some(RequestAction::Batch(options)), .. }) => {
            request::batch(&common, &options).await
        }
        Command::Request(RequestCommand { request, .. }) => request::run(&common, request).await,
        Command::Idea { action } => idea::run(&common, action).await,
        Command::Documents(KindCommand { kind, action }) => match action {
            KindAction::Document(action) => documents::run(&common, kind, action).await,
            KindAction::Prompt(PromptAction::Render(options)) => render::run(&common, options).await,
            KindAction::Prompt(PromptAction::Chat(options)) => chat::run(&common, options).await,
            KindAction::Tool(ToolAction::Call { id, arguments }) => {
                tool::call(&common, &id, &arguments).await
            }
            KindAction::Skill(action) => skill::run(&common, action).await,
            KindAction::Agent(action) => agent::run(&common, action).await,
            KindAction::Tool(ToolAction::Import(options)) => tool_import::run(&common, &options).await,
        },
        Command::Session(action) => session::run(&common, action).await,
        Command::Ai(command) => ai::run(&common, command),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "ai-prompt-shell", &mut script);
            say(String::from_utf8_lossy(&script).trim_end());
            Ok(())
        }
    }
}
