//! The skill document: a text that teaches a model to do a job in steps.

use serde::Serialize;
use serde_json::Value as Json;

use super::{Id, ProblemDetail};

/// A skill, as its `SKILL.md` says it.
#[derive(Debug, Clone, PartialEq)]
pub struct Skill {
    /// `{extension}.{folder}`, or the id in the store.
    pub id: Id,
    /// Its name; that of its folder if it gives itself none.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it takes.
    pub params: Vec<SkillParam>,
    /// What the model is sent of the steps before.
    pub history_mode: HistoryMode,
    /// How many messages [`HistoryMode::LastN`] sends.
    pub history_max: i64,
    /// The model that is asked.
    pub model: Option<String>,
    /// The temperature of its answers.
    pub temperature: Option<f64>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u64>,
    /// What may run without a question, such as `Bash(git status:*)`.
    pub allowed_tools: Vec<String>,
    /// What stands for its arguments in help texts.
    pub argument_hint: Option<String>,
    /// Whether a model may choose it.
    pub is_chosen_by_models: bool,
    /// The front matter as it was written, with the members that are not known here.
    pub front_matter: serde_json::Map<String, Json>,
    /// The text below the front matter, trimmed.
    pub content: String,
    /// What is wrong with it although it can be used.
    pub problems: Vec<ProblemDetail>,
}

impl Skill {
    /// A skill that says nothing but its name and its text.
    pub fn new(id: Id, name: &str, content: &str) -> Skill {
        Skill {
            id,
            name: name.to_owned(),
            description: String::new(),
            params: Vec::new(),
            history_mode: HistoryMode::Full,
            history_max: 10,
            model: None,
            temperature: None,
            max_tokens: None,
            allowed_tools: Vec::new(),
            argument_hint: None,
            is_chosen_by_models: true,
            front_matter: serde_json::Map::new(),
            content: content.trim().to_owned(),
            problems: Vec::new(),
        }
    }
}

/// A parameter of a skill.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SkillParam {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: String,
    /// Whether it has to be given.
    pub required: bool,
    /// The value that it has if it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<Json>,
}

/// What a model is sent of the steps before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HistoryMode {
    /// Everything.
    #[default]
    Full,
    /// The first message, and the last ones.
    LastN,
    /// Nothing but the last message.
    SystemOnly,
}
