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
/// [`LlmError::Invalid`], which names all tools that are no functions, or have no name.
pub fn of_chat(payload: &RawObject) -> Result<Option<Vec<Json>>, LlmError> {
    let tools: Option<Vec<Map<String, Json>>> =
        payload.read("tools").map_err(|_| invalid("tools", "must be a list of objects".to_owned()))?;
    let Some(tools) = tools.filter(|tools| !tools.is_empty()) else { return Ok(None) };
    let mut problems = Vec::new();
    let mut functions = Vec::new();
    for (at, tool) in tools.into_iter().enumerate() {
        match tool.get("type").and_then(Json::as_str) {
            Some("function") => functions.push(nested(tool)),
            kind => problems.push(format!("tool {at} is of the type `{}`", kind.unwrap_or("none"))),
        }
        if functions.last().is_some_and(|function| !has_name(function)) {
            functions.pop();
            problems.push(format!("tool {at} has no `name`"));
        }
    }
    match problems.is_empty() {
        true => Ok(Some(functions)),
        false => Err(invalid(
            "tools",
            format!("can only be functions for an upstream of chat completions: {}", problems.join("; ")),
        )),
    }
}

fn has_name(function: &Json) -> bool {
    function.pointer("/function/name").and_then(Json::as_str).is_some_and(|name| !name.is_empty())
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

/// `{type, name, …}` as `{type, function: {name, …}}`; what has `function` already as it is.
fn nested(mut flat: Map<String, Json>) -> Json {
    if flat.get("function").is_some_and(Json::is_object) {
        return flat.into();
    }
    flat.shift_remove("type");
    flat.retain(|_, member| !member.is_null());
    json!({"type": "function", "function": flat})
}

/// The `tools` of a chat completion, as the Responses API has them.
pub fn of_responses(tools: &Json) -> Json {
    match tools.as_array() {
        Some(tools) => tools.iter().map(|tool| flat(tool, "function")).collect(),
        None => tools.clone(),
    }
}

/// The `tool_choice` of a chat completion, as the Responses API has it.
pub fn choice_of_responses(choice: &Json) -> Json {
    flat(choice, "function")
}

/// `{type, KIND: {name, …}}` as `{type, name, …}`, where `type` says the kind; anything else as it is.
pub(super) fn flat(nested: &Json, kind: &str) -> Json {
    let Some(inner) = nested.get(kind).and_then(Json::as_object) else { return nested.clone() };
    let mut flat = Map::new();
    flat.insert("type".to_owned(), kind.into());
    flat.extend(inner.clone());
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
        assert_eq!(json!(of_chat(&payload(&json!({"tools": nested}))).unwrap()), nested);
        assert_eq!(of_responses(&nested), flat);
        assert_eq!(of_chat(&payload(&json!({"tools": []}))).unwrap(), None);
    }

    #[test]
    fn other_tools_are_all_named() {
        let tools =
            json!([{"type": "web_search"}, {"type": "function", "name": "f"}, {"type": "function"}, {}]);
        let error = of_chat(&payload(&json!({"tools": tools}))).unwrap_err().to_string();
        assert!(
            error.ends_with(
                "tool 0 is of the type `web_search`; tool 2 has no `name`; tool 3 is of the type `none`"
            ),
            "{error}"
        );
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
