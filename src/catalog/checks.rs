//! Keeps the template check of every prompt, and the last version that passed it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::merge::{Candidate, Fault, Merged};
use super::snapshot::{Documents, PromptEntry, Snapshot};
use crate::model::{DocumentKind, Id, Prompt, Reason};

/// What checking a prompt's templates gave.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Checked {
    /// What is wrong.
    pub flaws: Vec<Reason>,
    /// Whether the result depends on this prompt alone, not on other prompts or tools.
    pub closed: bool,
}

/// Checks a prompt's templates against the documents around it. It is handed in from outside, so that the catalog knows
/// no template engine.
pub type Check = Arc<dyn Fn(&Prompt, &Snapshot) -> Checked + Send + Sync>;

/// What is remembered about the prompt of an id.
#[derive(Debug)]
struct Remembered {
    prompt: Arc<Prompt>,
    checked: Checked,
    good: Option<Arc<Prompt>>,
}

/// The checks of all prompts.
#[derive(Default)]
pub struct Checks {
    of: HashMap<Id, Remembered>,
}

impl Checks {
    /// Checks what has changed, completes the documents with the prompts that serve, and adds what is wrong with them.
    ///
    /// A candidate that fails gives way to the last version of it that passed.
    pub fn complete(&mut self, merged: Merged, check: &Check) -> (Documents, Vec<Fault>) {
        let Merged { mut documents, candidates, mut faults } = merged;
        documents.prompts =
            candidates.iter().map(|(id, candidate)| (id.clone(), candidate.entry.clone())).collect();
        self.of.retain(|id, _| candidates.contains_key(id));
        let mut view = Snapshot { documents: Arc::new(documents), ..Snapshot::default() };
        self.check_all(&candidates, &view, check);
        let replaced = self.replaced(&candidates, &mut faults);
        let documents = Arc::make_mut(&mut view.documents);
        documents.prompts.extend(replaced);
        (std::mem::take(documents), faults)
    }

    fn check_all(&mut self, candidates: &BTreeMap<Id, Candidate>, view: &Snapshot, check: &Check) {
        for (id, candidate) in candidates {
            let Some(prompt) = &candidate.entry.prompt else { continue };
            let known = self.of.remove(id);
            let unchanged = known.as_ref().is_some_and(|k| Arc::ptr_eq(&k.prompt, prompt));
            let checked = match &known {
                Some(known) if unchanged && known.checked.closed => known.checked.clone(),
                _ => check(prompt, view),
            };
            let before = known.and_then(|known| known.good);
            let good = if checked.flaws.is_empty() { Some(prompt.clone()) } else { before };
            self.of.insert(id.clone(), Remembered { prompt: prompt.clone(), checked, good });
        }
    }

    /// The entries of prompts that failed their check, with the version that serves in their place.
    fn replaced(
        &self,
        candidates: &BTreeMap<Id, Candidate>,
        faults: &mut Vec<Fault>,
    ) -> Vec<(Id, Arc<PromptEntry>)> {
        let mut replaced = Vec::new();
        for (id, candidate) in candidates {
            let Some(known) = self.of.get(id).filter(|known| !known.checked.flaws.is_empty()) else {
                continue;
            };
            let flaws = &known.checked.flaws;
            let key = &candidate.key;
            faults.extend(flaws.iter().map(|reason| Fault {
                kind: DocumentKind::Prompt,
                key: reason.file.clone().unwrap_or_else(|| key.clone()),
                reason: Reason { message: format!("prompt `{id}`: {}", reason.message), ..reason.clone() },
            }));
            let mut entry = PromptEntry::clone(&candidate.entry);
            entry.problems.extend(flaws.iter().cloned());
            entry.prompt = known.good.clone().or(entry.prompt);
            replaced.push((id.clone(), Arc::new(entry)));
        }
        replaced
    }
}
