//! What compiling a prompt asks of the documents around it, remembered, so that the result is known to be still right.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::snapshot::{Documents, PromptEntry};
use base::model::{Id, Prompt};

/// The documents as the templates of one prompt see them. It remembers questions and answers until it is asked for them.
#[derive(Debug)]
pub struct Nearby {
    documents: Arc<Documents>,
    near: Id,
    asking: Mutex<Option<Asking>>,
}

/// The questions so far.
#[derive(Debug, Default)]
struct Asking {
    prompts: HashMap<String, Found>,
    functions: HashMap<String, bool>,
}

/// The prompt that was found, and the version of it that serves.
type Found = Option<(Id, Option<Arc<Prompt>>)>;

/// Questions and their answers.
#[derive(Debug, Clone, Default)]
pub struct Asked {
    prompts: Box<[(String, Found)]>,
    functions: Box<[(String, bool)]>,
}

impl Nearby {
    /// The documents around the prompt `near`.
    pub fn new(documents: Arc<Documents>, near: Id) -> Nearby {
        Nearby { documents, near, asking: Mutex::new(Some(Asking::default())) }
    }

    /// The prompt that a template means by a name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<PromptEntry>> {
        let entry = self.documents.prompt_named(name, &self.near);
        if let Some(asking) = self.asking().as_mut() {
            asking.prompts.entry(name.to_owned()).or_insert_with(|| entry.map(|entry| found(entry)));
        }
        entry
    }

    /// Whether a tool has this function name.
    pub fn has_function(&self, name: &str) -> bool {
        let there = self.documents.functions.contains_key(name);
        if let Some(asking) = self.asking().as_mut() {
            asking.functions.entry(name.to_owned()).or_insert(there);
        }
        there
    }

    /// What was asked so far; what comes later is answered and forgotten.
    pub fn take_asked(&self) -> Asked {
        let Asking { prompts, functions } = self.asking().take().unwrap_or_default();
        Asked { prompts: prompts.into_iter().collect(), functions: functions.into_iter().collect() }
    }

    fn asking(&self) -> MutexGuard<'_, Option<Asking>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Asked {
    /// The names by which prompts were asked for.
    pub fn prompt_names(&self) -> impl Iterator<Item = &str> {
        self.prompts.iter().map(|(name, _)| name.as_str())
    }

    /// Whether these documents give the same answers to the prompt `near`.
    pub fn holds_in(&self, documents: &Documents, near: &Id) -> bool {
        let same_prompt =
            |(name, before): &(String, Found)| match (before, documents.prompt_named(name, near)) {
                (None, None) => true,
                (Some((id, prompt)), Some(entry)) => {
                    *id == entry.id && same(prompt.as_ref(), entry.prompt.as_ref())
                }
                _ => false,
            };
        self.functions.iter().all(|(name, there)| documents.functions.contains_key(name) == *there)
            && self.prompts.iter().all(same_prompt)
    }
}

fn found(entry: &PromptEntry) -> (Id, Option<Arc<Prompt>>) {
    (entry.id.clone(), entry.prompt.clone())
}

fn same(one: Option<&Arc<Prompt>>, other: Option<&Arc<Prompt>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}
