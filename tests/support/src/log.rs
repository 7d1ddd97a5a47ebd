//! The log of the whole suite, at `trace`, searched for what it must never show.

use std::io::{Result, Write};
use std::sync::{Mutex, Once};

use tracing::level_filters::LevelFilter;

/// The key of the upstreams in the tests.
pub const KEY: &str = "sk-the-secret-key-of-the-tests";

/// What only a secret, a message or an answer holds.
const PRIVATE: [&str; 5] = [KEY, "Bearer", "\"role\"", "\\\"role\\\"", "chatcmpl-scripted"];

/// The first line that showed something.
static SHOWN: Mutex<Option<String>> = Mutex::new(None);

/// Searches every line that this process logs from now on.
pub fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let lines = tracing_subscriber::fmt().with_max_level(LevelFilter::TRACE).with_ansi(false);
        lines.with_writer(|| Search).init();
    });
}

/// Asserts that no line so far has shown anything.
pub fn assert_quiet() {
    let shown = SHOWN.lock().unwrap().clone();
    if !std::thread::panicking() {
        assert_eq!(shown, None, "the log shows what is private");
    }
}

/// Reads the lines.
struct Search;

impl Write for Search {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        let text = String::from_utf8_lossy(line);
        if shows_private(&text) {
            SHOWN.lock().unwrap().get_or_insert(text.into_owned());
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Whether a text holds something private.
pub fn shows_private(text: &str) -> bool {
    PRIVATE.iter().any(|private| text.contains(private))
}
