//! The reverse dependencies of prompts: which prompts looked up which names, and so have to be checked again when a prompt
//! changes.

use std::collections::{BTreeSet, HashMap};

use base::model::Id;

/// The prompts that depend on others, by the names that they looked up.
#[derive(Debug, Default)]
pub struct Dependents {
    by_name: HashMap<String, BTreeSet<Id>>,
}

impl Dependents {
    /// Notes that the prompt `id` looked up these names.
    pub fn add<'n>(&mut self, id: &Id, names: impl Iterator<Item = &'n str>) {
        for name in names {
            self.by_name.entry(normal(name)).or_default().insert(id.clone());
        }
    }

    /// Forgets that the prompt `id` looked up these names.
    pub fn remove<'n>(&mut self, id: &Id, names: impl Iterator<Item = &'n str>) {
        for name in names.map(normal) {
            if let Some(dependents) = self.by_name.get_mut(&name) {
                dependents.remove(id);
                if dependents.is_empty() {
                    self.by_name.remove(&name);
                }
            }
        }
    }

    /// All prompts that may mean the prompt `id` by a name: a name is an id, or the last segments of one.
    pub fn of(&self, id: &Id) -> impl Iterator<Item = &Id> {
        let text = id.as_str();
        let ends = text.match_indices('.').filter_map(|(dot, _)| text.get(dot + 1..));
        std::iter::once(text).chain(ends).filter_map(|name| self.by_name.get(name)).flatten()
    }
}

/// A name in the notation of ids.
fn normal(name: &str) -> String {
    name.replace(':', ".")
}
