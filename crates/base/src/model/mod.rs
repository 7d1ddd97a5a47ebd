//! The documents of the catalog as plain data: extensions, prompts, environs, tools and skills, their ids, and their problems.

mod argument_text;
mod extension;
mod id;
mod kind;
mod messages;
mod parameters;
mod problem;
mod prompt;
mod restful;
mod skill;
mod tool;

pub use argument_text::{ArgumentText, InvalidArgumentText, TextPart};
pub use extension::{Dependence, EngineRequirement, Extension, FailStrategy, Requirement};
pub use id::{Id, InvalidId, function_name};
pub use kind::{DocumentKind, PerKind};
pub use messages::Messages;
pub use parameters::{AnswerSchema, declared_names, object_schema, with_defaults};
pub use problem::{ListedProblem, Problem, ProblemDetail};
pub use prompt::{
    Body, Origin, Prompt, PromptLimits, Syntax, TemplateText, ToolFailure, Undefined, filled_in,
    filled_in_after, is_file_reference, without_files,
};
pub use restful::{Encoding, Fault, Restful, header_fault};
pub use skill::{HistoryMode, Skill, SkillParam};
pub use tool::Tool;

/// The version of the prompt engine that extensions can require under `engines`; independent of the crate's version.
pub const ENGINE_VERSION: semver::Version = semver::Version::new(1, 0, 0);

/// The name of the prompt engine that extensions can require under `engines`.
pub const ENGINE_NAME: &str = "ai-prompt-shell";

/// The strings in a JSON array; other items are ignored.
fn strings(json: Option<&serde_json::Value>) -> Vec<String> {
    let items = json.and_then(serde_json::Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// The string member `member` of a JSON object; `None` if it is absent or not a string.
pub fn string_member(json: &serde_json::Value, member: &str) -> Option<String> {
    json.get(member).and_then(serde_json::Value::as_str).map(str::to_owned)
}
