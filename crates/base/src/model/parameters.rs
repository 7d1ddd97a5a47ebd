//! The parameters of a prompt: conversion of the list form to a JSON Schema, and filling in defaults.
//!
//! Programs that write documents put `null` where a member is absent. So a default of `null` counts as none, and an empty
//! text counts as none for a parameter that is not a text.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json};

use template::value::{Map, SmolStr, Value};

/// The JSON Schema of the variables, from `parameters`: a schema, or a list of
/// `{name, type, default, description, required}`.
///
/// An empty list declares nothing, and gives `None`.
pub fn object_schema(parameters: &Json) -> Option<Json> {
    match parameters {
        Json::Object(_) => Some(parameters.clone()),
        Json::Array(list) if !list.is_empty() => {
            Some(schema_of_list(list, |member| member.get("required") == Some(&Json::Bool(true))))
        }
        _ => None,
    }
}

/// The JSON Schema of a prompt's answers, as texts without white space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSchema {
    /// What was written: a schema or the list form.
    pub written: Arc<str>,
    /// The schema.
    pub schema: Arc<str>,
}

impl AnswerSchema {
    /// From `returns`: a schema, or a list of `{name, type, description, required}`, whose members are required unless they say
    /// `required: false`.
    ///
    /// Many documents have an empty object, an empty list or null, which declare nothing and give `None`.
    pub fn read(returns: &Json) -> Option<AnswerSchema> {
        let is_required = |member: &Json| member.get("required") != Some(&Json::Bool(false));
        let written: Arc<str> = returns.to_string().into();
        let schema = match returns {
            Json::Object(members) if !members.is_empty() => written.clone(),
            Json::Array(list) if !list.is_empty() => schema_of_list(list, is_required).to_string().into(),
            _ => return None,
        };
        Some(AnswerSchema { written, schema })
    }
}

fn schema_of_list(list: &[Json], is_required: impl Fn(&Json) -> bool) -> Json {
    let mut properties = JsonMap::new();
    let mut required = Vec::new();
    for parameter in list {
        let Some(name) = parameter.get("name").and_then(Json::as_str) else { continue };
        if is_required(parameter) {
            required.push(name.into());
        }
        properties.insert(name.to_owned(), property(parameter));
    }
    let mut schema = JsonMap::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    if !required.is_empty() {
        schema.insert("required".into(), Json::Array(required));
    }
    schema.into()
}

/// The schema of one parameter of the list: its members without `name` and `required`.
fn property(parameter: &Json) -> Json {
    let mut schema = parameter.as_object().cloned().unwrap_or_default();
    schema.shift_remove("name");
    schema.shift_remove("required");
    let has_default = match (schema.get("default"), schema.get("type").and_then(Json::as_str).map(json_type))
    {
        (Some(Json::Null), _) => false,
        (Some(Json::String(text)), Some(Some(kind))) => kind == "string" || !text.is_empty(),
        _ => true,
    };
    if !has_default {
        schema.shift_remove("default");
    }
    match schema.get("type").and_then(Json::as_str).map(json_type) {
        Some(Some(known)) => {
            schema.insert("type".into(), known.into());
        }
        Some(None) => {
            schema.shift_remove("type");
        }
        None => {}
    }
    schema.into()
}

/// JSON Schema's name of a type, which authors may spell as in their programming language; `None` for an unknown type,
/// which then accepts any value.
fn json_type(name: &str) -> Option<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" => Some("string"),
        "integer" | "int" | "int64" => Some("integer"),
        "number" | "float" | "float64" | "double" => Some("number"),
        "boolean" | "bool" => Some("boolean"),
        "array" | "list" => Some("array"),
        "object" | "dict" | "map" => Some("object"),
        "null" => Some("null"),
        _ => None,
    }
}

/// The names that a schema of the variables declares: its `properties`.
pub fn declared_names(schema: &Json) -> impl Iterator<Item = &str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flat_map(|properties| properties.keys().map(String::as_str))
}

/// Fills the defaults of `schema` into `value`, at every depth at which the enclosing object is present.
pub fn with_defaults(schema: &Json, value: Value) -> Value {
    let (Some(properties), Value::Map(map)) = (schema.get("properties").and_then(Json::as_object), &value)
    else {
        return value;
    };
    let mut filled: HashMap<&str, Value> = HashMap::new();
    for (name, property) in properties {
        let next = match (map.get(name), property.get("default")) {
            (None, Some(default)) => with_defaults(property, Value::from(default.clone())),
            (Some(present @ Value::Map(_)), _) if property.get("properties").is_some() => {
                with_defaults(property, present.clone())
            }
            _ => continue,
        };
        filled.insert(name, next);
    }
    if filled.is_empty() {
        return value;
    }
    let mut members: Vec<(SmolStr, Value)> = map
        .iter()
        .map(|(name, member)| (name.clone(), filled.remove(name.as_str()).unwrap_or_else(|| member.clone())))
        .collect();
    let absent =
        properties.keys().filter_map(|name| Some((SmolStr::new(name), filled.remove(name.as_str())?)));
    members.extend(absent);
    Value::from(Map::from_entries(members))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_list_form_becomes_a_schema() {
        let list = json!([
            {"name": "repo", "type": "string", "default": "", "description": "where"},
            {"name": "depth", "type": "int", "required": true},
            {"name": "odd", "type": "thing", "default": null},
            {"name": "n", "type": "int", "default": ""}
        ]);
        assert_eq!(
            object_schema(&list),
            Some(json!({"type": "object", "properties": {
                "repo": {"type": "string", "default": "", "description": "where"},
                "depth": {"type": "integer"},
                "odd": {},
                "n": {"type": "integer"}
            }, "required": ["depth"]}))
        );
        assert_eq!(object_schema(&json!([])), None);
    }

    #[test]
    fn members_of_answers_are_required_unless_they_say_otherwise() {
        let list = json!([{"name": "a", "type": "str"}, {"name": "b", "required": false}]);
        let expected =
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]});
        let read = AnswerSchema::read(&list).unwrap();
        assert_eq!((&*read.written, &*read.schema), (&*list.to_string(), &*expected.to_string()));
        let schema = AnswerSchema::read(&expected).unwrap();
        assert_eq!(schema.written, schema.schema);
        for nothing in [json!(null), json!({}), json!([])] {
            assert_eq!(AnswerSchema::read(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn defaults_are_filled_in_where_the_object_around_them_is_there() {
        let schema = json!({"properties": {
            "a": {"default": 1},
            "b": {"properties": {"c": {"default": "x"}, "d": {}}},
            "e": {"properties": {"f": {"default": 2}}},
            "g": {"default": {}, "properties": {"h": {"default": 3}}}
        }});
        let filled = with_defaults(&schema, Value::from(json!({"b": {"d": null}})));
        assert_eq!(filled.to_json(), json!({"b": {"d": null, "c": "x"}, "a": 1, "g": {"h": 3}}));
        let kept = with_defaults(&schema, Value::from(json!({"a": null})));
        assert_eq!(kept.to_json(), json!({"a": null, "g": {"h": 3}}));
    }
}
