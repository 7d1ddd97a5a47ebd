//! What each source holds under each key: the latest bytes, what they mean, and the last good meaning.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use serde_json::Value as Json;

use base::model::{DocumentKind, Extension, Id, Origin, ProblemDetail, Prompt, Tool, is_file_reference};
use base::schema::{self, Effort};
use template::value::{Value, from_json};

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

/// What a document means.
#[derive(Debug, Clone)]
pub enum Document {
    /// An extension.
    Extension(Arc<Extension>),
    /// A prompt of its own.
    Prompt(Arc<Prompt>),
    /// A shared variable.
    Environ(Value),
    /// A tool.
    Tool(Arc<Tool>),
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
    kinds: [OfKind; 4],
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
        Slots { root: root.to_owned(), kinds: Default::default() }
    }

    /// The keys of a kind and what the layers hold under them, in key order.
    pub fn sorted(&self, kind: DocumentKind) -> Vec<(&String, &Layers)> {
        let mut all: Vec<_> = self.of(kind).iter().collect();
        all.sort_by_key(|(key, _)| *key);
        all
    }

    /// The keys of a kind and what the layers hold under them, in no order.
    pub fn of(&self, kind: DocumentKind) -> &HashMap<String, Layers> {
        &self.kind(kind).all
    }

    /// The keys of a kind under which the latest version in some layer is bad, and what the layers hold, in key order.
    pub fn bad(&self, kind: DocumentKind) -> impl Iterator<Item = (&String, &Layers)> {
        let OfKind { all, bad } = self.kind(kind);
        bad.iter().filter_map(|key| all.get_key_value(key))
    }

    fn kind(&self, kind: DocumentKind) -> &OfKind {
        let [extensions, prompts, environs, tools] = &self.kinds;
        match kind {
            DocumentKind::Extension => extensions,
            DocumentKind::Prompt => prompts,
            DocumentKind::Environ => environs,
            DocumentKind::Tool => tools,
        }
    }

    fn kind_mut(&mut self, kind: DocumentKind) -> &mut OfKind {
        let [extensions, prompts, environs, tools] = &mut self.kinds;
        match kind {
            DocumentKind::Extension => extensions,
            DocumentKind::Prompt => prompts,
            DocumentKind::Environ => environs,
            DocumentKind::Tool => tools,
        }
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
        let layers = self.kind_mut(kind).all.get_mut(key);
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
        let layers = self.kind_mut(kind).all.get_mut(key);
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
            read(kind, id, &bytes)
        });
        let layers = self.kind_mut(kind).all.entry(raw.key.clone()).or_default();
        let place = layers.slot_mut(layer);
        let before = place.take();
        let seen = before.as_ref().map_or(0, |slot| slot.seen);
        let before = before.and_then(|slot| slot.good);
        let (good, reason) = match read {
            Ok(document) => (Some(document), None),
            Err(reason) => (before, Some(reason)),
        };
        *place = Some(Box::new(Slot { raw: raw.bytes, file: raw.file, good, reason, seen }));
        self.kind_mut(kind).note_bad(raw.key);
    }

    /// Empties a slot; says whether it held anything.
    pub fn remove(&mut self, kind: DocumentKind, layer: Layer, key: &str) -> bool {
        let slots = self.kind_mut(kind);
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

/// Reads a document: JSON, then its schema, then what it means.
fn read(kind: DocumentKind, id: Id, bytes: &[u8]) -> Result<Document, ProblemDetail> {
    if kind == DocumentKind::Environ {
        return from_json(bytes).map(Document::Environ).map_err(|e| ProblemDetail::from_json_error(&e));
    }
    let mut json: Json = serde_json::from_slice(bytes).map_err(|e| ProblemDetail::from_json_error(&e))?;
    let violations = violations(kind, &mut json);
    if !violations.is_empty() {
        return Err(ProblemDetail::new(schema::in_words(&violations)));
    }
    Ok(match kind {
        DocumentKind::Extension => Document::Extension(Arc::new(Extension::from_document(json))),
        DocumentKind::Tool => Document::Tool(Arc::new(Tool::from_document(id, json))),
        DocumentKind::Prompt | DocumentKind::Environ => {
            Document::Prompt(Arc::new(Prompt::from_document(id, Origin::Direct, json)))
        }
    })
}

/// How a document breaks the schema of its kind; environs have none. Members that are `null` count as absent, as some
/// programs write them so, and are removed.
pub fn violations(kind: DocumentKind, json: &mut Json) -> Vec<schema::Violation> {
    if kind != DocumentKind::Environ {
        without_nulls(json);
    }
    let document = schema::document(kind.noun()).and_then(|document| document.schema.as_ref());
    let mut violations =
        document.map_or_else(Vec::new, |schema| schema.violations(&Value::from(&*json), Effort::SERVING));
    match kind {
        DocumentKind::Prompt => file_references(json, "", &mut violations),
        DocumentKind::Extension => {
            let prompts = json.pointer("/contributes/prompts").and_then(Json::as_array);
            for (at, prompt) in prompts.into_iter().flatten().enumerate() {
                file_references(prompt, &format!("/contributes/prompts/{at}"), &mut violations);
            }
        }
        DocumentKind::Tool => violations.extend(["parameters", "returns"].iter().filter_map(|member| {
            let fault = schema::Schema::compile(json.get(member)?).err()?;
            Some(schema::Violation { path: format!("/{member}"), message: fault.to_string(), missing: None })
        })),
        DocumentKind::Environ => {}
    }
    violations
}

/// Removes `null` members of a document, of what it contributes, and of its prompts.
fn without_nulls(document: &mut Json) {
    let Some(members) = document.as_object_mut() else { return };
    members.retain(|key, member| !member.is_null() || key == "default");
    if let Some(contributes) = members.get_mut("contributes") {
        without_nulls(contributes);
    }
    if let Some(Json::Array(prompts)) = members.get_mut("prompts") {
        prompts.iter_mut().for_each(without_nulls);
    }
}

/// Reports templates that are still references to files: only the files of a package can be filled in.
fn file_references(prompt: &Json, path: &str, violations: &mut Vec<schema::Violation>) {
    let messages = prompt.get("messages").and_then(Json::as_array).into_iter().flatten();
    let contents =
        messages.enumerate().map(|(at, message)| (format!("messages/{at}/content"), message.get("content")));
    let texts = ["userPrompt", "prompt"].map(|name| (name.to_owned(), prompt.get(name)));
    for (place, template) in texts.into_iter().chain(contents) {
        if template.is_some_and(is_file_reference) {
            let message = "only in a package can a file stand for a text".to_owned();
            violations.push(schema::Violation { path: format!("{path}/{place}"), message, missing: None });
        }
    }
}
