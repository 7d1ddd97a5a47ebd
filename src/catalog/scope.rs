//! The documents that a prompt's templates can see while they are compiled, with a record of every lookup.
//!
//! The record is the dependency list of the compiled prompt: as long as each lookup would give the same result, the compiled
//! prompt is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::PromptEntry;
use super::snapshot::Documents;
use base::model::{Id, Prompt};

/// The documents as the templates of one prompt see them. Lookups are recorded until the record is taken.
#[derive(Debug)]
pub struct PromptScope {
    documents: Arc<Documents>,
    near: Id,
    recorder: Mutex<Option<LookupRecorder>>,
}

/// The lookups so far, by name.
#[derive(Debug, Default)]
struct LookupRecorder {
    prompts: HashMap<String, PromptVersion>,
    functions: HashMap<String, bool>,
}

/// The result of looking up a prompt: its id, and the version of it that serves.
type PromptVersion = Option<(Id, Option<Arc<Prompt>>)>;

/// The lookups of a compilation and their results.
#[derive(Debug, Clone, Default)]
pub struct Lookups {
    prompts: Box<[(String, PromptVersion)]>,
    functions: Box<[(String, bool)]>,
}

impl PromptScope {
    /// The documents as the templates of the prompt `near` see them.
    pub fn new(documents: Arc<Documents>, near: Id) -> PromptScope {
        PromptScope { documents, near, recorder: Mutex::new(Some(LookupRecorder::default())) }
    }

    /// The prompt that a template means by a name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<PromptEntry>> {
        let entry = self.documents.prompt_named(name, &self.near);
        if let Some(recorder) = self.recorder().as_mut() {
            recorder.prompts.entry(name.to_owned()).or_insert_with(|| entry.map(|entry| version(entry)));
        }
        entry
    }

    /// Whether a tool has this function name.
    pub fn has_function(&self, name: &str) -> bool {
        let there = self.documents.functions.contains_key(name);
        if let Some(recorder) = self.recorder().as_mut() {
            recorder.functions.entry(name.to_owned()).or_insert(there);
        }
        there
    }

    /// The lookups so far; later ones are not recorded.
    pub fn take_lookups(&self) -> Lookups {
        let LookupRecorder { prompts, functions } = self.recorder().take().unwrap_or_default();
        Lookups { prompts: prompts.into_iter().collect(), functions: functions.into_iter().collect() }
    }

    fn recorder(&self) -> MutexGuard<'_, Option<LookupRecorder>> {
        self.recorder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lookups {
    /// The names by which prompts were looked up.
    pub fn prompt_names(&self) -> impl Iterator<Item = &str> {
        self.prompts.iter().map(|(name, _)| name.as_str())
    }

    /// Whether the same lookups of the prompt `near` give the same results in these documents.
    pub fn holds_in(&self, documents: &Documents, near: &Id) -> bool {
        let same_prompt =
            |(name, before): &(String, PromptVersion)| match (before, documents.prompt_named(name, near)) {
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

fn version(entry: &PromptEntry) -> (Id, Option<Arc<Prompt>>) {
    (entry.id.clone(), entry.prompt.clone())
}

fn same(one: Option<&Arc<Prompt>>, other: Option<&Arc<Prompt>>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => Arc::ptr_eq(one, other),
        (one, other) => one.is_none() && other.is_none(),
    }
}
