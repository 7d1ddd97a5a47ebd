//! What each source holds under each key: the latest bytes, what they mean, and the last good meaning.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{Document, DocumentError};
use base::model::{DocumentKind, Id, PerKind, ProblemDetail};

/// Where a document comes from; later layers beat earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A package inside the binary.
    Builtin = 0,
    /// A package in the folder.
    Package = 1,
    /// The store.
    Store = 2,
}

/// A document as its source gave it.
#[derive(Debug, Clone, PartialEq)]
pub struct Raw {
    /// The store key, or what it would be for a package's document.
    pub key: String,
    /// Whether the key is only a guess, since the document that should name itself cannot be read.
    pub guessed: bool,
    /// The path of the file it was read from.
    pub file: Option<String>,
    /// The bytes, or why there are none.
    pub bytes: Result<Arc<[u8]>, ProblemDetail>,
}

/// What one source holds under one key.
#[derive(Debug)]
pub struct Slot {
    raw: Result<Arc<[u8]>, ProblemDetail>,
    /// The path of the file it was read from.
    pub file: Option<String>,
    /// The latest good version that this process has seen.
    pub good: Option<Document>,
    /// What is wrong with the latest version.
    pub reason: Option<ProblemDetail>,
    /// The last scan that saw the key.
    seen: u64,
}

/// The slots of all layers under one key.
#[derive(Debug, Default)]
pub struct Layers([Option<Box<Slot>>; 3]);

/// All slots, by key.
#[derive(Debug)]
pub struct Slots {
    root: String,
    kinds: PerKind<OfKind>,
}

/// The slots of one kind.
#[derive(Debug, Default)]
struct OfKind {
    all: HashMap<String, Layers>,
    /// The keys under which the latest version in some layer is bad.
    bad: BTreeSet<String>,
}

impl Slot {
    /// The latest bytes, if they could be read.
    pub fn bytes(&self) -> Option<&[u8]> {
        self.raw.as_deref().ok()
    }
}

impl Layers {
    /// The slot of one layer.
    pub fn get(&self, layer: Layer) -> Option<&Slot> {
        self.0.get(layer as usize).and_then(Option::as_deref)
    }

    /// The slot of the store.
    pub fn stored(&self) -> Option<&Slot> {
        self.get(Layer::Store)
    }

    /// The slots that are there, the strongest layer first.
    pub fn strongest_first(&self) -> impl Iterator<Item = (Layer, &Slot)> {
        [Layer::Store, Layer::Package, Layer::Builtin]
            .into_iter()
            .filter_map(|layer| Some((layer, self.get(layer)?)))
    }

    fn slot_mut(&mut self, layer: Layer) -> &mut Option<Box<Slot>> {
        let [builtin, package, store] = &mut self.0;
        match layer {
            Layer::Builtin => builtin,
            Layer::Package => package,
            Layer::Store => store,
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}

impl Slots {
    /// No documents yet; `root` is what every store key begins with.
    pub fn new(root: &str) -> Slots {
        Slots { root: root.to_owned(), kinds: PerKind::default() }
    }

    /// What every key begins with.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The keys of a kind and what the layers hold under them, in key order.
    pub fn sorted(&self, kind: DocumentKind) -> Vec<(&String, &Layers)> {
        let mut all: Vec<_> = self.of(kind).iter().collect();
        all.sort_by_key(|(key, _)| *key);
        all
    }

    /// The keys of a kind and what the layers hold under them, in no order.
    pub fn of(&self, kind: DocumentKind) -> &HashMap<String, Layers> {
        &self.kinds.of(kind).all
    }

    /// The keys of a kind under which the latest version in some layer is bad, and what the layers hold, in key order.
    pub fn bad(&self, kind: DocumentKind) -> impl Iterator<Item = (&String, &Layers)> {
        let OfKind { all, bad } = self.kinds.of(kind);
        bad.iter().filter_map(|key| all.get_key_value(key))
    }

    /// Whether a layer already holds just this under a key.
    pub fn holds(
        &self,
        kind: DocumentKind,
        layer: Layer,
        key: &str,
        bytes: Result<&[u8], &ProblemDetail>,
    ) -> bool {
        let slot = self.of(kind).get(key).and_then(|layers| layers.get(layer));
        slot.is_some_and(|slot| slot.raw.as_deref() == bytes)
    }

    /// Remembers that the scan of this number has seen the key.
    pub fn mark_seen(&mut self, kind: DocumentKind, key: &str, scan: u64) {
        let layers = self.kinds.of_mut(kind).all.get_mut(key);
        if let Some(slot) = layers.and_then(|layers| layers.slot_mut(Layer::Store).as_mut()) {
            slot.seen = scan;
        }
    }

    /// Marks the key as seen by the scan of this number; says whether the store's slot already holds just this.
    pub fn sees(
        &mut self,
        kind: DocumentKind,
        scan: u64,
        key: &str,
        bytes: Result<&[u8], &ProblemDetail>,
    ) -> bool {
        let layers = self.kinds.of_mut(kind).all.get_mut(key);
        let Some(slot) = layers.and_then(|layers| layers.slot_mut(Layer::Store).as_mut()) else {
            return false;
        };
        slot.seen = scan;
        slot.raw.as_deref() == bytes
    }

    /// The keys of the store that the scan of this number has not seen.
    pub fn unseen(&self, kind: DocumentKind, scan: u64) -> Vec<String> {
        let unseen = |layers: &Layers| layers.stored().is_some_and(|slot| slot.seen != scan);
        self.of(kind).iter().filter(|(_, layers)| unseen(layers)).map(|(key, _)| key.clone()).collect()
    }

    /// Puts a document in its slot; the last good version stays when the new one is bad.
    pub fn put(&mut self, kind: DocumentKind, layer: Layer, raw: Raw) {
        let id = Id::from_key(&raw.key, &self.root, kind);
        let read = raw.bytes.clone().and_then(|bytes| {
            let id = id.map_err(|error| ProblemDetail::new(error.to_string()))?;
            Document::read(kind, &id, &bytes).map_err(DocumentError::into_problem)
        });
        let layers = self.kinds.of_mut(kind).all.entry(raw.key.clone()).or_default();
        let place = layers.slot_mut(layer);
        let before = place.take();
        let seen = before.as_ref().map_or(0, |slot| slot.seen);
        let before = before.and_then(|slot| slot.good);
        let (good, reason) = match read {
            Ok(document) => (Some(document), None),
            Err(reason) => (before, Some(reason)),
        };
        *place = Some(Box::new(Slot { raw: raw.bytes, file: raw.file, good, reason, seen }));
        self.kinds.of_mut(kind).note_bad(raw.key);
    }

    /// Empties a slot; says whether it held anything.
    pub fn remove(&mut self, kind: DocumentKind, layer: Layer, key: &str) -> bool {
        let slots = self.kinds.of_mut(kind);
        let Some(layers) = slots.all.get_mut(key) else { return false };
        let was_there = layers.slot_mut(layer).take().is_some();
        if layers.is_empty() {
            slots.all.remove(key);
        }
        slots.note_bad(key.to_owned());
        was_there
    }
}

impl OfKind {
    fn note_bad(&mut self, key: String) {
        let mut slots = self.all.get(&key).into_iter().flat_map(Layers::strongest_first);
        if slots.any(|(_, slot)| slot.reason.is_some()) {
            self.bad.insert(key);
        } else {
            self.bad.remove(&key);
        }
    }
}
