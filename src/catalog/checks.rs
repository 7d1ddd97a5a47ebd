//! The template checks of all prompts, and the last version of each prompt that passed.
//!
//! A version of a document is good if it passed the check among the versions that serve. A check includes that the defaults
//! of a prompt's parameters fit their schema.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::declared::{DeclaredNames, clash};
use super::dependents::Dependents;
use super::entry::PromptEntry;
use super::merge::Candidate;
use super::partials::{Includer, PartialFile};
use super::scope::Lookups;
use super::snapshot::Documents;
use base::model::{DocumentKind, Id, Problem, ProblemDetail, Prompt};
use template::value::Map;

/// The result of checking a prompt's templates.
#[derive(Debug, Clone, Default)]
pub struct CheckResult {
    /// The problems of the templates and the schema; none if the prompt passed.
    pub problems: Vec<ProblemDetail>,
    /// The lookups in other documents; the result is valid as long as they give the same results.
    pub lookups: Lookups,
}

/// Checks a prompt's templates among the other documents. It is passed in from outside, so that the catalog does not depend
/// on the template engines.
pub type Check = Arc<dyn Fn(&Prompt, &Arc<Documents>) -> CheckResult + Send + Sync>;

/// The largest number of rounds of checks: prompts that include one another in a cycle might never reach a fixed point.
const ROUNDS_MAX: usize = 5;

/// The last check of the prompt of an id.
#[derive(Debug)]
struct PromptCheck {
    /// The version that was checked.
    prompt: Arc<Prompt>,
    result: CheckResult,
    /// The last good version, and the files that it included.
    good: Option<GoodVersion>,
}

type GoodVersion = (Arc<Prompt>, Arc<[(String, PartialFile)]>);

/// The checks of all prompts.
#[derive(Default)]
pub struct Checks {
    candidates: BTreeMap<Id, Candidate>,
    by_id: HashMap<Id, PromptCheck>,
    dependents: Dependents,
    declared: DeclaredNames,
    /// The prompts whose candidates did not pass.
    failing: BTreeSet<Id>,
    /// The prompts whose serving version was switched after the last check.
    unsettled: BTreeSet<Id>,
}

/// The candidates that have changed.
pub enum CandidateChanges {
    /// All candidates, whether changed or not.
    All(BTreeMap<Id, Candidate>),
    /// Only these have changed; `None` if there is no candidate for the id any more.
    Some(BTreeMap<Id, Option<Candidate>>),
}

impl PromptCheck {
    /// Makes the checked version the last good one if it passed. Called only after the last round: a version that passes in
    /// an earlier round may fail among the prompts that finally serve.
    fn settle(&mut self) {
        if self.result.problems.is_empty() {
            self.good = Some((self.prompt.clone(), self.result.lookups.files()));
        }
    }

    fn is_current(&self, prompt: &Arc<Prompt>, documents: &Documents) -> bool {
        Arc::ptr_eq(&self.prompt, prompt) && self.result.lookups.holds_in(documents, &Includer::new(prompt))
    }
}

impl Checks {
    /// Checks what has changed, and returns the documents with the prompts that serve, and the problems of all prompts.
    ///
    /// With [`CandidateChanges::Some`] everything in `documents` but the prompts must be unchanged. Both variants lead to
    /// the same result.
    ///
    /// A candidate that fails is replaced by its last good version. Prompts that depend on it may then pass or fail
    /// differently, so they are checked again in the next round, until a fixed point is reached.
    pub fn complete(
        &mut self,
        documents: Documents,
        changed: CandidateChanges,
        check: &Check,
    ) -> (Documents, Vec<Problem>) {
        let mut view = Arc::new(documents);
        let mut to_check = self.take_changes(changed, Arc::make_mut(&mut view));
        let mut checked = to_check.clone();
        let mut before = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            self.unsettled.clear();
            to_check.iter().for_each(|id| self.check(id, &view, check));
            if self.failing == before {
                break;
            }
            let switched: BTreeSet<Id> = before.union(&self.failing).cloned().collect();
            before = self.failing.clone();
            self.serve_last_good(&switched, Arc::make_mut(&mut view));
            to_check = self.with_dependents(&switched);
            self.unsettled = switched;
            checked.extend(to_check.iter().cloned());
        }
        for id in &checked {
            if let Some(check) = self.by_id.get_mut(id) {
                check.settle();
            }
        }
        let failing = self.failing.iter().filter_map(|id| Some((id, self.candidates.get(id)?)));
        let problems = failing.flat_map(|(id, candidate)| self.problems(id, candidate)).collect();
        (Arc::unwrap_or_clone(view), problems)
    }

    /// Takes the new candidates, and returns those that have to be checked. In the first round all candidates serve, even
    /// those that failed before.
    fn take_changes(&mut self, changed: CandidateChanges, documents: &mut Documents) -> BTreeSet<Id> {
        match changed {
            CandidateChanges::All(candidates) => {
                let gone: Vec<Id> =
                    self.by_id.keys().filter(|id| !candidates.contains_key(id)).cloned().collect();
                gone.iter().for_each(|id| self.forget(id));
                documents.prompts = candidates.values().map(|candidate| candidate.entry.clone()).collect();
                self.candidates = candidates;
                self.candidates.keys().cloned().collect()
            }
            CandidateChanges::Some(changed) => {
                let mut switched: BTreeSet<Id> = self.failing.union(&self.unsettled).cloned().collect();
                for id in &switched {
                    if let Some(candidate) = self.candidates.get(id) {
                        documents.prompts.insert(candidate.entry.clone());
                    }
                }
                for (id, candidate) in changed {
                    self.set(&id, candidate, documents);
                    switched.insert(id);
                }
                self.with_dependents(&switched)
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
        if let Some(check) = self.by_id.remove(id) {
            self.dependents.remove(id, check.result.lookups.prompt_names());
            self.declared.remove(&check.prompt);
        }
    }

    /// The prompts that have to be checked when these prompts have changed: they and their dependents.
    fn with_dependents(&self, changed: &BTreeSet<Id>) -> BTreeSet<Id> {
        changed.iter().flat_map(|id| self.dependents.of(id)).chain(changed).cloned().collect()
    }

    /// Checks a candidate, unless its last check is still valid.
    fn check(&mut self, id: &Id, view: &Arc<Documents>, check: &Check) {
        let Some(prompt) = self.candidates.get(id).and_then(|candidate| candidate.entry.prompt.clone())
        else {
            return;
        };
        let last = self.by_id.get(id);
        if last.is_some_and(|last| last.is_current(&prompt, view)) {
            return;
        }
        let result = check(&prompt, view);
        let good = last.and_then(|last| last.good.clone());
        self.forget(id);
        self.dependents.add(id, result.lookups.prompt_names());
        self.declared.add(&prompt);
        if !result.problems.is_empty() {
            self.failing.insert(id.clone());
        }
        self.by_id.insert(id.clone(), PromptCheck { prompt, result, good });
    }

    fn failing(&self, id: &Id) -> Option<&PromptCheck> {
        self.by_id.get(id).filter(|check| !check.result.problems.is_empty())
    }

    /// Puts the last good version of each of these prompts into the documents, or its candidate if that passed meanwhile.
    fn serve_last_good(&self, ids: &BTreeSet<Id>, documents: &mut Documents) {
        for (id, candidate) in ids.iter().filter_map(|id| Some((id, self.candidates.get(id)?))) {
            let mut entry = PromptEntry::clone(&candidate.entry);
            if let Some(check) = self.failing(id) {
                entry.problems.extend(check.result.problems.iter().cloned());
                if let Some((prompt, files)) = check.good.clone() {
                    (entry.prompt, entry.files) = (Some(prompt), files);
                }
            }
            documents.prompts.insert(Arc::new(entry));
        }
    }

    fn problems(&self, id: &Id, candidate: &Candidate) -> Vec<Problem> {
        let details = self.failing(id).map_or(&[][..], |check| &check.result.problems);
        details.iter().map(|detail| problem(id, candidate, detail)).collect()
    }

    /// The problems of parameters that hide environs. They do not keep a prompt from serving.
    pub fn clashes(&self, environs: &Map) -> Vec<Problem> {
        let clashes = self.declared.clashes(environs);
        clashes.filter_map(|(name, id)| Some(problem(id, self.candidates.get(id)?, &clash(name)))).collect()
    }
}

fn problem(id: &Id, candidate: &Candidate, detail: &ProblemDetail) -> Problem {
    Problem {
        kind: DocumentKind::Prompt,
        key: detail.file.clone().unwrap_or_else(|| candidate.key.clone()),
        detail: ProblemDetail { message: format!("prompt `{id}`: {}", detail.message), ..detail.clone() },
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;
    use crate::catalog::PromptScope;
    use base::model::Origin;

    fn prompt(id: &str, text: &str) -> Arc<Prompt> {
        Arc::new(Prompt::from_document(Id::parse(id).unwrap(), Origin::Direct, json!({"userPrompt": text})))
    }

    fn all(prompts: &[&Arc<Prompt>]) -> CandidateChanges {
        let candidate = |prompt: &Arc<Prompt>| Candidate {
            entry: Arc::new(PromptEntry {
                id: prompt.id.clone(),
                origin: Origin::Direct,
                prompt: Some(prompt.clone()),
                files: Arc::default(),
                extension: None,
                problems: Vec::new(),
            }),
            key: prompt.id.to_string(),
        };
        CandidateChanges::All(prompts.iter().map(|prompt| (prompt.id.clone(), candidate(prompt))).collect())
    }

    #[test]
    fn a_prompt_is_checked_again_only_when_it_or_something_that_its_templates_look_up_has_changed() {
        let checked: Arc<Mutex<Vec<String>>> = Arc::default();
        let log = checked.clone();
        // A substitute for the template engines: a text is the name of a partial.
        let check: Check = Arc::new(move |prompt, documents| {
            log.lock().unwrap().push(prompt.id.to_string());
            let scope = PromptScope::new(documents.clone(), prompt);
            let found = scope.prompt(&prompt.texts()[0].text).is_some();
            let problems = if found { Vec::new() } else { vec![ProblemDetail::new("no such partial")] };
            CheckResult { problems, lookups: scope.take_lookups() }
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
            let (_, problems) = checks.complete(Documents::default(), all(prompts), &check);
            rounds.push((checked.lock().unwrap().split_off(0), problems.len()));
        }
        let round = |ids: &[&str], problems| (ids.iter().map(ToString::to_string).collect(), problems);
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
