//! What the message of a chat completion says, or a piece of one in a stream, in all the ways in which servers write it, which are
//! more than OpenAI's documents describe. Members of an unexpected type count as absent.

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use super::lenient::{Lenient, Read, skip, value};
use template::value::{RawObject, SmolStr, each_item, parse_json};

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

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Message, D::Error> {
        let Read(message) = Read::<Option<Message>>::deserialize(deserializer)?;
        message.ok_or_else(|| D::Error::custom("a message must be an object"))
    }
}

impl Lenient for Option<Message> {
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Option<Message>, A::Error> {
        let (mut content, mut refusal) = (Content::default(), None);
        // Where servers put the thoughts of a model: DeepSeek, vLLM and llama.cpp; OpenRouter.
        let (mut reasoning_content, mut reasoning) = (None, None);
        let (mut calls, mut function_call) = (Calls::default(), None);
        while let Some(name) = object.next_key::<SmolStr>()? {
            match name.as_str() {
                "content" => content = value(&mut object)?,
                "refusal" => refusal = value(&mut object)?,
                "reasoning_content" => reasoning_content = value(&mut object)?,
                "reasoning" => reasoning = value(&mut object)?,
                "tool_calls" => calls = value(&mut object)?,
                "function_call" => function_call = value(&mut object)?,
                _ => skip(&mut object)?,
            }
        }
        let mut texts = Vec::with_capacity(1);
        let is_said = |text: &String| !text.is_empty();
        let thoughts = reasoning_content.filter(is_said).or(reasoning);
        add(&mut texts, TextKind::Reasoning, thoughts);
        content.0.into_iter().for_each(|(kind, text)| add(&mut texts, kind, Some(text)));
        add(&mut texts, TextKind::Refusal, refusal);
        let Calls(mut calls) = calls;
        if calls.is_empty() {
            calls.extend(function_call.map(|function| CallPiece::new(0, None, function)));
        }
        Ok(Some(Message { texts, calls }))
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

    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Content, A::Error> {
        let mut texts = Vec::new();
        while let Some(Read(Part(part))) = list.next_element()? {
            texts.extend(part);
        }
        Ok(Content(texts))
    }
}

/// The text of a part. Of other parts than texts and refusals, nothing: a model's thoughts, for example, are not meant for the
/// reader.
#[derive(Default)]
struct Part(Option<(TextKind, String)>);

impl Lenient for Part {
    fn of_text(text: &str) -> Part {
        Part(Some((TextKind::Output, text.to_owned())))
    }

    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Part, A::Error> {
        let (mut kind, mut text, mut refusal) = (None::<String>, None, None);
        while let Some(name) = object.next_key::<SmolStr>()? {
            match name.as_str() {
                "type" => kind = value(&mut object)?,
                "text" => text = value(&mut object)?,
                "refusal" => refusal = value(&mut object)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(Part(match kind.as_deref() {
            None | Some("text" | "output_text" | "") => text.map(|text| (TextKind::Output, text)),
            Some("refusal") => refusal.map(|text| (TextKind::Refusal, text)),
            Some(_) => None,
        }))
    }
}

/// The calls in a list.
#[derive(Default)]
struct Calls(Vec<CallPiece>);

impl Lenient for Calls {
    fn of_list<'de, A: SeqAccess<'de>>(mut list: A) -> Result<Calls, A::Error> {
        let (mut calls, mut place) = (Vec::new(), 0);
        while let Some(Read(Call { number, id, function })) = list.next_element()? {
            let piece = |function| CallPiece::new(number.unwrap_or(place), id, function);
            calls.extend(function.map(piece));
            place += 1;
        }
        Ok(Calls(calls))
    }
}

/// An item of the list of calls.
#[derive(Default)]
struct Call {
    number: Option<u64>,
    id: Option<String>,
    function: Option<Function>,
}

impl Lenient for Call {
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Call, A::Error> {
        let mut call = Call::default();
        while let Some(name) = object.next_key::<SmolStr>()? {
            match name.as_str() {
                "index" => call.number = value(&mut object)?,
                "id" => call.id = value(&mut object)?,
                "function" => call.function = value(&mut object)?,
                _ => skip(&mut object)?,
            }
        }
        Ok(call)
    }
}

/// The function that is called.
#[derive(Default)]
struct Function {
    name: Option<String>,
    arguments: Option<String>,
}

impl Lenient for Option<Function> {
    fn of_object<'de, A: MapAccess<'de>>(mut object: A) -> Result<Option<Function>, A::Error> {
        let mut function = Function::default();
        while let Some(name) = object.next_key::<SmolStr>()? {
            match name.as_str() {
                "name" => function.name = value(&mut object)?,
                "arguments" => function.arguments = arguments(object.next_value()?),
                _ => skip(&mut object)?,
            }
        }
        Ok(Some(function))
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
        parse_json(message.to_string().as_bytes()).unwrap()
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
        let read = |text: &str| parse_json::<Message>(text.as_bytes());
        let twice = read(r#"{"content":"a","x":[[[{"y":1e999}]]],"content":null,"refusal":"No"}"#).unwrap();
        assert_eq!(twice.texts, [(TextKind::Refusal, "No".to_owned())]);
        let halves = read(
            r#"{"content":"a\ud83d","tool_calls":[{"function":{"name":"f","arguments":{"x":"\ud83d"}}}]}"#,
        );
        let halves = halves.unwrap();
        assert_eq!(halves.texts, [(TextKind::Output, "a\u{fffd}".to_owned())]);
        assert_eq!(halves.calls[0].arguments, "{\"x\":\"\\ufffd\"}");
        for none in ["null", "[]", "\"text\"", "1"] {
            assert!(read(none).is_err(), "{none}");
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
