//! Documents as they serve, with their state.

use std::sync::Arc;

use super::document::Document;
use super::partials::PartialFile;
use base::model::{Extension, Id, Origin, ProblemDetail, Prompt};

/// An extension and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct ExtensionEntry {
    /// The place of its document, as problems name it: the key in the store, or the path of the file.
    pub key: String,
    /// The document.
    pub extension: Arc<Extension>,
    /// The unmet dependences, if they make the extension and its prompts unavailable.
    pub unavailable: Option<String>,
}

/// A prompt and its state.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptEntry {
    /// The id by which requests and templates name it.
    pub id: Id,
    /// Whether it is a document of its own or part of an extension.
    pub origin: Origin,
    /// The version that serves: the current one, or the last good one; `None` if no version could be read.
    pub prompt: Option<Arc<Prompt>>,
    /// The files that the last good version includes, if it serves: the current ones may be what is bad.
    pub files: Arc<[(String, PartialFile)]>,
    /// The extension that contributes a prompt of this id.
    pub extension: Option<Arc<ExtensionEntry>>,
    /// The problems of the current version.
    pub problems: Vec<ProblemDetail>,
}

/// A document that serves, with its state.
#[derive(Debug, Clone)]
pub enum Entry {
    /// An extension; it may be unavailable.
    Extension(Arc<ExtensionEntry>),
    /// A prompt of any origin.
    Prompt(Arc<PromptEntry>),
    /// A document of any other kind, which has no state.
    Plain(Document),
}

impl Entry {
    /// The scenes that it is made for; `None` if its kind has none.
    pub fn supports(&self) -> Option<Vec<&str>> {
        match self {
            Entry::Extension(entry) => {
                let all = entry.extension.prompts.iter().flat_map(|prompt| &prompt.supports);
                Some(all.map(String::as_str).collect())
            }
            Entry::Prompt(entry) => {
                Some(entry.prompt.as_ref().map_or_else(Vec::new, |prompt| texts(&prompt.supports)))
            }
            Entry::Plain(Document::Tool(tool)) => Some(texts(&tool.supports)),
            Entry::Plain(_) => None,
        }
    }

    /// The programming languages that it is made for; `None` if its kind has none.
    pub fn languages(&self) -> Option<&[String]> {
        match self {
            Entry::Extension(entry) => Some(&entry.extension.languages),
            Entry::Prompt(entry) => {
                Some(entry.extension.as_ref().map_or(&[], |entry| &entry.extension.languages))
            }
            Entry::Plain(_) => None,
        }
    }
}

fn texts(all: &[String]) -> Vec<&str> {
    all.iter().map(String::as_str).collect()
}
