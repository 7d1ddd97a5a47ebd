//! The options of parsing.

/// How the parser treats functions that do not exist.
///
/// ```
/// use ai_prompt_template::go::{ParseOptions, Set, UnknownFunctions};
///
/// let parses = |text: &str, unknown| {
///     let options = ParseOptions { unknown, ..ParseOptions::default() };
///     Set::new().parse("t", text, &options).is_ok()
/// };
/// assert!(!parses("{{fetch .url}}", UnknownFunctions::Reject));
/// assert!(parses("{{fetch .url}}", UnknownFunctions::AcceptWithArgument));
/// assert!(!parses("{{name}}", UnknownFunctions::AcceptWithArgument));
/// assert!(parses("{{name}}", UnknownFunctions::Accept));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownFunctions {
    /// An unknown function is an error, as in Go.
    #[default]
    Reject,
    /// It is accepted if a literal, a `.field` or a `$variable` follows, which is rare in prose between double braces.
    AcceptWithArgument,
    /// It is accepted.
    Accept,
}

/// The options of parsing: known functions and limits of nesting.
#[derive(Clone, Copy)]
pub struct ParseOptions<'o> {
    /// Whether a function exists besides the built-in ones. A function with the name of a built-in one replaces it.
    pub functions: &'o dyn Fn(&str) -> bool,
    /// How other functions are treated.
    pub unknown: UnknownFunctions,
    /// How many parentheses may be open at the same time.
    pub max_parens: usize,
    /// How deep pipelines may nest; parentheses that contain only other parentheses do not count.
    pub max_nesting: usize,
    /// How deep `if`, `with`, `range`, `block` and `define` may nest; each `else if` is a level. A syntax tree is freed
    /// recursively, so a much larger value than the default needs a larger stack.
    pub max_blocks: usize,
}

impl<'o> ParseOptions<'o> {
    /// The behaviour of Go, with the default limits; `functions` tells which functions exist besides the built-in ones.
    pub fn new(functions: &'o dyn Fn(&str) -> bool) -> ParseOptions<'o> {
        ParseOptions {
            functions,
            unknown: UnknownFunctions::Reject,
            max_parens: 10_000,
            max_nesting: 300,
            max_blocks: 1_000,
        }
    }
}

impl Default for ParseOptions<'_> {
    fn default() -> Self {
        ParseOptions::new(&|_| false)
    }
}
