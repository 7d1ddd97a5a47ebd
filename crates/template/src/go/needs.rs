//! What static analysis finds: things that a template can touch, each once.

use std::collections::BTreeMap;

/// One thing that a template can touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    /// A path from the root of the data (`user.name`, `docs[].title`, empty for all of it), or a name.
    pub name: String,
    /// Only tested, or only touched inside a branch: a run may succeed without it.
    pub optional: bool,
    /// What is touched below the path is decided as the template runs: it may be anything there.
    pub dynamic: bool,
    /// The value is used with all that is in it: printed, compared, or passed to a function. Otherwise it is only
    /// looked at, such as by `if` and `range`, and what is used of its parts is listed by itself.
    pub whole: bool,
}

/// What a template can touch. Each list is sorted by name and has each name once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Requires {
    /// Places in the data.
    pub paths: Vec<Need>,
    /// Functions that are not built-in.
    pub functions: Vec<Need>,
    /// Templates that are called and not in the set.
    pub templates: Vec<Need>,
}

/// Needs by their names.
#[derive(Default)]
pub(super) struct Needs(BTreeMap<String, Need>);

impl Needs {
    /// Adds a need. What is needed once for certain is not optional, whatever other places say.
    pub(super) fn note(&mut self, need: Need) {
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
    pub(super) fn name(&mut self, name: &str, optional: bool) {
        self.note(Need { name: name.to_owned(), optional, dynamic: false, whole: true });
    }

    /// All of them, sorted.
    pub(super) fn listed(self) -> Vec<Need> {
        self.0.into_values().collect()
    }
}
