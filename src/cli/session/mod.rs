//! `session`: the sessions of skills and agents, listed, shown, exported, removed.

mod markdown;

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use clap::Subcommand;
use serde::Deserialize;

use super::args::Common;
use super::client::Client;
use super::documents::print_json;
use super::error::CliError;
use super::output::{on_one_line, say, visible};
use super::target;
use base::encoding::percent_encoded;

/// What can be done with sessions.
#[derive(Debug, Subcommand)]
pub enum SessionAction {
    /// List them, the newest first
    List {
        /// Those of one kind: skill or agent
        #[arg(long)]
        kind: Option<String>,
        /// Those in one state: idle, thinking, waiting_cmd, waiting_user, done, cancelled, failed; of agents waiting, waiting_confirmation, ended
        #[arg(long)]
        state: Option<String>,
        /// Print them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show one
    Show {
        /// Its id
        id: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Write one as Markdown; a file that is there is replaced
    Export {
        /// Its id
        id: String,
        /// The file [default: standard output]
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Cancel one; remove one that is done or cancelled
    Rm {
        /// Its id
        id: String,
    },
}

/// A session in a list.
#[derive(Debug, Deserialize)]
struct Head {
    session_id: String,
    #[serde(default)]
    skill: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    state: String,
    step: u64,
    #[serde(default)]
    max_steps: Option<u64>,
    created_at: u64,
    updated_at: u64,
}

impl Head {
    /// What it is a session of.
    fn subject(&self) -> &str {
        self.skill.as_deref().or(self.agent.as_deref()).unwrap_or("?")
    }

    /// How many steps are done, and how many there may be.
    fn steps(&self) -> String {
        match self.max_steps {
            Some(max_steps) => format!("{} of {max_steps}", self.step),
            None => self.step.to_string(),
        }
    }
}

/// A whole session.
#[derive(Debug, Deserialize)]
struct Session {
    #[serde(flatten)]
    head: Head,
    messages: Vec<Message>,
}

/// A message of the dialogue with the model.
#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: String,
}

/// Runs a command about sessions.
///
/// # Errors
/// The service's own error, or that of a file.
pub async fn run(common: &Common, action: SessionAction) -> Result<(), CliError> {
    let client = target::open(common).await?;
    match action {
        SessionAction::List { kind, state, json } => {
            list(&client, &[("kind", kind), ("state", state)], json).await
        }
        SessionAction::Show { id, json } => show(&client, &id, json).await,
        SessionAction::Export { id, output } => export(&client, &id, output.as_deref()).await,
        SessionAction::Rm { id } => {
            client.delete(&session_path(&id)).await?;
            let is_gone = client.get(&session_path(&id)).await.is_err();
            say(format_args!("session {id} is {}", if is_gone { "removed" } else { "cancelled" }));
            Ok(())
        }
    }
}

/// The path of a session in the API.
pub fn session_path(id: &str) -> String {
    format!("/api/sessions/{}", percent_encoded(id))
}

async fn list(client: &Client, filter: &[(&str, Option<String>)], json: bool) -> Result<(), CliError> {
    let given = filter
        .iter()
        .filter_map(|(name, value)| Some(format!("{name}={}", percent_encoded(value.as_deref()?))));
    let reply = client.get(&format!("/api/sessions?{}", given.collect::<Vec<_>>().join("&"))).await?;
    if json {
        print_json(&reply);
        return Ok(());
    }
    for head in client.read::<Vec<Head>>(reply)? {
        let Head { session_id, state, updated_at, .. } = &head;
        let (steps, time) = (head.steps(), time(*updated_at));
        say(on_one_line(&format!("{session_id}  {state:20}  {steps:10}  {time}  {}", head.subject())));
    }
    Ok(())
}

async fn show(client: &Client, id: &str, json: bool) -> Result<(), CliError> {
    let reply = client.get(&session_path(id)).await?;
    if json {
        print_json(&reply);
        return Ok(());
    }
    let Session { head, messages } = client.read(reply)?;
    let Head { session_id, state, .. } = &head;
    say(on_one_line(&format!("{session_id}: {}, {state}, step {}", head.subject(), head.steps())));
    for Message { role, content } in &messages {
        say(format_args!("\n{role}:\n{}", visible(content)));
    }
    Ok(())
}

async fn export(client: &Client, id: &str, output: Option<&Path>) -> Result<(), CliError> {
    let session: Session = client.read(client.get(&session_path(id)).await?)?;
    let text = markdown::markdown(&session);
    match output {
        Some(file) => write(file, &text).map_err(|source| CliError::file(file, source)),
        None => {
            say(text.trim_end());
            Ok(())
        }
    }
}

/// Writes the file; a new one may be read by its owner alone, since it has what commands printed.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600).open(file)?.write_all(text.as_bytes())
}

/// A time in seconds since 1970, for people.
fn time(seconds: u64) -> String {
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds)).map(httpdate::fmt_http_date).unwrap_or_default()
}
