//! Converts the result of an MCP tool to a value.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock};
use serde_json::Value;

use super::error::unreadable;
use crate::error::ToolError;
use base::outbound::excerpt;

/// The structured content if the result has any, else its text parts, joined by line breaks.
///
/// The structured content is passed on as it is. Python's SDK wraps results that are not objects as `{"result": …}`.
///
/// # Errors
/// [`ToolError::Failed`] if the tool reports an error; [`ToolError::Answer`] if the result has neither text nor structured
/// content.
pub(super) fn value(response: CallToolResponse) -> Result<Value, ToolError> {
    match response {
        CallToolResponse::Complete(result) => value_of(result),
        CallToolResponse::InputRequired(_) => {
            Err(unreadable("the tool asks for more input, which is not supported"))
        }
        _ => Err(unreadable("the tool defers its answer, which is not supported")),
    }
}

fn value_of(result: CallToolResult) -> Result<Value, ToolError> {
    let texts: Vec<&str> = result.content.iter().filter_map(text).collect();
    if result.is_error == Some(true) {
        return Err(ToolError::Failed { status: "isError".into(), message: excerpt(&texts.join("\n")) });
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
