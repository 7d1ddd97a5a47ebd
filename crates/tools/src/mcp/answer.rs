//! What a tool's result means as a value.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::Value;

use super::fault::unreadable;
use crate::error::ToolError;
use base::outbound::quoted;

/// The structured content if there is any, else the text parts, one per line.
///
/// # Errors
/// [`ToolError::Failed`] if the tool says so; [`ToolError::Answer`] if there is neither.
pub(super) fn value(response: CallToolResponse) -> Result<Value, ToolError> {
    match response {
        CallToolResponse::Complete(result) => value_of(result),
        CallToolResponse::InputRequired(_) => Err(unreadable("it asks for more input")),
        _ => Err(unreadable("it is put off until later")),
    }
}

fn value_of(result: CallToolResult) -> Result<Value, ToolError> {
    let texts: Vec<&str> = result.content.iter().filter_map(text).collect();
    if result.is_error == Some(true) {
        return Err(ToolError::Failed { status: "isError".into(), message: quoted(&texts.join("\n")) });
    }
    match result.structured_content {
        Some(value) => Ok(value),
        None if texts.is_empty() && !result.content.is_empty() => {
            Err(unreadable("it has neither text nor structured content"))
        }
        None => Ok(Value::String(texts.join("\n"))),
    }
}

fn text(part: &ContentBlock) -> Option<&str> {
    match part {
        ContentBlock::Text(part) => Some(&part.text),
        _ => None,
    }
}
