//! Declared inputs and outputs as JSON Schemas.

use serde_json::{Map, Value as Json, json};

/// What is said of values that are not taken because they refer to something outside of the file.
pub const NOT_READ: &str = "environment variables and files are not read";

/// The fields that are declared in a list of `{name, …}`, in an object by name, or in either of these as `properties`.
pub fn fields_of(fields: &Json) -> Option<Vec<(&str, &Json)>> {
    match fields {
        Json::Object(schema) if schema.get("properties").is_some_and(|fields| !fields.is_string()) => {
            fields_of(schema.get("properties")?)
        }
        Json::Object(members) => Some(members.iter().map(|(name, field)| (name.as_str(), field)).collect()),
        Json::Array(items) => {
            Some(items.iter().filter_map(|item| Some((item.get("name")?.as_str()?, item))).collect())
        }
        _ => None,
    }
}

/// What a declared field holds, in the words of its file.
pub fn kind_of(field: &Json) -> Option<&str> {
    ["type", "kind"].iter().find_map(|member| field.get(*member)?.as_str())
}

/// The schema of an object whose members are declared as for [`fields_of`], or by a schema already. What cannot be kept goes to
/// `left_out`, after `what`.
pub fn schema_of(declared: &Json, what: &str, left_out: &mut Vec<String>) -> Option<Json> {
    if is_schema(declared) {
        return Some(declared.clone());
    }
    let Some(fields) = fields_of(declared) else {
        match declared {
            Json::Null => {}
            _ if is_reference(declared) => left_out.push(format!("{what} ({NOT_READ})")),
            _ => left_out.push(format!("{what} (neither a list nor an object)")),
        }
        return None;
    };
    let mut properties = Map::new();
    let mut required = Vec::new();
    for (name, field) in fields {
        if field.get("required") == Some(&Json::Bool(true)) {
            required.push(Json::from(name));
        }
        let place = format!("{what}.{name}");
        properties.insert(name.to_owned(), property(field, &place, left_out));
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if let (Some(schema), false) = (schema.as_object_mut(), required.is_empty()) {
        schema.insert("required".to_owned(), required.into());
    }
    Some(schema)
}

/// Whether fields are declared by a JSON Schema, in which nothing is said in the words of other formats.
fn is_schema(declared: &Json) -> bool {
    let Some(properties) = declared.get("properties").and_then(Json::as_object) else { return false };
    let foreign = ["kind", "sample", "json_schema", "enumValues"];
    !properties.values().any(|field| {
        is_reference(field)
            || field.get("required").is_some_and(Json::is_boolean)
            || foreign.iter().any(|member| field.get(*member).is_some())
    })
}

fn property(field: &Json, place: &str, left_out: &mut Vec<String>) -> Json {
    let members = match field {
        Json::Object(members) => members,
        Json::Null => return json!({}),
        _ if is_reference(field) => {
            left_out.push(format!("{place} ({NOT_READ})"));
            return json!({});
        }
        _ => return json!({"default": field}),
    };
    let mut property = match members.get("json_schema") {
        Some(Json::Object(schema)) => schema.clone(),
        _ => Map::new(),
    };
    let default = members.get("default").filter(|default| !default.is_null());
    if let Some(kind) = kind_of(field) {
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
            true => left_out.push(format!("{place}.default ({NOT_READ})")),
            false => drop(property.insert("default".to_owned(), default.clone())),
        }
    }
    for member in ["sample", "example"] {
        match members.get(member).filter(|sample| !sample.is_null()) {
            Some(sample) if is_reference(sample) => left_out.push(format!("{place}.{member} ({NOT_READ})")),
            Some(sample) => drop(property.insert("examples".to_owned(), json!([sample]))),
            None => {}
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
        Json::String(text) => {
            let text = text.trim();
            let is_whole = text.starts_with("${") && text.ends_with('}');
            is_whole || text.contains("${env:") || text.contains("${file:")
        }
        Json::Array(items) => items.iter().any(is_reference),
        Json::Object(members) => members.values().any(is_reference),
        _ => false,
    }
}

/// Adds sample values to a schema: they are examples, not defaults. References go to `left_out`, after `what`.
pub fn add_examples(
    schema: &mut Option<Json>,
    samples: &Map<String, Json>,
    what: &str,
    left_out: &mut Vec<String>,
) {
    let schema = schema.get_or_insert_with(|| json!({"type": "object", "properties": {}}));
    let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) else { return };
    for (name, sample) in samples {
        if is_reference(sample) {
            left_out.push(format!("{what}.{name} ({NOT_READ})"));
            continue;
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_may_be_a_list_or_declared_in_words_of_a_format_and_a_schema_stays_as_it_is() {
        let mut out = Vec::new();
        let mut properties =
            |declared: Json| schema_of(&declared, "inputs", &mut out).unwrap()["properties"].clone();
        let expected = json!({"q": {"type": "string"}});
        assert_eq!(properties(json!({"properties": [{"name": "q", "kind": "string"}]})), expected);
        assert_eq!(properties(json!({"properties": {"q": {"kind": "string"}}})), expected);
        let schema = json!({"q": {"type": ["string", "null"], "minLength": 1}});
        assert_eq!(properties(json!({"type": "object", "properties": schema})), schema);
    }

    #[test]
    fn references_are_left_out_and_told() {
        let mut out = Vec::new();
        let declared = json!({"a": {"type": "string", "sample": "${env:A}"}, "b": "${file:b.txt}", "c": null, "d": "${x} a"});
        let mut schema = schema_of(&declared, "inputs", &mut out);
        let samples = json!({"a": "${env:SECRET}", "c": 1});
        add_examples(&mut schema, samples.as_object().unwrap(), "sample", &mut out);
        let expected =
            json!({"a": {"type": "string"}, "b": {}, "c": {"examples": [1]}, "d": {"default": "${x} a"}});
        assert_eq!(schema.unwrap()["properties"], expected);
        assert!(schema_of(&json!("${file:x.json}"), "outputs", &mut out).is_none());
        let told = |what: &str| format!("{what} ({NOT_READ})");
        assert_eq!(out, ["inputs.a.sample", "inputs.b", "sample.a", "outputs"].map(told));
    }

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
}
