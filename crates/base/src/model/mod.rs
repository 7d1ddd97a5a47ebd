//! The documents of the catalog as plain data: what they are called and what they hold.

mod extension;
mod id;
mod kind;
mod messages;
mod parameters;
mod problem;
mod prompt;
mod tool;

pub use extension::{Dependence, Engine, Extension, FailStrategy, Requirement};
pub use id::{Id, InvalidId, function_name};
pub use kind::{DocumentKind, PerKind};
pub use messages::Messages;
pub use parameters::{object_schema, with_defaults};
pub use problem::{Problem, Reason};
pub use prompt::{Body, Origin, Prompt, PromptLimits, Syntax, TemplateText, filled_in, is_file_reference};
pub use tool::Tool;

/// The version of the prompt engine that extensions name under `engines`; apart from the crate's own version.
pub const ENGINE_VERSION: semver::Version = semver::Version::new(1, 0, 0);

/// The name of the prompt engine that extensions name under `engines`.
pub const ENGINE_NAME: &str = "ai-prompt-shell";

/// The strings of a JSON array; anything else in it is passed over.
fn strings(json: Option<&serde_json::Value>) -> Vec<String> {
    let items = json.and_then(serde_json::Value::as_array);
    items.into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

/// A string member of a JSON object.
pub fn string_member(json: &serde_json::Value, member: &str) -> Option<String> {
    json.get(member).and_then(serde_json::Value::as_str).map(str::to_owned)
}
