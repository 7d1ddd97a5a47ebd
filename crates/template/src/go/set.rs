//! Sets of named templates that can call one another.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::ast::{Source, Tree, is_empty};
use super::error::ParseError;
use super::parse::Parser;
use super::parse_options::ParseOptions;

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
