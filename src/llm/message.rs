//! What the message of a chat completion says, or a piece of one in a stream, in all the ways in which servers write it, which are
//! more than OpenAI's documents describe. Members of an unexpected type count as absent.

use serde_json::value::RawValue;

use template::value::{RawObject, each_item, parse_json};

/// Where servers put the thoughts of a model (DeepSeek, vLLM and llama.cpp; OpenRouter).
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

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

/// A call of a function, or a piece of one. What the piece does not say is empty.
#[derive(Debug, PartialEq, Eq)]
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

/// The texts of a message, in their order; none is empty, and two that follow each other are of different kinds. The content is a
/// text, or a list of parts and plain texts.
pub fn texts(message: &RawObject) -> Vec<(TextKind, String)> {
    let mut texts = Vec::new();
    let mut thoughts = REASONING.into_iter().filter_map(|name| message.find::<String>(name));
    add(&mut texts, TextKind::Reasoning, thoughts.find(|text| !text.is_empty()));
    match (message.find("content"), message.get("content")) {
        (Some(text), _) => add(&mut texts, TextKind::Output, Some(text)),
        (None, Some(parts)) => each_item(parts, |part| {
            if let Some((kind, text)) = text_of_part(part) {
                add(&mut texts, kind, text);
            }
        }),
        (None, None) => {}
    }
    add(&mut texts, TextKind::Refusal, message.find("refusal"));
    texts
}

fn add(texts: &mut Vec<(TextKind, String)>, kind: TextKind, text: Option<String>) {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return };
    match texts.last_mut() {
        Some((last, before)) if *last == kind => before.push_str(&text),
        _ => texts.push((kind, text)),
    }
}

/// Of other parts than texts and refusals, nothing: a model's thoughts, for example, are not meant for the reader.
fn text_of_part(part: &RawValue) -> Option<(TextKind, Option<String>)> {
    let Some(part) = object(part) else {
        return Some((TextKind::Output, parse_json(part.get().as_bytes()).ok()));
    };
    match part.find::<String>("type").as_deref() {
        None | Some("text" | "output_text" | "") => Some((TextKind::Output, part.find("text"))),
        Some("refusal") => Some((TextKind::Refusal, part.find("refusal"))),
        Some(_) => None,
    }
}

/// The calls of a message, or the pieces of calls in a piece of a message: those in `tool_calls`, or the one in
/// `function_call`, as it was before there were several.
pub fn calls(message: &RawObject) -> Vec<CallPiece> {
    let (mut calls, mut place) = (Vec::new(), 0);
    if let Some(list) = message.get("tool_calls") {
        each_item(list, |call| {
            calls.extend(object(call).and_then(|call| {
                let number = call.find("index").unwrap_or(place);
                Some(CallPiece::read(number, call.find("id"), &call.find("function")?))
            }));
            place += 1;
        });
    }
    if calls.is_empty() {
        calls.extend(message.find("function_call").map(|function| CallPiece::read(0, None, &function)));
    }
    calls
}

impl CallPiece {
    fn read(number: u64, id: Option<String>, function: &RawObject) -> CallPiece {
        let arguments = match function.get("arguments").map(RawValue::get) {
            // Some servers write the object itself in the place of its text.
            Some(json) if json.starts_with('{') => json.to_owned(),
            _ => function.find("arguments").unwrap_or_default(),
        };
        let name = function.find("name").unwrap_or_default();
        CallPiece { number, id: id.unwrap_or_default(), name, arguments }
    }
}

/// The object that a text says, if it says one.
pub fn object(json: &RawValue) -> Option<RawObject> {
    parse_json(json.get().as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn raw(message: &Json) -> RawObject {
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
            assert_eq!(texts(&raw(&message)), expected, "{message}");
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
        assert_eq!(calls(&raw(&list)), [piece(3, "a", "f", "{}"), piece(1, "", "", "{\"x\":1}")]);
        let one = json!({"tool_calls": [], "function_call": {"name": "g", "arguments": ""}});
        assert_eq!(calls(&raw(&one)), [piece(0, "", "g", "")]);
        assert_eq!(calls(&raw(&json!({"tool_calls": "none", "function_call": null}))), []);
    }
}
