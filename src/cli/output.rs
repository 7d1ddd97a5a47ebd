//! Printing: a reader that goes away (`| head`) ends the command, quietly.

use std::fmt::Display;
use std::io::Write;
use std::time::Duration;

/// How long a reader of the last line is waited for.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Prints a line on standard output.
pub fn say(line: impl Display) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}

/// Prints a piece of a text on standard output, at once.
pub fn say_on(piece: impl Display) {
    let mut out = std::io::stdout();
    if write!(out, "{piece}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Prints a line on standard error.
pub fn warn(line: impl Display) {
    // There is nowhere left to say that this failed.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints lines on standard output without ever waiting for a reader, who may be gone: a service goes on.
pub fn announce(lines: String) {
    let print = move || {
        let mut out = std::io::stdout();
        // Nobody wants to know.
        let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
    };
    if let Err(error) = std::thread::Builder::new().name("greeting".to_owned()).spawn(print) {
        tracing::warn!(%error, "the greeting cannot be printed");
    }
}

/// Prints a line on standard error, and waits for a reader no longer than a second: the process is about to end.
pub fn last_words(line: String) {
    let (said, done) = std::sync::mpsc::sync_channel(1);
    let print = move || {
        warn(line);
        let _nobody_waits_any_more = said.send(());
    };
    if std::thread::Builder::new().spawn(print).is_ok() {
        let _nobody_reads = done.recv_timeout(LAST_WORDS);
    }
}
