//! One immutable view of the whole catalog; a request reads one and sees one world.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::document::{Document, Entry};
use super::prompts::Prompts;
use base::model::{DocumentKind, Extension, Id, Origin, PerKind, Problem, ProblemDetail, Prompt, Tool};
use template::value::{Map, SmolStr, Value};

/// The catalog at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// Counts the changes since the process started.
    pub revision: u64,
    /// When this view was made: seconds since the Unix epoch.
    pub loaded_at: u64,
    /// The documents other than environs; shared between views that differ in environs alone.
    pub documents: Arc<Documents>,
    /// All environs as one tree.
    pub environs: Arc<Map>,
    /// The ids of the environs, sorted.
    pub environ_ids: Arc<Vec<SmolStr>>,
    /// What is wrong with documents and environs, sorted by kind and key.
    pub problems: Arc<Vec<Problem>>,
}

/// All documents but environs, by id. A copy shares what it does not change.
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// Counts the changes of this part: what was compiled against the same number is still right.
    pub revision: u64,
    /// The extensions.
    pub extensions: Arc<BTreeMap<Id, Arc<ExtensionEntry>>>,
    /// The prompts, those of extensions included.
    pub prompts: Prompts,
    /// The documents of all other kinds but environs.
    pub plain: Arc<PerKind<BTreeMap<Id, Document>>>,
    /// The tools by the name under which templates call them.
    pub functions: Arc<HashMap<String, Arc<Tool>>>,
}

/// An extension and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtensionEntry {
    /// Where its document is, as problems name it: its key in the store, or its file.
    pub key: String,
    /// The extension.
    pub extension: Arc<Extension>,
    /// Why its prompts cannot be used, if they cannot.
    pub unavailable: Option<String>,
}

/// A prompt and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptEntry {
    /// Its id.
    pub id: Id,
    /// Where it comes from.
    pub origin: Origin,
    /// The version that serves: the current one, or the last good one; `None` if none was ever readable.
    pub prompt: Option<Arc<Prompt>>,
    /// The extension that contributes it.
    pub extension: Option<Arc<ExtensionEntry>>,
    /// What is wrong with the current version.
    pub problems: Vec<ProblemDetail>,
}

impl Snapshot {
    /// The value at an environ's id, or at any path above or inside one.
    pub fn environ(&self, id: &Id) -> Option<Value> {
        let mut here = Value::Map(self.environs.clone());
        for segment in id.segments() {
            here = here.get(segment)?.clone();
        }
        Some(here)
    }

    /// The environ `modules.{module}`, which may say where a module of tools is.
    pub fn module_environ(&self, module: &str) -> Option<&Value> {
        let mut names = module.split('.');
        let first = self.environs.get("modules")?.get(names.next()?)?;
        names.try_fold(first, |inner, name| inner.get(name))
    }

    /// How many documents of a kind serve.
    pub fn count(&self, kind: DocumentKind) -> usize {
        match kind {
            DocumentKind::Extension => self.documents.extensions.len(),
            DocumentKind::Prompt => self.documents.prompts.len(),
            DocumentKind::Environ => self.environ_ids.len(),
            plain => self.documents.plain.of(plain).len(),
        }
    }

    /// The ids of the documents of a kind that serve, sorted.
    pub fn ids(&self, kind: DocumentKind) -> Vec<Id> {
        match kind {
            DocumentKind::Extension => self.documents.extensions.keys().cloned().collect(),
            DocumentKind::Prompt => self.documents.prompts.iter().map(|(id, _)| id.clone()).collect(),
            DocumentKind::Environ => self.environ_ids.iter().filter_map(|id| Id::parse(id).ok()).collect(),
            plain => self.documents.plain.of(plain).keys().cloned().collect(),
        }
    }

    /// The document that serves under an id; for environs the value at any path above or inside one, too.
    pub fn entry(&self, kind: DocumentKind, id: &Id) -> Option<Entry> {
        match kind {
            DocumentKind::Extension => self.documents.extensions.get(id).cloned().map(Entry::Extension),
            DocumentKind::Prompt => self.prompt(id).cloned().map(Entry::Prompt),
            DocumentKind::Environ => self.environ(id).map(|value| Entry::Plain(Document::Environ(value))),
            plain => self.documents.plain.of(plain).get(id).cloned().map(Entry::Plain),
        }
    }

    /// The tool of this id.
    pub fn tool(&self, id: &Id) -> Option<&Arc<Tool>> {
        match self.documents.plain.of(DocumentKind::Tool).get(id)? {
            Document::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// The prompt of this id.
    pub fn prompt(&self, id: &Id) -> Option<&Arc<PromptEntry>> {
        self.documents.prompts.get(id)
    }
}

impl Documents {
    /// The prompt that a template of the prompt `near` means by `name`: one of the same extension, else one by id.
    ///
    /// Names may have dots, so that the extension is any part of the id from its begin; the longest one wins.
    pub fn prompt_named(&self, name: &str, near: &Id) -> Option<&Arc<PromptEntry>> {
        let mut extension = near.parent();
        while let Some(id) = extension {
            if let Some(entry) = id.child(name).ok().and_then(|id| self.prompts.get(&id)) {
                return Some(entry);
            }
            extension = id.parent();
        }
        self.prompts.get(&Id::parse(name).ok()?)
    }
}
