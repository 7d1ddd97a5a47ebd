//! Tools on the command line: what holds for all documents, and calls.

use serde_json::{Value as Json, json};

use super::args::{Common, ToolAction, Values};
use super::documents::{self, print_json};
use super::error::CliError;
use super::output::say;
use super::target;

/// Does what was asked for with tools.
///
/// # Errors
/// The service's own error.
pub async fn run(common: &Common, action: ToolAction) -> Result<(), CliError> {
    match action {
        ToolAction::Document(action) => documents::run(common, action, "tool").await,
        ToolAction::Call { id, arguments } => call(common, &id, &arguments).await,
    }
}

async fn call(common: &Common, id: &str, arguments: &Values) -> Result<(), CliError> {
    let arguments = arguments.object()?;
    let client = target::open(common).await?;
    let path = format!("{}/call", documents::path("tool", id));
    let reply = client.post(&path, &json!({"arguments": arguments})).await?;
    match reply.get("value") {
        Some(Json::String(text)) => say(format_args!("{text}")),
        value => print_json(value.unwrap_or(&Json::Null)),
    }
    Ok(())
}
