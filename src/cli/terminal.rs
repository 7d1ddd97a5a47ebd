//! The terminal: lines that a person edits, waiting that can be seen, Ctrl-C.

use std::future::Future;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, PoisonError};
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
    /// Ctrl-C.
    Leave,
    /// The end of input.
    End,
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
    Editor::new()?.read_line(prompt, initial).await
}

/// Reads lines that can be edited, also those before.
pub struct Editor(Arc<Mutex<DefaultEditor>>);

impl Editor {
    /// An editor without earlier lines.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub fn new() -> Result<Editor, CliError> {
        let editor = DefaultEditor::new().map_err(|error| broken(&error.to_string()))?;
        Ok(Editor(Arc::new(Mutex::new(editor))))
    }

    /// Reads a line, beginning with `initial`.
    ///
    /// # Errors
    /// When the terminal cannot be used.
    pub async fn read_line(&self, prompt: &str, initial: &str) -> Result<Typed, CliError> {
        let (editor, prompt, initial) = (self.0.clone(), prompt.to_owned(), initial.to_owned());
        let reading = tokio::task::spawn_blocking(move || {
            let mut editor = editor.lock().unwrap_or_else(PoisonError::into_inner);
            let line = editor.readline_with_initial(&prompt, (&initial, ""))?;
            editor.add_history_entry(&line)?;
            Ok(line)
        });
        let read = tokio::select! {
            read = reading => read.map_err(|error| broken(&error.to_string()))?,
            // Where lines are not edited by us (TERM=dumb), Ctrl-C is a signal.
            () = interrupted() => return Ok(Typed::Leave),
        };
        match read {
            Ok(line) => Ok(Typed::Line(line)),
            Err(ReadlineError::Interrupted) => Ok(Typed::Leave),
            Err(ReadlineError::Eof) => Ok(Typed::End),
            Err(error) => Err(broken(&error.to_string())),
        }
    }
}

fn broken(message: &str) -> CliError {
    CliError::Usage(format!("the terminal cannot be used: {message}"))
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
    let spinner = Spinner::start(what);
    let ended = tokio::select! {
        ended = future => ended,
        () = interrupted() => Err(CliError::Cancelled),
    };
    drop(spinner);
    ended
}

/// Shows on a terminal that, and for how long, something is waited for, until it is dropped.
pub struct Spinner(ProgressBar);

impl Spinner {
    /// Begins to turn, if there is a terminal.
    pub fn start(what: &str) -> Option<Spinner> {
        if !is_attended() {
            return None;
        }
        let spinner = ProgressBar::new_spinner().with_message(what.to_owned());
        spinner.enable_steady_tick(TICK);
        Some(Spinner(match ProgressStyle::with_template("{spinner} {msg} {elapsed} (Ctrl-C cancels)") {
            Ok(style) => spinner.with_style(style),
            Err(_) => spinner,
        }))
    }
}

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
