//! The log: one subscriber for the process, on standard error, without contents or secrets.

use tracing_subscriber::EnvFilter;

use crate::settings::{Log, LogFormat};

/// Why the log could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("log.level `{level}` is not understood: {reason}")]
pub struct BadLevel {
    level: String,
    reason: String,
}

/// Sets the process's log up; a second call in one process (tests) changes nothing.
///
/// # Errors
/// [`BadLevel`] when `log.level` is not a level or a list of directives.
pub fn init(log: &Log) -> Result<(), BadLevel> {
    let filter = EnvFilter::try_new(&log.level)
        .map_err(|error| BadLevel { level: log.level.clone(), reason: error.to_string() })?;
    let lines =
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    // A subscriber that is already there stays: the first one wins, and that is what we want.
    let _already_set = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    Ok(())
}
