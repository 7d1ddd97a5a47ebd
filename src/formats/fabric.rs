//! fabric's patterns: a folder with `system.md`, and perhaps `user.md`. What a pattern works on comes as the variable `input`, in a
//! chat as the last message of the user.
//!
//! fabric knows `{{name}}` and nothing else of templates. A pattern with other marks (it may be about templates) is taken with all
//! of its marks as text, but for `{{input}}`.

use serde_json::json;

use super::placeholders::{has_only_identifiers, is_identifier, to_jinja, variable};
use super::source::{Found, Refusal, Source};

/// The file of the system's message.
pub const SYSTEM: &str = "system.md";

/// The file that stands before the input.
pub const USER: &str = "user.md";

/// Reads a pattern.
///
/// # Errors
/// None today: every text is a pattern.
pub fn read(system: &Source, user: Option<&Source>) -> Result<Found, Refusal> {
    let mut left_out = Vec::new();
    let system_text = jinja(system, &mut left_out);
    let user_text = user.map(|user| jinja(user, &mut left_out)).unwrap_or_default();
    let has_input = |text: &str| text.contains("{{input}}") || text.contains("{{ input }}");
    let mut messages = vec![json!({"role": "system", "content": system.template(0, &system_text)})];
    let asked = match user_text.trim_end() {
        text if has_input(text) || has_input(&system_text) => text.to_owned(),
        "" => "{{ input }}".to_owned(),
        text => format!("{text}\n\n{{{{ input }}}}"),
    };
    if !asked.is_empty() {
        let content = user.filter(|_| !user_text.trim().is_empty());
        let content = content.map_or_else(|| json!(asked), |user| user.template(0, &asked));
        messages.push(json!({"role": "user", "content": content}));
    }
    let input = json!({"type": "string", "default": "", "description": "What the pattern works on."});
    let document = json!({
        "syntax": "jinja",
        "messages": messages,
        // In a chat, what the user says is the input.
        "input": "input",
        "parameters": {"type": "object", "properties": {"input": input}},
    });
    let document = document.as_object().cloned().unwrap_or_default();
    Ok(Found { format: "fabric", document, left_out })
}

fn jinja(source: &Source, left_out: &mut Vec<String>) -> String {
    if has_only_identifiers(&source.text) {
        return to_jinja(&source.text, |name| is_identifier(name).then(|| variable(name)));
    }
    left_out.push(format!(
        "the marks in {} are taken as text, since not all of them name variables",
        source.path
    ));
    to_jinja(&source.text, |name| (name == "input").then(|| variable(name)))
}
