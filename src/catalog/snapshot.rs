//! One immutable view of the whole catalog. A request takes one and reads nothing else, so that all it reads is consistent.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::agents::AgentEntry;
use super::document::Document;
use super::entry::{Entry, ExtensionEntry, PromptEntry};
use super::prompts::Prompts;
use super::skill_files::SkillSource;
use base::model::{DocumentKind, Id, ListedProblem, PerKind, ProblemDetail, Skill, Tool};
use template::value::{Map, SmolStr, Value};

/// The catalog at one moment.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    /// The number of changes since the process started.
    pub revision: u64,
    /// When this snapshot was built, in seconds since the Unix epoch.
    pub loaded_at: u64,
    /// The documents other than environs; shared between snapshots that differ only in environs.
    pub documents: Arc<Documents>,
    /// All environs as one tree.
    pub environs: Arc<Map>,
    /// The ids of the environs, sorted.
    pub environ_ids: Arc<Vec<SmolStr>>,
    /// The problems of documents, sorted by kind and key.
    pub problems: Arc<Vec<ListedProblem>>,
}

/// All documents but environs, by id. Copies share what they have in common (copy on write).
#[derive(Debug, Clone, Default)]
pub struct Documents {
    /// The number of changes of these documents: a prompt that was compiled at the same revision is still valid.
    pub revision: u64,
    /// The extensions, whether available or not.
    pub extensions: Arc<BTreeMap<Id, Arc<ExtensionEntry>>>,
    /// The prompts, including those of extensions.
    pub prompts: Prompts,
    /// The documents of the other kinds but environs, which have no state.
    pub plain: Arc<PerKind<BTreeMap<Id, Document>>>,
    /// The tools, by the name under which templates call them.
    pub functions: Arc<HashMap<String, Arc<Tool>>>,
    /// Where the skills come from.
    pub skill_sources: Arc<BTreeMap<Id, SkillSource>>,
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

    /// The environ `modules.{module}`, which may give the address of a module of tools.
    pub fn module_environ(&self, module: &str) -> Option<&Value> {
        let mut names = module.split('.');
        let first = self.environs.get("modules")?.get(names.next()?)?;
        names.try_fold(first, |inner, name| inner.get(name))
    }

    /// The problems of the document with this key; of an extension, also those of its prompts.
    pub fn problems_of(&self, key: &str) -> Vec<ProblemDetail> {
        let own = self.problems.iter().filter(|listed| listed.problem.key == key);
        own.map(|listed| listed.problem.detail.clone()).collect()
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

    /// The document that serves under an id; for environs also the value at any path above or inside one.
    pub fn entry(&self, kind: DocumentKind, id: &Id) -> Option<Entry> {
        match kind {
            DocumentKind::Extension => self.documents.extensions.get(id).cloned().map(Entry::Extension),
            DocumentKind::Prompt => self.prompt(id).cloned().map(Entry::Prompt),
            DocumentKind::Environ => self.environ(id).map(|value| Entry::Plain(Document::Environ(value))),
            DocumentKind::Skill => self.skill(id).cloned().map(|skill| Entry::Plain(Document::Skill(skill))),
            plain => self.documents.plain.of(plain).get(id).cloned().map(Entry::Plain),
        }
    }

    /// The tool with this id.
    pub fn tool(&self, id: &Id) -> Option<&Arc<Tool>> {
        match self.documents.plain.of(DocumentKind::Tool).get(id)? {
            Document::Tool(tool) => Some(tool),
            _ => None,
        }
    }

    /// The agent with this id.
    pub fn agent(&self, id: &Id) -> Option<&Arc<AgentEntry>> {
        match self.documents.plain.of(DocumentKind::Agent).get(id)? {
            Document::Agent(agent) => Some(agent),
            _ => None,
        }
    }

    /// The skill with this id, or the only one whose id ends in it.
    pub fn skill(&self, id: &Id) -> Option<&Arc<Skill>> {
        let skills = self.documents.plain.of(DocumentKind::Skill);
        let found = skills.get(id).or_else(|| {
            let mut ending = self.skills_ending_in(id);
            ending.next().filter(|_| ending.next().is_none()).and_then(|id| skills.get(id))
        });
        match found? {
            Document::Skill(skill) => Some(skill),
            _ => None,
        }
    }

    /// The ids of the skills whose last segment this is.
    pub fn skills_ending_in(&self, id: &Id) -> impl Iterator<Item = &Id> {
        let skills = self.documents.plain.of(DocumentKind::Skill);
        skills.keys().filter(move |known| known.segments().next_back() == Some(id.as_str()))
    }

    /// The id of the document that a request means: of a skill, the last segment will do where only one has it.
    pub fn full_id(&self, kind: DocumentKind, id: &Id) -> Id {
        let skill = Some(id).filter(|_| kind == DocumentKind::Skill).and_then(|id| self.skill(id));
        skill.map_or_else(|| id.clone(), |skill| skill.id.clone())
    }

    /// The prompt with this id.
    pub fn prompt(&self, id: &Id) -> Option<&Arc<PromptEntry>> {
        self.documents.prompts.get(id)
    }
}

impl Documents {
    /// The prompt that a template of the prompt `near` means by `name`: one of the same extension, else the one with this id.
    ///
    /// Names may contain dots, so the extension may be any prefix of the id; the longest prefix wins.
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
