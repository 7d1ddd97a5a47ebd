//! `prompt render`: a prompt rendered, with warnings on standard error.

use serde_json::{Value as Json, json};

use super::args::{Common, Render};
use super::documents::{self, print_json};
use super::error::CliError;
use super::output::{say, warn};
use super::target;

/// Renders a prompt and prints the text, or the messages as JSON.
///
/// # Errors
/// The service's own error.
pub async fn run(common: &Common, options: Render) -> Result<(), CliError> {
    let variables = options.variables.object()?;
    let client = target::open(common).await?;
    let path = documents::render_path(&options.id);
    let reply =
        client.post(&format!("{path}?explain={}", options.explain), &json!({"variables": variables})).await?;
    for warning in reply.get("warnings").and_then(Json::as_array).into_iter().flatten() {
        let text = |member: &str| warning.get(member).and_then(Json::as_str).unwrap_or_default();
        warn(format_args!("warning: tool {}: {}", text("tool"), text("reason")));
    }
    match reply.get("rendered_prompt") {
        _ if options.explain => print_json(&reply),
        Some(Json::String(text)) => say(format_args!("{text}")),
        other => print_json(other.unwrap_or(&Json::Null)),
    }
    Ok(())
}
