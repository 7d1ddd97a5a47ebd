//! What a client asks for in OpenAI's format that a model may not have.

use serde_json::value::RawValue;

use super::functions::{Function, Functions};
use crate::llm::structured::{FUNCTION, Plan};
use crate::llm::{Choice, ToolForm};
use crate::structured::StructuredError;
use template::value::RawObject;

/// The schema of any object.
const ANY_OBJECT: &str = r#"{"type":"object"}"#;

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// A text that fits a JSON Schema: `response_format` of the type `json_schema`.
    Value {
        /// The schema.
        schema: String,
        /// The functions that may be called instead.
        beside: Beside,
    },
    /// A text that is any JSON object: `response_format` of the type `json_object`.
    Object,
    /// A call of one function: `tool_choice` names it, or there is no other one and it has to be called.
    Call {
        /// Its place in the list of tools.
        at: usize,
        /// Its name.
        name: String,
        /// The schema of its arguments.
        schema: String,
        /// Whether there is a `response_format` with a JSON Schema, too, of which the call makes nothing.
        has_format: bool,
    },
}

/// The functions of a client that asks for a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// There are none that may be called.
    Nothing,
    /// There are some; the model may as well call ours, which carries the value.
    Functions,
    /// There are some, and ours cannot be added: one of them has its name, or one of them has to be called.
    FunctionsAlone,
}

impl Asked {
    /// What a chat completion asks for; `None` if it is nothing of that.
    pub fn read(payload: &RawObject) -> Option<Asked> {
        let format: Option<RawObject> = payload.find("response_format");
        let functions = || Functions::read(payload);
        let has_old_form = ToolForm::of(payload) == ToolForm::Functions;
        match format.as_ref().and_then(|format| format.find::<String>("type")).as_deref() {
            Some("json_schema") => {
                let schema: Box<RawValue> = format?.find::<RawObject>("json_schema")?.find("schema")?;
                Some(Asked::value(schema.get(), functions()))
            }
            // The functions of the client could be called, which the text way has no place for.
            Some("json_object") if !functions().may_be_called() && !has_old_form => Some(Asked::Object),
            _ if payload.get("tool_choice").is_some() => {
                functions().forced().map(|function| Asked::call(function, false))
            }
            _ => None,
        }
    }

    fn value(schema: &str, functions: Functions) -> Asked {
        let beside = if functions.must_be_called() || functions.has(FUNCTION) {
            Beside::FunctionsAlone
        } else if functions.may_be_called() {
            Beside::Functions
        } else {
            Beside::Nothing
        };
        match functions.forced() {
            Some(function) => Asked::call(function, true),
            None => Asked::Value { schema: schema.to_owned(), beside },
        }
    }

    fn call(function: Function, has_format: bool) -> Asked {
        let Function { at, name, schema } = function;
        Asked::Call { at, name, schema: schema.unwrap_or_else(|| ANY_OBJECT.to_owned()), has_format }
    }

    /// The schema of the value.
    pub fn schema(&self) -> &str {
        match self {
            Asked::Value { schema, .. } | Asked::Call { schema, .. } => schema,
            Asked::Object => ANY_OBJECT,
        }
    }

    /// An error, which names the member of the request if it is one of the schema.
    pub fn naming_member(&self, error: StructuredError) -> StructuredError {
        let member = match self {
            Asked::Value { .. } => "response_format.json_schema.schema".into(),
            Asked::Object => "response_format".into(),
            Asked::Call { at, .. } => format!("tools[{at}].function.parameters").into(),
        };
        match error {
            StructuredError::Schema { violations, .. } => StructuredError::Schema { member, violations },
            error => error,
        }
    }

    /// The ways in which it may be asked for; the first is the client's own.
    pub fn plan(&self) -> Plan {
        match self {
            Asked::Value { beside: Beside::FunctionsAlone, .. } => Plan::VALUE_BESIDE_FUNCTIONS,
            Asked::Value { .. } => Plan::VALUE,
            Asked::Object => Plan::OBJECT,
            Asked::Call { has_format: true, .. } => Plan::CALL_BESIDE_FORMAT,
            Asked::Call { .. } => Plan::CALL,
        }
    }

    /// Whether a call of the client's function may come in the place of the value.
    pub fn may_call_clients(&self) -> bool {
        match self {
            Asked::Value { beside, .. } => *beside != Beside::Nothing,
            Asked::Object => false,
            Asked::Call { has_format, .. } => *has_format,
        }
    }

    /// Whether a choice is such a call.
    pub fn is_clients_call(&self, choice: &Choice) -> bool {
        let is_ours =
            |name: &str| matches!(self, Asked::Value { beside: Beside::Functions, .. }) && name == FUNCTION;
        let calls = &choice.tool_calls;
        if let Asked::Call { name, has_format: false, .. } = self {
            return calls.iter().any(|call| call.name == *name);
        }
        self.may_call_clients() && !calls.is_empty() && !calls.iter().any(|call| is_ours(&call.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value as Json, json};
    use template::value::parse_json;

    fn asked(payload: &Json) -> Option<Asked> {
        Asked::read(&parse_json(payload.to_string().as_bytes()).unwrap())
    }

    #[test]
    fn schemas_objects_and_calls_that_have_to_be_made_are_seen() {
        let function =
            |name: &str| json!({"type": "function", "function": {"name": name, "parameters": {"x": 1}}});
        let call = |at: usize, name: &str| {
            Some(Asked::Call { at, name: name.into(), schema: r#"{"x":1}"#.into(), has_format: false })
        };
        let value = |beside| Some(Asked::Value { schema: r#"{"type":"null"}"#.into(), beside });
        let beside = |tools: Json, choice: Json| json!({"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": "null"}}}, "tools": tools, "tool_choice": choice});
        let named = |name: &str| json!({"type": "function", "function": {"name": name}});
        let format = json!({"type": "json_schema", "json_schema": {"name": "n", "schema": {"type": "null"}}});
        for (payload, expected) in [
            (json!({"response_format": format}), value(Beside::Nothing)),
            (beside(json!([]), json!("required")), value(Beside::Nothing)),
            (beside(json!([function("f")]), json!("none")), value(Beside::Nothing)),
            (beside(json!([function("f")]), json!("auto")), value(Beside::Functions)),
            (
                beside(json!([function("f"), function(FUNCTION)]), json!("auto")),
                value(Beside::FunctionsAlone),
            ),
            (beside(json!([function("f"), function("g")]), json!("required")), value(Beside::FunctionsAlone)),
            (
                beside(json!([{}, function("f")]), named("f")),
                Some(Asked::Call { at: 1, name: "f".into(), schema: r#"{"x":1}"#.into(), has_format: true }),
            ),
            (json!({"response_format": {"type": "json_object"}}), Some(Asked::Object)),
            (json!({"response_format": {"type": "json_object"}, "tools": [function("f")]}), None),
            (json!({"response_format": {"type": "json_object"}, "functions": [{"name": "f"}]}), None),
            (json!({"response_format": {"type": "text"}}), None),
            (json!({"response_format": {"type": "json_schema"}}), None),
            (json!({"response_format": null, "messages": []}), None),
            (json!({"tools": [function("f"), function("g")], "tool_choice": named("g")}), call(1, "g")),
            (json!({"tools": [function("f")], "tool_choice": named("g")}), None),
            (json!({"tools": [function("f")], "tool_choice": "required"}), call(0, "f")),
            (json!({"tools": [function("f"), function("g")], "tool_choice": "required"}), None),
            (json!({"tools": [function("f")], "tool_choice": "auto"}), None),
            (json!({"tools": [function("f")]}), None),
            (
                json!({"tools": [{"function": {"name": "f", "parameters": null}}], "tool_choice": "required"}),
                Some(Asked::Call { at: 0, name: "f".into(), schema: ANY_OBJECT.into(), has_format: false }),
            ),
        ] {
            assert_eq!(asked(&payload), expected, "{payload}");
        }
    }
}
