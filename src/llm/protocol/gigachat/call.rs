//! The call of a function: in GigaChat's messages `function_call` with an object of arguments, for clients `tool_calls` or
//! `function_call` with their text.
//!
//! GigaChat gives a call no id, but its answer a `functions_state_id`, which the history has to repeat. Clients repeat only the id of a
//! call, so the id that they get holds it: `g`, three characters that tell calls of the same state apart, and the state's id. With a UUID,
//! as GigaChat gives it, that is the longest id that OpenAI takes (40), to whose models a dialogue may fall back.

use serde_json::value::RawValue;
use serde_json::{Value as Json, json};

use crate::llm::tool_form::ToolForm;
use base::random::random;
use template::value::{RawObject, parse_json};

/// How the id of a call begins that holds the id of a state that is no UUID; eight hexadecimal digits and `_` follow.
const LONG: &str = "gigachat_";

/// How many characters stand before a UUID, and the letter that is the first of them.
const BEFORE_UUID: usize = 4;
const MARK: char = 'g';

/// Longer ids of states, in bytes, are not held by the ids of calls.
const STATE_BYTES: usize = 200;

/// The places of the hyphens of a UUID, and its length.
const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const UUID_BYTES: usize = 36;

/// A new id for a call, which holds the id of its state, if there is one.
pub fn new_id(state: Option<&str>) -> String {
    match state.filter(|state| !state.is_empty() && state.len() <= STATE_BYTES) {
        Some(uuid) if is_uuid(uuid) => format!("{MARK}{}{uuid}", three_characters()),
        Some(state) => format!("{LONG}{:08x}_{state}", random() & 0xffff_ffff),
        None => format!("call_{:024x}", random() >> 32),
    }
}

fn three_characters() -> String {
    let number = random();
    let digit = |place: u32| u32::try_from((number >> (32 * place)) % 36).ok();
    (0..3).filter_map(|place| char::from_digit(digit(place)?, 36)).collect()
}

/// The id of the state that the id of a call holds.
pub fn state_of(id: &str) -> Option<&str> {
    if let Some(rest) = id.strip_prefix(LONG) {
        return rest.get(8..)?.strip_prefix('_').filter(|state| !state.is_empty());
    }
    id.strip_prefix(MARK)?;
    id.get(BEFORE_UUID..).filter(|state| is_uuid(state))
}

fn is_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match HYPHENS.contains(&at) {
        true => byte == b'-',
        false => byte.is_ascii_hexdigit(),
    };
    text.len() == UUID_BYTES && text.bytes().enumerate().all(fits)
}

/// Writes the call of a message, or of a piece of one, as the client wants it, and says whether there is one. In a piece, `number` is that of
/// the call.
///
/// # Errors
/// Those of `serde_json`.
pub fn tell(message: &mut RawObject, form: ToolForm, number: Option<u64>) -> Result<bool, serde_json::Error> {
    let Some(call) = message.find::<RawObject>("function_call") else {
        message.remove("function_call");
        return Ok(false);
    };
    let name: String = call.find("name").unwrap_or_default();
    let function = json!({"name": name, "arguments": arguments_text(call.get("arguments"))});
    match form {
        ToolForm::Functions => message.set("function_call", &function)?,
        ToolForm::Tools => {
            message.remove("function_call");
            let id = new_id(message.find::<String>("functions_state_id").as_deref());
            let mut call = json!({"id": id, "type": "function", "function": function});
            if let (Some(number), Some(members)) = (number, call.as_object_mut()) {
                members.insert("index".to_owned(), number.into());
            }
            message.set("tool_calls", &json!([call]))?;
        }
    }
    Ok(true)
}

/// The text of arguments, as they were written; some gateways write a text already.
fn arguments_text(arguments: Option<&RawValue>) -> String {
    match arguments.map(RawValue::get) {
        None | Some("null") => "{}".to_owned(),
        Some(text) => parse_json(text.as_bytes()).unwrap_or_else(|_| text.to_owned()),
    }
}

/// Arguments as GigaChat takes them: an object. A text that says one is read; of any other, which a model may have written and a client
/// repeats, an object is made.
///
/// # Errors
/// Those of `serde_json`.
pub fn arguments_object(arguments: Option<&RawValue>) -> Result<Box<RawValue>, serde_json::Error> {
    let is_object = |text: &str| parse_json::<RawObject>(text.as_bytes()).is_ok();
    let text = arguments_text(arguments);
    match text.trim() {
        "" => RawValue::from_string("{}".to_owned()),
        object if is_object(object) => RawValue::from_string(object.to_owned()),
        _ => serde_json::value::to_raw_value(&json!({"arguments": text})),
    }
}

/// Why the answer ended, in OpenAI's words.
pub fn finish_reason(reason: &str, form: ToolForm) -> Json {
    match (reason, form) {
        ("", _) => Json::Null,
        ("function_call", ToolForm::Tools) => "tool_calls".into(),
        ("blacklist", _) => "content_filter".into(),
        (reason, _) => reason.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATE: &str = "77d3fb14-457a-46ba-937e-8d856156d003";

    fn raw(json: &Json) -> RawObject {
        parse_json(json.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn the_id_of_a_call_holds_that_of_its_state() {
        for state in [STATE, "state-1", "x"] {
            let id = new_id(Some(state));
            assert_eq!(state_of(&id), Some(state), "{id}");
        }
        assert_eq!(new_id(Some(STATE)).len(), 40);
        for foreign in ["", "g", "call_1", "gK3xYz12a", "gigachat_", "gigachat_00000000_", &new_id(None)] {
            assert_eq!(state_of(foreign), None, "{foreign}");
        }
        assert_eq!(state_of(&new_id(Some(&"x".repeat(STATE_BYTES + 1)))), None);
    }

    #[test]
    fn a_call_is_told_in_the_form_that_the_client_knows() {
        let message = json!({"content": "", "function_call": {"name": "f", "arguments": {"x": 1.0}}, "functions_state_id": STATE});
        let mut tools = raw(&message);
        assert!(tell(&mut tools, ToolForm::Tools, Some(0)).unwrap());
        let told = json!(tools);
        assert_eq!(told["tool_calls"][0]["function"], json!({"name": "f", "arguments": "{\"x\":1.0}"}));
        assert_eq!(
            (&told["tool_calls"][0]["index"], told.get("function_call"), &told["functions_state_id"]),
            (&json!(0), None, &json!(STATE))
        );
        let mut functions = raw(&message);
        assert!(tell(&mut functions, ToolForm::Functions, None).unwrap());
        assert_eq!(json!(functions)["function_call"], json!({"name": "f", "arguments": "{\"x\":1.0}"}));
        for none in [json!({"content": "a"}), json!({"function_call": null})] {
            let mut none = raw(&none);
            assert!(!tell(&mut none, ToolForm::Tools, None).unwrap() && none.get("function_call").is_none());
        }
    }

    #[test]
    fn arguments_are_an_object_whatever_they_were() {
        let object = |arguments: &str| {
            let raw = RawValue::from_string(arguments.to_owned()).unwrap();
            arguments_object(Some(&raw)).unwrap().get().to_owned()
        };
        assert_eq!(object(r#"{"x":1e2}"#), r#"{"x":1e2}"#);
        assert_eq!(object(r#""{\"x\": 1e2}""#), r#"{"x": 1e2}"#);
        assert_eq!(object(r#""{\"x\": ""#), r#"{"arguments":"{\"x\": "}"#);
        for none in ["null", "\"\"", "\" \""] {
            assert_eq!(object(none), "{}");
        }
        assert_eq!(arguments_object(None).unwrap().get(), "{}");
    }
}
