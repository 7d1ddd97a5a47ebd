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
    /// A candidate that fails gives way to the last version of it that passed. So it may be that another one failed only
    /// because of it: those that failed are checked again among the prompts that serve.
    pub fn complete(&mut self, merged: Merged, check: &Check) -> (Documents, Vec<Fault>) {
        let Merged { mut documents, candidates, mut faults } = merged;
        documents.prompts =
            candidates.iter().map(|(id, candidate)| (id.clone(), candidate.entry.clone())).collect();
        self.of.retain(|id, _| candidates.contains_key(id));
        let mut view = Snapshot { documents: Arc::new(documents), ..Snapshot::default() };
        for (id, candidate) in &candidates {
            self.check(id, candidate, &view, check);
        }
        let failed: Vec<&Id> = candidates.keys().filter(|id| self.flaws(id).is_some()).collect();
        self.serve_last_good(&failed, &candidates, &mut view);
        for id in &failed {
            if let Some(candidate) = candidates.get(id) {
                self.check(id, candidate, &view, check);
            }
        }
        self.serve_last_good(&failed, &candidates, &mut view);
        faults.extend(candidates.iter().flat_map(|(id, candidate)| self.faults(id, candidate)));
        (Documents::clone(&view.documents), faults)
    }

    /// Checks a candidate, unless it is known and nothing around it matters.
    fn check(&mut self, id: &Id, candidate: &Candidate, view: &Snapshot, check: &Check) {
        let Some(prompt) = &candidate.entry.prompt else { return };
        let known = self.of.remove(id);
        let checked = match &known {
            Some(known) if known.checked.closed && Arc::ptr_eq(&known.prompt, prompt) => {
                known.checked.clone()
            }
            _ => check(prompt, view),
        };
        let before = known.and_then(|known| known.good);
        let good = if checked.flaws.is_empty() { Some(prompt.clone()) } else { before };
        self.of.insert(id.clone(), Remembered { prompt: prompt.clone(), checked, good });
    }

    fn flaws(&self, id: &Id) -> Option<&Remembered> {
        self.of.get(id).filter(|known| !known.checked.flaws.is_empty())
    }

    /// Puts the last good version (or, after all, the candidate) of each of these prompts into the view.
    fn serve_last_good(&self, ids: &[&Id], candidates: &BTreeMap<Id, Candidate>, view: &mut Snapshot) {
        let documents = Arc::make_mut(&mut view.documents);
        for (id, candidate) in ids.iter().filter_map(|id| Some((*id, candidates.get(*id)?))) {
            let mut entry = PromptEntry::clone(&candidate.entry);
            if let Some(known) = self.flaws(id) {
                entry.problems.extend(known.checked.flaws.iter().cloned());
                entry.prompt = known.good.clone().or(entry.prompt);
            }
            documents.prompts.insert(id.clone(), Arc::new(entry));
        }
    }

    fn faults(&self, id: &Id, candidate: &Candidate) -> Vec<Fault> {
        let flaws = self.flaws(id).map_or(&[][..], |known| &known.checked.flaws);
        let fault = |reason: &Reason| Fault {
            kind: DocumentKind::Prompt,
            key: reason.file.clone().unwrap_or_else(|| candidate.key.clone()),
            reason: Reason { message: format!("prompt `{id}`: {}", reason.message), ..reason.clone() },
        };
        flaws.iter().map(fault).collect()
    }
}
