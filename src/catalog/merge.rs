//! From what the sources hold to documents by id: who wins, and what is wrong.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::dependences::{Unmet, unmet};
use super::document::Document;
use super::slots::{Layer, Layers, Slot, Slots};
use super::snapshot::{Documents, ExtensionEntry, PromptEntry};
use base::model::{DocumentKind, Extension, Id, Origin, ProblemDetail};

/// A problem before it is known since when it exists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fault {
    /// The kind of the document.
    pub kind: DocumentKind,
    /// The key in the store, or the path of the file.
    pub key: String,
    /// What is wrong.
    pub reason: ProblemDetail,
}

/// A prompt that could serve, before its templates are checked.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The prompt's entry.
    pub entry: Arc<PromptEntry>,
    /// The document that it comes from, for problems.
    pub key: String,
}

/// The result of merging: everything but the prompts is final. Environs are not in here.
#[derive(Debug, Default)]
pub struct Merged {
    /// All but the prompts.
    pub documents: Documents,
    /// The prompts that extensions contribute.
    pub contributed: BTreeMap<Id, Candidate>,
    /// What is wrong with how documents fit together.
    pub faults: Vec<Fault>,
}

/// Merges the documents of all layers but prompts and environs; `enforce` says whether an unmet dependence makes an extension unavailable.
pub fn merge(slots: &Slots, enforce: bool) -> Merged {
    let mut merged = Merged::default();
    for kind in DocumentKind::ALL {
        match kind {
            DocumentKind::Extension => merged.add_extensions(slots, enforce),
            // Prompts are merged one by one, and environs into a tree: `candidate`, and `environs`.
            DocumentKind::Prompt | DocumentKind::Environ => {}
            plain => merged.add_plain(slots, plain),
        }
    }
    merged
}

/// The prompt that is to serve under the id of this key: the one stored there, else the contributed one.
pub fn candidate(
    slots: &Slots,
    key: &str,
    id: &Id,
    contributed: &BTreeMap<Id, Candidate>,
) -> Option<Candidate> {
    let contributed = contributed.get(id);
    let layers = slots.of(DocumentKind::Prompt).get(key);
    let Some((layers, (_, slot))) =
        layers.and_then(|layers| Some((layers, layers.strongest_first().next()?)))
    else {
        return contributed.cloned();
    };
    let good = match winner(key, layers).map(|winner| winner.document) {
        Some(Document::Prompt(prompt)) => Some(prompt.clone()),
        _ => None,
    };
    if good.is_none() && contributed.is_some() {
        return contributed.cloned();
    }
    let entry = PromptEntry {
        id: id.clone(),
        origin: Origin::Direct,
        prompt: good,
        extension: contributed.and_then(|candidate| candidate.entry.extension.clone()),
        problems: slot.reason.iter().cloned().collect(),
    };
    Some(Candidate { entry: Arc::new(entry), key: place(key, slot) })
}

/// What is wrong with the documents of a kind, each by itself.
pub fn bad_documents(slots: &Slots, kind: DocumentKind) -> impl Iterator<Item = Fault> {
    slots.bad(kind).flat_map(move |(key, layers)| {
        layers.strongest_first().filter_map(move |(_, slot)| {
            let reason = slot.reason.clone()?;
            Some(Fault { kind, key: place(key, slot), reason })
        })
    })
}

/// Where a slot's document is, as people look for it.
fn place(key: &str, slot: &Slot) -> String {
    slot.file.clone().unwrap_or_else(|| key.to_owned())
}

/// The version of a document that serves.
struct Winner<'a> {
    key: &'a str,
    layer: Layer,
    place: String,
    document: &'a Document,
}

/// The version of the strongest layer whose document is (or once was) good.
fn winner<'a>(key: &'a str, layers: &'a Layers) -> Option<Winner<'a>> {
    layers.strongest_first().find_map(|(layer, slot)| {
        Some(Winner { key, layer, place: place(key, slot), document: slot.good.as_ref()? })
    })
}

impl Merged {
    fn fault(&mut self, kind: DocumentKind, key: String, reason: ProblemDetail) {
        self.faults.push(Fault { kind, key, reason });
    }

    fn add_extensions(&mut self, slots: &Slots, enforce: bool) {
        let mut claimed: BTreeMap<Id, (Layer, String, Arc<Extension>)> = BTreeMap::new();
        for (key, layers) in slots.sorted(DocumentKind::Extension) {
            for (layer, slot) in layers.strongest_first() {
                let Some(Document::Extension(extension)) = &slot.good else { continue };
                let Ok(id) = Id::parse(&extension.name) else { continue };
                let place = place(key, slot);
                match claimed.get(&id) {
                    Some((winner, first, _)) if *winner == layer => {
                        let message = format!("the extension `{id}` is already defined by {first}");
                        self.fault(DocumentKind::Extension, place, ProblemDetail::new(message));
                    }
                    Some((winner, ..)) if *winner > layer => {}
                    _ => {
                        claimed.insert(id, (layer, place, extension.clone()));
                    }
                }
            }
        }
        let all: BTreeMap<Id, Arc<Extension>> =
            claimed.iter().map(|(id, (_, _, extension))| (id.clone(), extension.clone())).collect();
        for (id, (_, place, extension)) in claimed {
            let entry = self.extension_entry(&place, &extension, unmet(&extension, &all), enforce);
            self.add_contributions(&place, &entry);
            Arc::make_mut(&mut self.documents.extensions).insert(id, entry);
        }
    }

    fn extension_entry(
        &mut self,
        place: &str,
        extension: &Arc<Extension>,
        unmet: Vec<Unmet>,
        enforce: bool,
    ) -> Arc<ExtensionEntry> {
        for Unmet { message, .. } in &unmet {
            self.fault(DocumentKind::Extension, place.to_owned(), ProblemDetail::new(message));
        }
        let fatal: Vec<&str> = unmet.iter().filter(|u| u.fatal).map(|u| u.message.as_str()).collect();
        Arc::new(ExtensionEntry {
            key: place.to_owned(),
            extension: extension.clone(),
            unavailable: (enforce && !fatal.is_empty()).then(|| fatal.join("; ")),
        })
    }

    fn add_contributions(&mut self, place: &str, entry: &Arc<ExtensionEntry>) {
        for prompt in &entry.extension.prompts {
            if self.contributed.contains_key(&prompt.id) {
                let message = format!("the prompt `{}` is defined more than once", prompt.id);
                self.fault(DocumentKind::Prompt, place.to_owned(), ProblemDetail::new(message));
                continue;
            }
            let entry = PromptEntry {
                id: prompt.id.clone(),
                origin: Origin::Extension,
                prompt: Some(prompt.clone()),
                extension: Some(entry.clone()),
                problems: Vec::new(),
            };
            let candidate = Candidate { entry: Arc::new(entry), key: place.to_owned() };
            self.contributed.insert(prompt.id.clone(), candidate);
        }
    }

    /// Adds the documents of a kind whose strongest good version serves, as it is.
    fn add_plain(&mut self, slots: &Slots, kind: DocumentKind) {
        let mut claimed: HashMap<String, String> = HashMap::new();
        let sorted = slots.sorted(kind);
        let mut strongest: Vec<Winner> =
            sorted.into_iter().filter_map(|(key, layers)| winner(key, layers)).collect();
        // The sort is stable: within a layer the first key stays first.
        strongest.sort_by_key(|winner| Reverse(winner.layer));
        for Winner { key, place, document, .. } in strongest {
            let Ok(id) = Id::from_key(key, slots.root(), kind) else { continue };
            if let Some(function) = document.function() {
                if let Some(first) = claimed.get(function) {
                    let message = format!("the function name `{function}` is already taken by {first}");
                    self.fault(kind, place, ProblemDetail::new(message));
                    continue;
                }
                claimed.insert(function.to_owned(), place);
            }
            if let Document::Tool(tool) = document {
                Arc::make_mut(&mut self.documents.functions).insert(tool.function.clone(), tool.clone());
            }
            Arc::make_mut(&mut self.documents.plain).of_mut(kind).insert(id, document.clone());
        }
    }
}
