//! Lets a subschema of the strict form accept null besides, which stands for an absent member.

use serde_json::{Map, Value as Json, json};

/// The same subschema, which also accepts null.
pub(super) fn nullable(mut schema: Map<String, Json>) -> Map<String, Json> {
    let absent = json!({"type": "null"});
    if let Some(Json::Array(branches)) = schema.get_mut("anyOf") {
        branches.push(absent);
        return schema;
    }
    let is_simple = ["$ref", "const", "properties", "items"].iter().all(|name| !schema.contains_key(*name));
    match schema.get_mut("type") {
        Some(types) if is_simple => add_null_type(types),
        _ => return Map::from_iter([("anyOf".to_owned(), json!([schema, absent]))]),
    }
    if let Some(Json::Array(values)) = schema.get_mut("enum") {
        values.push(Json::Null);
    }
    schema
}

fn add_null_type(types: &mut Json) {
    match types {
        Json::Array(names) if names.iter().any(|name| name == "null") => {}
        Json::Array(names) => names.push(json!("null")),
        name => *name = json!([name.take(), "null"]),
    }
}
