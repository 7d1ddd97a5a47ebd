//! What a message of a chat completion says, or a piece of one in a stream, in all the ways in which servers write it.

use std::borrow::Cow;

use serde_json::Value as Json;

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
pub struct CallPiece<'m> {
    /// The number of the call in the message.
    pub number: u64,
    /// What its result refers to.
    pub id: &'m str,
    /// The function.
    pub name: &'m str,
    /// The JSON of its arguments.
    pub arguments: Cow<'m, str>,
}

/// The texts of a message, in their order, without empty ones. The content is a text, or a list of parts and plain texts.
pub fn texts(message: &Json) -> Vec<(TextKind, &str)> {
    let text = |name: &str| message.get(name).and_then(Json::as_str);
    let thoughts = REASONING.into_iter().find_map(text).map(|text| (TextKind::Reasoning, text));
    let refusal = text("refusal").map(|text| (TextKind::Refusal, text));
    let content: Vec<(TextKind, &str)> = match message.get("content") {
        Some(Json::String(text)) => vec![(TextKind::Output, text)],
        Some(Json::Array(parts)) => parts.iter().filter_map(text_of_part).collect(),
        _ => Vec::new(),
    };
    thoughts.into_iter().chain(content).chain(refusal).filter(|(_, text)| !text.is_empty()).collect()
}

fn text_of_part(part: &Json) -> Option<(TextKind, &str)> {
    let text = |name: &str| part.get(name)?.as_str();
    match text("type") {
        None if part.is_string() => Some((TextKind::Output, part.as_str()?)),
        None | Some("text" | "output_text") => Some((TextKind::Output, text("text")?)),
        Some("refusal") => Some((TextKind::Refusal, text("refusal")?)),
        // Other parts, such as thoughts, are not meant for the reader.
        Some(_) => None,
    }
}

/// The calls of a message, or the pieces of calls in a piece of a message: those in `tool_calls`, or the one in
/// `function_call`, as it was before there were several.
pub fn calls(message: &Json) -> Vec<CallPiece<'_>> {
    let calls = message.get("tool_calls").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    match message.get("function_call") {
        Some(function @ Json::Object(_)) if calls.is_empty() => vec![CallPiece::read(0, None, function)],
        _ => calls.iter().enumerate().filter_map(|(at, call)| CallPiece::of_list(at, call)).collect(),
    }
}

impl<'m> CallPiece<'m> {
    fn of_list(at: usize, call: &'m Json) -> Option<CallPiece<'m>> {
        let number = call.get("index").and_then(Json::as_u64).unwrap_or(at as u64);
        Some(CallPiece::read(number, call.get("id").and_then(Json::as_str), call.get("function")?))
    }

    fn read(number: u64, id: Option<&'m str>, function: &'m Json) -> CallPiece<'m> {
        let arguments = match function.get("arguments") {
            Some(Json::String(text)) => Cow::Borrowed(text.as_str()),
            // Some servers write the object itself in the place of its text.
            Some(object @ Json::Object(_)) => Cow::Owned(object.to_string()),
            _ => Cow::Borrowed(""),
        };
        let name = function.get("name").and_then(Json::as_str).unwrap_or_default();
        CallPiece { number, id: id.unwrap_or_default(), name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
                vec![(Output, "a"), (Output, "b"), (Output, "c"), (Refusal, "No")],
            ),
            (json!({"content": "", "refusal": null}), vec![]),
            (json!("a"), vec![]),
        ] {
            assert_eq!(texts(&message), expected, "{message}");
        }
    }

    #[test]
    fn calls_are_found_wherever_servers_write_them() {
        let piece =
            |number, id, name, arguments| CallPiece { number, id, name, arguments: Cow::Borrowed(arguments) };
        let list = json!({"tool_calls": [
            {"index": 3, "id": "a", "function": {"name": "f", "arguments": "{}"}},
            {"function": {"arguments": {"x": 1}}},
            {"id": "no function"},
        ], "function_call": {"name": "g"}});
        assert_eq!(calls(&list), [piece(3, "a", "f", "{}"), piece(1, "", "", "{\"x\":1}")]);
        let one = json!({"tool_calls": [], "function_call": {"name": "g", "arguments": ""}});
        assert_eq!(calls(&one), [piece(0, "", "g", "")]);
        assert_eq!(calls(&json!({"tool_calls": "none", "function_call": null})), []);
    }
}
