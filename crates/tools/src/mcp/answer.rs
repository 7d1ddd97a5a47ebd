//! Converts the result of an MCP tool to a value.
//!
//! A part of a result is text (texts and embedded text resources), or an object as the protocol writes it: images and audio
//! `{type, mimeType, data}`, embedded binary resources `{uri, mimeType, blob}`, links to resources `{uri, name, mimeType, …}`.

use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;

use super::error::unreadable;
use crate::error::ToolError;
use base::outbound::excerpt;

/// The member of an object in which Python's SDKs wrap a result that is not an object itself.
const WRAPPER: &str = "result";

/// The structured content if the result has any, else the value of its parts.
///
/// The value of parts that are all text is these texts, joined by line breaks; that of a single other part is its object; that
/// of a mixture is a list with one string or object for each part, in their order.
///
/// # Errors
/// [`ToolError::Failed`] if the tool reports an error; [`ToolError::Answer`] if the result cannot be read.
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
    if result.is_error == Some(true) {
        let texts: Vec<&str> = result.content.iter().filter_map(text).collect();
        return Err(ToolError::Failed { status: "isError".into(), message: excerpt(&texts.join("\n")) });
    }
    match result.structured_content {
        Some(value) => Ok(unwrapped(value)),
        None => value_of_parts(&result.content),
    }
}

/// The `x` of a lone `{"result": x}`; any other value as it is.
fn unwrapped(mut value: Value) -> Value {
    match value.as_object_mut().filter(|members| members.len() == 1).and_then(|one| one.remove(WRAPPER)) {
        Some(result) => result,
        None => value,
    }
}

fn value_of_parts(parts: &[ContentBlock]) -> Result<Value, ToolError> {
    if let Some(texts) = parts.iter().map(text).collect::<Option<Vec<_>>>() {
        return Ok(Value::String(texts.join("\n")));
    }
    match parts {
        [part] => value_of_part(part),
        parts => parts.iter().map(value_of_part).collect(),
    }
}

fn text(part: &ContentBlock) -> Option<&str> {
    match part {
        ContentBlock::Text(part) => Some(&part.text),
        ContentBlock::Resource(part) => match &part.resource {
            ResourceContents::TextResourceContents { text, .. } => Some(text),
            _ => None,
        },
        _ => None,
    }
}

fn value_of_part(part: &ContentBlock) -> Result<Value, ToolError> {
    if let Some(text) = text(part) {
        return Ok(text.into());
    }
    let object = match part {
        ContentBlock::Resource(part) => serde_json::to_value(&part.resource),
        ContentBlock::ResourceLink(link) => serde_json::to_value(link),
        part => serde_json::to_value(part),
    };
    object.map_err(|error| unreadable(&format!("a part of it is not JSON: {error}")))
}
