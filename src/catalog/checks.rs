//! Keeps the template check of every prompt, and the last version that passed it.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::merge::{Candidate, Fault, Merged};
use super::nearby::Asked;
use super::snapshot::{Documents, PromptEntry};
use crate::model::{DocumentKind, Id, Prompt, Reason};

/// What checking a prompt's templates gave.
#[derive(Debug, Clone, Default)]
pub struct Checked {
    /// What is wrong.
    pub flaws: Vec<Reason>,
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
    of: HashMap<Id, Remembered>,
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
    /// Checks what has changed, completes the documents with the prompts that serve, and adds what is wrong with them.
    ///
    /// A candidate that fails gives way to the last version of it that passed. What had asked for it may then pass or fail
    /// in its turn, so that all are checked again among the prompts that serve, until nothing changes.
    pub fn complete(&mut self, merged: Merged, check: &Check) -> (Documents, Vec<Fault>) {
        let Merged { mut documents, candidates, mut faults } = merged;
        documents.prompts =
            candidates.iter().map(|(id, candidate)| (id.clone(), candidate.entry.clone())).collect();
        self.of.retain(|id, _| candidates.contains_key(id));
        let mut view = Arc::new(documents);
        let mut failed: Vec<&Id> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            for (id, candidate) in &candidates {
                self.check(id, candidate, &view, check);
            }
            let before = std::mem::take(&mut failed);
            failed = candidates.keys().filter(|id| self.failing(id).is_some()).collect();
            if failed == before {
                break;
            }
            self.serve_last_good(before.iter().chain(&failed), &candidates, &mut view);
        }
        self.of.values_mut().for_each(Remembered::settle);
        faults.extend(candidates.iter().flat_map(|(id, candidate)| self.faults(id, candidate)));
        (Arc::unwrap_or_clone(view), faults)
    }

    /// Checks a candidate, unless the result is known.
    fn check(&mut self, id: &Id, candidate: &Candidate, view: &Arc<Documents>, check: &Check) {
        let Some(prompt) = &candidate.entry.prompt else { return };
        let known = self.of.get(id);
        if known.is_some_and(|known| known.still_holds(prompt, view)) {
            return;
        }
        let checked = check(prompt, view);
        let good = known.and_then(|known| known.good.clone());
        self.of.insert(id.clone(), Remembered { prompt: prompt.clone(), checked, good });
    }

    fn failing(&self, id: &Id) -> Option<&Remembered> {
        self.of.get(id).filter(|known| !known.checked.flaws.is_empty())
    }

    /// Puts the last good version (or, after all, the candidate) of each of these prompts into the view.
    fn serve_last_good<'a>(
        &self,
        ids: impl Iterator<Item = &'a &'a Id>,
        candidates: &BTreeMap<Id, Candidate>,
        view: &mut Arc<Documents>,
    ) {
        let documents = Arc::make_mut(view);
        for (id, candidate) in ids.filter_map(|id| Some((*id, candidates.get(*id)?))) {
            let mut entry = PromptEntry::clone(&candidate.entry);
            if let Some(known) = self.failing(id) {
                entry.problems.extend(known.checked.flaws.iter().cloned());
                entry.prompt = known.good.clone().or(entry.prompt);
            }
            documents.prompts.insert(id.clone(), Arc::new(entry));
        }
    }

    fn faults(&self, id: &Id, candidate: &Candidate) -> Vec<Fault> {
        let flaws = self.failing(id).map_or(&[][..], |known| &known.checked.flaws);
        let fault = |reason: &Reason| Fault {
            kind: DocumentKind::Prompt,
            key: reason.file.clone().unwrap_or_else(|| candidate.key.clone()),
            reason: Reason { message: format!("prompt `{id}`: {}", reason.message), ..reason.clone() },
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
    use crate::model::Origin;

    fn prompt(id: &str, text: &str) -> Arc<Prompt> {
        Arc::new(Prompt::from_document(Id::parse(id).unwrap(), Origin::Direct, json!({"userPrompt": text})))
    }

    fn merged(prompts: &[&Arc<Prompt>]) -> Merged {
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
        let candidates = prompts.iter().map(|prompt| (prompt.id.clone(), candidate(prompt))).collect();
        Merged { candidates, ..Merged::default() }
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
            let flaws = if found { Vec::new() } else { vec![Reason::new("no such partial")] };
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
            let (_, faults) = checks.complete(merged(prompts), &check);
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
