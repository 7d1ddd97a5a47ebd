//! `tool call`: one call of a tool.

use serde_json::{Value as Json, json};

use super::args::{Common, Values};
use super::documents::{self, print_json};
use super::error::CliError;
use super::output::say;
use super::target;
use base::model::DocumentKind;

/// Calls a tool and prints its answer.
///
/// # Errors
/// The service's own error.
pub async fn call(common: &Common, id: &str, arguments: &Values) -> Result<(), CliError> {
    let arguments = arguments.object()?;
    let client = target::open(common).await?;
    let path = format!("{}/call", documents::path(DocumentKind::Tool, id));
    let reply = client.post(&path, &json!({"arguments": arguments})).await?;
    match reply.get("value") {
        Some(Json::String(text)) => say(format_args!("{text}")),
        value => print_json(value.unwrap_or(&Json::Null)),
    }
    Ok(())
}
