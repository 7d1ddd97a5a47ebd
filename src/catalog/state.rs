//! The mutable state of the catalog: takes the documents of the sources and builds the next snapshot.
//!
//! A change of a prompt merges and checks only that prompt and its dependents (see `dependents`); a change of an extension
//! or a tool merges everything. A property test holds both ways against each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::checks::{CandidateChanges, Check, Checks};
use super::document::Document;
use super::environs::EnvironTree;
use super::merge::{Candidate, bad_documents, candidate, merge};
use super::packages::PackageDocument;
use super::slots::{Layer, Layers, RawDocument, Slots};
use super::snapshot::{Documents, Snapshot};
use base::model::{DocumentKind, Id, ListedProblem, Problem, ProblemDetail};
use template::value::SmolStr;

/// The documents of all sources, and the snapshot built from them.
pub struct CatalogState {
    root: String,
    enforce_dependences: bool,
    check: Check,
    slots: Slots,
    environs: EnvironTree,
    checks: Checks,
    /// The current problems, each with the time when it was first seen.
    since: HashMap<Problem, u64>,
    current: Arc<Snapshot>,
    template_problems: Vec<Problem>,
    /// The prompts that extensions contribute.
    contributed: BTreeMap<Id, Candidate>,
    /// The conflicts and unmet dependences among extensions and tools.
    merge_problems: Vec<Problem>,
    pending: PendingChanges,
}

/// The changes since the current snapshot.
#[derive(Debug, Default)]
struct PendingChanges {
    /// Whether a document other than a prompt or an environ has changed, so that everything has to be merged again.
    documents: bool,
    /// The keys of the prompts that have changed.
    prompts: BTreeSet<String>,
    environ_values: bool,
    environ_ids: bool,
}

impl CatalogState {
    /// An empty catalog.
    pub fn new(root: &str, enforce_dependences: bool, check: Check) -> CatalogState {
        CatalogState {
            root: root.to_owned(),
            enforce_dependences,
            check,
            slots: Slots::new(root),
            environs: EnvironTree::default(),
            checks: Checks::default(),
            since: HashMap::new(),
            current: Arc::default(),
            template_problems: Vec::new(),
            contributed: BTreeMap::new(),
            merge_problems: Vec::new(),
            pending: PendingChanges::default(),
        }
    }

    /// The documents of all sources.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Marks a key as seen by the scan with this number; returns whether the store's slot already holds this content.
    pub fn sees(
        &mut self,
        kind: DocumentKind,
        scan: u64,
        key: &str,
        bytes: Result<&[u8], &ProblemDetail>,
    ) -> bool {
        self.slots.sees(kind, scan, key, bytes)
    }

    /// Marks a key of the store as seen by the scan with this number.
    pub fn mark_seen(&mut self, kind: DocumentKind, scan: u64, key: &str) {
        self.slots.mark_seen(kind, key, scan);
    }

    /// The documents of the store that the scan with this number has not seen, sorted.
    pub fn unseen(&self, scan: u64) -> Vec<(DocumentKind, String)> {
        let of = |kind| self.slots.unseen(kind, scan).into_iter().map(move |key| (kind, key));
        let mut unseen: Vec<_> = DocumentKind::ALL.into_iter().flat_map(of).collect();
        unseen.sort();
        unseen
    }

    /// How many documents of a kind the store holds, as far as is known.
    pub fn stored(&self, kind: DocumentKind) -> usize {
        self.slots.of(kind).values().filter(|layers| layers.stored().is_some()).count()
    }

    /// Puts the current content of a document into its slot.
    pub fn put(&mut self, kind: DocumentKind, layer: Layer, raw: RawDocument) {
        if self.slots.holds(kind, layer, &raw) {
            return;
        }
        let key = raw.key.clone();
        self.slots.put(kind, layer, raw);
        self.mark(kind, &key);
    }

    /// Empties the slot of a document; returns whether it held anything.
    pub fn remove(&mut self, kind: DocumentKind, layer: Layer, key: &str) -> bool {
        let was_there = self.slots.remove(kind, layer, key);
        if was_there {
            self.mark(kind, key);
        }
        was_there
    }

    /// Replaces the documents of all packages of a layer.
    pub fn replace_packages(&mut self, layer: Layer, documents: Vec<PackageDocument>) {
        let mut kept: BTreeSet<(DocumentKind, String)> = BTreeSet::new();
        let known = self.keys_of_files(layer);
        for (kind, mut raw) in documents {
            // A document that can no longer be read keeps the key that it had when its file could be read.
            let before = raw.file.as_ref().filter(|_| raw.guessed).and_then(|file| known.get(file));
            if let Some(key) = before {
                raw.key = key.clone();
            }
            if kept.insert((kind, raw.key.clone())) {
                self.put(kind, layer, raw);
            } else {
                // Two packages define the same key: the second gets a key of its own, under which it is a problem, unless it
                // has one anyway.
                let key = format!("{}#{}", raw.key, raw.file.as_deref().unwrap_or_default());
                let message = "another package already defines this document";
                let problem = raw.bytes.err().unwrap_or_else(|| ProblemDetail::new(message));
                kept.insert((kind, key.clone()));
                self.put(kind, layer, RawDocument { key, bytes: Err(problem), ..raw });
            }
        }
        for kind in DocumentKind::ALL {
            let gone = |(key, layers): (&String, &Layers)| {
                (layers.get(layer).is_some() && !kept.contains(&(kind, key.clone()))).then(|| key.clone())
            };
            let gone: Vec<String> = self.slots.of(kind).iter().filter_map(gone).collect();
            for key in gone {
                self.remove(kind, layer, &key);
            }
        }
    }

    /// The keys of a layer's documents, by the paths of their files.
    fn keys_of_files(&self, layer: Layer) -> HashMap<String, String> {
        let slots = DocumentKind::ALL.into_iter().flat_map(|kind| self.slots.of(kind));
        slots.filter_map(|(key, layers)| Some((layers.get(layer)?.file.clone()?, key.clone()))).collect()
    }

    /// Notes that a document has changed.
    fn mark(&mut self, kind: DocumentKind, key: &str) {
        match kind {
            DocumentKind::Environ => {}
            DocumentKind::Prompt => {
                self.pending.prompts.insert(key.to_owned());
                return;
            }
            _ => {
                self.pending.documents = true;
                return;
            }
        }
        self.pending.environ_values = true;
        let Ok(id) = Id::from_key(key, &self.root, kind) else { return };
        let layers = self.slots.of(kind).get(key);
        let value = layers.and_then(|layers| {
            layers.strongest_first().find_map(|(_, slot)| match &slot.good {
                Some(Document::Environ(value)) => Some(value.clone()),
                _ => None,
            })
        });
        let known =
            self.current.environ_ids.binary_search_by(|known| known.as_str().cmp(id.as_str())).is_ok();
        self.pending.environ_ids |= known != value.is_some();
        self.environs.set(&id, value);
    }

    /// The snapshot of the current documents; if nothing has changed, the same one as before.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        let dirty = std::mem::take(&mut self.pending);
        let documents_changed = dirty.documents || !dirty.prompts.is_empty();
        if !(documents_changed || dirty.environ_values) {
            return self.current.clone();
        }
        let mut next = Snapshot::clone(&self.current);
        next.revision += 1;
        next.loaded_at = now();
        if dirty.environ_values {
            next.environs = self.environs.map();
        }
        if dirty.environ_ids {
            next.environ_ids = Arc::new(self.environ_ids());
        }
        if documents_changed {
            next.documents = Arc::new(self.documents(&next.documents, &dirty));
        }
        next.problems = Arc::new(self.problems(&next));
        self.current = Arc::new(next);
        self.current.clone()
    }

    fn environ_ids(&self) -> Vec<SmolStr> {
        let good = |layers: &Layers| layers.strongest_first().any(|(_, slot)| slot.good.is_some());
        let slots = self.slots.of(DocumentKind::Environ).iter().filter(|(_, layers)| good(layers));
        let ids = slots.filter_map(|(key, _)| Id::from_key(key, &self.root, DocumentKind::Environ).ok());
        let mut ids: Vec<SmolStr> = ids.map(|id| SmolStr::new(id.as_str())).collect();
        ids.sort();
        ids
    }

    /// The documents after these changes; those that have not changed are shared with `before`.
    fn documents(&mut self, before: &Documents, dirty: &PendingChanges) -> Documents {
        let (documents, changed) = match dirty.documents {
            true => self.merge_all(),
            false => (before.clone(), CandidateChanges::Some(self.candidates(&dirty.prompts))),
        };
        let (mut documents, problems) = self.checks.complete(documents, changed, &self.check);
        self.template_problems = problems;
        documents.revision = before.revision + 1;
        documents
    }

    fn merge_all(&mut self) -> (Documents, CandidateChanges) {
        let result = merge(&self.slots, self.enforce_dependences);
        (self.contributed, self.merge_problems) = (result.contributed, result.problems);
        let direct = self.candidates(self.slots.of(DocumentKind::Prompt).keys());
        let mut all = self.contributed.clone();
        all.extend(direct.into_iter().filter_map(|(id, candidate)| Some((id, candidate?))));
        (result.documents, CandidateChanges::All(all))
    }

    /// The candidates for the ids of these keys.
    fn candidates<'k>(&self, keys: impl IntoIterator<Item = &'k String>) -> BTreeMap<Id, Option<Candidate>> {
        let with_id =
            |key: &'k String| Some((key, Id::from_key(key, &self.root, DocumentKind::Prompt).ok()?));
        let keys = keys.into_iter().filter_map(with_id);
        keys.map(|(key, id)| {
            let candidate = candidate(&self.slots, key, &id, &self.contributed);
            (id, candidate)
        })
        .collect()
    }

    fn problems(&mut self, snapshot: &Snapshot) -> Vec<ListedProblem> {
        let mut problems = self.template_problems.clone();
        problems.extend(self.merge_problems.iter().cloned());
        for kind in DocumentKind::ALL {
            problems.extend(bad_documents(&self.slots, kind));
        }
        problems.extend(self.shadowed_environs());
        problems.extend(self.checks.clashes(&snapshot.environs));
        problems.extend(self.agents_without_parts(snapshot));
        problems.sort();
        problems.dedup();
        let now = now();
        let since = std::mem::take(&mut self.since);
        self.since = problems
            .iter()
            .map(|problem| (problem.clone(), since.get(problem).copied().unwrap_or(now)))
            .collect();
        for problem in problems.iter().filter(|problem| !since.contains_key(problem)) {
            log(problem);
        }
        let listed = |problem: Problem| ListedProblem {
            since: self.since.get(&problem).copied().unwrap_or(now),
            problem,
        };
        problems.into_iter().map(listed).collect()
    }

    /// Agents whose tools or prompts are missing.
    fn agents_without_parts(&self, snapshot: &Snapshot) -> Vec<Problem> {
        let kind = DocumentKind::Agent;
        let agents = snapshot.documents.plain.of(kind);
        let faults = agents.iter().filter_map(|(id, document)| match document {
            Document::Agent(entry) => Some((id, entry.missing_parts(snapshot))),
            _ => None,
        });
        let place = |id: &Id| self.place_of(kind, id);
        let listed = faults.flat_map(|(id, faults)| {
            let key = place(id);
            faults.into_iter().map(move |detail| Problem { kind, key: key.clone(), detail })
        });
        listed.collect()
    }

    /// Where the document that serves stands: the path of its file, or its key.
    fn place_of(&self, kind: DocumentKind, id: &Id) -> String {
        let key = id.to_key(&self.root, kind);
        let layers = self.slots.of(kind).get(&key).into_iter().flat_map(Layers::strongest_first);
        let slot = layers.map(|(_, slot)| slot).find(|slot| slot.good.is_some());
        slot.and_then(|slot| slot.file.clone()).unwrap_or(key)
    }

    /// Environs whose value, or a part of it, is hidden by longer keys.
    fn shadowed_environs(&self) -> impl Iterator<Item = Problem> {
        self.environs.shadowed().iter().map(|(path, owner)| Problem {
            kind: DocumentKind::Environ,
            key: format!("{}{}{}", self.root, DocumentKind::Environ.key_prefix(), owner.replace('.', ":")),
            detail: ProblemDetail::new(
                match path.strip_prefix(owner).and_then(|rest| rest.strip_prefix('.')) {
                    None => "hidden: its value is not an object, but longer keys need one here".to_owned(),
                    Some(member) => {
                        format!(
                            "its member `{member}` is hidden: it is not an object, but longer keys need one there"
                        )
                    }
                },
            ),
        })
    }
}

fn log(problem: &Problem) {
    tracing::warn!(
        kind = problem.kind.noun(),
        key = problem.key,
        file = problem.detail.file,
        line = problem.detail.line,
        column = problem.detail.column,
        "problem with a document: {}",
        problem.detail.message
    );
}

/// Seconds since the Unix epoch.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
