//! Function tools and the choice between them, in the formats of both APIs: what stands in `function` in a chat completion stands
//! beside `type` in the Responses API.

use serde_json::{Map, Value as Json, json};

use crate::llm::error::LlmError;
use template::value::RawObject;

fn invalid(param: &'static str, message: String) -> LlmError {
    LlmError::Invalid { param, message }
}

/// The `tools` of a request, as chat completions have them.
///
/// # Errors
/// [`LlmError::Invalid`], which names all tools that are no functions.
pub fn of_chat(payload: &RawObject) -> Result<Option<Vec<Json>>, LlmError> {
    let tools: Option<Vec<Map<String, Json>>> =
        payload.read("tools").map_err(|_| invalid("tools", "must be a list of objects".to_owned()))?;
    let Some(tools) = tools.filter(|tools| !tools.is_empty()) else { return Ok(None) };
    let kind =
        |tool: &Map<String, Json>| tool.get("type").and_then(Json::as_str).unwrap_or("none").to_owned();
    let mut others: Vec<String> = tools.iter().map(kind).filter(|kind| kind != "function").collect();
    if others.is_empty() {
        return Ok(Some(tools.into_iter().map(nested).collect()));
    }
    others.dedup();
    let message =
        format!("can only have functions with an upstream of chat completions, not {}", others.join(", "));
    Err(invalid("tools", message))
}

/// The `tool_choice` of a request, as chat completions have it.
///
/// # Errors
/// [`LlmError::Invalid`] if it is neither a mode nor a function.
pub fn choice_of_chat(payload: &RawObject) -> Result<Option<Json>, LlmError> {
    let choice: Option<Json> =
        payload.read("tool_choice").map_err(|error| invalid("tool_choice", error.to_string()))?;
    match choice {
        None => Ok(None),
        Some(mode @ Json::String(_)) => Ok(Some(mode)),
        Some(Json::Object(choice)) if choice.get("type").is_some_and(|kind| kind == "function") => {
            Ok(Some(nested(choice)))
        }
        Some(_) => {
            let message =
                "must be `none`, `auto`, `required` or a function with an upstream of chat completions";
            Err(invalid("tool_choice", message.to_owned()))
        }
    }
}

/// `{type, name, …}` as `{type, function: {name, …}}`.
fn nested(mut flat: Map<String, Json>) -> Json {
    flat.shift_remove("type");
    flat.retain(|_, member| !member.is_null());
    json!({"type": "function", "function": flat})
}

/// The `tools` of a chat completion, as the Responses API has them.
pub fn of_responses(tools: &Json) -> Json {
    match tools.as_array() {
        Some(tools) => tools.iter().map(flat).collect(),
        None => tools.clone(),
    }
}

/// The `tool_choice` of a chat completion, as the Responses API has it.
pub fn choice_of_responses(choice: &Json) -> Json {
    flat(choice)
}

/// `{type, function: {name, …}}` as `{type, name, …}`; anything else as it is.
fn flat(nested: &Json) -> Json {
    let Some(function) = nested.get("function").and_then(Json::as_object) else { return nested.clone() };
    let mut flat = Map::new();
    flat.insert("type".to_owned(), "function".into());
    flat.extend(function.clone());
    flat.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use template::value::parse_json;

    fn payload(request: &Json) -> RawObject {
        parse_json(request.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn functions_are_the_same_in_both_formats() {
        let flat =
            json!([{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": true}]);
        let nested = json!([{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}, "strict": true}}]);
        assert_eq!(json!(of_chat(&payload(&json!({"tools": flat}))).unwrap()), nested);
        assert_eq!(of_responses(&nested), flat);
        assert_eq!(of_chat(&payload(&json!({"tools": []}))).unwrap(), None);
    }

    #[test]
    fn other_tools_are_all_named() {
        let tools = json!([{"type": "web_search"}, {"type": "function", "name": "f"}, {"type": "mcp"}, {}]);
        let error = of_chat(&payload(&json!({"tools": tools}))).unwrap_err();
        assert!(error.to_string().ends_with("not web_search, mcp, none"), "{error}");
        assert!(of_chat(&payload(&json!({"tools": "f"}))).is_err());
    }

    #[test]
    fn a_choice_is_a_mode_or_a_function() {
        let choice = |choice: Json| choice_of_chat(&payload(&json!({"tool_choice": choice})));
        assert_eq!(choice(json!("required")).unwrap(), Some(json!("required")));
        assert_eq!(choice(json!(null)).unwrap(), None);
        let function = json!({"type": "function", "function": {"name": "f"}});
        assert_eq!(choice(json!({"type": "function", "name": "f"})).unwrap(), Some(function));
        assert!(choice(json!({"type": "file_search"})).is_err());
    }
}
