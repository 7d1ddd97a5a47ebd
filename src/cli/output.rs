//! Printing. A reader that closes the pipe (`| head`) ends the command without an error.

use std::fmt::Display;
use std::io::Write;
use std::time::Duration;

/// How long the last line may wait for a reader.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The most characters of a summary.
const SUMMARY_CHARS: usize = 100;

/// Prints a line on standard output.
pub fn say(line: impl Display) {
    if writeln!(std::io::stdout(), "{line}").is_err() {
        std::process::exit(0);
    }
}

/// The first line of a text for a list: without control characters, which could change what a terminal shows, and cut to 100
/// characters.
pub fn summary(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut shown: Vec<char> = line.chars().filter(|c| !c.is_control()).take(SUMMARY_CHARS + 1).collect();
    if shown.len() > SUMMARY_CHARS {
        shown.truncate(SUMMARY_CHARS - 1);
        shown.push('…');
    }
    shown.into_iter().collect()
}

/// A text with its control characters written out, so that what others wrote (a file's name) begins no line and changes nothing that
/// a terminal shows.
pub fn on_one_line(text: &str) -> String {
    let shown = |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// A text of several lines with its control characters written out, and those that are not seen or turn the direction of the text. Tabs
/// and ends of lines stay.
pub fn visible(text: &str) -> String {
    let shown = |c: char| if policy::is_unseen(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(shown).collect()
}

/// Prints a part of a line on standard output, and flushes it.
pub fn say_on(piece: impl Display) {
    let mut out = std::io::stdout();
    if write!(out, "{piece}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Prints a line on standard error.
pub fn warn(line: impl Display) {
    // There is nowhere left to report an error.
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Prints lines on standard output from a thread of its own: a service must not wait for a reader.
pub fn announce(lines: String) {
    let print = move || {
        let mut out = std::io::stdout();
        // An error means that nobody reads.
        let _ = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
    };
    if let Err(error) = std::thread::Builder::new().name("greeting".to_owned()).spawn(print) {
        tracing::warn!(%error, "the greeting cannot be printed");
    }
}

/// Prints the last line of the process on standard error, without waiting long for a reader.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_one_short_line_without_control_characters() {
        assert_eq!(summary("\n A tool\u{1b}[2J for all \nand more"), "A tool[2J for all ");
        assert_eq!(summary(&"ü".repeat(100)), "ü".repeat(100));
        assert_eq!(summary(&"ü".repeat(101)), "ü".repeat(99) + "…");
        assert_eq!(summary(""), "");
        assert_eq!(visible("a\tb\nc\u{202e}d\r\u{1b}[2J ü"), "a\tb\nc\\u{202e}d\\u{d}\\u{1b}[2J ü");
        assert_eq!(on_one_line("a\nrefused: b\u{1b}[2J ü"), "a\\nrefused: b\\u{1b}[2J ü");
    }
}
