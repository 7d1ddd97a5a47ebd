//! The kinds of documents, as one table: all that the catalog, the HTTP API and the command line have to know of each.
//!
//! What a document of a kind *means* is a type of its own beside this file; `ARCHITECTURE.md` shows how a kind is added.

use std::fmt;

use serde::{Serialize, Serializer};

/// A kind of documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DocumentKind {
    /// A bundle of prompts with its metadata.
    Extension,
    /// A prompt template.
    Prompt,
    /// A shared variable: any JSON value.
    Environ,
    /// The definition of a callable tool.
    Tool,
    /// A text that teaches a model to do a job in steps; the one kind whose stored form need not be JSON.
    Skill,
    /// A console agent in five steps.
    Agent,
}

/// One row of the table.
struct Row {
    noun: &'static str,
    key_prefix: &'static str,
    not_found_code: &'static str,
    schema: Option<&'static str>,
    named_by: &'static [&'static str],
    package_folder: Option<&'static str>,
    about: &'static str,
}

const EXTENSION: Row = Row {
    noun: "extension",
    key_prefix: "extensions:",
    not_found_code: "extension_not_found",
    schema: Some(include_str!("../../../../jsonschema/extension.json")),
    named_by: &["name"],
    package_folder: None,
    about: "extensions",
};

const PROMPT: Row = Row {
    noun: "prompt",
    key_prefix: "templates:",
    not_found_code: "prompt_not_found",
    schema: Some(include_str!("../../../../jsonschema/prompt.json")),
    named_by: &[],
    package_folder: None,
    about: "prompts",
};

const ENVIRON: Row = Row {
    noun: "environ",
    key_prefix: "environs:",
    not_found_code: "environ_not_found",
    schema: None,
    named_by: &[],
    package_folder: Some("environs/"),
    about: "shared variables",
};

const TOOL: Row = Row {
    noun: "tool",
    key_prefix: "tools:",
    not_found_code: "tool_not_found",
    schema: Some(include_str!("../../../../jsonschema/tool.json")),
    named_by: &["module", "name"],
    package_folder: Some("tools/"),
    about: "tools",
};

const SKILL: Row = Row {
    noun: "skill",
    key_prefix: "skills:",
    not_found_code: "skill_not_found",
    schema: Some(include_str!("../../../../jsonschema/skill.json")),
    named_by: &[],
    // Packages have a folder for each, with a SKILL.md.
    package_folder: None,
    about: "skills",
};

const AGENT: Row = Row {
    noun: "agent",
    key_prefix: "agents:",
    not_found_code: "agent_not_found",
    schema: Some(include_str!("../../../../jsonschema/agent.json")),
    named_by: &["name"],
    package_folder: Some("agents/"),
    about: "agents",
};

impl DocumentKind {
    /// All kinds, in the order of the enum; lists show them so.
    pub const ALL: [DocumentKind; 6] = [
        DocumentKind::Extension,
        DocumentKind::Prompt,
        DocumentKind::Environ,
        DocumentKind::Tool,
        DocumentKind::Skill,
        DocumentKind::Agent,
    ];

    const fn row(self) -> &'static Row {
        match self {
            DocumentKind::Extension => &EXTENSION,
            DocumentKind::Prompt => &PROMPT,
            DocumentKind::Environ => &ENVIRON,
            DocumentKind::Tool => &TOOL,
            DocumentKind::Skill => &SKILL,
            DocumentKind::Agent => &AGENT,
        }
    }

    /// The singular in messages, commands and schema names; its plural with `s` is the kind's path in the API.
    pub const fn noun(self) -> &'static str {
        self.row().noun
    }

    /// The part of a store key that says the kind, with its colon.
    pub const fn key_prefix(self) -> &'static str {
        self.row().key_prefix
    }

    /// The error code for an id that no document of the kind has.
    pub const fn not_found_code(self) -> &'static str {
        self.row().not_found_code
    }

    /// The JSON Schema of its documents as text (of skills: of those that are JSON); `None` for a kind whose documents are any JSON
    /// value.
    pub const fn schema(self) -> Option<&'static str> {
        self.row().schema
    }

    /// The string members that together, joined by `.`, are the id of a document; empty if documents do not name themselves.
    pub const fn named_by(self) -> &'static [&'static str] {
        self.row().named_by
    }

    /// The folder of a package that holds one JSON file for each document, with its slash; `None` if packages have the
    /// kind elsewhere (in `package.json`), or not at all.
    pub const fn package_folder(self) -> Option<&'static str> {
        self.row().package_folder
    }

    /// What the help of the command line calls its documents.
    pub const fn about(self) -> &'static str {
        self.row().about
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.noun())
    }
}

impl Serialize for DocumentKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.noun())
    }
}

/// One value for each kind.
#[derive(Debug, Clone, Default)]
pub struct PerKind<T>([T; DocumentKind::ALL.len()]);

impl<T> PerKind<T> {
    /// The value of a kind.
    #[expect(clippy::indexing_slicing, reason = "there is an element for each kind")]
    pub fn of(&self, kind: DocumentKind) -> &T {
        &self.0[kind as usize]
    }

    /// The value of a kind, to be changed.
    #[expect(clippy::indexing_slicing, reason = "there is an element for each kind")]
    pub fn of_mut(&mut self, kind: DocumentKind) -> &mut T {
        &mut self.0[kind as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_kinds_are_listed_in_the_order_of_the_enum() {
        for (at, kind) in DocumentKind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, at);
        }
    }

    #[test]
    fn no_two_kinds_share_a_noun_a_prefix_or_a_code() {
        let unique = |what: fn(DocumentKind) -> &'static str| {
            let all: std::collections::BTreeSet<&str> = DocumentKind::ALL.into_iter().map(what).collect();
            assert_eq!(all.len(), DocumentKind::ALL.len(), "{all:?}");
        };
        unique(DocumentKind::noun);
        unique(DocumentKind::key_prefix);
        unique(DocumentKind::not_found_code);
    }
}
