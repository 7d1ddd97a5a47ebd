//! The log: one subscriber for the process, which writes to standard error, without contents or secrets.
//!
//! - [`init`]: sets it up; [`flush`]: is called before the process exits
//! - `queue`: a bounded queue of lines, so that no request waits for the reader of standard error
//!
//! The message of a panic is logged only if it is a fixed text: a formatted message may quote data.

mod queue;

use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use self::queue::Queue;
use crate::settings::{Log, LogFormat};

pub use queue::dropped;

/// How long the process waits at its exit for the last lines to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The error of setting up the log.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The setting `log.level` is neither a level nor a list of directives.
    #[error("log.level `{level}` is not understood: {message}")]
    Level {
        /// The value of the setting.
        level: String,
        /// What is wrong with it.
        message: String,
    },
    /// The operating system starts no thread.
    #[error("the thread that writes the log cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// The queue of this process's lines.
static QUEUE: OnceLock<Queue> = OnceLock::new();

/// Sets up the log of the process; a second call in the same process (tests) changes nothing.
///
/// A thread of its own writes the lines, so that no request waits for the log. Lines that cannot be written yet wait in a
/// bounded queue; lines that do not fit into it are dropped and counted. Panics are logged, too.
///
/// # Errors
/// [`LogError`] if `log.level` is neither a level nor a list of directives, or if the thread cannot be started.
pub fn init(log: &Log) -> Result<(), LogError> {
    let bad_level = |error: tracing_subscriber::filter::ParseError| LogError::Level {
        level: log.level.clone(),
        message: error.to_string(),
    };
    let filter = EnvFilter::try_new(&log.level).map_err(bad_level)?;
    let queue = Queue::start(std::io::stderr())?;
    let writer = queue.clone();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_target(false);
    // The subscriber would report its own errors directly to standard error, where the report could block.
    let lines = lines.with_writer(move || writer.clone()).log_internal_errors(false);
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let set = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    // If a subscriber is already set, it stays, with its queue.
    if set.is_ok() && QUEUE.set(queue).is_ok() {
        std::panic::set_hook(Box::new(log_panic));
    }
    Ok(())
}

/// Waits until the last lines are written, but at most a second, because standard error may not be read.
pub fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(LAST_LINES);
    }
}

/// Logs a panic. Its message is shown only if it is a fixed text: a formatted message may quote data.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(not shown)");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(message, place, thread = thread.name(), "a panic: this is a bug in the program");
}
