//! The one type of a value in a schema, and what belongs to it.

use serde_json::{Map, Value as Json, json};

/// The formats of texts that GigaChat takes.
const FORMATS: [&str; 3] = ["date", "date-time", "time"];

/// Whether a schema says itself that a value may be null.
pub fn may_be_null(schema: &Json) -> bool {
    let lists_null =
        |names: &Json| names.as_array().is_some_and(|names| names.iter().any(|name| name == "null"));
    let alternatives = ["anyOf", "oneOf"].into_iter().filter_map(|name| schema.get(name)?.as_array());
    schema.get("type").is_some_and(lists_null) || alternatives.flatten().any(is_null)
}

/// Gives a schema its one type, and what belongs to it.
pub fn settle(members: &mut Map<String, Json>) {
    if let Some(value) = members.remove("const") {
        members.entry("enum").or_insert_with(|| json!([value]));
    }
    let kind = one_type(members);
    members.insert("type".to_owned(), kind.into());
    let needed = match kind {
        "object" => Some(("properties", json!({}))),
        "array" => Some(("items", json!({"type": "string"}))),
        _ => None,
    };
    if let Some((name, empty)) = needed
        && !members.get(name).is_some_and(Json::is_object)
    {
        members.insert(name.to_owned(), empty);
    }
    // Only texts can be listed.
    if let Some(Json::Array(values)) = members.get_mut("enum") {
        values.retain(Json::is_string);
    }
    if members.get("enum").is_some_and(|values| values.as_array().is_none_or(Vec::is_empty)) {
        members.remove("enum");
    }
    if members.get("format").and_then(Json::as_str).is_some_and(|format| !FORMATS.contains(&format)) {
        members.remove("format");
    }
}

/// The type of a schema: the one that it names, the first one that is not null, or what its members tell.
fn one_type(members: &Map<String, Json>) -> &'static str {
    const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
    let known = |name: &Json| TYPES.into_iter().find(|known| Some(*known) == name.as_str());
    let named = match members.get("type") {
        Some(Json::Array(names)) => names.iter().filter_map(known).find(|name| *name != "null"),
        Some(name) => known(name),
        None => None,
    };
    named.unwrap_or_else(|| {
        match members.get("enum").and_then(Json::as_array).and_then(|values| values.first()) {
            _ if members.contains_key("properties") => "object",
            _ if members.contains_key("items") => "array",
            Some(Json::String(_)) => "string",
            Some(Json::Bool(_)) => "boolean",
            Some(Json::Number(number)) if number.is_f64() => "number",
            Some(Json::Number(_)) => "integer",
            _ => "object",
        }
    })
}

pub fn is_null(schema: &Json) -> bool {
    schema.get("type").is_some_and(|name| name == "null")
}
