//! What the message of a chat completion says, or a piece of one in a stream, in all the ways in which servers write it, which are
//! more than OpenAI's documents describe. Members of an unexpected type count as absent.

use serde::de::{MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::lenient::{self, Lenient, Members, number, skip, value};
use template::value::{RawObject, each_item, parse_json};

/// What a text in a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// The model's thoughts.
    Reasoning,
    /// What it says.
    Output,
    /// That, and why, it does not answer.
    Refusal,
}

/// A message, or a piece of one.
#[derive(Debug, Default)]
pub struct Message {
    /// Its texts, in their order; none is empty, and two that follow each other are of different kinds.
    pub texts: Vec<(TextKind, String)>,
    /// The calls that it asks for, or the pieces of calls: those in `tool_calls`, or the one in `function_call`, as it was before there
    /// were several.
    pub calls: Vec<CallPiece>,
}

/// A call of a function, or a piece of one. What the piece does not say is empty.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CallPiece {
    /// The number of the call in the message.
    pub number: u64,
    /// What its result refers to.
    pub id: String,
    /// The function.
    pub name: String,
    /// The JSON of its arguments.
    pub arguments: String,
}

/// The first choice of an answer, or of a chunk, that `is_it`.
pub fn choice(answer: &RawObject, is_it: impl Fn(&RawObject) -> bool) -> Option<RawObject> {
    let mut found = None;
    each_item(answer.get("choices")?, |choice| {
        if found.is_none() {
            found = object(choice).filter(&is_it);
        }
    });
    found
}

/// The object that a text says, if it says one.
pub fn object(json: &RawValue) -> Option<RawObject> {
    parse_json(json.get().as_bytes()).ok()
}

impl Message {
    /// The member of a choice, or of a piece of one, that is a message.
    pub fn find(choice: &RawObject, member: &str) -> Option<Message> {
        lenient::find(choice, member)
    }
}

/// The members of a message.
#[derive(Default)]
struct MessageMembers {
    content: Content,
    refusal: Option<String>,
    reasoning_content: Option<String>,
    reasoning: Option<String>,
    tool_calls: Vec<Option<Call>>,
    function_call: Option<Function>,
}

impl Members for MessageMembers {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "content" => self.content = value(object)?,
            "refusal" => self.refusal = value(object)?,
            "reasoning_content" => self.reasoning_content = value(object)?,
            "reasoning" => self.reasoning = value(object)?,
            "tool_calls" => self.tool_calls = value(object)?,
            "function_call" => self.function_call = value(object)?,
            _ => skip(object)?,
        }
        Ok(())
    }
}

impl MessageMembers {
    fn message(self) -> Message {
        let mut texts = Vec::with_capacity(1);
        // Where servers put the thoughts of a model: DeepSeek, vLLM and llama.cpp; OpenRouter.
        let thoughts = self.reasoning_content.filter(|text| !text.is_empty()).or(self.reasoning);
        add(&mut texts, TextKind::Reasoning, thoughts);
        self.content.0.into_iter().for_each(|(kind, text)| add(&mut texts, kind, Some(text)));
        add(&mut texts, TextKind::Refusal, self.refusal);
        let listed = (0..).zip(self.tool_calls).filter_map(|(place, call)| call?.piece(place));
        let mut calls: Vec<CallPiece> = listed.collect();
        if calls.is_empty() {
            calls.extend(self.function_call.map(|function| CallPiece::new(0, None, function)));
        }
        Message { texts, calls }
    }
}

impl Lenient for Option<Message> {
    fn of_object<'de, A: MapAccess<'de>>(object: A) -> Result<Option<Message>, A::Error> {
        Ok(Option::<MessageMembers>::of_object(object)?.map(MessageMembers::message))
    }
}

fn add(texts: &mut Vec<(TextKind, String)>, kind: TextKind, text: Option<String>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    match texts.last_mut() {
        Some((last, before)) if *last == kind => before.push_str(&text),
        _ => texts.push((kind, text)),
    }
}

/// The texts of the content: a text, or a list of parts and plain texts.
#[derive(Default)]
struct Content(Vec<(TextKind, String)>);

impl Lenient for Content {
    fn of_text(text: &str) -> Content {
        Content(vec![(TextKind::Output, text.to_owned())])
    }

    fn of_list<'de, A: SeqAccess<'de>>(list: A) -> Result<Content, A::Error> {
        let parts = Vec::<Part>::of_list(list)?;
        Ok(Content(parts.into_iter().filter_map(Part::text).collect()))
    }
}

/// A part of the content.
#[derive(Default)]
struct Part {
    kind: Option<String>,
    text: Option<String>,
    refusal: Option<String>,
}

impl Members for Part {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "type" => self.kind = value(object)?,
            "text" => self.text = value(object)?,
            "refusal" => self.refusal = value(object)?,
            _ => skip(object)?,
        }
        Ok(())
    }
}

impl Lenient for Part {
    fn of_text(text: &str) -> Part {
        Part { text: Some(text.to_owned()), ..Part::default() }
    }

    fn of_object<'de, A: MapAccess<'de>>(object: A) -> Result<Part, A::Error> {
        Option::<Part>::of_object(object).map(Option::unwrap_or_default)
    }
}

impl Part {
    /// Its text. Of other parts than texts and refusals, nothing: a model's thoughts, for example, are not meant for the reader.
    fn text(self) -> Option<(TextKind, String)> {
        match self.kind.as_deref() {
            None | Some("text" | "output_text" | "") => self.text.map(|text| (TextKind::Output, text)),
            Some("refusal") => self.refusal.map(|text| (TextKind::Refusal, text)),
            Some(_) => None,
        }
    }
}

/// An item of the list of calls.
#[derive(Default)]
struct Call {
    number: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

impl Members for Call {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "index" => self.number = number(object)?,
            "id" => self.id = value(object)?,
            "function" => self.function = value(object)?,
            _ => skip(object)?,
        }
        Ok(())
    }
}

impl Call {
    /// The call, at this place of the list.
    fn piece(self, place: u64) -> Option<CallPiece> {
        Some(CallPiece::new(self.number.unwrap_or(place), self.id, self.function?))
    }
}

/// The function that is called.
#[derive(Default)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

impl Members for Function {
    fn member<'de, A: MapAccess<'de>>(&mut self, name: &str, object: &mut A) -> Result<(), A::Error> {
        match name {
            "name" => self.name = value(object)?,
            "arguments" => self.arguments = arguments(object.next_value()?),
            _ => skip(object)?,
        }
        Ok(())
    }
}

/// The text of arguments. Some servers write the object itself in the place of its text.
fn arguments(json: &RawValue) -> Option<String> {
    match json.get() {
        object if object.starts_with('{') => Some(object.to_owned()),
        text => parse_json(text.as_bytes()).ok(),
    }
}

impl CallPiece {
    fn new(number: u64, id: Option<String>, function: Function) -> CallPiece {
        let Function { name, arguments } = function;
        let [id, name, arguments] = [id, name, arguments].map(Option::unwrap_or_default);
        CallPiece { number, id, name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn read(message: &Json) -> Message {
        lenient::read::<Option<Message>>(message.to_string().as_bytes()).unwrap().unwrap()
    }

    #[test]
    fn texts_are_found_wherever_servers_write_them() {
        use TextKind::{Output, Reasoning, Refusal};
        for (message, expected) in [
            (json!({"content": "a", "reasoning": "t"}), vec![(Reasoning, "t"), (Output, "a")]),
            (
                json!({"content": null, "reasoning_content": "t", "refusal": "No"}),
                vec![(Reasoning, "t"), (Refusal, "No")],
            ),
            (
                json!({"content": ["a", {"text": "b"}, {"type": "text", "text": "c"}, {"type": "refusal", "refusal": "No"}, {"type": "thinking", "text": "t"}, 5]}),
                vec![(Output, "abc"), (Refusal, "No")],
            ),
            (json!({"content": "", "refusal": null}), vec![]),
            (
                json!({"content": [{"type": "refusal", "refusal": "N"}, "a"], "refusal": "o"}),
                vec![(Refusal, "N"), (Output, "a"), (Refusal, "o")],
            ),
            (json!({"reasoning_content": "", "reasoning": "t", "content": 5}), vec![(Reasoning, "t")]),
        ] {
            let expected: Vec<_> = expected.into_iter().map(|(kind, text)| (kind, text.to_owned())).collect();
            assert_eq!(read(&message).texts, expected, "{message}");
        }
    }

    #[test]
    fn the_last_member_of_a_name_counts_and_what_nobody_asks_for_is_skipped() {
        let read = |text: &str| lenient::read::<Option<Message>>(text.as_bytes()).unwrap();
        let twice = read(r#"{"content":"a","x":[[[{"y":1e999}]]],"content":null,"refusal":"No"}"#).unwrap();
        assert_eq!(twice.texts, [(TextKind::Refusal, "No".to_owned())]);
        let halves = read(
            r#"{"content":"a\ud83d","tool_calls":[{"function":{"name":"f","arguments":{"x":"\ud83d"}}}]}"#,
        );
        let halves = halves.unwrap();
        assert_eq!(halves.texts, [(TextKind::Output, "a\u{fffd}".to_owned())]);
        assert_eq!(halves.calls[0].arguments, "{\"x\":\"\\ufffd\"}");
        for none in ["null", "[]", "\"text\"", "1"] {
            assert!(read(none).is_none(), "{none}");
        }
    }

    #[test]
    fn calls_are_found_wherever_servers_write_them() {
        let piece = |number, id: &str, name: &str, arguments: &str| CallPiece {
            number,
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        };
        let list = json!({"tool_calls": [
            {"index": 3, "id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"function": {"arguments": {"x": 1}}},
            {"id": "no function"},
        ], "function_call": {"name": "g"}});
        assert_eq!(read(&list).calls, [piece(3, "a", "f", "{}"), piece(1, "", "", "{\"x\":1}")]);
        let one = json!({"tool_calls": [], "function_call": {"name": "g", "arguments": ""}});
        assert_eq!(read(&one).calls, [piece(0, "", "g", "")]);
        assert_eq!(read(&json!({"tool_calls": "none", "function_call": null})).calls, []);
    }
}
