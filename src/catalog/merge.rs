//! Merges the documents of all layers into documents by id: decides which version wins, and finds conflicts.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::agents::AgentEntry;
use super::dependences::{UnmetDependence, unmet};
use super::document::Document;
use super::entry::{ExtensionEntry, PromptEntry};
use super::skill_files::SkillSource;
use super::slots::{Layer, Layers, Slot, Slots};
use super::snapshot::Documents;
use base::model::{DocumentKind, Extension, Id, Origin, Problem, ProblemDetail};

/// A prompt that may serve if its templates pass the check.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The entry with the prompt's latest good version.
    pub entry: Arc<PromptEntry>,
    /// The place of the document that it comes from, as problems name it.
    pub key: String,
}

/// The result of merging everything but prompts and environs.
#[derive(Debug, Default)]
pub struct MergeResult {
    /// The documents, without the prompts.
    pub documents: Documents,
    /// The prompts that extensions contribute.
    pub contributed: BTreeMap<Id, Candidate>,
    /// The conflicts between documents, and unmet dependences.
    pub problems: Vec<Problem>,
}

/// The extension that won an id so far.
struct ExtensionClaim {
    layer: Layer,
    place: String,
    extension: Arc<Extension>,
}

/// Merges the documents of all layers but prompts and environs; if `enforce` is set, an unmet dependence whose strategy is
/// `abort` makes an extension unavailable.
pub fn merge(slots: &Slots, enforce: bool) -> MergeResult {
    let mut merged = MergeResult::default();
    for kind in DocumentKind::ALL {
        match kind {
            DocumentKind::Extension => merged.add_extensions(slots, enforce),
            // Prompts are merged one by one (`candidate`), and environs into a tree (`environs`).
            DocumentKind::Prompt | DocumentKind::Environ => {}
            plain => merged.add_plain(slots, plain),
        }
    }
    merged
}

/// The candidate for the id of this key: the prompt stored there, else the contributed one.
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
        files: Arc::default(),
        extension: contributed.and_then(|candidate| candidate.entry.extension.clone()),
        problems: slot.problem.iter().cloned().collect(),
    };
    Some(Candidate { entry: Arc::new(entry), key: place(key, slot) })
}

/// The problems that documents of a kind have by themselves, whatever the other documents are.
pub fn bad_documents(slots: &Slots, kind: DocumentKind) -> impl Iterator<Item = Problem> {
    slots.bad(kind).flat_map(move |(key, layers)| {
        layers.strongest_first().filter_map(move |(_, slot)| {
            let detail = slot.problem.clone()?;
            Some(Problem { kind, key: place(key, slot), detail })
        })
    })
}

/// The place of a slot's document, as people look for it: the path of its file, or its key.
fn place(key: &str, slot: &Slot) -> String {
    slot.file.clone().unwrap_or_else(|| key.to_owned())
}

/// The version of a document that serves.
struct Winner<'a> {
    key: &'a str,
    layer: Layer,
    place: String,
    beside: &'a Arc<[String]>,
    document: &'a Document,
}

/// The good version of the strongest layer that has one.
fn winner<'a>(key: &'a str, layers: &'a Layers) -> Option<Winner<'a>> {
    layers.strongest_first().find_map(|(layer, slot)| {
        let document = slot.good.as_ref()?;
        Some(Winner { key, layer, place: place(key, slot), beside: &slot.beside, document })
    })
}

impl MergeResult {
    fn add_problem(&mut self, kind: DocumentKind, key: String, message: impl Into<String>) {
        self.problems.push(Problem { kind, key, detail: ProblemDetail::new(message) });
    }

    fn add_extensions(&mut self, slots: &Slots, enforce: bool) {
        let mut claims: BTreeMap<Id, ExtensionClaim> = BTreeMap::new();
        for (key, layers) in slots.sorted(DocumentKind::Extension) {
            for (layer, slot) in layers.strongest_first() {
                let Some(Document::Extension(extension)) = &slot.good else { continue };
                let Ok(id) = Id::parse(&extension.name) else { continue };
                let place = place(key, slot);
                match claims.get(&id) {
                    Some(claim) if claim.layer == layer => {
                        let message = format!("the extension `{id}` is already defined by {}", claim.place);
                        self.add_problem(DocumentKind::Extension, place, message);
                    }
                    Some(claim) if claim.layer > layer => {}
                    _ => {
                        claims.insert(id, ExtensionClaim { layer, place, extension: extension.clone() });
                    }
                }
            }
        }
        let all: BTreeMap<Id, Arc<Extension>> =
            claims.iter().map(|(id, claim)| (id.clone(), claim.extension.clone())).collect();
        for (id, ExtensionClaim { place, extension, .. }) in claims {
            let entry = self.extension_entry(&place, &extension, unmet(&extension, &all), enforce);
            self.add_contributions(&place, &entry);
            Arc::make_mut(&mut self.documents.extensions).insert(id, entry);
        }
    }

    fn extension_entry(
        &mut self,
        place: &str,
        extension: &Arc<Extension>,
        unmet: Vec<UnmetDependence>,
        enforce: bool,
    ) -> Arc<ExtensionEntry> {
        for UnmetDependence { message, .. } in &unmet {
            self.add_problem(DocumentKind::Extension, place.to_owned(), message);
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
                self.add_problem(DocumentKind::Prompt, place.to_owned(), message);
                continue;
            }
            let entry = PromptEntry {
                id: prompt.id.clone(),
                origin: Origin::Extension,
                prompt: Some(prompt.clone()),
                files: Arc::default(),
                extension: Some(entry.clone()),
                problems: Vec::new(),
            };
            let candidate = Candidate { entry: Arc::new(entry), key: place.to_owned() };
            self.contributed.insert(prompt.id.clone(), candidate);
        }
    }

    /// Adds the documents of a kind that needs no further merging: the strongest good version serves.
    fn add_plain(&mut self, slots: &Slots, kind: DocumentKind) {
        let mut claimed: HashMap<String, String> = HashMap::new();
        let sorted = slots.sorted(kind);
        let mut strongest: Vec<Winner> =
            sorted.into_iter().filter_map(|(key, layers)| winner(key, layers)).collect();
        let unusable = Self::unusable_agents(slots, kind);
        // The sort is stable: within a layer, the first key wins a function name.
        strongest.sort_by_key(|winner| Reverse(winner.layer));
        for Winner { key, layer, place, beside, document } in strongest {
            let Ok(id) = Id::from_key(key, slots.root(), kind) else { continue };
            if let Some(function) = document.function() {
                if let Some(first) = claimed.get(function) {
                    let message = format!("the function name `{function}` is already taken by {first}");
                    self.add_problem(kind, place, message);
                    continue;
                }
                claimed.insert(function.to_owned(), place.clone());
            }
            if let Document::Tool(tool) = document {
                Arc::make_mut(&mut self.documents.functions).insert(tool.function.clone(), tool.clone());
            }
            if let Document::Skill(skill) = document {
                let problem =
                    |detail: &ProblemDetail| Problem { kind, key: place.clone(), detail: detail.clone() };
                self.problems.extend(skill.problems.iter().map(problem));
                let source = SkillSource { key: place, layer, files: beside.clone() };
                Arc::make_mut(&mut self.documents.skill_sources).insert(id.clone(), source);
            }
            Arc::make_mut(&mut self.documents.plain).of_mut(kind).insert(id, document.clone());
        }
        let plain = Arc::make_mut(&mut self.documents.plain).of_mut(kind);
        plain.extend(unusable.into_iter().map(|entry| (entry.id.clone(), Document::Agent(Arc::new(entry)))));
    }

    /// The agents that never had a good version: they are listed, so that people see why they are not there.
    fn unusable_agents(slots: &Slots, kind: DocumentKind) -> Vec<AgentEntry> {
        if kind != DocumentKind::Agent {
            return Vec::new();
        }
        let unusable = slots.bad(kind).filter(|(key, layers)| winner(key, layers).is_none());
        let entries = unusable.filter_map(|(key, layers)| {
            let (_, slot) = layers.strongest_first().next()?;
            let id = Id::from_key(key, slots.root(), kind).ok()?;
            Some(AgentEntry::unusable(id, slot.bytes(), slot.problem.clone()?))
        });
        entries.collect()
    }
}
