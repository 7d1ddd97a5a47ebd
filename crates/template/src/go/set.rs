//! Sets of templates: parsing texts into them, and what they ask for.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Source, Tree, is_empty};
use super::error::ParseError;
use super::parse::Parser;

/// What to do with a function that is not known when a text is parsed.
///
/// ```
/// use ai_prompt_template::go::{ParseOptions, Set, Unknown};
///
/// let parses = |text: &str, unknown| {
///     let options = ParseOptions { unknown, ..ParseOptions::default() };
///     Set::new().parse("t", text, &options).is_ok()
/// };
/// assert!(!parses("{{fetch .url}}", Unknown::Reject));
/// assert!(parses("{{fetch .url}}", Unknown::AcceptWithArgument));
/// assert!(!parses("{{name}}", Unknown::AcceptWithArgument));
/// assert!(parses("{{name}}", Unknown::Accept));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It is an error, as in Go.
    #[default]
    Reject,
    /// Take it if a literal, a `.field` or a `$variable` follows: in prose between double braces that is rare.
    AcceptWithArgument,
    /// Take it.
    Accept,
}

/// How a text is parsed.
#[derive(Clone, Copy)]
pub struct ParseOptions<'o> {
    /// Says whether a function exists beside the built-in ones. One of a built-in function's name replaces that.
    pub functions: &'o dyn Fn(&str) -> bool,
    /// What to do with other functions.
    pub unknown: Unknown,
    /// How many parentheses may be open at once.
    pub max_parens: usize,
    /// How deeply pipelines may nest, not counting parentheses that hold nothing but other ones.
    pub max_nesting: usize,
    /// How deeply `if`, `with`, `range`, `block` and `define` may nest; each `else if` is a level. A tree is freed
    /// recursively, so that a set with many more levels than the default needs a larger stack.
    pub max_blocks: usize,
}

impl<'o> ParseOptions<'o> {
    /// Go's rules, with these functions.
    pub fn new(functions: &'o dyn Fn(&str) -> bool) -> ParseOptions<'o> {
        ParseOptions {
            functions,
            unknown: Unknown::Reject,
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

/// Named templates that can call one another.
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
    /// What is defined replaces an earlier template of its name, unless it is empty (white space and comments).
    ///
    /// # Errors
    /// Go's message and line. The set stays as it was.
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

    /// Whether there is a template of that name.
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
