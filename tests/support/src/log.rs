//! The log of the whole suite, at `trace`, searched for what it must never show.

use std::io::{Result, Write};
use std::sync::{Mutex, Once};

use tracing::level_filters::LevelFilter;

/// The key of the upstreams in the tests.
pub const KEY: &str = "sk-the-secret-key-of-the-tests";

/// The authorization key for GigaChat in the tests: the base64 of an id and of [`GIGACHAT_SECRET`].
pub const GIGACHAT_KEY: &str = "dGhlLWlkOnRoZS1jbGllbnQtc2VjcmV0LW9mLXRoZS10ZXN0cw==";

/// The secret in it.
pub const GIGACHAT_SECRET: &str = "the-client-secret-of-the-tests";

/// How the tokens of GigaChat begin in the tests.
pub const TOKEN: &str = "eyJ-a-token-of-the-tests";

/// The model that only answers of GigaChat name.
pub const GIGACHAT_MODEL: &str = "GigaChat:scripted";

/// What only a secret, a message or an answer holds.
const PRIVATE: [&str; 9] = [
    KEY,
    GIGACHAT_KEY,
    GIGACHAT_SECRET,
    TOKEN,
    GIGACHAT_MODEL,
    "Bearer",
    "\"role\"",
    "\\\"role\\\"",
    "chatcmpl-scripted",
];

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
