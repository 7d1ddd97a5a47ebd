//! A file as a source of templates, and the parts of a prompt document that are made of it.

use serde_json::{Map, Value as Json, json};

use super::names::folder_of;
use super::roles::{Layout, Section, attributes_of, heading_lines, layout, role_of};
use base::model::filled_in_after;

/// A prompt document that was made of a file, and what the file says beside it.
#[derive(Debug)]
pub struct Found {
    /// The format of the file.
    pub format: &'static str,
    /// The prompt document.
    pub document: Map<String, Json>,
    /// What the file says and the document does not.
    pub left_out: Vec<String>,
}

/// Why a file cannot be taken.
#[derive(Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The reason, as a sentence about the file.
    pub message: String,
    /// Where in the file, from 1.
    pub line: Option<usize>,
}

impl Refusal {
    /// A reason without a place.
    pub fn new(message: String) -> Refusal {
        Refusal { message, line: None }
    }
}

/// A file with the text in it.
#[derive(Debug)]
pub struct Source {
    /// The path below the folder.
    pub path: String,
    /// The path as people see it.
    shown: String,
    /// The text, with `\n` as its only line break.
    pub text: String,
}

/// What a text without headings for roles is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlainAs {
    /// The text of the prompt.
    Text,
    /// The message of the system.
    System,
}

impl Source {
    /// The file `path` below the folder that people see as `shown`.
    pub fn new(path: &str, shown: &str, text: &str) -> Source {
        let text = text.replace("\r\n", "\n");
        Source { path: path.to_owned(), shown: format!("{shown}/{path}"), text }
    }

    /// A template that comes after this many lines of the file.
    pub fn template(&self, lines_before: usize, text: &str) -> Json {
        filled_in_after(lines_before, &self.shown, text)
    }

    /// The member `folder` of a prompt, unless partials are looked up there anyway.
    pub fn folder(&self) -> Option<(String, Json)> {
        let folder = folder_of(&self.path);
        (!["", "prompts"].contains(&folder)).then(|| ("folder".to_owned(), folder.into()))
    }

    /// The message of one section. What stands in brackets after its role is its name, or is left out.
    fn message(&self, section: &Section<'_>, lines_before: usize, left_out: &mut Vec<String>) -> Json {
        let content = self.template(lines_before + section.lines_before, section.text);
        let mut message = json!({"role": section.role, "content": content});
        for (key, value, is_known) in attributes_of(section.attributes) {
            match message.as_object_mut().filter(|_| is_known && !value.contains("{{")) {
                Some(members) => drop(members.insert(key.to_owned(), value.into())),
                None => left_out.push(format!("{}[{key}]", section.role)),
            }
        }
        message
    }

    /// The members of a prompt document for a text that may have headings for roles.
    ///
    /// # Errors
    /// If it has messages that answer calls.
    pub fn body(
        &self,
        lines_before: usize,
        text: &str,
        plain: PlainAs,
        left_out: &mut Vec<String>,
    ) -> Result<Map<String, Json>, Refusal> {
        refuse_calls(lines_before, text)?;
        let sections = match layout(text) {
            Layout::Sections(sections) => sections,
            Layout::Plain if plain == PlainAs::System => {
                let section =
                    Section { role: "system", attributes: "", text: text.trim_end(), lines_before: 0 };
                vec![section]
            }
            Layout::Plain => {
                return Ok(Map::from_iter([("userPrompt".to_owned(), self.template(lines_before, text))]));
            }
            Layout::Woven(_) => {
                let text = ("userPrompt".to_owned(), self.template(lines_before, text));
                return Ok(Map::from_iter([text, ("roles".to_owned(), true.into())]));
            }
        };
        let messages: Vec<Json> =
            sections.iter().map(|section| self.message(section, lines_before, left_out)).collect();
        Ok(Map::from_iter([("messages".to_owned(), messages.into())]))
    }
}

/// Refuses headings of messages that answer calls.
fn refuse_calls(lines_before: usize, text: &str) -> Result<(), Refusal> {
    for heading in heading_lines(text) {
        if let Some((role @ ("function" | "tool"), _)) = role_of(heading.label) {
            let message =
                format!("its messages of the role `{role}` answer calls, which prompts do not make");
            return Err(Refusal { message, line: Some(lines_before + heading.line) });
        }
    }
    Ok(())
}
