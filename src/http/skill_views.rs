//! How skills look from outside.

use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::catalog::Snapshot;
use base::model::{HistoryMode, Id, ProblemDetail, Skill, SkillParam};

/// A skill in a list: all but its text, its front matter and its files.
#[derive(Serialize)]
pub struct SkillSummary<'a> {
    id: &'a Id,
    name: &'a str,
    description: &'a str,
    params: &'a [SkillParam],
    history_mode: HistoryMode,
    history_max: i64,
    model: Option<&'a str>,
    temperature: Option<f64>,
    max_tokens: Option<u64>,
    allowed_tools: &'a [String],
    argument_hint: Option<&'a str>,
    disable_model_invocation: bool,
    /// `store`, or the path of its file.
    source: &'a str,
    /// What is wrong with it, and with a newer version that cannot be used.
    problems: Vec<ProblemDetail>,
}

/// A skill in full.
#[derive(Serialize)]
pub struct SkillReply<'a> {
    #[serde(flatten)]
    summary: SkillSummary<'a>,
    /// Its text, without front matter.
    content: &'a str,
    front_matter: &'a Map<String, Json>,
    /// The paths of the files beside it.
    files: &'a [String],
}

/// A skill in a list.
pub fn summary<'a>(skill: &'a Skill, snapshot: &'a Snapshot) -> SkillSummary<'a> {
    let source = snapshot.documents.skill_sources.get(&skill.id);
    SkillSummary {
        id: &skill.id,
        name: &skill.name,
        description: &skill.description,
        params: &skill.params,
        history_mode: skill.history_mode,
        history_max: skill.history_max,
        model: skill.model.as_deref(),
        temperature: skill.temperature,
        max_tokens: skill.max_tokens,
        allowed_tools: &skill.allowed_tools,
        argument_hint: skill.argument_hint.as_deref(),
        disable_model_invocation: !skill.is_chosen_by_models,
        source: source.map_or("", |source| source.name()),
        problems: source.map_or_else(Vec::new, |source| snapshot.problems_of(&source.key)),
    }
}

/// A skill in full.
pub fn document<'a>(skill: &'a Skill, snapshot: &'a Snapshot) -> SkillReply<'a> {
    SkillReply {
        summary: summary(skill, snapshot),
        content: &skill.content,
        front_matter: &skill.front_matter,
        files: snapshot.documents.skill_sources.get(&skill.id).map_or(&[], |source| &source.files),
    }
}
