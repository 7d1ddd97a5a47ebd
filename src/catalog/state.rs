//! The catalog while it changes: takes what sources hold and makes the next snapshot.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::checks::{Changed, Check, Checks};
use super::document::Document;
use super::environs::EnvironTree;
use super::merge::{Candidate, Fault, bad_documents, candidate, merge};
use super::packages::PackageDocument;
use super::slots::{Layer, Layers, Raw, Slots};
use super::snapshot::{Documents, Snapshot};
use base::model::{DocumentKind, Id, Problem, ProblemDetail};
use template::value::SmolStr;

/// Everything that is known of all sources, and the snapshot made of it.
pub struct State {
    root: String,
    enforce_dependences: bool,
    check: Check,
    slots: Slots,
    environs: EnvironTree,
    checks: Checks,
    since: HashMap<Fault, u64>,
    current: Arc<Snapshot>,
    document_faults: Vec<Fault>,
    /// The prompts that extensions contribute, and what is wrong with how extensions and tools fit together.
    contributed: BTreeMap<Id, Candidate>,
    merge_faults: Vec<Fault>,
    dirty: Dirty,
}

/// What has changed since the current snapshot.
#[derive(Debug, Default)]
struct Dirty {
    /// Anything but prompts and environs: everything has to be merged again.
    documents: bool,
    /// The keys of prompts.
    prompts: BTreeSet<String>,
    environ_values: bool,
    environ_ids: bool,
}

impl State {
    /// An empty catalog.
    pub fn new(root: &str, enforce_dependences: bool, check: Check) -> State {
        State {
            root: root.to_owned(),
            enforce_dependences,
            check,
            slots: Slots::new(root),
            environs: EnvironTree::default(),
            checks: Checks::default(),
            since: HashMap::new(),
            current: Arc::default(),
            document_faults: Vec::new(),
            contributed: BTreeMap::new(),
            merge_faults: Vec::new(),
            dirty: Dirty::default(),
        }
    }

    /// What the sources hold.
    pub fn slots(&self) -> &Slots {
        &self.slots
    }

    /// Whether a layer already holds just this under a key.
    pub fn holds(
        &self,
        kind: DocumentKind,
        layer: Layer,
        key: &str,
        bytes: Result<&[u8], &ProblemDetail>,
    ) -> bool {
        self.slots.holds(kind, layer, key, bytes)
    }

    /// Marks a key as seen by the scan of this number; says whether the store's slot already holds just this.
    pub fn sees(
        &mut self,
        kind: DocumentKind,
        scan: u64,
        key: &str,
        bytes: Result<&[u8], &ProblemDetail>,
    ) -> bool {
        self.slots.sees(kind, scan, key, bytes)
    }

    /// Remembers that the scan of this number has seen a key of the store.
    pub fn mark_seen(&mut self, kind: DocumentKind, scan: u64, key: &str) {
        self.slots.mark_seen(kind, key, scan);
    }

    /// The documents of the store that the scan of this number has not seen, sorted.
    pub fn unseen(&self, scan: u64) -> Vec<(DocumentKind, String)> {
        let of = |kind| self.slots.unseen(kind, scan).into_iter().map(move |key| (kind, key));
        let mut unseen: Vec<_> = DocumentKind::ALL.into_iter().flat_map(of).collect();
        unseen.sort();
        unseen
    }

    /// How many documents of a kind are known of the store.
    pub fn stored(&self, kind: DocumentKind) -> usize {
        self.slots.of(kind).values().filter(|layers| layers.stored().is_some()).count()
    }

    /// Takes a document as its source has it now.
    pub fn put(&mut self, kind: DocumentKind, layer: Layer, raw: Raw) {
        if self.holds(kind, layer, &raw.key, raw.bytes.as_deref()) {
            return;
        }
        let key = raw.key.clone();
        self.slots.put(kind, layer, raw);
        self.mark(kind, &key);
    }

    /// Takes note that a source has nothing under a key any more; says whether it had.
    pub fn remove(&mut self, kind: DocumentKind, layer: Layer, key: &str) -> bool {
        let was_there = self.slots.remove(kind, layer, key);
        if was_there {
            self.mark(kind, key);
        }
        was_there
    }

    /// Takes the documents of all packages of a layer in place of those before.
    pub fn replace_packages(&mut self, layer: Layer, documents: Vec<PackageDocument>) {
        let mut kept: BTreeSet<(DocumentKind, String)> = BTreeSet::new();
        let known = self.keys_of_files(layer);
        for (kind, mut raw) in documents {
            // A document that no longer can be read is the one that was read from the same file before.
            let before = raw.file.as_ref().filter(|_| raw.guessed).and_then(|file| known.get(file));
            if let Some(key) = before {
                raw.key = key.clone();
            }
            if kept.insert((kind, raw.key.clone())) {
                self.put(kind, layer, raw);
            } else {
                // Two packages claim one key: the second goes under a key of its own, and merging reports it.
                let key = format!("{}#{}", raw.key, raw.file.as_deref().unwrap_or_default());
                let message = "another package already defines this document";
                kept.insert((kind, key.clone()));
                self.put(kind, layer, Raw { key, bytes: Err(ProblemDetail::new(message)), ..raw });
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

    /// The keys of a layer's documents by the files that they were read from.
    fn keys_of_files(&self, layer: Layer) -> HashMap<String, String> {
        let slots = DocumentKind::ALL.into_iter().flat_map(|kind| self.slots.of(kind));
        slots.filter_map(|(key, layers)| Some((layers.get(layer)?.file.clone()?, key.clone()))).collect()
    }

    fn mark(&mut self, kind: DocumentKind, key: &str) {
        match kind {
            DocumentKind::Environ => {}
            DocumentKind::Prompt => {
                self.dirty.prompts.insert(key.to_owned());
                return;
            }
            _ => {
                self.dirty.documents = true;
                return;
            }
        }
        self.dirty.environ_values = true;
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
        self.dirty.environ_ids |= known != value.is_some();
        self.environs.set(&id, value);
    }

    /// The snapshot of what is known now; the same one as before when nothing has changed.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        let dirty = std::mem::take(&mut self.dirty);
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
        next.problems = Arc::new(self.problems());
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

    /// The documents after these changes. What did not change is taken over from `before`.
    fn documents(&mut self, before: &Documents, dirty: &Dirty) -> Documents {
        let (documents, changed) = match dirty.documents {
            true => self.merge_all(),
            false => (before.clone(), Changed::Some(self.candidates(&dirty.prompts))),
        };
        let (mut documents, faults) = self.checks.complete(documents, changed, &self.check);
        self.document_faults = faults;
        documents.revision = before.revision + 1;
        documents
    }

    fn merge_all(&mut self) -> (Documents, Changed) {
        let merged = merge(&self.slots, self.enforce_dependences);
        (self.contributed, self.merge_faults) = (merged.contributed, merged.faults);
        let direct = self.candidates(self.slots.of(DocumentKind::Prompt).keys());
        let mut all = self.contributed.clone();
        all.extend(direct.into_iter().filter_map(|(id, candidate)| Some((id, candidate?))));
        (merged.documents, Changed::All(all))
    }

    /// The prompts that are to serve under the ids of these keys now.
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

    fn problems(&mut self) -> Vec<Problem> {
        let mut faults = self.document_faults.clone();
        faults.extend(self.merge_faults.iter().cloned());
        for kind in DocumentKind::ALL {
            faults.extend(bad_documents(&self.slots, kind));
        }
        faults.extend(self.shadowed_environs());
        faults.sort();
        faults.dedup();
        let now = now();
        let since = std::mem::take(&mut self.since);
        self.since =
            faults.iter().map(|fault| (fault.clone(), since.get(fault).copied().unwrap_or(now))).collect();
        for fault in faults.iter().filter(|fault| !since.contains_key(fault)) {
            report(fault);
        }
        let problem = |fault: Fault| Problem {
            since: self.since.get(&fault).copied().unwrap_or(now),
            kind: fault.kind,
            key: fault.key,
            detail: fault.reason,
        };
        faults.into_iter().map(problem).collect()
    }

    /// Environs whose value, or a part of it, cannot be seen because of longer keys.
    fn shadowed_environs(&self) -> impl Iterator<Item = Fault> {
        self.environs.shadowed().iter().map(|(path, owner)| Fault {
            kind: DocumentKind::Environ,
            key: format!("{}{}{}", self.root, DocumentKind::Environ.key_prefix(), owner.replace('.', ":")),
            reason: ProblemDetail::new(
                match path.strip_prefix(owner).and_then(|rest| rest.strip_prefix('.')) {
                    None => "hidden: its value is no object, and longer keys need one here".to_owned(),
                    Some(member) => {
                        format!(
                            "its member `{member}` is hidden: it is no object, and longer keys need one there"
                        )
                    }
                },
            ),
        })
    }
}

fn report(fault: &Fault) {
    tracing::warn!(
        kind = fault.kind.noun(),
        key = fault.key,
        file = fault.reason.file,
        line = fault.reason.line,
        column = fault.reason.column,
        "problem with a document: {}",
        fault.reason.message
    );
}

/// Seconds since the Unix epoch.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests;
