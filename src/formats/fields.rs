//! Declared inputs and outputs as JSON Schemas, and models' parameters by the names that OpenAI's API gives them.

use serde_json::{Map, Value as Json, json};

/// The schema of an object whose members are declared in a list of `{name, …}`, in an object by name, or as a schema already.
/// Names of members that cannot be kept go to `left_out`, after `what`.
pub fn schema_of(fields: &Json, what: &str, left_out: &mut Vec<String>) -> Option<Json> {
    let fields: Vec<(String, &Json)> = match fields {
        Json::Object(schema) if schema.get("properties").is_some_and(Json::is_object) => {
            return Some(json!(schema));
        }
        Json::Object(members) => members.iter().map(|(name, field)| (name.clone(), field)).collect(),
        Json::Array(items) => {
            items.iter().filter_map(|item| Some((item.get("name")?.as_str()?.to_owned(), item))).collect()
        }
        Json::Null => return None,
        _ => {
            left_out.push(format!("{what} (neither a list nor an object)"));
            return None;
        }
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in fields {
        if field.get("required") == Some(&Json::Bool(true)) {
            required.push(Json::from(name.as_str()));
        }
        let place = format!("{what}.{name}");
        properties.insert(name, property(field, &place, left_out));
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), required.into());
    }
    Some(schema)
}

fn property(field: &Json, place: &str, left_out: &mut Vec<String>) -> Json {
    let Json::Object(members) = field else { return json!({"default": field}) };
    let mut property = match members.get("json_schema") {
        Some(Json::Object(schema)) => schema.clone(),
        _ => Map::new(),
    };
    let default = members.get("default").filter(|default| !default.is_null());
    let kind = ["type", "kind"].iter().find_map(|member| members.get(*member)?.as_str());
    if let Some(kind) = kind {
        match type_of(kind) {
            Some(name) if default.is_none_or(|default| fits(default, name)) => {
                property.insert("type".to_owned(), name.into());
            }
            Some(_) => {}
            None => left_out.push(format!("{place}: its kind `{kind}` (any value is taken)")),
        }
    }
    for (member, keyword) in
        [("description", "description"), ("enum", "enum"), ("enumValues", "enum"), ("items", "items")]
    {
        if let Some(value) = members.get(member).filter(|value| member != "items" || value.is_object()) {
            property.insert(keyword.to_owned(), value.clone());
        }
    }
    if let Some(default) = default {
        match is_reference(default) {
            true => left_out.push(format!("{place}.default ({default})")),
            false => drop(property.insert("default".to_owned(), default.clone())),
        }
    }
    for member in ["sample", "example"] {
        if let Some(sample) = members.get(member).filter(|sample| !sample.is_null() && !is_reference(sample))
        {
            property.insert("examples".to_owned(), json!([sample]));
        }
    }
    property.into()
}

/// JSON Schema's name of a type.
fn type_of(kind: &str) -> Option<&'static str> {
    Some(match kind.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" => "string",
        "int" | "integer" => "integer",
        "float" | "double" | "number" => "number",
        "bool" | "boolean" => "boolean",
        // A thread is a list of messages.
        "list" | "array" | "thread" => "array",
        "dict" | "object" => "object",
        _ => return None,
    })
}

fn fits(value: &Json, name: &str) -> bool {
    match name {
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        _ => value.is_object(),
    }
}

/// Whether a value is taken from an environment variable or a file (`${env:NAME}`), which are never read.
pub fn is_reference(value: &Json) -> bool {
    match value {
        Json::String(text) => text.contains("${"),
        Json::Array(items) => items.iter().any(is_reference),
        Json::Object(members) => members.values().any(is_reference),
        _ => false,
    }
}

/// Adds sample values to a schema: they are examples, not defaults.
pub fn add_examples(schema: &mut Option<Json>, samples: &Map<String, Json>) {
    let schema = schema.get_or_insert_with(|| json!({"type": "object", "properties": {}}));
    let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) else { return };
    for (name, sample) in samples {
        let property = properties.entry(name.clone()).or_insert_with(|| json!({}));
        if let Some(property) = property.as_object_mut() {
            let examples = property.entry("examples").or_insert_with(|| json!([]));
            if let Some(examples) = examples.as_array_mut().filter(|known| known.len() < EXAMPLES_MAX) {
                examples.push(sample.clone());
            }
        }
    }
}

/// How many samples of a value are kept.
const EXAMPLES_MAX: usize = 3;

/// Adds a model's parameters to `params`, by the names of OpenAI's API; numbers may be written as texts.
pub fn add_params(params: &mut Map<String, Json>, given: &Json, what: &str, left_out: &mut Vec<String>) {
    for (name, value) in given.as_object().into_iter().flatten() {
        if is_reference(value) {
            left_out.push(format!("{what}.{name} (environment variables and files are not read)"));
        } else if name == "additionalProperties" {
            add_params(params, value, what, left_out);
        } else if !value.is_null() {
            params.insert(snake(name), number(value).unwrap_or_else(|| value.clone()));
        }
    }
}

/// The name of a parameter in OpenAI's API.
fn snake(name: &str) -> String {
    match name {
        "maxOutputTokens" | "maxTokens" => "max_tokens".to_owned(),
        "stopSequences" => "stop".to_owned(),
        "allowMultipleToolCalls" => "parallel_tool_calls".to_owned(),
        _ => name.chars().fold(String::new(), |mut out, c| {
            if c.is_ascii_uppercase() {
                out.push('_');
            }
            out.push(c.to_ascii_lowercase());
            out
        }),
    }
}

/// A number that is written as a text.
fn number(value: &Json) -> Option<Json> {
    let text = value.as_str()?;
    let whole = text.parse::<i64>().ok().map(Json::from);
    whole.or_else(|| text.parse::<f64>().ok().filter(|n| n.is_finite()).map(Json::from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_all_layouts_become_a_schema() {
        let mut out = Vec::new();
        let listed = json!([
            {"name": "a", "kind": "string", "default": "x", "required": true}, {"name": "b", "kind": "image"},
            {"name": "c", "type": "int", "default": "three"}, {"name": "d", "default": "${env:D}"}
        ]);
        let schema = schema_of(&listed, "inputs", &mut out).unwrap();
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["a"], json!({"type": "string", "default": "x"}));
        assert_eq!(
            schema["properties"]["c"],
            json!({"default": "three"}),
            "the default does not fit the type"
        );
        assert_eq!(out.len(), 2, "{out:?}");
        let named =
            schema_of(&json!({"n": {"type": "float", "sample": 1.5}, "m": "word"}), "inputs", &mut out)
                .unwrap();
        assert_eq!(
            named["properties"],
            json!({"n": {"type": "number", "examples": [1.5]}, "m": {"default": "word"}})
        );
    }

    #[test]
    fn parameters_get_openai_s_names_and_references_are_left_out() {
        let (mut params, mut out) = (Map::new(), Vec::new());
        let given = json!({"maxOutputTokens": "256", "topP": 0.5, "api_key": "${env:KEY}", "additionalProperties": {"seed": 1}});
        add_params(&mut params, &given, "options", &mut out);
        assert_eq!(Json::Object(params), json!({"max_tokens": 256, "top_p": 0.5, "seed": 1}));
        assert_eq!(out.len(), 1);
    }
}
