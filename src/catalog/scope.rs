//! The documents that a prompt's templates can see while they are compiled, with a record of every lookup.
//!
//! The record is the dependency list of the compiled prompt: as long as each lookup would give the same result, the compiled
//! prompt is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::PromptEntry;
use super::partials::{Includer, PartialFile};
use super::snapshot::Documents;
use base::model::{Id, Prompt};

/// The documents as the templates of one prompt see them. Lookups are recorded until the record is taken.
#[derive(Debug)]
pub struct PromptScope {
    documents: Arc<Documents>,
    includer: Includer,
    recorder: Mutex<Option<LookupRecorder>>,
}

/// The lookups so far, by name.
#[derive(Debug, Default)]
struct LookupRecorder {
    prompts: HashMap<String, PromptVersion>,
    files: HashMap<String, Option<PartialFile>>,
    functions: HashMap<String, bool>,
}

/// The result of looking up a prompt: its id, and the version of it that serves.
type PromptVersion = Option<(Id, Option<Arc<Prompt>>)>;

/// The lookups of a compilation and their results.
#[derive(Debug, Clone, Default)]
pub struct Lookups {
    prompts: Box<[(String, PromptVersion)]>,
    files: Box<[(String, Option<PartialFile>)]>,
    functions: Box<[(String, bool)]>,
}

impl PromptScope {
    /// The documents as the templates of a prompt see them.
    pub fn new(documents: Arc<Documents>, prompt: &Prompt) -> PromptScope {
        PromptScope::of(documents, Includer::new(prompt))
    }

    /// As [`PromptScope::new`], for the version of the prompt that serves.
    pub fn serving(documents: Arc<Documents>, prompt: &Prompt) -> PromptScope {
        let includer = Includer::serving(prompt, &documents);
        PromptScope::of(documents, includer)
    }

    fn of(documents: Arc<Documents>, includer: Includer) -> PromptScope {
        PromptScope { documents, includer, recorder: Mutex::new(Some(LookupRecorder::default())) }
    }

    /// The prompt that a template means by a name.
    pub fn prompt(&self, name: &str) -> Option<&Arc<PromptEntry>> {
        let entry = self.documents.prompt_named(name, &self.includer.id);
        if let Some(recorder) = self.recorder().as_mut() {
            recorder.prompts.entry(name.to_owned()).or_insert_with(|| entry.map(|entry| version(entry)));
        }
        entry
    }

    /// The text that a template means by a path; to be asked for names that no prompt has.
    ///
    /// # Errors
    /// Why there is none, for the author of the template.
    pub fn file(&self, path: &str) -> Result<PartialFile, String> {
        let found = self.documents.partial_file(path, &self.includer);
        if let Some(recorder) = self.recorder().as_mut() {
            recorder.files.entry(path.to_owned()).or_insert_with(|| found.clone());
        }
        found.ok_or_else(|| self.documents.no_partial(path, &self.includer))
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
        let LookupRecorder { prompts, files, functions } = self.recorder().take().unwrap_or_default();
        Lookups {
            prompts: prompts.into_iter().collect(),
            files: files.into_iter().collect(),
            functions: functions.into_iter().collect(),
        }
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

    /// The files that were found, by the paths under which they were looked up.
    pub fn files(&self) -> Arc<[(String, PartialFile)]> {
        self.files.iter().filter_map(|(path, file)| Some((path.clone(), file.clone()?))).collect()
    }

    /// As [`Lookups::holds_in`], for the version of the prompt that serves.
    pub fn serve_in(&self, documents: &Documents, prompt: &Prompt) -> bool {
        self.holds_in(documents, &Includer::serving(prompt, documents))
    }

    /// Whether the same lookups of a prompt's templates give the same results in these documents.
    pub fn holds_in(&self, documents: &Documents, includer: &Includer) -> bool {
        let same_file = |(path, before): &(String, Option<PartialFile>)| {
            documents.partial_file(path, includer) == *before
        };
        let same_prompt = |(name, before): &(String, PromptVersion)| match (
            before,
            documents.prompt_named(name, &includer.id),
        ) {
            (None, None) => true,
            (Some((id, prompt)), Some(entry)) => {
                *id == entry.id && same(prompt.as_ref(), entry.prompt.as_ref())
            }
            _ => false,
        };
        self.functions.iter().all(|(name, there)| documents.functions.contains_key(name) == *there)
            && self.prompts.iter().all(same_prompt)
            && self.files.iter().all(same_file)
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
