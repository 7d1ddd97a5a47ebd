//! What static analysis finds: things that a template can touch, each once.

use std::collections::BTreeMap;

/// Something that a template may use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// A path from the root of the data (`user.name`, `docs[].title`, empty for all of it), or a name.
    pub name: String,
    /// Whether a run may succeed without it: it is only tested, or only used inside a branch.
    pub optional: bool,
    /// Whether the rest of the path is computed at run time: anything below may be used.
    pub dynamic: bool,
    /// Whether the value is used with everything in it: printed, compared, or passed to a function. Otherwise it is only
    /// tested or iterated over, and the parts that are used have needs of their own.
    pub whole: bool,
}

/// What a template may use. Each list is sorted by name and has each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requirements {
    /// Paths in the data.
    pub paths: Vec<Need>,
    /// Functions that are not built-in.
    pub functions: Vec<Need>,
    /// Templates that are called but not in the set.
    pub templates: Vec<Need>,
}

/// A collection of needs, by name.
#[derive(Default)]
pub(crate) struct Needs(BTreeMap<String, Need>);

impl Needs {
    /// Adds a need. If the name is there already, the result is optional only if both are.
    pub(crate) fn note(&mut self, need: Need) {
        match self.0.get_mut(&need.name) {
            Some(known) => {
                known.optional &= need.optional;
                known.dynamic |= need.dynamic;
                known.whole |= need.whole;
            }
            None => {
                self.0.insert(need.name.clone(), need);
            }
        }
    }

    /// Adds a function or template by its name.
    pub(crate) fn name(&mut self, name: &str, optional: bool) {
        self.note(Need { name: name.to_owned(), optional, dynamic: false, whole: true });
    }

    /// All needs, sorted by name.
    pub(crate) fn listed(self) -> Vec<Need> {
        self.0.into_values().collect()
    }
}
