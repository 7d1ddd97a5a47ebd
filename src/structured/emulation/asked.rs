//! What a client asks for in OpenAI's format that a model may not have.

use serde_json::value::RawValue;

use crate::llm::structured::Plan;
use template::value::{RawObject, each_item, parse_json};

/// The schema of any object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A text that fits a JSON Schema: `response_format` of the type `json_schema`.
    Value {
        /// The schema.
        schema: String,
    },
    /// A text that is any JSON object: `response_format` of the type `json_object`.
    Object,
    /// A call of one function: `tool_choice` names it, or there is no other one and it has to be called.
    Call {
        /// Its name.
        name: String,
        /// The schema of its arguments.
        schema: String,
    },
}

impl Asked {
    /// What a chat completion asks for; `None` if it is nothing of that.
    pub fn read(payload: &RawObject) -> Option<Asked> {
        Asked::format(payload).or_else(|| Asked::call(payload))
    }

    fn format(payload: &RawObject) -> Option<Asked> {
        let format: RawObject = payload.find("response_format")?;
        match format.find::<String>("type")?.as_str() {
            "json_schema" => {
                let schema: Box<RawValue> = format.find::<RawObject>("json_schema")?.find("schema")?;
                Some(Asked::Value { schema: schema.get().to_owned() })
            }
            // The functions of the client could be called, which the text way has no place for.
            "json_object" if payload.get("tools").is_none() => Some(Asked::Object),
            _ => None,
        }
    }

    fn call(payload: &RawObject) -> Option<Asked> {
        let choice = payload.get("tool_choice")?;
        let mut functions = functions(payload);
        let at = match parse_json::<RawObject>(choice.get().as_bytes()) {
            Ok(choice) => {
                let wanted: String = choice.find::<RawObject>("function")?.find("name")?;
                functions.iter().position(|(name, _)| *name == wanted)?
            }
            Err(_) if choice.get() == "\"required\"" && functions.len() == 1 => 0,
            Err(_) => return None,
        };
        let (name, schema) = functions.swap_remove(at);
        Some(Asked::Call { name, schema })
    }

    /// The schema of the value.
    pub fn schema(&self) -> &str {
        match self {
            Asked::Value { schema } | Asked::Call { schema, .. } => schema,
            Asked::Object => ANY_OBJECT,
        }
    }

    /// The ways in which it may be asked for; the first is the client's own.
    pub fn plan(&self) -> Plan {
        match self {
            Asked::Value { .. } => Plan::VALUE,
            Asked::Object => Plan::OBJECT,
            Asked::Call { .. } => Plan::CALL,
        }
    }
}

/// The functions of a request: names, and the schemas of arguments.
fn functions(payload: &RawObject) -> Vec<(String, String)> {
    let mut functions = Vec::new();
    if let Some(tools) = payload.get("tools") {
        each_item(tools, |tool| {
            let tool = parse_json::<RawObject>(tool.get().as_bytes()).ok();
            functions.extend(tool.and_then(|tool| {
                let function: RawObject = tool.find("function")?;
                let schema = function.get("parameters").map_or(ANY_OBJECT, RawValue::get);
                Some((function.find("name")?, schema.to_owned()))
            }));
        });
    }
    functions
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};

    fn asked(payload: &Json) -> Option<Asked> {
        Asked::read(&parse_json(payload.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn schemas_objects_and_calls_that_have_to_be_made_are_seen() {
        let function =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"x": 1}}});
        let call = |name: &str| Some(Asked::Call { name: name.into(), schema: r#"{"x":1}"#.into() });
        let named = |name: &str| json!({"type": "function", "function": {"name": name}});
        let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "null"}}});
        for (payload, expected) in [
            (json!({"response_format": format}), Some(Asked::Value { schema: r#"{"type":"null"}"#.into() })),
            (json!({"response_format": {"type": "json_object"}}), Some(Asked::Object)),
            (json!({"response_format": {"type": "json_object"}, "tools": [function("f")]}), None),
            (json!({"response_format": {"type": "text"}}), None),
            (json!({"response_format": {"type": "json_schema"}}), None),
            (json!({"response_format": null, "messages": []}), None),
            (json!({"tools": [function("f"), function("g")], "tool_choice": named("g")}), call("g")),
            (json!({"tools": [function("f")], "tool_choice": named("g")}), None),
            (json!({"tools": [function("f")], "tool_choice": "required"}), call("f")),
            (json!({"tools": [function("f"), function("g")], "tool_choice": "required"}), None),
            (json!({"tools": [function("f")], "tool_choice": "auto"}), None),
            (json!({"tools": [function("f")]}), None),
            (
                json!({"tools": [{"function": {"name": "f"}}], "tool_choice": "required"}),
                Some(Asked::Call { name: "f".into(), schema: ANY_OBJECT.into() }),
            ),
        ] {
            assert_eq!(asked(&payload), expected, "{payload}");
        }
    }
}
