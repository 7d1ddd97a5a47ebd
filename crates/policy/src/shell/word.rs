//! A word of a shell while it is read: quotes are taken off, expansions become a character, braces become several words.

use super::{EXPANSION, PATTERN};

/// Marks for braces and commas that are not quoted.
const OPEN: char = '\u{F0001}';
const COMMA: char = '\u{F0002}';
const CLOSE: char = '\u{F0003}';

/// Words that braces are taken apart into.
const MOST_WORDS: usize = 64;

/// A word that is being read.
#[derive(Debug, Default)]
pub struct Word {
    text: String,
    /// Whether there is a word at all; `''` is one.
    pub begun: bool,
    /// Whether any of it was quoted.
    pub is_quoted: bool,
}

impl Word {
    /// A character as it stands.
    pub fn push(&mut self, letter: char) {
        self.begun = true;
        self.text.push(letter);
    }

    /// A character that is not quoted, and may have a meaning in words.
    pub fn push_bare(&mut self, letter: char) {
        self.push(match letter {
            '{' => OPEN,
            ',' => COMMA,
            '}' => CLOSE,
            '*' | '?' => PATTERN,
            other => other,
        });
    }

    /// Begins a quoted part.
    pub fn quote(&mut self) {
        self.begun = true;
        self.is_quoted = true;
    }

    /// The text so far, as it stands.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The words that it stands for: one, or several by its braces.
    pub fn finish(self) -> Vec<String> {
        let parts = self.text.split_once(OPEN).and_then(|(before, rest)| {
            let (middle, after) = rest.rsplit_once(CLOSE)?;
            middle.contains(COMMA).then_some((before, middle, after))
        });
        match parts {
            // `{a..c}`
            None if self.text.contains(OPEN) && self.text.contains("..") => {
                vec![plain(&self.text.replace(OPEN, &EXPANSION.to_string()))]
            }
            // So many words that they are no longer told apart.
            Some((_, middle, _)) if middle.matches(COMMA).count() > MOST_WORDS => vec![EXPANSION.to_string()],
            Some((before, middle, after)) => {
                let items = middle.split([COMMA, OPEN, CLOSE]);
                items.map(|item| plain(&format!("{before}{item}{after}"))).collect()
            }
            None => vec![plain(&self.text)],
        }
    }
}

fn plain(text: &str) -> String {
    let letters = text.chars().map(|letter| match letter {
        OPEN => '{',
        COMMA => ',',
        CLOSE => '}',
        other => other,
    });
    letters.collect()
}
