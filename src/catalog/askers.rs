//! Which prompts asked for others by which name: who has to be checked again when a prompt changes.

use std::collections::{BTreeSet, HashMap};

use base::model::Id;

/// Those who asked, by the name for which they asked.
#[derive(Debug, Default)]
pub struct Askers {
    by_name: HashMap<String, BTreeSet<Id>>,
}

impl Askers {
    /// Notes that `id` asked for a prompt by these names.
    pub fn add<'n>(&mut self, id: &Id, names: impl Iterator<Item = &'n str>) {
        for name in names {
            self.by_name.entry(normal(name)).or_default().insert(id.clone());
        }
    }

    /// Forgets that `id` asked for a prompt by these names.
    pub fn remove<'n>(&mut self, id: &Id, names: impl Iterator<Item = &'n str>) {
        for name in names.map(normal) {
            if let Some(askers) = self.by_name.get_mut(&name) {
                askers.remove(id);
                if askers.is_empty() {
                    self.by_name.remove(&name);
                }
            }
        }
    }

    /// All who may mean the prompt `id` by a name: a name is an id, or the end of one.
    pub fn of(&self, id: &Id) -> impl Iterator<Item = &Id> {
        let text = id.as_str();
        let ends = text.match_indices('.').filter_map(|(dot, _)| text.get(dot + 1..));
        std::iter::once(text).chain(ends).filter_map(|name| self.by_name.get(name)).flatten()
    }
}

/// A name in the form in which ids are written.
fn normal(name: &str) -> String {
    name.replace(':', ".")
}
