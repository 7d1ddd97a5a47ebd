//! The extension document: a bundle of prompts with its metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use semver::{Version, VersionReq};
use serde_json::Value as Json;

use super::prompt::without_files;
use super::{Id, Origin, Prompt, string_member, strings};

/// An extension, read from a document that has passed its schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// Its name, with which the ids of its prompts begin.
    pub name: String,
    /// Its version; `None` if it is absent or not a semantic version.
    pub version: Option<Version>,
    /// The prompt engine that it requires (`engines`).
    pub engine: Option<EngineRequirement>,
    /// The languages that it supports; `*` stands for all.
    pub languages: Vec<String>,
    /// The other extensions that it requires.
    pub dependences: Vec<Dependence>,
    /// The prompts that it contributes.
    pub prompts: Vec<Arc<Prompt>>,
    /// The texts that its prompts can include by a path.
    pub partials: BTreeMap<String, Arc<str>>,
    /// The whole document, with the texts of files in the place of file references.
    pub document: Json,
}

/// The prompt engine that an extension requires.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineRequirement {
    /// The engine's name: `ai-prompt-shell`, or that of another engine.
    pub name: String,
    /// The accepted versions.
    pub version: Requirement,
}

/// The versions that are accepted; else the original text, if it is not a valid requirement. Such a requirement counts as
/// unmet, so that the author notices it.
pub type Requirement = Result<VersionReq, String>;

/// Another extension that an extension requires.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// The other extension's name.
    pub name: String,
    /// The accepted versions.
    pub version: Requirement,
    /// What happens if it is not met.
    pub fail_strategy: FailStrategy,
}

/// What happens if a dependence is not met and the settings enforce dependences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailStrategy {
    /// The extension is unavailable.
    Abort,
    /// The extension works without it.
    Ignore,
}

impl Extension {
    /// Reads the document. Members that the schema does not restrict are used if they have the expected type, else ignored.
    pub fn from_document(document: Json) -> Extension {
        let contributes = document.get("contributes");
        let list = |member: &str| {
            contributes.and_then(|c| c.get(member)).and_then(Json::as_array).into_iter().flatten()
        };
        let name = string_member(&document, "name").unwrap_or_default();
        let partials = contributes.and_then(|c| c.get("partials")).and_then(Json::as_object);
        let text = |(path, text): (&String, &Json)| Some((path.clone(), Arc::from(text.as_str()?)));
        Extension {
            partials: partials.into_iter().flatten().filter_map(text).collect(),
            version: string_member(&document, "version").and_then(|text| Version::parse(&text).ok()),
            engine: document.get("engines").and_then(EngineRequirement::from_json),
            languages: strings(contributes.and_then(|c| c.get("languages"))),
            dependences: list("dependences").filter_map(Dependence::from_json).collect(),
            prompts: list("prompts").filter_map(|prompt| contribution(&name, prompt)).map(Arc::new).collect(),
            name,
            document: without_files(document),
        }
    }
}

/// A prompt that the extension `name` contributes; its id is `{name}.{prompt}`.
fn contribution(name: &str, prompt: &Json) -> Option<Prompt> {
    let id = Id::parse(name).ok()?.child(&string_member(prompt, "name")?).ok()?;
    Some(Prompt::from_document(id, Origin::Extension, prompt.clone()))
}

impl EngineRequirement {
    fn from_json(json: &Json) -> Option<EngineRequirement> {
        Some(EngineRequirement { name: string_member(json, "name")?, version: requirement(json) })
    }
}

impl Dependence {
    fn from_json(json: &Json) -> Option<Dependence> {
        let fail_strategy = match string_member(json, "failStrategy").as_deref() {
            Some("abort") => FailStrategy::Abort,
            _ => FailStrategy::Ignore,
        };
        Some(Dependence { name: string_member(json, "name")?, version: requirement(json), fail_strategy })
    }
}

/// Reads the member `version`; if it is absent, any version is accepted.
fn requirement(json: &Json) -> Requirement {
    let Some(text) = string_member(json, "version") else { return Ok(VersionReq::STAR) };
    // npm separates comparators by spaces (`>=1.0.0 <2.0.0`), Cargo by commas; both are accepted.
    let with_commas = || text.split_whitespace().collect::<Vec<_>>().join(", ");
    VersionReq::parse(&text).or_else(|_| VersionReq::parse(&with_commas())).map_err(|_| text)
}
