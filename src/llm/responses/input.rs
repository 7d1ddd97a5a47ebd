//! The items of `input` and the messages of a chat, each as the other.
//!
//! - A call of a function is an item of its own here, and part of a message of the assistant there. The items of one turn of the
//!   assistant (its text, then its calls) become one message.
//! - The model's own thoughts (`reasoning`) have no place in a chat, and are left out.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::llm::error::LlmError;
use template::value::RawObject;

/// An item of `input`.
#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type")]
    kind: Option<String>,
    role: Option<String>,
    content: Option<Json>,
    call_id: Option<String>,
    name: Option<String>,
    arguments: Option<String>,
    output: Option<Json>,
}

/// `input`: one text, or items.
#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    Text(String),
    Items(Vec<Json>),
}

/// The messages of a request: its instructions, then its items.
///
/// # Errors
/// [`LlmError::Invalid`], which names all items that a chat cannot have.
pub fn messages(payload: &RawObject) -> Result<Vec<Json>, LlmError> {
    let invalid = |param, message: &str| LlmError::Invalid { param, message: message.to_owned() };
    let instructions: Option<String> =
        payload.read("instructions").map_err(|_| invalid("instructions", "must be a text"))?;
    let input: Option<Input> =
        payload.read("input").map_err(|_| invalid("input", "must be a text, or a list of items"))?;
    let mut chat = Chat::default();
    chat.messages.extend(instructions.map(|text| json!({"role": "system", "content": text})));
    match input {
        None => {}
        Some(Input::Text(text)) => chat.messages.push(json!({"role": "user", "content": text})),
        Some(Input::Items(items)) => items.into_iter().enumerate().for_each(|(at, item)| chat.add(at, item)),
    }
    match chat.problems.is_empty() {
        true => Ok(chat.messages),
        false => Err(invalid("input", &format!("cannot be a chat: {}", chat.problems.join("; ")))),
    }
}

/// The messages so far.
#[derive(Default)]
struct Chat {
    messages: Vec<Json>,
    problems: Vec<String>,
}

impl Chat {
    fn add(&mut self, at: usize, item: Json) {
        let item: Item = match serde_json::from_value(item) {
            Ok(item) => item,
            Err(error) => return self.problems.push(format!("item {at} {error}")),
        };
        match item.kind.as_deref() {
            None | Some("message") => self.message(at, item),
            Some("function_call") => self.call(at, item),
            Some("function_call_output") => self.output(at, item),
            Some("reasoning") => {}
            Some("item_reference") => self.problems.push(format!(
                "item {at} refers to an answer that was stored, and this service keeps none; send the item itself (with `store`: false, client libraries do so)"
            )),
            Some(kind) => self.problems.push(format!("item {at} is of the type `{kind}`")),
        }
    }

    fn message(&mut self, at: usize, item: Item) {
        let Some(role) = item.role else { return self.problems.push(format!("item {at} has no `role`")) };
        let mut message = json!({"role": role});
        if let Some(members) = message.as_object_mut() {
            match item.content {
                Some(Json::Array(parts)) => {
                    let (content, refusal) = self.content(at, parts, role == "assistant");
                    members.insert("content".to_owned(), content);
                    members.extend(refusal.map(|refusal| ("refusal".to_owned(), Json::String(refusal))));
                }
                content => drop(members.insert("content".to_owned(), content.unwrap_or_default())),
            }
        }
        self.messages.push(message);
    }

    /// The parts of a content; an assistant's are one text, as many servers understand nothing else, and maybe a refusal.
    fn content(&mut self, at: usize, parts: Vec<Json>, is_assistant: bool) -> (Json, Option<String>) {
        let mut refusal: Option<String> = None;
        let mut content = Vec::new();
        for part in parts {
            match part_of_chat(&part) {
                Part::Chat(part) => content.push(part),
                Part::Refusal(text) => refusal.get_or_insert_default().push_str(&text),
                Part::Unknown(kind) => {
                    self.problems.push(format!("item {at} has a part of the type `{kind}`"))
                }
            }
        }
        if !is_assistant {
            return (Json::Array(content), refusal);
        }
        let texts: Vec<&str> = content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let text = if texts.is_empty() { Json::Null } else { texts.concat().into() };
        (text, refusal)
    }

    fn call(&mut self, at: usize, item: Item) {
        let (Some(id), Some(name)) = (item.call_id, item.name) else {
            return self.problems.push(format!("item {at} is a call without `call_id` or `name`"));
        };
        let function = json!({"name": name, "arguments": item.arguments.unwrap_or_default()});
        let call = json!({"id": id, "type": "function", "function": function});
        let is_assistant = |message: &Json| message.get("role").and_then(Json::as_str) == Some("assistant");
        if !self.messages.last().is_some_and(is_assistant) {
            self.messages.push(json!({"role": "assistant", "content": null}));
        }
        let calls = self
            .messages
            .last_mut()
            .and_then(Json::as_object_mut)
            .map(|message| message.entry("tool_calls").or_insert_with(|| json!([])));
        if let Some(calls) = calls.and_then(Json::as_array_mut) {
            calls.push(call);
        }
    }

    fn output(&mut self, at: usize, item: Item) {
        let Some(id) = item.call_id else {
            return self.problems.push(format!("item {at} is an output without `call_id`"));
        };
        let content = match item.output {
            Some(Json::Array(parts)) => self.content(at, parts, false).0,
            Some(Json::String(text)) => text.into(),
            None | Some(Json::Null) => "".into(),
            Some(other) => other.to_string().into(),
        };
        self.messages.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
}

/// What a part of a content is in a chat.
enum Part {
    Chat(Json),
    Refusal(String),
    Unknown(String),
}

fn part_of_chat(part: &Json) -> Part {
    let kind = part.get("type").and_then(Json::as_str).unwrap_or("none");
    let member = |name: &str| part.get(name).filter(|member| !member.is_null());
    let text = || member("text").and_then(Json::as_str).unwrap_or_default();
    match kind {
        "input_text" | "output_text" | "text" => Part::Chat(json!({"type": "text", "text": text()})),
        "refusal" => Part::Refusal(member("refusal").and_then(Json::as_str).unwrap_or_default().to_owned()),
        "input_image" if member("image_url").is_some() => {
            let mut image = json!({"url": member("image_url")});
            if let (Some(detail), Some(image)) = (member("detail"), image.as_object_mut()) {
                image.insert("detail".to_owned(), detail.clone());
            }
            Part::Chat(json!({"type": "image_url", "image_url": image}))
        }
        "input_file" if member("file_url").is_none() => {
            let names = ["file_data", "file_id", "filename"];
            let file: serde_json::Map<String, Json> =
                names.iter().filter_map(|name| Some(((*name).to_owned(), member(name)?.clone()))).collect();
            Part::Chat(json!({"type": "file", "file": file}))
        }
        "input_audio" => Part::Chat(part.clone()),
        kind => Part::Unknown(kind.to_owned()),
    }
}

/// The messages of a chat as items of `input`; what is no message is kept as it is.
pub fn items_of_messages(messages: &[Json]) -> Vec<Json> {
    messages.iter().flat_map(items_of).collect()
}

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
    use super::*;
    use template::value::parse_json;

    fn chat(input: &Json) -> Result<Json, String> {
        let payload = parse_json(json!({"input": input}).to_string().as_bytes()).unwrap();
        messages(&payload).map(Json::from).map_err(|error| error.to_string())
    }

    #[test]
    fn a_round_of_tools_is_one_message_of_the_assistant_and_one_for_each_output() {
        let call = |id: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": "{}", "id": "fc"});
        let nested =
            |id: &str| json!({"id": id, "type": "function", "function": {"name": "f", "arguments": "{}"}});
        let input = json!([
            {"role": "user", "content": "q"},
            {"type": "reasoning", "id": "rs", "summary": []},
            {"type": "message", "role": "assistant", "id": "msg", "status": "completed",
             "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
            call("a"), call("b"),
            {"type": "function_call_output", "call_id": "a", "output": "1"},
            {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "2"}]},
            call("c"),
        ]);
        let expected = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "I look.", "tool_calls": [nested("a"), nested("b")]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "tool", "tool_call_id": "b", "content": [{"type": "text", "text": "2"}]},
            {"role": "assistant", "content": null, "tool_calls": [nested("c")]},
        ]);
        assert_eq!(chat(&input), Ok(expected));
    }

    #[test]
    fn parts_of_all_kinds_become_parts_of_a_chat() {
        let input = json!([{"role": "developer", "content": [
            {"type": "input_text", "text": "t"},
            {"type": "input_image", "image_url": "u", "detail": "low"},
            {"type": "input_image", "image_url": "v"},
            {"type": "input_file", "file_data": "d", "filename": "n"},
            {"type": "input_audio", "input_audio": {"data": "a", "format": "mp3"}},
        ]}]);
        let parts = json!([
            {"type": "text", "text": "t"},
            {"type": "image_url", "image_url": {"url": "u", "detail": "low"}},
            {"type": "image_url", "image_url": {"url": "v"}},
            {"type": "file", "file": {"file_data": "d", "filename": "n"}},
            {"type": "input_audio", "input_audio": {"data": "a", "format": "mp3"}},
        ]);
        assert_eq!(chat(&input), Ok(json!([{"role": "developer", "content": parts}])));
        let refused = json!([{"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]}]);
        assert_eq!(chat(&refused), Ok(json!([{"role": "assistant", "content": null, "refusal": "No."}])));
    }

    #[test]
    fn everything_that_a_chat_cannot_have_is_named_at_once() {
        let input = json!([
            {"type": "web_search_call", "id": "w"},
            5,
            {"content": "x"},
            {"type": "function_call", "name": "f"},
            {"type": "function_call_output", "output": ""},
            {"type": "item_reference", "id": "msg_1"},
            {"role": "user", "content": [{"type": "input_image", "file_id": "f"}, {}]},
        ]);
        let error = chat(&input).unwrap_err();
        for at in [
            "item 0 is of the type `web_search_call`",
            "item 1 ",
            "item 2 has no `role`",
            "item 3 is a call",
            "item 4 is an output",
            "item 5 refers",
            "item 6 has a part of the type `input_image`",
            "`none`",
        ] {
            assert!(error.contains(at), "{at}: {error}");
        }
        assert!(chat(&json!(5)).unwrap_err().contains("must be a text, or a list of items"));
    }

    #[test]
    fn the_messages_of_a_prompt_come_back_as_they_were() {
        let messages = json!([
            {"role": "system", "content": "S"},
            {"role": "user", "content": [{"type": "text", "text": "t"}, {"type": "image_url", "image_url": {"url": "u", "detail": "low"}}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "a", "content": "1"},
            {"role": "assistant", "content": "A"},
        ]);
        let items = items_of_messages(messages.as_array().unwrap());
        assert_eq!(items[1]["content"][1], json!({"type": "input_image", "image_url": "u", "detail": "low"}));
        assert_eq!(chat(&json!(items)), Ok(messages));
    }
}
