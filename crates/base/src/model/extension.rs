//! The extension document: meta data around a bundle of prompts.

use std::sync::Arc;

use semver::{Version, VersionReq};
use serde_json::Value as Json;

use super::prompt::without_files;
use super::{Id, Origin, Prompt, string_member, strings};

/// An extension, read from a document that its schema has accepted.
#[derive(Debug, Clone, PartialEq)]
pub struct Extension {
    /// Its identity.
    pub name: String,
    /// Its own version, where it has a valid one.
    pub version: Option<Version>,
    /// The engine that it wants.
    pub engine: Option<Engine>,
    /// The languages that it is made for; `*` stands for all.
    pub languages: Vec<String>,
    /// The other extensions that it builds on.
    pub dependences: Vec<Dependence>,
    /// The prompts that it brings.
    pub prompts: Vec<Arc<Prompt>>,
    /// The whole document as it was written.
    pub document: Json,
}

/// The engine that an extension asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Engine {
    /// `ai-prompt-shell`, or some other engine's name.
    pub name: String,
    /// The versions that will do.
    pub version: Requirement,
}

/// Which versions will do; the text as it was written, where it cannot be read.
pub type Requirement = Result<VersionReq, String>;

/// Another extension that an extension builds on.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependence {
    /// The other extension's name.
    pub name: String,
    /// The versions that will do.
    pub version: Requirement,
    /// What an unmet dependence means.
    pub fail_strategy: FailStrategy,
}

/// What to do when a dependence is not met, where the settings say that dependences are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailStrategy {
    /// The extension is unavailable.
    Abort,
    /// The extension works without it.
    Ignore,
}

impl Extension {
    /// Reads the document; members whose shape the schema leaves open are taken where they fit.
    pub fn from_document(document: Json) -> Extension {
        let contributes = document.get("contributes");
        let list = |member: &str| {
            contributes.and_then(|c| c.get(member)).and_then(Json::as_array).into_iter().flatten()
        };
        let name = string_member(&document, "name").unwrap_or_default();
        Extension {
            version: string_member(&document, "version").and_then(|text| Version::parse(&text).ok()),
            engine: document.get("engines").and_then(Engine::from_json),
            languages: strings(contributes.and_then(|c| c.get("languages"))),
            dependences: list("dependences").filter_map(Dependence::from_json).collect(),
            prompts: list("prompts").filter_map(|prompt| contribution(&name, prompt)).map(Arc::new).collect(),
            name,
            document: without_files(document),
        }
    }
}

/// A prompt that the extension `name` brings.
fn contribution(name: &str, prompt: &Json) -> Option<Prompt> {
    let id = Id::parse(name).ok()?.child(&string_member(prompt, "name")?).ok()?;
    Some(Prompt::from_document(id, Origin::Extension, prompt.clone()))
}

impl Engine {
    fn from_json(json: &Json) -> Option<Engine> {
        Some(Engine { name: string_member(json, "name")?, version: requirement(json) })
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

/// The `version` member as a requirement; absent means any version.
fn requirement(json: &Json) -> Requirement {
    let Some(text) = string_member(json, "version") else { return Ok(VersionReq::STAR) };
    // Other package managers put spaces where semver has commas: `>=1.0.0 <2.0.0`.
    let with_commas = || text.split_whitespace().collect::<Vec<_>>().join(", ");
    VersionReq::parse(&text).or_else(|_| VersionReq::parse(&with_commas())).map_err(|_| text)
}
