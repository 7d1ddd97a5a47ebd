//! The names that a text finds: those it exports, those it was given, and the data.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::val::{BlockVersion, Val};

/// The context of a text that runs (Jinja2's `Context`).
pub(super) struct Context<'a> {
    /// The name of the text that runs in it, for messages.
    pub name: Cell<&'a str>,
    /// Names that the including text passed on.
    pub given: Vec<(&'a str, Val<'a>)>,
    /// Whether the request's names can be seen; a text that is imported without context has only what is shared by all
    /// renders.
    pub sees_data: bool,
    /// Names that the text has set at its top level.
    pub vars: RefCell<Vec<(&'a str, Val<'a>)>>,
    /// Those of them that other texts can import.
    pub exported: RefCell<Vec<&'a str>>,
    /// The versions of each block, the innermost template's first.
    pub blocks: RefCell<HashMap<&'a str, Vec<BlockVersion<'a>>>>,
}

impl<'a> Context<'a> {
    pub fn new(given: Vec<(&'a str, Val<'a>)>, sees_data: bool) -> Context<'a> {
        Context {
            name: Cell::default(),
            given,
            sees_data,
            vars: RefCell::default(),
            exported: RefCell::default(),
            blocks: RefCell::default(),
        }
    }

    /// A name that the text has set or was given.
    pub fn own(&self, name: &str) -> Option<Val<'a>> {
        let find = |names: &[(&'a str, Val<'a>)]| {
            names.iter().rev().find(|(known, _)| *known == name).map(|(_, value)| *value)
        };
        find(&self.vars.borrow()).or_else(|| find(&self.given))
    }

    /// Sets a name at the top level of the text.
    pub fn set(&self, name: &'a str, value: Val<'a>, exported: bool) {
        let mut vars = self.vars.borrow_mut();
        match vars.iter_mut().find(|(known, _)| *known == name) {
            Some(slot) => slot.1 = value,
            None => vars.push((name, value)),
        }
        let mut names = self.exported.borrow_mut();
        match names.iter().position(|known| *known == name) {
            Some(at) if !exported => {
                names.swap_remove(at);
            }
            None if exported => names.push(name),
            _ => {}
        }
    }

    /// Everything that an included text gets to see.
    pub fn all(&self) -> Vec<(&'a str, Val<'a>)> {
        let mut all = self.given.clone();
        all.extend(self.vars.borrow().iter().copied());
        all
    }

    /// The version of a block at a depth, 0 being the innermost template's.
    pub fn block(&self, name: &str, depth: usize) -> Option<BlockVersion<'a>> {
        self.blocks.borrow().get(name)?.get(depth).copied()
    }
}
