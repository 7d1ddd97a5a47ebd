//! The terminal: lines that a person edits, waiting that can be seen, Ctrl-C.

use std::future::Future;
use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::error::CliError;

/// How often the time on a spinner changes.
const TICK: Duration = Duration::from_millis(100);

/// What a person has typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A line.
    Line(String),
    /// Ctrl-C, or the end of input.
    Leave,
}

/// Whether a person sits at both ends: one who reads, and one who can answer.
pub fn is_attended() -> bool {
    std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Reads a line that can be edited, beginning with `initial`.
///
/// # Errors
/// When the terminal cannot be used.
pub async fn read_line(prompt: &str, initial: &str) -> Result<Typed, CliError> {
    let (prompt, initial) = (prompt.to_owned(), initial.to_owned());
    let reading = tokio::task::spawn_blocking(move || {
        let mut editor = DefaultEditor::new()?;
        editor.readline_with_initial(&prompt, (&initial, ""))
    });
    let broken = |message: String| CliError::Usage(format!("the terminal cannot be used: {message}"));
    let read = tokio::select! {
        read = reading => read.map_err(|error| broken(error.to_string()))?,
        // Where lines are not edited by us (TERM=dumb), Ctrl-C is a signal.
        () = interrupted() => return Ok(Typed::Leave),
    };
    match read {
        Ok(line) => Ok(Typed::Line(line)),
        Err(ReadlineError::Interrupted | ReadlineError::Eof) => Ok(Typed::Leave),
        Err(error) => Err(broken(error.to_string())),
    }
}

/// Ends at the next Ctrl-C.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        // Then it does what it always does: it ends the process.
        std::future::pending::<()>().await;
    }
}

/// Waits for something; on a terminal a spinner shows for how long. Ctrl-C ends the waiting with [`CliError::Cancelled`].
///
/// # Errors
/// Those of the future.
pub async fn waiting<T>(
    what: &str,
    future: impl Future<Output = Result<T, CliError>>,
) -> Result<T, CliError> {
    let spinner = is_attended().then(|| spinner(what));
    let ended = tokio::select! {
        ended = future => ended,
        () = interrupted() => Err(CliError::Cancelled),
    };
    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
    ended
}

fn spinner(what: &str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
    spinner.enable_steady_tick(TICK);
    match ProgressStyle::with_template("{spinner} {msg} {elapsed} (Ctrl-C cancels)") {
        Ok(style) => spinner.with_style(style),
        Err(_) => spinner,
    }
}
