//! The items of `input` for upstreams that have the Responses API: the messages of a prompt as items, and kept items in the place
//! of references to them.

use std::collections::HashSet;

use memchr::memmem;
use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};

use super::kept::KeptItems;
use super::request::Turn;
use crate::llm::error::LlmError;

/// The turns of a request for a prompt as items of `input`.
///
/// # Errors
/// [`LlmError::Invalid`] for a message that cannot be read.
pub fn of_turns(turns: &[Turn], kept: &KeptItems) -> Result<Vec<Box<RawValue>>, LlmError> {
    let (mut items, mut referred) = (Vec::new(), HashSet::new());
    for turn in turns {
        match turn {
            Turn::Item(_, item) => items.push(resolved(item, kept, &mut referred)?),
            Turn::Message(message) => {
                let message: Json = serde_json::from_str(message.get()).map_err(unreadable)?;
                for item in items_of(&message) {
                    items.push(to_raw_value(&item).map_err(unreadable)?);
                }
            }
        }
    }
    Ok(items)
}

/// Items in which those that are kept here stand in the place of references to them; `None` if there is no such reference.
///
/// # Errors
/// [`LlmError::Invalid`] if an item cannot be written.
pub fn with_kept(items: &RawValue, kept: &KeptItems) -> Result<Option<Vec<Box<RawValue>>>, LlmError> {
    // Nearly all requests have none, and go on byte for byte.
    if memmem::find(items.get().as_bytes(), REFERENCE.as_bytes()).is_none() {
        return Ok(None);
    }
    let Ok(items) = serde_json::from_str::<Vec<Box<RawValue>>>(items.get()) else { return Ok(None) };
    if !items.iter().any(|item| reference(item).is_some_and(|id| kept.get(&id).is_some())) {
        return Ok(None);
    }
    let mut referred = HashSet::new();
    items.iter().map(|item| resolved(item, kept, &mut referred)).collect::<Result<_, _>>().map(Some)
}

const REFERENCE: &str = "item_reference";

/// The id that an item refers to, if it is a reference.
fn reference(item: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct Reference {
        #[serde(rename = "type")]
        kind: String,
        id: String,
    }
    let reference: Reference = serde_json::from_str(item.get()).ok()?;
    (reference.kind == REFERENCE).then_some(reference.id)
}

/// The item itself, or the kept one that it refers to: without what an upstream that did not make it would look up, and once
/// only, so that few references do not become a huge request.
fn resolved(
    item: &RawValue,
    kept: &KeptItems,
    referred: &mut HashSet<String>,
) -> Result<Box<RawValue>, LlmError> {
    let id = reference(item).filter(|id| !referred.contains(id));
    let Some((id, mut found)) = id.and_then(|id| kept.get(&id).map(|found| (id, found))) else {
        return Ok(item.to_owned());
    };
    referred.insert(id);
    if let Some(members) = found.as_object_mut() {
        members.shift_remove("id");
        members.shift_remove("status");
    }
    to_raw_value(&found).map_err(unreadable)
}

fn unreadable(error: serde_json::Error) -> LlmError {
    LlmError::Invalid { param: "input", message: format!("cannot be written: {error}") }
}

/// A message of a chat as items; what is no message is kept as it is.
fn items_of(message: &Json) -> Vec<Json> {
    let Some(members) = message.as_object() else { return vec![message.clone()] };
    let role = members.get("role").and_then(Json::as_str).unwrap_or("user");
    if role == "tool" {
        let output =
            members.get("content").map(|content| content_of_items(content, role)).unwrap_or_default();
        let id = members.get("tool_call_id").cloned().unwrap_or_default();
        return vec![json!({"type": "function_call_output", "call_id": id, "output": output})];
    }
    let mut items = Vec::new();
    if let Some(content) = members.get("content").filter(|content| !content.is_null()) {
        items.push(json!({"role": role, "content": content_of_items(content, role)}));
    }
    if let Some(refusal) = members.get("refusal").and_then(Json::as_str) {
        items.push(json!({"role": role, "content": [{"type": "refusal", "refusal": refusal}]}));
    }
    let calls = members.get("tool_calls").and_then(Json::as_array).into_iter().flatten();
    items.extend(calls.map(|call| {
        let function = |name: &str| call.get("function").and_then(|function| function.get(name)).cloned();
        json!({
            "type": "function_call", "call_id": call.get("id").cloned().unwrap_or_default(),
            "name": function("name").unwrap_or_default(), "arguments": function("arguments").unwrap_or_default(),
        })
    }));
    items
}

fn content_of_items(content: &Json, role: &str) -> Json {
    match content.as_array() {
        Some(parts) => parts.iter().map(|part| part_of_items(part, role)).collect(),
        None => content.clone(),
    }
}

fn part_of_items(part: &Json, role: &str) -> Json {
    let member = |name: &str| part.get(name).cloned().unwrap_or_default();
    match part.get("type").and_then(Json::as_str) {
        Some("text") if role == "assistant" => json!({"type": "output_text", "text": member("text")}),
        Some("text") => json!({"type": "input_text", "text": member("text")}),
        Some("image_url") => {
            let image = member("image_url");
            let url = image.get("url").cloned().unwrap_or(image.clone());
            let detail = image.get("detail").cloned().unwrap_or_else(|| "auto".into());
            json!({"type": "input_image", "image_url": url, "detail": detail})
        }
        Some("file") => {
            let mut file = member("file");
            if let Some(members) = file.as_object_mut() {
                members.insert("type".to_owned(), "input_file".into());
            }
            file
        }
        _ => part.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::input::messages as messages_of_chat;
    use super::super::request::ResponseRequest;
    use super::*;
    use template::value::parse_json;

    fn raw(json: &Json) -> Box<RawValue> {
        to_raw_value(json).unwrap()
    }

    #[test]
    fn the_messages_of_a_prompt_are_items_or_stay_as_they_are() {
        let messages = json!([
            {"role": "system", "content": "S", "name": "n"},
            {"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "image_url", "image_url": {"url": "u", "detail": "low"}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "assistant", "content": null, "refusal": "No."},
        ]);
        let turns = || {
            let mut turns: Vec<Turn> =
                messages.as_array().unwrap().iter().map(|message| Turn::Message(raw(message))).collect();
            turns.push(Turn::Item(3, raw(&json!({"role": "user", "content": 5}))));
            turns
        };
        let items = json!(of_turns(&turns()[..5], &KeptItems::new(0)).unwrap());
        let expected = json!([
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "input_text", "text": "t"}, {"type": "input_image", "image_url": "u", "detail": "low"}]},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "1"},
            {"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]},
        ]);
        assert_eq!(items, expected);
        let request = |turns| ResponseRequest {
            turns: Some(turns),
            ..ResponseRequest::plain(parse_json(b"{}").unwrap())
        };
        let error = messages_of_chat(&request(turns()), &KeptItems::new(0)).unwrap_err();
        assert!(error.to_string().contains("item 3 has a `content`"), "{error}");
        let five = turns().into_iter().take(5).collect();
        assert_eq!(json!(messages_of_chat(&request(five), &KeptItems::new(0)).unwrap()), messages);
    }
}
