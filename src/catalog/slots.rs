//! The slots: the latest bytes that each source holds under each key, and the last good version of the document.
//!
//! The id of a document is its key without the prefix of its kind. A key with a `.` inside a segment is not an id, and is
//! listed as a problem.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::document::{Document, DocumentError};
use base::model::{DocumentKind, Id, PerKind, ProblemDetail};

/// The source of a document; later layers override earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// A package inside the binary.
    Builtin = 0,
    /// A package in the folder.
    Package = 1,
    /// The store.
    Store = 2,
}

/// A document as its source holds it.
#[derive(Debug, Clone, PartialEq)]
pub struct RawDocument {
    /// The key in the store; for a package's document, the key that it would have there.
    pub key: String,
    /// Whether the key is made of the file name because the document, which should name itself, cannot be read.
    pub guessed: bool,
    /// The path of the file that it was read from.
    pub file: Option<String>,
    /// The bytes, or the problem of reading them.
    pub bytes: Result<Arc<[u8]>, ProblemDetail>,
    /// The paths of the files beside that of a skill, below its folder.
    pub beside: Arc<[String]>,
}

impl RawDocument {
    /// A document of the store.
    pub fn stored(key: String, bytes: Result<Arc<[u8]>, ProblemDetail>) -> RawDocument {
        RawDocument { key, guessed: false, file: None, bytes, beside: Arc::default() }
    }
}

/// The document of one source under one key.
#[derive(Debug)]
pub struct Slot {
    raw: Result<Arc<[u8]>, ProblemDetail>,
    /// The path of the file that it was read from.
    pub file: Option<String>,
    /// The paths of the files beside that of a skill.
    pub beside: Arc<[String]>,
    /// The latest good version that this process has seen.
    pub good: Option<Document>,
    /// The problem of the latest version, if that is bad.
    pub problem: Option<ProblemDetail>,
    /// The number of the last scan that saw the key.
    seen: u64,
}

/// The slots of all layers under one key.
#[derive(Debug, Default)]
pub struct Layers([Option<Box<Slot>>; 3]);

/// All slots, by key.
#[derive(Debug)]
pub struct Slots {
    root: String,
    kinds: PerKind<KindSlots>,
}

/// The slots of one kind.
#[derive(Debug, Default)]
struct KindSlots {
    all: HashMap<String, Layers>,
    /// The keys whose latest version is bad in some layer.
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

    /// The slots that are not empty, the strongest layer first.
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
    /// No documents yet; `root` is the prefix of every key.
    pub fn new(root: &str) -> Slots {
        Slots { root: root.to_owned(), kinds: PerKind::default() }
    }

    /// The prefix of every key.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The keys of a kind and their layers, in key order.
    pub fn sorted(&self, kind: DocumentKind) -> Vec<(&String, &Layers)> {
        let mut all: Vec<_> = self.of(kind).iter().collect();
        all.sort_by_key(|(key, _)| *key);
        all
    }

    /// The keys of a kind and their layers, in no particular order.
    pub fn of(&self, kind: DocumentKind) -> &HashMap<String, Layers> {
        &self.kinds.of(kind).all
    }

    /// The keys of a kind whose latest version is bad in some layer, and their layers, in key order.
    pub fn bad(&self, kind: DocumentKind) -> impl Iterator<Item = (&String, &Layers)> {
        let KindSlots { all, bad } = self.kinds.of(kind);
        bad.iter().filter_map(|key| all.get_key_value(key))
    }

    /// Whether a layer already holds exactly this content under its key.
    pub fn holds(&self, kind: DocumentKind, layer: Layer, raw: &RawDocument) -> bool {
        let slot = self.of(kind).get(&raw.key).and_then(|layers| layers.get(layer));
        slot.is_some_and(|slot| slot.raw == raw.bytes && slot.beside == raw.beside)
    }

    /// Marks the key as seen by the scan with this number.
    pub fn mark_seen(&mut self, kind: DocumentKind, key: &str, scan: u64) {
        let layers = self.kinds.of_mut(kind).all.get_mut(key);
        if let Some(slot) = layers.and_then(|layers| layers.slot_mut(Layer::Store).as_mut()) {
            slot.seen = scan;
        }
    }

    /// Marks the key as seen by the scan with this number; returns whether the store's slot already holds this content.
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

    /// The keys of the store that the scan with this number has not seen.
    pub fn unseen(&self, kind: DocumentKind, scan: u64) -> Vec<String> {
        let unseen = |layers: &Layers| layers.stored().is_some_and(|slot| slot.seen != scan);
        self.of(kind).iter().filter(|(_, layers)| unseen(layers)).map(|(key, _)| key.clone()).collect()
    }

    /// Puts a document into its slot; if the new version is bad, the last good one is kept.
    pub fn put(&mut self, kind: DocumentKind, layer: Layer, raw: RawDocument) {
        let id = Id::from_key(&raw.key, &self.root, kind);
        let read = raw.bytes.clone().and_then(|bytes| {
            let id = id.map_err(|error| ProblemDetail::new(error.to_string()))?;
            Document::read_from(kind, &id, raw.file.as_deref(), &bytes).map_err(DocumentError::into_problem)
        });
        let layers = self.kinds.of_mut(kind).all.entry(raw.key.clone()).or_default();
        let place = layers.slot_mut(layer);
        let before = place.take();
        let seen = before.as_ref().map_or(0, |slot| slot.seen);
        let before = before.and_then(|slot| slot.good);
        let (good, problem) = match read {
            Ok(document) => (Some(document), None),
            Err(problem) => (before, Some(problem)),
        };
        *place =
            Some(Box::new(Slot { raw: raw.bytes, file: raw.file, beside: raw.beside, good, problem, seen }));
        self.kinds.of_mut(kind).note_bad(raw.key);
    }

    /// Empties a slot; returns whether it held anything.
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

impl KindSlots {
    /// Updates whether the key is among the bad ones.
    fn note_bad(&mut self, key: String) {
        let mut slots = self.all.get(&key).into_iter().flat_map(Layers::strongest_first);
        if slots.any(|(_, slot)| slot.problem.is_some()) {
            self.bad.insert(key);
        } else {
            self.bad.remove(&key);
        }
    }
}
