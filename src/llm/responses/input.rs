//! The items of `input` as the messages of a chat.
//!
//! - A call of a function is an item of its own here, and part of a message of the assistant there. The items of one turn of the
//!   assistant (its text, then its calls) become one message.
//! - The model's own thoughts (`reasoning`) have no place in a chat, and are left out.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json, json};

use super::kept::{KeptItems, is_of_thoughts};
use super::request::{ResponseRequest, Turn};
use crate::llm::error::LlmError;

/// How many problems an error tells.
const PROBLEMS_TOLD: usize = 50;

/// `input`: one text, or items.
#[derive(Deserialize)]
#[serde(untagged)]
enum Input {
    Text(String),
    Items(Vec<Json>),
}

/// A message of a chat.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Message {
    /// One of a prompt, as it was written.
    OfPrompt(Box<RawValue>),
    /// One that items became.
    OfItems(Json),
}

fn invalid(param: &'static str, message: &str) -> LlmError {
    LlmError::Invalid { param, message: message.to_owned() }
}

/// The messages of a request: its instructions, then its turns.
///
/// # Errors
/// [`LlmError::Invalid`], which names all items that a chat cannot have.
pub fn messages(request: &ResponseRequest, kept: &KeptItems) -> Result<Vec<Message>, LlmError> {
    let payload = &request.payload;
    let instructions: Option<String> =
        payload.read("instructions").map_err(|_| invalid("instructions", "must be a text"))?;
    let mut chat = Chat { messages: Vec::new(), problems: Vec::new(), kept, referred: HashSet::new() };
    if let Some(text) = instructions {
        chat.push(json!({"role": "system", "content": text}));
    }
    let input = |_| invalid("input", "must be a text, or a list of items");
    match (&request.turns, payload.read("input").map_err(input)?) {
        (Some(turns), _) => turns.iter().for_each(|turn| chat.turn(turn)),
        (None, None) => {}
        (None, Some(Input::Text(text))) => chat.push(json!({"role": "user", "content": text})),
        (None, Some(Input::Items(items))) => {
            items.into_iter().enumerate().for_each(|(at, item)| chat.item(at, item));
        }
    }
    match chat.problems.is_empty() {
        true => Ok(chat.messages),
        false => {
            let more = match chat.problems.len().checked_sub(PROBLEMS_TOLD) {
                None | Some(0) => String::new(),
                Some(more) => format!("; and {more} more"),
            };
            chat.problems.truncate(PROBLEMS_TOLD);
            Err(invalid("input", &format!("cannot be a chat: {}{more}", chat.problems.join("; "))))
        }
    }
}

/// The messages so far.
struct Chat<'k> {
    messages: Vec<Message>,
    problems: Vec<String>,
    /// What items may refer to.
    kept: &'k KeptItems,
    /// The ids that were referred to. An item stands for once, so that few references do not become a huge chat.
    referred: HashSet<String>,
}

/// An item of `input`, and its place there.
struct Item {
    at: usize,
    members: Map<String, Json>,
}

impl Item {
    fn text(&self, name: &str) -> Option<&str> {
        self.members.get(name).and_then(Json::as_str)
    }
}

impl Chat<'_> {
    fn push(&mut self, message: Json) {
        self.messages.push(Message::OfItems(message));
    }

    fn problem(&mut self, at: usize, problem: impl std::fmt::Display) {
        self.problems.push(format!("item {at} {problem}"));
    }

    fn turn(&mut self, turn: &Turn) {
        match turn {
            Turn::Message(message) => self.messages.push(Message::OfPrompt(message.clone())),
            Turn::Item(at, item) => match serde_json::from_str(item.get()) {
                Ok(item) => self.item(*at, item),
                Err(error) => self.problem(*at, format!("cannot be read: {error}")),
            },
        }
    }

    fn item(&mut self, at: usize, item: Json) {
        let Json::Object(members) = item else { return self.problem(at, "is not an object") };
        let item = Item { at, members };
        match item.members.get("type") {
            None | Some(Json::Null) => self.message(&item),
            Some(Json::String(kind)) => match kind.as_str() {
                "message" => self.message(&item),
                "function_call" => self.call(&item),
                "function_call_output" => self.output(&item),
                "reasoning" => {}
                "item_reference" => self.reference(&item),
                kind => self.problem(at, format!("is of the type `{kind}`")),
            },
            Some(_) => self.problem(at, "has a `type` that is not a text"),
        }
    }

    fn reference(&mut self, item: &Item) {
        let Some(id) = item.text("id") else { return self.problem(item.at, "is a reference without `id`") };
        if !self.referred.insert(id.to_owned()) {
            return self.problem(item.at, "refers to an item for the second time");
        }
        match self.kept.get(id) {
            // What is kept was an item of an answer, and refers to nothing.
            Some(kept) => self.item(item.at, kept),
            None if is_of_thoughts(id) => {}
            None => self.problem(
                item.at,
                "refers to an answer that this service does not keep, or keeps no longer; send the item itself (with `store`: false, client libraries do so)",
            ),
        }
    }

    fn message(&mut self, item: &Item) {
        let Some(role) = item.text("role") else { return self.problem(item.at, "has no `role`") };
        let is_assistant = role == "assistant";
        let (content, refusal) = match item.members.get("content") {
            Some(Json::Array(parts)) => self.content(item.at, parts, is_assistant),
            Some(content @ (Json::String(_) | Json::Null)) => (content.clone(), None),
            None => (Json::Null, None),
            Some(_) => {
                return self.problem(item.at, "has a `content` that is neither a text nor a list of parts");
            }
        };
        if is_assistant && self.add_to_calls(content.as_str().unwrap_or_default(), refusal.as_deref()) {
            return;
        }
        let mut message = json!({"role": role, "content": content});
        if let (Some(refusal), Some(members)) = (refusal, message.as_object_mut()) {
            members.insert("refusal".to_owned(), refusal.into());
        }
        self.push(message);
    }

    /// Adds what the assistant says to the message with the calls before it: their results have to follow that message. Says
    /// whether there is one.
    fn add_to_calls(&mut self, text: &str, refusal: Option<&str>) -> bool {
        let Some(Message::OfItems(Json::Object(last))) = self.messages.last_mut() else { return false };
        if !last.contains_key("tool_calls") {
            return false;
        }
        for (name, new) in [("content", text), ("refusal", refusal.unwrap_or_default())] {
            match last.get_mut(name) {
                _ if new.is_empty() => {}
                Some(Json::String(before)) => {
                    before.push('\n');
                    before.push_str(new);
                }
                _ => drop(last.insert(name.to_owned(), new.into())),
            }
        }
        true
    }

    /// The parts of a content; an assistant's are one text, as many servers understand nothing else, and maybe a refusal.
    fn content(&mut self, at: usize, parts: &[Json], is_assistant: bool) -> (Json, Option<String>) {
        let mut refusal: Option<String> = None;
        let mut content = Vec::new();
        for part in parts {
            match part_of_chat(part) {
                Part::Chat(part) if is_assistant && part.get("text").is_none() => {
                    self.problem(
                        at,
                        "has a part that is not a text, which an assistant's message cannot have in a chat",
                    );
                }
                Part::Chat(part) => content.push(part),
                Part::Refusal(text) => refusal.get_or_insert_default().push_str(&text),
                Part::Unknown(what) => self.problem(at, format!("has a part {what}")),
            }
        }
        if !is_assistant {
            return (Json::Array(content), refusal);
        }
        let texts: Vec<&str> = content.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        let text = if texts.is_empty() { Json::Null } else { texts.concat().into() };
        (text, refusal)
    }

    fn call(&mut self, item: &Item) {
        let (Some(id), Some(name)) = (item.text("call_id"), item.text("name")) else {
            return self.problem(item.at, "is a call without `call_id` or `name`");
        };
        let arguments = match item.members.get("arguments") {
            None | Some(Json::Null) => "",
            Some(Json::String(arguments)) => arguments,
            Some(_) => return self.problem(item.at, "has `arguments` that are not a text"),
        };
        let function = json!({"name": name, "arguments": arguments});
        let call = json!({"id": id, "type": "function", "function": function});
        let is_assistant = |message: &Message| match message {
            Message::OfItems(message) => message.get("role").and_then(Json::as_str) == Some("assistant"),
            Message::OfPrompt(_) => false,
        };
        if !self.messages.last().is_some_and(is_assistant) {
            self.push(json!({"role": "assistant", "content": null}));
        }
        if let Some(Message::OfItems(Json::Object(message))) = self.messages.last_mut()
            && let Json::Array(calls) = message.entry("tool_calls").or_insert_with(|| json!([]))
        {
            calls.push(call);
        }
    }

    fn output(&mut self, item: &Item) {
        let Some(id) = item.text("call_id") else {
            return self.problem(item.at, "is an output without `call_id`");
        };
        let content = match item.members.get("output") {
            Some(Json::Array(parts)) => self.content(item.at, parts, false).0,
            Some(Json::String(text)) => text.as_str().into(),
            None | Some(Json::Null) => "".into(),
            Some(other) => other.to_string().into(),
        };
        self.push(json!({"role": "tool", "tool_call_id": id, "content": content}));
    }
}

/// What a part of a content is in a chat.
enum Part {
    Chat(Json),
    Refusal(String),
    /// Nothing; what it is, as the end of a sentence.
    Unknown(String),
}

fn part_of_chat(part: &Json) -> Part {
    let member = |name: &str| part.get(name).filter(|member| !member.is_null());
    let text = || member("text").and_then(Json::as_str).unwrap_or_default();
    match member("type").and_then(Json::as_str) {
        Some("input_text" | "output_text" | "text") => Part::Chat(json!({"type": "text", "text": text()})),
        Some("refusal") => {
            Part::Refusal(member("refusal").and_then(Json::as_str).unwrap_or_default().to_owned())
        }
        Some("input_image") if member("image_url").is_none() => {
            Part::Unknown("of the type `input_image` without `image_url`".to_owned())
        }
        Some("input_image") => {
            let mut image = json!({"url": member("image_url")});
            if let (Some(detail), Some(image)) = (member("detail"), image.as_object_mut()) {
                image.insert("detail".to_owned(), detail.clone());
            }
            Part::Chat(json!({"type": "image_url", "image_url": image}))
        }
        Some("input_file") if member("file_url").is_some() => {
            Part::Unknown("of the type `input_file` with `file_url`; send `file_data`".to_owned())
        }
        Some("input_file") => {
            let names = ["file_data", "file_id", "filename"];
            let file: Map<String, Json> =
                names.iter().filter_map(|name| Some(((*name).to_owned(), member(name)?.clone()))).collect();
            Part::Chat(json!({"type": "file", "file": file}))
        }
        Some("input_audio") => Part::Chat(part.clone()),
        Some(kind) => Part::Unknown(format!("of the type `{kind}`")),
        None => Part::Unknown("without a `type`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn chat(input: &Json) -> Result<Json, String> {
        let payload = parse_json(json!({"input": input}).to_string().as_bytes()).unwrap();
        let kept = KeptItems::new(1_000);
        kept.keep(&[json!({"id": "msg_kept", "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "kept"}]})]);
        let messages = messages(&ResponseRequest::plain(payload), &kept);
        messages.map(|messages| json!(messages)).map_err(|error| error.to_string())
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
            {"role": "user", "content": 5},
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": {}},
            {"role": "assistant", "content": [{"type": "input_image", "image_url": "u"}]},
        ]);
        let error = chat(&input).unwrap_err();
        for at in [
            "item 0 is of the type `web_search_call`",
            "item 1 is not an object",
            "item 2 has no `role`",
            "item 3 is a call",
            "item 4 is an output",
            "item 5 refers",
            "item 6 has a part of the type `input_image` without `image_url`",
            "item 6 has a part without a `type`",
            "item 7 has a `content` that is neither",
            "item 8 has `arguments` that are not a text",
            "item 9 has a part that is not a text",
        ] {
            assert!(error.contains(at), "{at}: {error}");
        }
        let error = chat(&json!(vec![5; 1_000])).unwrap_err();
        assert!(error.contains("item 49 ") && error.ends_with("; and 950 more"), "{error}");
        assert!(chat(&json!(5)).unwrap_err().contains("must be a text, or a list of items"));
    }

    #[test]
    fn a_text_after_calls_stays_before_their_results() {
        let call = json!({"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"});
        let text = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "I look."}]});
        let empty = json!({"role": "assistant", "content": []});
        let refusal = json!({"role": "assistant", "content": [{"type": "refusal", "refusal": "No."}]});
        let output = json!({"type": "function_call_output", "call_id": "a", "output": "1"});
        let messages = chat(&json!([call, text, empty, refusal, output])).unwrap();
        assert_eq!(messages[0]["refusal"], "No.");
        assert_eq!(
            (&messages[0]["content"], &messages[0]["tool_calls"][0]["id"]),
            (&json!("I look."), &json!("a"))
        );
        assert_eq!(messages[1]["role"], "tool");
    }

    #[test]
    fn an_item_may_refer_to_a_kept_one() {
        let reference = json!({"type": "item_reference", "id": "msg_kept"});
        let thoughts = json!({"type": "item_reference", "id": "rs_gone"});
        assert_eq!(
            chat(&json!([thoughts, reference])),
            Ok(json!([{"role": "assistant", "content": "kept"}]))
        );
        assert!(
            chat(&json!([reference, reference]))
                .unwrap_err()
                .contains("item 1 refers to an item for the second time")
        );
    }
}
