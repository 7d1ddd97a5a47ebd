//! Printing: a reader that goes away (`| head`) ends the command, quietly.

use std::fmt::Display;
use std::io::Write;

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
