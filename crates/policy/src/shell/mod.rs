//! Reads code of shells (POSIX and bash), as far as is needed to see which commands are in it.
//!
//! It does not run anything and expands nothing: what would be expanded becomes a character that stands for it. Where a text can be read in
//! two ways, it is read so that more commands are found.
//!
//! - `reader`: from characters to words and simple commands
//! - `word`: quotes, expansions, braces
//! - `plain`: lines of which every shell makes the same words
//! - `heads`: takes keywords, assignments and builtins off a simple command

mod heads;
mod plain;
mod reader;
mod word;

pub use heads::{Head, changes_folder, head, is_assignment, is_input, values};
pub use plain::plain;
pub use reader::read;

/// Stands in a word for what is known only when the code runs, and may become several words: a variable, a substitution.
const EXPANSION: char = '\u{F0000}';

/// The same in quotes, where it stays one word.
const QUOTED: char = '\u{F0004}';

/// Stands for a pattern of file names.
const PATTERN: char = '\u{F0005}';

/// Whether something in a word is known only when the code runs.
pub fn has_expansion(word: &str) -> bool {
    word.contains([EXPANSION, QUOTED, PATTERN])
}

/// Whether a word is nothing but expansions that are not quoted.
pub fn is_bare_expansion(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter == EXPANSION)
}

/// A word with its expansions as if they were not quoted.
pub fn unquoted(word: &str) -> String {
    word.replace(QUOTED, &EXPANSION.to_string())
}

/// Code, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// Its simple commands, in order, wherever they stand.
    pub commands: Vec<Simple>,
    /// Code within the code: substitutions.
    pub nested: Vec<String>,
    /// The names of the functions that it defines.
    pub functions: Vec<String>,
    /// Whether it cannot be read with certainty: it ends within quotes or parentheses, or the end of a here-document is not known.
    pub is_unclear: bool,
}

/// A simple command: words, and where its output goes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// Its words, without quotes.
    pub words: Vec<String>,
    /// The files that it writes.
    pub writes: Vec<String>,
    /// Whether its input is what the command before it prints.
    pub is_piped: bool,
    /// Whether it is the pattern of a `case`, as far as can be told.
    pub is_pattern: bool,
}
