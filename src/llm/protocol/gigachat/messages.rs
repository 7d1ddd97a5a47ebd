//! The history of a chat: OpenAI's messages, or GigaChat's own, as GigaChat takes them.
//!
//! - Texts of `system` and `developer` become one message, the first.
//! - Several calls of one answer become one after the other: a call with its result, the next with its result.
//! - A result is a JSON object: any other text is the member `result` of one.

use std::collections::{HashMap, VecDeque};

use serde::Serialize;
use serde_json::value::RawValue;

use super::call;
use super::content::{as_object, text};
use super::problems::Problems;
use template::value::RawObject;

/// A message for GigaChat.
#[derive(Debug, Default, Serialize)]
pub struct Message {
    role: &'static str,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<FunctionCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    functions_state_id: Option<String>,
    /// Files that GigaChat keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    attachments: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_content: Option<String>,
}

#[derive(Debug, Serialize)]
struct FunctionCall {
    name: String,
    arguments: Box<RawValue>,
}

/// A call to whose id its result refers.
struct Call {
    id: String,
    call: FunctionCall,
}

/// The history as far as it is written.
struct History<'p> {
    system: Vec<String>,
    messages: Vec<Message>,
    problems: &'p mut Problems,
}

/// The messages for GigaChat; what is wrong with them is added to `problems`.
pub fn write(messages: &[RawObject], problems: &mut Problems) -> Vec<Message> {
    let mut history = History { system: Vec::new(), messages: Vec::new(), problems };
    let mut at = 0;
    while let Some(message) = messages.get(at) {
        let behind = messages.get(at + 1..).unwrap_or_default();
        at += 1 + history.add(at, message, behind);
    }
    let History { system, mut messages, .. } = history;
    if !system.is_empty() {
        messages.insert(0, Message::new("system", system.join("\n\n")));
    }
    messages
}

/// The first messages, as far as they are results of tools.
fn of_tools(messages: &[RawObject]) -> &[RawObject] {
    let is_result = |message: &&RawObject| message.find::<String>("role").as_deref() == Some("tool");
    messages.get(..messages.iter().take_while(is_result).count()).unwrap_or_default()
}

/// Results by the ids of their calls, each with its place; of one id, in their order.
struct Results<'m>(HashMap<String, VecDeque<(usize, &'m RawObject)>>);

impl<'m> Results<'m> {
    fn new(first: usize, messages: &'m [RawObject]) -> Results<'m> {
        let mut results: HashMap<String, VecDeque<(usize, &RawObject)>> = HashMap::new();
        for (at, message) in (first..).zip(messages) {
            let id = message.find("tool_call_id").unwrap_or_default();
            results.entry(id).or_default().push_back((at, message));
        }
        Results(results)
    }

    fn take(&mut self, id: &str) -> Option<(usize, &'m RawObject)> {
        self.0.get_mut(id)?.pop_front()
    }

    /// The places of those that were not taken.
    fn left(self) -> Vec<usize> {
        let mut left: Vec<usize> = self.0.into_values().flatten().map(|(at, _)| at).collect();
        left.sort_unstable();
        left
    }
}

impl Message {
    fn calling(call: Option<FunctionCall>, state: Option<String>) -> Message {
        let said = Message::new("assistant", String::new());
        Message { function_call: call, functions_state_id: state, ..said }
    }

    fn new(role: &'static str, content: String) -> Message {
        Message { role, content, ..Message::default() }
    }
}

impl History<'_> {
    /// Adds the message at a place. Returns how many of the messages behind it are its results, and were added with it.
    fn add(&mut self, at: usize, message: &RawObject, behind: &[RawObject]) -> usize {
        let role: String = message.find("role").unwrap_or_default();
        if message.get("audio").is_some_and(|audio| audio.get() != "null") {
            self.problem::<()>(at, "has `audio`: GigaChat takes none from a history");
        }
        let content = text(message.get("content")).unwrap_or_else(|problem| self.problem(at, &problem));
        match role.as_str() {
            "system" | "developer" => self.system.extend(Some(content).filter(|text| !text.is_empty())),
            "user" => self.say("user", content, message),
            "search_result" => self.say("search_result", content, message),
            "function_in_progress" => self.say("function_in_progress", content, message),
            "assistant" => return self.assistant(at, message, content, behind),
            "function" => match message.find::<String>("name") {
                Some(name) => self.result(name, &content),
                None => self.problem(at, "needs the `name` of the function whose result it is"),
            },
            "tool" => self.problem(at, "is the result of a call, and follows no message with `tool_calls`"),
            _ => self.problem(at, "needs a `role`: system, developer, user, assistant, tool or function"),
        }
        0
    }

    /// Adds a problem of the message at a place.
    fn problem<T: Default>(&mut self, at: usize, what: &str) -> T {
        self.problems.add("messages", format!("[{at}] {what}"));
        T::default()
    }

    fn say(&mut self, role: &'static str, content: String, message: &RawObject) {
        self.messages
            .push(Message { attachments: message.find("attachments"), ..Message::new(role, content) });
    }

    /// Adds what the model said, and the results of the calls that it made.
    fn assistant(&mut self, at: usize, message: &RawObject, content: String, behind: &[RawObject]) -> usize {
        let refusal = || message.find("refusal").unwrap_or_default();
        let content = if content.is_empty() { refusal() } else { content };
        let state: Option<String> = message.find("functions_state_id");
        let calls: Vec<RawObject> = message.find("tool_calls").unwrap_or_default();
        let results = if calls.is_empty() { &[] } else { of_tools(behind) };
        let first = self.messages.len();
        if calls.is_empty() {
            let call = message.find::<RawObject>("function_call");
            let call = call.and_then(|call| self.function_call(at, &call));
            self.messages.push(Message::calling(call, state));
        } else {
            let calls = calls.iter().filter_map(|call| self.tool_call(at, call)).collect();
            self.pairs(at, calls, results, state);
        }
        if let Some(said) = self.messages.get_mut(first) {
            said.content = content;
            said.reasoning_content = message.find("reasoning_content");
        }
        results.len()
    }

    /// Adds each call with its result.
    fn pairs(&mut self, at: usize, calls: Vec<Call>, results: &[RawObject], state: Option<String>) {
        let mut results = Results::new(at + 1, results);
        for Call { id, call } in calls {
            let name = call.name.clone();
            let state = call::state_of(&id).map(str::to_owned).or_else(|| state.clone());
            self.messages.push(Message::calling(Some(call), state));
            match results.take(&id) {
                Some((at, result)) => {
                    let content = text(result.get("content"));
                    let content = content.unwrap_or_else(|problem| self.problem(at, &problem));
                    self.result(name, &content);
                }
                None => {
                    let what =
                        format!("makes the call {id:?}, and no message with that `tool_call_id` follows it");
                    self.problem(at, &what)
                }
            }
        }
        for at in results.left() {
            self.problem(at, "has a `tool_call_id` that is none of the calls before it")
        }
    }

    /// Adds the result of a function.
    fn result(&mut self, name: String, content: &str) {
        let message = Message::new("function", as_object(content));
        self.messages.push(Message { name: Some(name), ..message });
    }

    fn tool_call(&mut self, at: usize, call: &RawObject) -> Option<Call> {
        let function = call.find::<RawObject>("function").unwrap_or_default();
        let id = call.find("id").unwrap_or_default();
        Some(Call { id, call: self.function_call(at, &function)? })
    }

    fn function_call(&mut self, at: usize, function: &RawObject) -> Option<FunctionCall> {
        let name = function.find::<String>("name").filter(|name| !name.is_empty());
        let arguments = call::arguments_object(function.get("arguments")).ok();
        match name.zip(arguments) {
            Some((name, arguments)) => Some(FunctionCall { name, arguments }),
            None => self.problem(at, "has a call that names no function"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
    use template::value::parse_json;

    fn written(messages: &Json) -> Result<Json, String> {
        let messages: Vec<RawObject> = parse_json(messages.to_string().as_bytes()).unwrap();
        let mut problems = Problems::default();
        let written = write(&messages, &mut problems);
        problems.check().map_err(|error| error.to_string())?;
        Ok(json!(written))
    }

    fn call(id: &str, name: &str, arguments: &str) -> Json {
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn what_the_system_says_is_one_message_and_the_first() {
        let messages = json!([
            {"role": "user", "content": "a", "name": "Ada"}, {"role": "developer", "content": [{"type": "text", "text": "D"}, "E"]},
            {"role": "system", "content": ""}, {"role": "system", "content": "S"}, {"role": "assistant", "content": null, "refusal": "No"},
        ]);
        let expected = json!([
            {"role": "system", "content": "D\nE\n\nS"}, {"role": "user", "content": "a"}, {"role": "assistant", "content": "No"},
        ]);
        assert_eq!(written(&messages).unwrap(), expected);
    }

    #[test]
    fn several_calls_become_one_after_the_other_each_with_its_result() {
        let id = call::new_id(Some("state-1"));
        let messages = json!([
            {"role": "assistant", "content": "Look", "tool_calls": [call(&id, "f", "{\"x\": 1.0}"), call("c2", "g", "")]},
            {"role": "tool", "tool_call_id": "c2", "content": "fine"}, {"role": "tool", "tool_call_id": id, "content": "{\"y\": 2.0}"},
            {"role": "user", "content": "b"},
        ]);
        let expected = json!([
            {"role": "assistant", "content": "Look", "function_call": {"name": "f", "arguments": {"x": 1.0}}, "functions_state_id": "state-1"},
            {"role": "function", "name": "f", "content": "{\"y\": 2.0}"},
            {"role": "assistant", "content": "", "function_call": {"name": "g", "arguments": {}}},
            {"role": "function", "name": "g", "content": "{\"result\":\"fine\"}"},
            {"role": "user", "content": "b"},
        ]);
        assert_eq!(written(&messages).unwrap(), expected);
    }

    #[test]
    fn gigachats_own_messages_and_those_of_the_old_form_are_taken_too() {
        let own = json!([
            {"role": "user", "content": "a", "attachments": ["file-1"]},
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": {"x": 1}}, "functions_state_id": "s"},
            {"role": "function", "name": "f", "content": "{\"y\":2}"},
        ]);
        assert_eq!(written(&own).unwrap(), own);
        let old = json!([
            {"role": "assistant", "content": null, "function_call": {"name": "f", "arguments": "{\"x\":1}"}},
            {"role": "function", "name": "f", "content": "[1]"},
        ]);
        let expected = json!([
            {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": {"x": 1}}},
            {"role": "function", "name": "f", "content": "{\"result\":[1]}"},
        ]);
        assert_eq!(written(&old).unwrap(), expected);
    }

    #[test]
    fn everything_that_is_wrong_is_named_with_its_place() {
        let messages = json!([
            {"role": "tool", "tool_call_id": "c0", "content": "x"},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]},
            {"role": "wizard", "content": 5}, {"role": "function", "content": "{}"},
            {"role": "assistant", "tool_calls": [call("c1", "f", "{}"), call("c2", "", "{}"), call("c3", "f", "{}")]},
            {"role": "tool", "tool_call_id": "c1", "content": "x"}, {"role": "tool", "tool_call_id": "c9", "content": "x"},
            {"role": "assistant", "content": "", "audio": {"id": "a"}},
        ]);
        let problem = written(&messages).unwrap_err();
        for told in [
            "[0] is the result",
            "[1] has a part of the type \"image_url\"",
            "[2] needs a `content`",
            "[2] needs a `role`",
            "[3] needs the `name`",
            "[4] has a call that names no function",
            "[4] makes the call \"c3\"",
            "[6] has a `tool_call_id`",
            "[7] has `audio`",
        ] {
            assert!(problem.contains(told), "{told}: {problem}");
        }
    }
}
