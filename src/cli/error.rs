//! Errors of commands: a message for people, and an exit code for scripts.

use crate::app::BuildError;
use crate::settings::SettingsError;
use crate::telemetry::LogError;

/// The error of a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The arguments cannot be used.
    #[error("{0}")]
    Usage(String),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The log's settings are wrong.
    #[error(transparent)]
    Log(#[from] LogError),
    /// The services cannot be started.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The store cannot be read.
    #[error("{message}")]
    Store {
        /// The store's own words.
        message: String,
    },
    /// A file cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: String,
        /// What happened.
        source: std::io::Error,
    },
    /// A file of rules cannot be used.
    #[error("{path}: {error}")]
    Rules {
        /// The file.
        path: String,
        /// What is wrong.
        error: policy::RulesError,
    },
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: String,
        /// What happened.
        source: std::io::Error,
    },
    /// The server cannot be reached.
    #[error("the service at {url} cannot be reached: {message}")]
    Unreachable {
        /// Its address.
        url: String,
        /// What happened.
        message: String,
    },
    /// A model did not answer.
    #[error("{message}")]
    Model {
        /// What the service said.
        message: String,
    },
    /// Another machine cannot be reached.
    #[error("{name} cannot be reached by ssh: {message}")]
    Host {
        /// The host.
        name: String,
        /// What ssh said.
        message: String,
    },
    /// The server refused, in its own words.
    #[error("{message}{}", .place.as_ref().map(ToString::to_string).unwrap_or_default())]
    Refused {
        /// The error's code.
        code: String,
        /// The error's message.
        message: String,
        /// Where in a text.
        place: Option<Place>,
    },
    /// The operating system does not let it handle signals.
    #[error("signals cannot be handled: {0}")]
    Signals(std::io::Error),
    /// The command has already printed what is wrong.
    #[error("")]
    Reported,
    /// An agent has ended the conversation, and said why.
    #[error("")]
    Ended {
        /// Its exit code.
        code: u8,
    },
    /// The user has cancelled it, and was told so.
    #[error("")]
    Cancelled,
    /// A skill asks for what only a person can say, and there is no terminal.
    #[error(
        "the skill asks {question:?}, and there is no terminal to answer it; what it needs can be said before: --prompt, -v"
    )]
    Unanswered {
        /// The question.
        question: String,
    },
    /// A signal ended it at once.
    #[error("ended at once, with requests under way")]
    Signal {
        /// The number of the last signal.
        number: u8,
    },
}

/// A place in a text that a server names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(" (line {line}{})", .column.map(|column| format!(", column {column}")).unwrap_or_default())]
pub struct Place {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: Option<usize>,
}

impl CliError {
    /// The message, unless it was printed already.
    pub fn message(&self) -> Option<String> {
        match self {
            CliError::Reported | CliError::Cancelled | CliError::Ended { .. } => None,
            other => Some(other.to_string()),
        }
    }

    /// 1: it failed; 2: wrong usage or settings; 3: a question that nobody could answer; 128 plus the number of the signal that ended it,
    /// 130 when the user cancelled it; an agent's own code.
    pub fn exit_code(&self) -> u8 {
        match self {
            CliError::Usage(_) | CliError::Settings(_) | CliError::Log(LogError::Level { .. }) => 2,
            CliError::Unanswered { .. } => 3,
            CliError::Ended { code } => *code,
            CliError::Cancelled => 130,
            CliError::Signal { number } => number.saturating_add(128),
            _ => 1,
        }
    }

    /// An error about a file.
    pub fn file(path: &std::path::Path, source: std::io::Error) -> CliError {
        CliError::File { path: path.display().to_string(), source }
    }
}
