//! Documents of all kinds: how their bytes are parsed and checked, and what lists show of them.
//!
//! This is the place in the catalog that distinguishes all kinds.
//!
//! A document that names itself (`name` of an extension, `module` and `name` of a tool) must name itself as it is stored.
//! That is checked when this service writes it; a document that another program wrote is taken by its key. Members that are
//! `null` count as absent, because some programs write absent members so.

use std::sync::Arc;

use serde_json::Value as Json;

use super::agents::AgentEntry;
use crate::formats::{self, folder_of};
use agent::{Agent, Overrides};
use base::model::{
    DocumentKind, Extension, Fault, Id, Origin, ProblemDetail, Prompt, Restful, Skill, Tool,
    is_file_reference, string_member,
};
use base::schema::{self, Effort, Schema, Violation};
use template::value::{Value, from_json};

/// A parsed document.
#[derive(Debug, Clone)]
pub enum Document {
    /// An extension with the prompts that it contributes.
    Extension(Arc<Extension>),
    /// A prompt that is a document of its own.
    Prompt(Arc<Prompt>),
    /// A shared variable.
    Environ(Value),
    /// A tool that templates can call.
    Tool(Arc<Tool>),
    /// A skill that a model can follow.
    Skill(Arc<Skill>),
    /// An agent in five steps.
    Agent(Arc<AgentEntry>),
}

/// The error of bytes that are not a document of a kind.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The bytes are not JSON.
    #[error("the document is {}", .0.message)]
    NotJson(ProblemDetail),
    /// The JSON breaks the schema of the kind, or the document does not name itself as it is stored.
    #[error("{}", schema::in_words(.0))]
    Invalid(Vec<Violation>),
}

impl DocumentError {
    /// The error of a skill whose text cannot be used.
    fn unusable(error: formats::UnusableSkill) -> DocumentError {
        let violation = Violation { path: "/content".to_owned(), message: error.to_string(), missing: None };
        DocumentError::Invalid(vec![violation])
    }

    /// The error as a problem of the document.
    pub fn into_problem(self) -> ProblemDetail {
        match self {
            DocumentError::NotJson(problem) => problem,
            DocumentError::Invalid(violations) => {
                let all: Vec<String> = violations.iter().map(Violation::to_string).collect();
                ProblemDetail::new(all.join("; "))
            }
        }
    }
}

impl Document {
    /// Parses the document `id`, after checking it against the schema of its kind.
    ///
    /// # Errors
    /// [`DocumentError`], with every violation.
    pub fn read(kind: DocumentKind, id: &Id, bytes: &[u8]) -> Result<Document, DocumentError> {
        Document::read_from(kind, id, None, bytes)
    }

    /// As [`Document::read`]; `file` is the path of the file that it comes from, whose folder gives a skill its name.
    ///
    /// # Errors
    /// [`DocumentError`], with every violation.
    pub fn read_from(
        kind: DocumentKind,
        id: &Id,
        file: Option<&str>,
        bytes: &[u8],
    ) -> Result<Document, DocumentError> {
        if kind == DocumentKind::Skill && !formats::is_skill_document(bytes) {
            let folder = file.map(folder_of).and_then(|folder| folder.rsplit('/').next());
            let skill = formats::stored_skill(id, folder, bytes).map_err(DocumentError::unusable)?;
            return Ok(Document::Skill(Arc::new(skill)));
        }
        Document::read_if(kind, id, bytes, |_| Vec::new())
    }

    /// Parses a document that is about to be stored under `id`: if it names itself, then by that id. What else could not work is
    /// refused, too.
    ///
    /// # Errors
    /// [`DocumentError`], with every violation.
    pub fn read_named(kind: DocumentKind, id: &Id, bytes: &[u8]) -> Result<Document, DocumentError> {
        if kind == DocumentKind::Skill {
            return Document::read_from(kind, id, None, bytes);
        }
        let check = |json: &Json| {
            name_violation(kind, id, json).into_iter().chain(input_violation(kind, json)).collect()
        };
        Document::read_if(kind, id, bytes, check)
    }

    fn read_if(
        kind: DocumentKind,
        id: &Id,
        bytes: &[u8],
        check: impl FnOnce(&Json) -> Vec<Violation>,
    ) -> Result<Document, DocumentError> {
        let not_json =
            |error: serde_json::Error| DocumentError::NotJson(ProblemDetail::from_json_error(&error));
        if kind == DocumentKind::Environ {
            return from_json(bytes).map(Document::Environ).map_err(not_json);
        }
        let mut json: Json = serde_json::from_slice(bytes).map_err(not_json)?;
        let mut violations = violations(kind, &mut json);
        violations.extend(check(&json));
        if !violations.is_empty() {
            if kind == DocumentKind::Agent {
                add_faults(&json, &mut violations);
            }
            return Err(DocumentError::Invalid(violations));
        }
        Ok(match kind {
            DocumentKind::Extension => Document::Extension(Arc::new(Extension::from_document(json))),
            DocumentKind::Prompt => {
                Document::Prompt(Arc::new(Prompt::from_document(id.clone(), Origin::Direct, json)))
            }
            DocumentKind::Environ => Document::Environ(Value::from(&json)),
            DocumentKind::Tool => Document::Tool(Arc::new(Tool::from_document(id.clone(), json))),
            DocumentKind::Skill => {
                let object = json.as_object().cloned().unwrap_or_default();
                let skill = formats::skill_of_object(id, None, object).map_err(DocumentError::unusable)?;
                Document::Skill(Arc::new(skill))
            }
            DocumentKind::Agent => {
                let agent = Agent::read(&json, &Overrides::new()).map_err(DocumentError::Invalid)?;
                Document::Agent(Arc::new(AgentEntry::good(id.clone(), agent)))
            }
        })
    }

    /// The prompts whose templates the document holds.
    pub fn prompts(&self) -> &[Arc<Prompt>] {
        match self {
            Document::Prompt(prompt) => std::slice::from_ref(prompt),
            Document::Extension(extension) => &extension.prompts,
            Document::Environ(_) | Document::Tool(_) | Document::Skill(_) | Document::Agent(_) => &[],
        }
    }

    /// The name under which templates call it; it must be unique.
    pub fn function(&self) -> Option<&str> {
        match self {
            Document::Tool(tool) => Some(&tool.function),
            _ => None,
        }
    }
}

/// The violations of the schema of a document's kind. Members that are `null` count as absent and are removed.
pub fn violations(kind: DocumentKind, json: &mut Json) -> Vec<Violation> {
    let Some(document) = schema::document(kind) else { return Vec::new() };
    without_nulls(json);
    let schema = document.schema.as_ref();
    let mut violations =
        schema.map_or_else(Vec::new, |schema| schema.violations(&Value::from(&*json), Effort::SERVING));
    match kind {
        DocumentKind::Prompt => prompt_violations(json, "", &mut violations),
        DocumentKind::Extension => {
            let prompts = json.pointer("/contributes/prompts").and_then(Json::as_array);
            for (at, prompt) in prompts.into_iter().flatten().enumerate() {
                prompt_violations(prompt, &format!("/contributes/prompts/{at}"), &mut violations);
            }
        }
        DocumentKind::Tool => {
            violations.extend(["parameters", "returns"].iter().filter_map(|member| {
                let error = Schema::compile(json.get(member)?).err()?;
                Some(Violation { path: format!("/{member}"), message: error.to_string(), missing: None })
            }));
            if violations.is_empty() && json.get("type").and_then(Json::as_str) == Some("restful") {
                let faults = Restful::read(json).err().into_iter().flatten();
                violations.extend(faults.map(|Fault { path, message }| Violation {
                    path,
                    message,
                    missing: None,
                }));
            }
        }
        DocumentKind::Environ | DocumentKind::Skill | DocumentKind::Agent => {}
    }
    violations
}

/// Adds what is wrong with an agent beyond its schema, where the schema says nothing.
fn add_faults(json: &Json, violations: &mut Vec<Violation>) {
    let faults = Agent::read(json, &Overrides::new()).err().into_iter().flatten();
    let is_new = |fault: &Violation| violations.iter().all(|known| known.path != fault.path);
    let faults: Vec<Violation> = faults.filter(is_new).collect();
    violations.extend(faults);
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

/// Reports templates that are references to files, which are resolved in packages only, and roles without a text for them.
fn prompt_violations(prompt: &Json, path: &str, violations: &mut Vec<Violation>) {
    if prompt.get("roles") == Some(&Json::Bool(true)) && prompt.get("messages").is_some() {
        let message = "is for a `userPrompt` with headings; `messages` have their roles".to_owned();
        violations.push(Violation { path: format!("{path}/roles"), message, missing: None });
    }
    let messages = prompt.get("messages").and_then(Json::as_array).into_iter().flatten();
    let contents =
        messages.enumerate().map(|(at, message)| (format!("messages/{at}/content"), message.get("content")));
    let texts = ["userPrompt", "prompt"].map(|name| (name.to_owned(), prompt.get(name)));
    for (place, template) in texts.into_iter().chain(contents) {
        if template.is_some_and(is_file_reference) {
            let message = "a file can replace a text only in a package".to_owned();
            violations.push(Violation { path: format!("{path}/{place}"), message, missing: None });
        }
    }
}

/// The violation of a prompt whose `input` names a parameter that its `parameters` do not take.
fn input_violation(kind: DocumentKind, json: &Json) -> Option<Violation> {
    let name = json.get("input").filter(|_| kind == DocumentKind::Prompt)?.as_str()?;
    let parameters = json.get("parameters")?;
    let is_closed = parameters.get("additionalProperties") == Some(&Json::Bool(false));
    let is_declared = parameters.get("properties").is_some_and(|known| known.get(name).is_some());
    let is_other = parameters.get("patternProperties").is_some();
    let message = format!("names `{name}`, which `parameters` do not take");
    (is_closed && !is_declared && !is_other).then(|| Violation {
        path: "/input".to_owned(),
        message,
        missing: None,
    })
}

/// The id by which a document names itself, as it is written; `None` if it does not name itself.
pub fn own_name(kind: DocumentKind, json: &Json) -> Option<String> {
    let members = kind.named_by();
    let names: Option<Vec<String>> = members.iter().map(|member| string_member(json, member)).collect();
    names.filter(|names| !names.is_empty()).map(|names| names.join("."))
}

/// The violation of a document that names itself otherwise than `id`.
fn name_violation(kind: DocumentKind, id: &Id, json: &Json) -> Option<Violation> {
    let name = own_name(kind, json)?;
    let same = Id::parse(&name).is_ok_and(|name| name == *id);
    let message = format!("the document calls itself `{name}`, but is stored as `{id}`");
    (!same).then(|| Violation { path: "/name".to_owned(), message, missing: None })
}
