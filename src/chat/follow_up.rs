//! The messages of a request, which go with those of its prompt: after them, or around them if one fills a parameter.

use serde::Deserialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value as Json, json};

use super::error::ChatError;
use super::request::Api;
use template::value::RawObject;

/// Messages of a request, in the format of chat completions or of responses.
#[derive(Debug, Default)]
pub struct FollowUp {
    /// Those that go before the prompt's own, but after its instructions.
    before: Vec<Given>,
    /// Those that go after it.
    after: Vec<Given>,
    /// Whether the last message of the user, which is left out then, says nothing.
    ends_empty: bool,
}

/// A message, and its place in the request.
#[derive(Debug)]
pub struct Given {
    /// The place, from 0.
    pub at: usize,
    /// The message.
    pub message: Box<RawValue>,
}

/// What is read of a message.
#[derive(Deserialize)]
struct Message {
    role: Option<String>,
    content: Option<Json>,
}

impl Message {
    fn read(message: &RawValue) -> Option<Message> {
        serde_json::from_str(message.get()).ok()
    }

    fn is_of_user(&self) -> bool {
        self.role.as_deref() == Some("user")
    }

    /// Whether the prompt's own messages of this role stand before everything else.
    fn is_instruction(&self) -> bool {
        matches!(self.role.as_deref(), Some("system" | "developer"))
    }

    /// The texts of the content, and its other parts.
    fn split(self) -> (Option<String>, Vec<Json>) {
        match self.content {
            Some(Json::String(text)) => (Some(text), Vec::new()),
            Some(Json::Array(parts)) => {
                let (texts, others): (Vec<Json>, Vec<Json>) =
                    parts.into_iter().partition(|part| text_of(part).is_some());
                let joined = texts.iter().filter_map(text_of).collect::<Vec<_>>().join("\n");
                ((!texts.is_empty()).then_some(joined), others)
            }
            _ => (None, Vec::new()),
        }
    }

    /// Whether the content is nothing at all: client libraries that insist on a message are given an empty one.
    fn is_empty(&self) -> bool {
        match &self.content {
            None | Some(Json::Null) => true,
            Some(Json::String(text)) => text.trim().is_empty(),
            Some(Json::Array(parts)) => {
                parts.iter().all(|part| text_of(part).is_some_and(|text| text.trim().is_empty()))
            }
            Some(_) => false,
        }
    }
}

/// The items of `input`, which may be one text instead.
fn items(input: &RawValue) -> Result<Vec<Box<RawValue>>, serde_json::Error> {
    match input.get().starts_with('"') {
        false => serde_json::from_str(input.get()),
        true => {
            let text: String = serde_json::from_str(input.get())?;
            Ok(vec![to_raw_value(&json!({"role": "user", "content": text}))?])
        }
    }
}

/// The text of a part of a content that is one.
fn text_of(part: &Json) -> Option<&str> {
    let is_text = matches!(part.get("type")?.as_str()?, "text" | "input_text");
    part.get("text").filter(|_| is_text)?.as_str()
}

impl FollowUp {
    /// Those of a request.
    ///
    /// # Errors
    /// If they are no list.
    pub fn read(body: &RawObject, api: Api) -> Result<FollowUp, ChatError> {
        let messages = match api {
            Api::Completions | Api::Text => body
                .read("messages")
                .map_err(|_| ChatError::invalid("messages", "must be a list of messages"))?,
            Api::Responses => {
                let input = body.get("input").filter(|input| input.get() != "null");
                let invalid = |_| ChatError::invalid("input", "must be a text, or a list of items");
                input.map(items).transpose().map_err(invalid)?
            }
        };
        Ok(FollowUp::new(messages.unwrap_or_default()))
    }

    /// These messages, without empty ones of the user.
    fn new(messages: Vec<Box<RawValue>>) -> FollowUp {
        let mut follow_up = FollowUp::default();
        for (at, message) in messages.into_iter().enumerate() {
            let of_user = Message::read(&message).filter(Message::is_of_user);
            let is_empty = of_user.as_ref().is_some_and(Message::is_empty);
            if of_user.is_some() {
                follow_up.ends_empty = is_empty;
            }
            if !is_empty {
                follow_up.after.push(Given { at, message });
            }
        }
        follow_up
    }

    /// Whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// Takes the text of the last message of the user out, if it has one: the prompt stands in its place then. Its parts that
    /// are no text, such as images, stay as a message behind the prompt.
    pub fn take_input(&mut self) -> Option<String> {
        if self.ends_empty {
            return None;
        }
        let read = |given: &Given| Message::read(&given.message).filter(Message::is_of_user);
        let (index, message) =
            self.after.iter().enumerate().rev().find_map(|(index, given)| Some((index, read(given)?)))?;
        let (text, others) = message.split();
        let text = text?;
        let mut rest = self.after.split_off(index);
        let Given { at, .. } = rest.remove(0);
        self.before = std::mem::take(&mut self.after);
        if !others.is_empty() {
            let others = json!({"role": "user", "content": others});
            self.after.extend(to_raw_value(&others).map(|message| Given { at, message }));
        }
        self.after.extend(rest);
        Some(text)
    }

    /// All messages: these, around or after those of the prompt.
    pub fn join(self, prompt: Vec<Box<RawValue>>) -> Vec<Box<RawValue>> {
        self.arrange(prompt, |message| message, |given| given.message)
    }

    /// The same, each made of a message of the prompt or of one of these.
    pub fn arrange<T>(
        self,
        prompt: Vec<Box<RawValue>>,
        of_prompt: impl Fn(Box<RawValue>) -> T,
        of_request: impl Fn(Given) -> T,
    ) -> Vec<T> {
        let FollowUp { before, after, .. } = self;
        let is_instruction =
            |message: &RawValue| Message::read(message).is_some_and(|message| message.is_instruction());
        let instructions = match before.is_empty() {
            true => 0,
            false => prompt.iter().take_while(|message| is_instruction(message)).count(),
        };
        let mut instructions_first = prompt;
        let own = instructions_first.split_off(instructions);
        let mut messages: Vec<T> = instructions_first.into_iter().map(&of_prompt).collect();
        messages.extend(before.into_iter().map(&of_request));
        messages.extend(own.into_iter().map(of_prompt));
        messages.extend(after.into_iter().map(of_request));
        messages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(messages: &[Json]) -> Vec<Box<RawValue>> {
        messages.iter().map(|message| RawValue::from_string(message.to_string()).unwrap()).collect()
    }

    fn says(role: &str, content: &str) -> Json {
        json!({"role": role, "content": content})
    }

    fn joined(follow_up: FollowUp, prompt: &[Json]) -> Json {
        json!(follow_up.join(raw(prompt)))
    }

    #[test]
    fn messages_follow_the_prompt_without_empty_ones_of_the_user() {
        let empty = [
            says("user", " "),
            json!({"role": "user", "content": []}),
            json!({"role": "user", "content": [{"type": "text", "text": ""}]}),
            json!({"role": "user", "content": [{"type": "input_text", "text": ""}]}),
            json!({"role": "user", "content": null}),
            json!({"role": "user"}),
        ];
        assert!(FollowUp::new(raw(&empty)).is_empty());
        let image = json!({"role": "user", "content": [{"type": "image_url"}]});
        let kept = [says("assistant", ""), image, json!("no message"), says("user", "x")];
        assert_eq!(joined(FollowUp::new(raw(&kept)), &[])[1], kept[1]);
        let all: Vec<Json> =
            [says("system", "S"), says("user", "P")].into_iter().chain(kept.clone()).collect();
        assert_eq!(joined(FollowUp::new(raw(&kept)), &all[..2]), json!(all));
    }

    #[test]
    fn the_last_message_of_the_user_gives_the_input_and_the_prompt_stands_in_its_place() {
        let call = json!({"role": "assistant", "tool_calls": []});
        let mut follow_up =
            FollowUp::new(raw(&[says("user", "a"), says("assistant", "b"), says("user", "c"), call.clone()]));
        assert_eq!(follow_up.take_input().as_deref(), Some("c"));
        let prompt = [says("system", "S"), says("developer", "D"), says("user", "P")];
        let expected = [
            says("system", "S"),
            says("developer", "D"),
            says("user", "a"),
            says("assistant", "b"),
            says("user", "P"),
            call,
        ];
        assert_eq!(joined(follow_up, &prompt), json!(expected));
    }

    #[test]
    fn an_empty_last_message_of_the_user_makes_no_older_one_the_input() {
        let mut follow_up =
            FollowUp::new(raw(&[says("user", "a"), says("assistant", "b"), says("user", " ")]));
        assert_eq!(follow_up.take_input(), None);
        assert_eq!(joined(follow_up, &[]), json!([says("user", "a"), says("assistant", "b")]));
    }

    #[test]
    fn parts_that_are_no_text_stay() {
        let image = json!({"type": "image_url", "image_url": {"url": "u"}});
        let parts = json!([{"type": "text", "text": "a"}, image, {"type": "text", "text": "b"}]);
        let mut follow_up = FollowUp::new(raw(&[json!({"role": "user", "content": parts})]));
        assert_eq!(follow_up.take_input().as_deref(), Some("a\nb"));
        let expected = json!([says("user", "P"), {"role": "user", "content": [image]}]);
        assert_eq!(joined(follow_up, &[says("user", "P")]), expected);
        let mut only_image = FollowUp::new(raw(&[json!({"role": "user", "content": [image]})]));
        assert_eq!(only_image.take_input(), None);
        assert!(!only_image.is_empty());
    }
}
