//! Sets of named templates that can call one another, and the options of parsing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Source, Tree, is_empty};
use super::error::ParseError;
use super::parse::Parser;

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

/// A set of named templates that can call one another.
#[derive(Debug, Clone, Default)]
pub struct Set {
    trees: BTreeMap<Box<str>, Arc<Tree>>,
    /// The name of the text that was parsed last.
    main: Box<str>,
}

impl Set {
    /// A set without templates.
    pub fn new() -> Set {
        Set::default()
    }

    /// Parses `text` as the template `name`, together with the templates that it defines.
    ///
    /// A definition replaces an earlier template of the same name, unless it is empty (white space and comments).
    ///
    /// # Errors
    /// [`ParseError`] if the text is not valid or nests too deep; the set stays as it was.
    pub fn parse(&mut self, name: &str, text: &str, options: &ParseOptions<'_>) -> Result<(), ParseError> {
        let source = Arc::new(Source { name: name.into(), text: text.into() });
        let trees = Parser::new(name, text, options).parse(&source)?;
        for (name, tree) in trees {
            if !(is_empty(&tree.root, &tree.source) && self.trees.contains_key(&name)) {
                self.trees.insert(name, Arc::new(tree));
            }
        }
        self.main = name.into();
        Ok(())
    }

    /// Whether the set has a template of that name.
    pub fn contains(&self, name: &str) -> bool {
        self.trees.contains_key(name)
    }

    /// The names of all templates, sorted.
    pub fn names(&self) -> Vec<&str> {
        self.trees.keys().map(|name| &**name).collect()
    }

    pub(super) fn tree(&self, name: &str) -> Option<&Tree> {
        self.trees.get(name).map(|tree| &**tree)
    }

    pub(super) fn trees(&self) -> impl Iterator<Item = &Tree> {
        self.trees.values().map(|tree| &**tree)
    }

    pub(super) fn main(&self) -> &str {
        &self.main
    }
}
