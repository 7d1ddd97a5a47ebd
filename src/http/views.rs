//! How documents look from outside: one reply for each kind.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value as Json, json};

use super::skill_views::{self, SkillReply, SkillSummary};
use crate::app::App;
use crate::catalog::{AgentEntry, Document, Entry, ExtensionEntry, PromptEntry, Snapshot, clashes_of};
use crate::render::Requires;
use base::model::{Id, Origin, ProblemDetail, Syntax, object_schema};
use template::value::Value;

/// A single document, as `GET /api/{kind}s/{id}` shows it.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum DocumentReply<'a> {
    Extension(ExtensionReply<'a>),
    Prompt(Box<PromptReply<'a>>),
    Environ(&'a Value),
    Tool(ToolReply<'a>),
    Skill(Box<SkillReply<'a>>),
    Agent(AgentReply<'a>),
    /// Documents of other kinds stand as they were written.
    Plain(&'a Json),
}

/// A document in a list with `detail=true`.
#[derive(serde::Serialize)]
#[serde(untagged)]
pub enum SummaryReply<'a> {
    Prompt(PromptSummary<'a>),
    Environ(EnvironReply<'a>),
    Skill(Box<SkillSummary<'a>>),
    Agent(AgentSummary<'a>),
    /// Documents of all other kinds are listed in full.
    Full(DocumentReply<'a>),
}

/// The document, whether its prompts can be used, and what is wrong with it and with them.
#[derive(serde::Serialize)]
pub struct ExtensionReply<'a> {
    #[serde(flatten)]
    document: MembersBut<'a>,
    available: bool,
    problems: Vec<&'a ProblemDetail>,
}

/// A prompt with its document, what it takes, and what it needs.
#[derive(serde::Serialize)]
pub struct PromptReply<'a> {
    id: &'a Id,
    origin: Origin,
    prompt: Option<&'a Json>,
    /// The JSON Schema of its variables.
    parameters: Json,
    requires: Requires,
    syntax: Option<Syntax>,
    problems: Vec<ProblemDetail>,
}

/// A prompt without its texts.
#[derive(serde::Serialize)]
pub struct PromptSummary<'a> {
    id: &'a Id,
    origin: Origin,
    name: Option<&'a Json>,
    description: Option<&'a Json>,
    supports: &'a [String],
    problems: &'a [ProblemDetail],
}

/// A shared variable in a list.
#[derive(serde::Serialize)]
pub struct EnvironReply<'a> {
    id: &'a Id,
    value: &'a Value,
}

/// The document, and the name that templates call the tool by.
#[derive(serde::Serialize)]
pub struct ToolReply<'a> {
    #[serde(flatten)]
    document: MembersBut<'a>,
    function: &'a str,
}

/// The document, whether the agent can be used, and why not.
#[derive(serde::Serialize)]
pub struct AgentReply<'a> {
    #[serde(flatten)]
    document: MembersBut<'a>,
    available: bool,
    problems: Vec<ProblemDetail>,
}

/// An agent without its texts.
#[derive(serde::Serialize)]
pub struct AgentSummary<'a> {
    id: &'a Id,
    description: Option<&'a Json>,
    tools: Vec<&'a str>,
    available: bool,
    problems: Vec<ProblemDetail>,
}

/// The members of a JSON object but those of some names, which the reply has from somewhere else.
struct MembersBut<'a> {
    object: &'a Json,
    names: &'static [&'static str],
}

impl Serialize for MembersBut<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, member) in self.object.as_object().into_iter().flatten() {
            if !self.names.contains(&name.as_str()) {
                map.serialize_entry(name, member)?;
            }
        }
        map.end()
    }
}

/// A document in full.
pub fn document<'a>(entry: &'a Entry, snapshot: &'a Arc<Snapshot>, app: &App) -> DocumentReply<'a> {
    match entry {
        Entry::Prompt(entry) => DocumentReply::Prompt(Box::new(prompt(entry, snapshot, app))),
        Entry::Extension(entry) => DocumentReply::Extension(extension(entry, snapshot)),
        Entry::Plain(Document::Agent(entry)) => DocumentReply::Agent(agent(entry, app)),
        Entry::Plain(plain) => other(plain, snapshot),
    }
}

/// A document in a list.
pub fn summary<'a>(id: &'a Id, entry: &'a Entry, snapshot: &'a Snapshot, app: &App) -> SummaryReply<'a> {
    match entry {
        Entry::Prompt(entry) => SummaryReply::Prompt(prompt_summary(entry)),
        Entry::Extension(entry) => SummaryReply::Full(DocumentReply::Extension(extension(entry, snapshot))),
        Entry::Plain(Document::Environ(value)) => SummaryReply::Environ(EnvironReply { id, value }),
        Entry::Plain(Document::Skill(skill)) => {
            SummaryReply::Skill(Box::new(skill_views::summary(skill, snapshot)))
        }
        Entry::Plain(Document::Agent(entry)) => SummaryReply::Agent(agent_summary(entry, app)),
        Entry::Plain(plain) => SummaryReply::Full(other(plain, snapshot)),
    }
}

/// An extension: its document, its state, and what is wrong with it and its prompts.
fn extension<'a>(entry: &'a ExtensionEntry, snapshot: &'a Snapshot) -> ExtensionReply<'a> {
    let listed = snapshot.problems.iter().map(|listed| &listed.problem);
    let own = listed.filter(|problem| problem.key == entry.key).map(|problem| &problem.detail);
    // Those of prompts that come from files of their own are not under the extension's key.
    let prompts = entry.extension.prompts.iter().filter_map(|prompt| snapshot.prompt(&prompt.id));
    let of_files = prompts.flat_map(|prompt| &prompt.problems).filter(|problem| problem.file.is_some());
    ExtensionReply {
        document: MembersBut { object: &entry.extension.document, names: &["available", "problems"] },
        available: entry.unavailable.is_none(),
        problems: own.chain(of_files).collect(),
    }
}

fn prompt<'a>(entry: &'a Arc<PromptEntry>, snapshot: &Arc<Snapshot>, app: &App) -> PromptReply<'a> {
    let description = app.renderer.describe(snapshot, entry);
    let prompt = entry.prompt.as_deref();
    let declared = prompt.and_then(|prompt| prompt.parameters.as_ref());
    let problems = entry.problems.iter();
    let clashes = prompt.into_iter().flat_map(|prompt| clashes_of(prompt, &snapshot.environs));
    let open = || json!({"type": "object", "properties": {}});
    PromptReply {
        id: &entry.id,
        origin: entry.origin,
        prompt: prompt.map(|prompt| &prompt.document),
        parameters: declared.and_then(object_schema).unwrap_or_else(open),
        requires: description.requires,
        syntax: description.syntax,
        problems: problems.cloned().chain(clashes).collect(),
    }
}

fn prompt_summary(entry: &PromptEntry) -> PromptSummary<'_> {
    let document = entry.prompt.as_ref().map(|prompt| &prompt.document);
    PromptSummary {
        id: &entry.id,
        origin: entry.origin,
        name: document.and_then(|document| document.get("name")),
        description: document.and_then(|document| document.get("description")),
        supports: entry.prompt.as_ref().map_or(&[], |prompt| &prompt.supports),
        problems: &entry.problems,
    }
}

fn agent<'a>(entry: &'a AgentEntry, app: &App) -> AgentReply<'a> {
    let problems = app.agents.faults(entry);
    AgentReply {
        document: MembersBut { object: &entry.document, names: &["available", "problems"] },
        available: problems.is_empty(),
        problems,
    }
}

fn agent_summary<'a>(entry: &'a AgentEntry, app: &App) -> AgentSummary<'a> {
    let AgentReply { available, problems, .. } = agent(entry, app);
    let tools = entry.document.get("tools").and_then(Json::as_array).into_iter().flatten();
    AgentSummary {
        id: &entry.id,
        description: entry.document.get("description"),
        tools: tools.filter_map(|tool| tool.get("name")?.as_str()).collect(),
        available,
        problems,
    }
}

fn other<'a>(document: &'a Document, snapshot: &'a Snapshot) -> DocumentReply<'a> {
    match document {
        Document::Environ(value) => DocumentReply::Environ(value),
        Document::Tool(tool) => DocumentReply::Tool(ToolReply {
            document: MembersBut { object: &tool.document, names: &["function"] },
            function: &tool.function,
        }),
        Document::Skill(skill) => DocumentReply::Skill(Box::new(skill_views::document(skill, snapshot))),
        Document::Agent(entry) => DocumentReply::Plain(&entry.document),
        Document::Prompt(prompt) => DocumentReply::Plain(&prompt.document),
        Document::Extension(extension) => DocumentReply::Plain(&extension.document),
    }
}
