//! Keeps the template check of every prompt, and the last version that passed it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::askers::Askers;
use super::merge::{Candidate, Fault};
use super::nearby::Asked;
use super::snapshot::{Documents, PromptEntry};
use base::model::{DocumentKind, Id, ProblemDetail, Prompt};

/// What checking a prompt's templates gave.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// What is wrong.
    pub flaws: Vec<ProblemDetail>,
    /// What was asked of the documents around; as long as the answers stay, so does the result.
    pub asked: Asked,
}

/// Checks a prompt's templates against the documents around it. It is handed in from outside, so that the catalog knows
/// no template engine.
pub type Check = Arc<dyn Fn(&Prompt, &Arc<Documents>) -> Checked + Send + Sync>;

/// How often prompts are checked after others gave way to their last good versions: prompts that include one another in a
/// circle might never come to rest.
const ROUNDS_MAX: usize = 5;

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
    candidates: BTreeMap<Id, Candidate>,
    of: HashMap<Id, Remembered>,
    askers: Askers,
    /// Those whose latest version is wrong.
    failing: BTreeSet<Id>,
    /// Prompts that gave way, or came back, after the last check.
    unsettled: BTreeSet<Id>,
}

/// Which prompts are to be looked at.
pub enum Changed {
    /// All; these are all candidates.
    All(BTreeMap<Id, Candidate>),
    /// These, which are candidates now, or no longer.
    Some(BTreeMap<Id, Option<Candidate>>),
}

impl Remembered {
    /// What passes among the prompts that serve is good; what passed on the way there may not be.
    fn settle(&mut self) {
        if self.checked.flaws.is_empty() {
            self.good = Some(self.prompt.clone());
        }
    }

    fn still_holds(&self, prompt: &Arc<Prompt>, documents: &Documents) -> bool {
        Arc::ptr_eq(&self.prompt, prompt) && self.checked.asked.holds_in(documents, &prompt.id)
    }
}

impl Checks {
    /// Checks what has changed, puts the prompts that serve into the documents, and gives what is wrong with them.
    ///
    /// With [`Changed::Some`] everything in `documents` but the prompts must be as it was. The result does not depend on
    /// what the changes are called.
    ///
    /// A candidate that fails gives way to the last version of it that passed. What had asked for it may then pass or fail
    /// in its turn, so that those are checked again among the prompts that serve, until nothing changes.
    pub fn complete(
        &mut self,
        documents: Documents,
        changed: Changed,
        check: &Check,
    ) -> (Documents, Vec<Fault>) {
        let mut view = Arc::new(documents);
        let mut to_check = self.take(changed, Arc::make_mut(&mut view));
        let mut checked = to_check.clone();
        let mut before = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            self.unsettled.clear();
            to_check.iter().for_each(|id| self.check(id, &view, check));
            if self.failing == before {
                break;
            }
            let moved: BTreeSet<Id> = before.union(&self.failing).cloned().collect();
            before = self.failing.clone();
            self.serve_last_good(&moved, Arc::make_mut(&mut view));
            to_check = self.concerned(&moved);
            self.unsettled = moved;
            checked.extend(to_check.iter().cloned());
        }
        for id in &checked {
            if let Some(known) = self.of.get_mut(id) {
                known.settle();
            }
        }
        let failing = self.failing.iter().filter_map(|id| Some((id, self.candidates.get(id)?)));
        let faults = failing.flat_map(|(id, candidate)| self.faults(id, candidate)).collect();
        (Arc::unwrap_or_clone(view), faults)
    }

    /// Takes the new candidates, and gives those that have to be checked. All candidates are seen as they are at first, also
    /// those that failed before.
    fn take(&mut self, changed: Changed, documents: &mut Documents) -> BTreeSet<Id> {
        match changed {
            Changed::All(candidates) => {
                let gone: Vec<Id> =
                    self.of.keys().filter(|id| !candidates.contains_key(id)).cloned().collect();
                gone.iter().for_each(|id| self.forget(id));
                documents.prompts = candidates.values().map(|candidate| candidate.entry.clone()).collect();
                self.candidates = candidates;
                self.candidates.keys().cloned().collect()
            }
            Changed::Some(changed) => {
                let mut moved: BTreeSet<Id> = self.failing.union(&self.unsettled).cloned().collect();
                for id in &moved {
                    if let Some(candidate) = self.candidates.get(id) {
                        documents.prompts.insert(candidate.entry.clone());
                    }
                }
                for (id, candidate) in changed {
                    self.set(&id, candidate, documents);
                    moved.insert(id);
                }
                self.concerned(&moved)
            }
        }
    }

    fn set(&mut self, id: &Id, candidate: Option<Candidate>, documents: &mut Documents) {
        match candidate {
            Some(candidate) => {
                documents.prompts.insert(candidate.entry.clone());
                self.candidates.insert(id.clone(), candidate);
            }
            None => {
                documents.prompts.remove(id);
                self.candidates.remove(id);
                self.forget(id);
            }
        }
    }

    fn forget(&mut self, id: &Id) {
        self.failing.remove(id);
        if let Some(known) = self.of.remove(id) {
            self.askers.remove(id, known.checked.asked.prompt_names());
        }
    }

    /// Those who have to be checked when these prompts have changed: they, and who had asked for them.
    fn concerned(&self, moved: &BTreeSet<Id>) -> BTreeSet<Id> {
        moved.iter().flat_map(|id| self.askers.of(id)).chain(moved).cloned().collect()
    }

    /// Checks a candidate, unless the result is known.
    fn check(&mut self, id: &Id, view: &Arc<Documents>, check: &Check) {
        let Some(prompt) = self.candidates.get(id).and_then(|candidate| candidate.entry.prompt.clone())
        else {
            return;
        };
        let known = self.of.get(id);
        if known.is_some_and(|known| known.still_holds(&prompt, view)) {
            return;
        }
        let checked = check(&prompt, view);
        let good = known.and_then(|known| known.good.clone());
        self.forget(id);
        self.askers.add(id, checked.asked.prompt_names());
        if !checked.flaws.is_empty() {
            self.failing.insert(id.clone());
        }
        self.of.insert(id.clone(), Remembered { prompt, checked, good });
    }

    fn failing(&self, id: &Id) -> Option<&Remembered> {
        self.of.get(id).filter(|known| !known.checked.flaws.is_empty())
    }

    /// Puts the last good version (or, after all, the candidate) of each of these prompts into the documents.
    fn serve_last_good(&self, ids: &BTreeSet<Id>, documents: &mut Documents) {
        for (id, candidate) in ids.iter().filter_map(|id| Some((id, self.candidates.get(id)?))) {
            let mut entry = PromptEntry::clone(&candidate.entry);
            if let Some(known) = self.failing(id) {
                entry.problems.extend(known.checked.flaws.iter().cloned());
                entry.prompt = known.good.clone().or(entry.prompt);
            }
            documents.prompts.insert(Arc::new(entry));
        }
    }

    fn faults(&self, id: &Id, candidate: &Candidate) -> Vec<Fault> {
        let flaws = self.failing(id).map_or(&[][..], |known| &known.checked.flaws);
        let fault = |reason: &ProblemDetail| Fault {
            kind: DocumentKind::Prompt,
            key: reason.file.clone().unwrap_or_else(|| candidate.key.clone()),
            reason: ProblemDetail { message: format!("prompt `{id}`: {}", reason.message), ..reason.clone() },
        };
        flaws.iter().map(fault).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::catalog::Nearby;
    use base::model::Origin;

    fn prompt(id: &str, text: &str) -> Arc<Prompt> {
        Arc::new(Prompt::from_document(Id::parse(id).unwrap(), Origin::Direct, json!({"userPrompt": text})))
    }

    fn all(prompts: &[&Arc<Prompt>]) -> Changed {
        let candidate = |prompt: &Arc<Prompt>| Candidate {
            entry: Arc::new(PromptEntry {
                id: prompt.id.clone(),
                origin: Origin::Direct,
                prompt: Some(prompt.clone()),
                extension: None,
                problems: Vec::new(),
            }),
            key: prompt.id.to_string(),
        };
        Changed::All(prompts.iter().map(|prompt| (prompt.id.clone(), candidate(prompt))).collect())
    }

    #[test]
    fn a_prompt_is_checked_again_only_when_it_or_something_that_its_templates_ask_for_has_changed() {
        let checked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = checked.clone();
        // Stands for the template engines: a text is the name of a partial.
        let check: Check = Arc::new(move |prompt, documents| {
            log.lock().unwrap().push(prompt.id.to_string());
            let nearby = Nearby::new(documents.clone(), prompt.id.clone());
            let found = nearby.prompt(&prompt.texts()[0].text).is_some();
            let flaws = if found { Vec::new() } else { vec![ProblemDetail::new("no such partial")] };
            Checked { flaws, asked: nearby.take_asked() }
        });
        let (asks_b, asks_c) = (prompt("x.a", "b"), prompt("x.d", "c"));
        let (b, new_b, c) = (prompt("x.b", "b"), prompt("x.b", "b"), prompt("x.c", "c"));
        let mut checks = Checks::default();
        let mut rounds = Vec::new();
        for prompts in [
            &[&asks_b, &b, &asks_c][..],
            &[&asks_b, &b, &asks_c],
            &[&asks_b, &new_b, &asks_c],
            &[&asks_b, &new_b, &asks_c, &c],
            &[&new_b, &c],
        ] {
            let (_, faults) = checks.complete(Documents::default(), all(prompts), &check);
            rounds.push((checked.lock().unwrap().split_off(0), faults.len()));
        }
        let round = |ids: &[&str], faults| (ids.iter().map(ToString::to_string).collect(), faults);
        let expected = [
            round(&["x.a", "x.b", "x.d"], 1),
            round(&[], 1),
            round(&["x.a", "x.b"], 1),
            round(&["x.c", "x.d"], 0),
            round(&[], 0),
        ];
        assert_eq!(rounds, expected);
    }
}
