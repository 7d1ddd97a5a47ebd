//! The log: one subscriber for the process, on standard error, without contents or secrets.
//!
//! - [`init`]: sets it up; [`flush`]: before the end
//! - `queue`: lines on their way out, so that no request ever waits for whoever reads them

mod queue;

use std::panic::PanicHookInfo;
use std::sync::OnceLock;
use std::time::Duration;

use tracing_subscriber::EnvFilter;

use self::queue::Queue;
use crate::settings::{Log, LogFormat};

pub use queue::dropped;

/// How long the end of the process waits for its last lines to be taken.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Why the log could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum BadLog {
    /// The level is not understood.
    #[error("log.level `{level}` is not understood: {reason}")]
    Level {
        /// What the settings say.
        level: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The system gives no thread.
    #[error("the thread that writes the log cannot be started: {0}")]
    Thread(#[from] std::io::Error),
}

/// The lines of this process on their way out.
static QUEUE: OnceLock<Queue> = OnceLock::new();

/// Sets the process's log up; a second call in one process (tests) changes nothing.
///
/// Lines are written by a thread of their own. What nobody takes waits in a queue of bounded size, what does not fit there is
/// dropped and counted: no request waits for the log. Panics are logged, too.
///
/// # Errors
/// [`BadLog`] when `log.level` is not a level or a list of directives, or no thread can be had.
pub fn init(log: &Log) -> Result<(), BadLog> {
    let bad_level = |error: tracing_subscriber::filter::ParseError| BadLog::Level {
        level: log.level.clone(),
        reason: error.to_string(),
    };
    let filter = EnvFilter::try_new(&log.level).map_err(bad_level)?;
    let queue = Queue::start(std::io::stderr())?;
    let writer = queue.clone();
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_target(false);
    // What the subscriber says about its own failures goes straight to standard error, and would wait there.
    let lines = lines.with_writer(move || writer.clone()).log_internal_errors(false);
    let lines = lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr()));
    let set = match log.format {
        LogFormat::Text => lines.try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
    // A subscriber that is already there stays: the first one wins, and that is what we want.
    if set.is_ok() && QUEUE.set(queue).is_ok() {
        std::panic::set_hook(Box::new(log_panic));
    }
    Ok(())
}

/// Waits until the last lines are written: a second at most, as there may be nobody who takes them.
pub fn flush() {
    if let Some(queue) = QUEUE.get() {
        queue.flush(LAST_LINES);
    }
}

/// Logs a panic. Its message only where it is a fixed text: others may repeat what was being worked on.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let message = panic.payload().downcast_ref::<&'static str>().copied().unwrap_or("(not shown)");
    let place = panic.location().map(ToString::to_string).unwrap_or_default();
    let thread = std::thread::current();
    tracing::error!(message, place, thread = thread.name(), "a panic: this is a fault of the program");
}
