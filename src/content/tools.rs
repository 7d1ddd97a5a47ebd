//! Tools in the schema of a structured request, whose solution may call them then.

use base::schema::{Schema, Violation, embedded, violations_of_schema};
use serde_json::{Map, Value as Json, json};

/// The member of a call that names its tool.
const NAME: &str = "_tool";

/// The schema of a solution with calls of tools and an output. `output` is the schema that the caller gave; a solution that only
/// calls tools has a null in its place.
pub(super) fn with_tools(tools: &Map<String, Json>, output: Option<&Json>) -> Json {
    // Both parts count as written in the dialect that the caller's schema names.
    let dialect = output.and_then(|output| output.get("$schema")).cloned();
    let output = output.map(|output| embedded(output, "/properties/output/anyOf/0"));
    let outputs: Vec<Json> = output.into_iter().chain([json!({"type": "null"})]).collect();
    let solution = json!({
        "type": "object",
        "properties": {"calls": {"type": "array", "items": calls(tools)}, "output": {"anyOf": outputs}},
        "required": ["calls", "output"],
        "additionalProperties": false,
    });
    let dialect = dialect.map(|dialect| ("$schema".to_owned(), dialect));
    dialect.into_iter().chain(members(solution)).collect()
}

/// The schema of one call: that of the tool, or one of them.
fn calls(tools: &Map<String, Json>) -> Json {
    const ITEMS: &str = "/properties/calls/items";
    let mut tools = tools.iter();
    match (tools.next(), tools.len()) {
        (Some((name, schema)), 0) => call(name, schema, ITEMS),
        (first, _) => {
            let all = first.into_iter().chain(tools).enumerate();
            let calls: Vec<Json> = all
                .map(|(index, (name, schema))| call(name, schema, &format!("{ITEMS}/anyOf/{index}")))
                .collect();
            json!({"anyOf": calls})
        }
    }
}

/// The schema of a call of a tool, which stands at a JSON Pointer of the whole: the parameters, and the tool's name before them.
fn call(name: &str, parameters: &Json, at: &str) -> Json {
    let mut parameters = members(embedded(parameters, at));
    let properties = parameters.get_mut("properties").map(Json::take).map(members).unwrap_or_default();
    let required = match parameters.get_mut("required").map(Json::take) {
        Some(Json::Array(names)) => names,
        _ => Vec::new(),
    };
    let own = (NAME.to_owned(), json!({"type": "string", "const": name}));
    let properties: Json = std::iter::once(own).chain(properties).collect();
    let required: Json = std::iter::once(NAME.into()).chain(required).collect();
    let kind = (!parameters.contains_key("type")).then(|| ("type".to_owned(), "object".into()));
    let mut call: Map<String, Json> = kind.into_iter().chain(parameters).collect();
    call.insert("properties".to_owned(), properties);
    call.insert("required".to_owned(), required);
    Json::Object(call)
}

/// A schema in a request.
#[derive(Debug)]
pub struct PlacedSchema {
    /// The JSON Pointer to it.
    pub path: String,
    /// The schema.
    pub schema: Json,
}

impl PlacedSchema {
    /// Everything that keeps it from being a JSON Schema. Finding that takes long.
    pub fn violations(&self) -> Vec<Violation> {
        let PlacedSchema { path, schema } = self;
        let Err(error) = Schema::compile(schema) else { return Vec::new() };
        violations_of_schema(schema, &error).into_iter().map(|violation| violation.below(path)).collect()
    }
}

fn members(json: Json) -> Map<String, Json> {
    match json {
        Json::Object(members) => members,
        _ => Map::new(),
    }
}

/// What makes a schema unusable for the parameters of a tool: the place in it, and the message.
pub(super) fn fault(schema: &Json) -> Option<(&'static str, &'static str)> {
    let Json::Object(members) = schema else {
        return Some(("", "the parameters of a tool must be a JSON Schema of an object"));
    };
    let is_object = |kind: &Json| *kind == json!("object") || *kind == json!(["object"]);
    if members.get("type").is_some_and(|kind| !is_object(kind)) {
        return Some(("/type", "the parameters of a tool must be an object"));
    }
    match (members.get("properties"), members.get("required")) {
        (Some(Json::Object(properties)), _) if properties.contains_key(NAME) => {
            Some(("/properties/_tool", "in a call, this member is the name of the tool"))
        }
        (Some(properties), _) if !properties.is_object() => Some(("/properties", "must be an object")),
        (_, Some(required)) if !required.is_array() => Some(("/required", "must be a list of names")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base::schema::{Effort, Schema};
    use template::value::Value;

    use super::*;

    fn tools(tools: Json) -> Map<String, Json> {
        members(tools)
    }

    #[test]
    fn a_call_is_that_of_a_tool_and_the_output_may_be_null() {
        let one = tools(json!({"look": {
            "description": "d",
            "type": "object",
            "required": ["where"],
            "properties": {"where": {"$ref": "#/$defs/place"}},
            "$defs": {"place": {"type": "string"}},
        }}));
        let expected = json!({
            "type": "object",
            "properties": {
                "calls": {"type": "array", "items": {
                    "description": "d",
                    "type": "object",
                    "required": ["_tool", "where"],
                    "properties": {
                        "_tool": {"type": "string", "const": "look"},
                        "where": {"$ref": "#/properties/calls/items/$defs/place"},
                    },
                    "$defs": {"place": {"type": "string"}},
                }},
                "output": {"anyOf": [{"items": {"$ref": "#/properties/output/anyOf/0"}}, {"type": "null"}]},
            },
            "required": ["calls", "output"],
            "additionalProperties": false,
        });
        let output = json!({"items": {"$ref": "#"}});
        assert_eq!(with_tools(&one, Some(&output)).to_string(), expected.to_string());

        let two = tools(json!({"a": {"additionalProperties": false}, "b": {"type": "object"}}));
        let schema = with_tools(&two, None);
        let expected = json!({"anyOf": [
            {
                "type": "object",
                "additionalProperties": false,
                "properties": {"_tool": {"type": "string", "const": "a"}},
                "required": ["_tool"],
            },
            {"type": "object", "properties": {"_tool": {"type": "string", "const": "b"}}, "required": ["_tool"]},
        ]});
        assert_eq!(schema["properties"]["calls"]["items"].to_string(), expected.to_string());
        assert_eq!(schema["properties"]["output"], json!({"anyOf": [{"type": "null"}]}));
    }

    #[test]
    fn the_schema_accepts_calls_of_its_tools_and_what_the_caller_asked_for() {
        let two = tools(json!({
            "tree": {"properties": {"inner": {"$ref": "#/$defs/node"}}, "$defs": {"node": {
                "type": ["object", "null"], "properties": {"inner": {"$ref": "#/$defs/node"}}, "additionalProperties": false,
            }}},
            "add": {"properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false},
        }));
        let output = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "array",
            "items": [{"type": "integer"}, {"$ref": "#"}],
            "minItems": 1,
        });
        let schema = with_tools(&two, Some(&output));
        let compiled = Schema::compile(&schema).unwrap();
        for (solution, expected) in [
            (json!({"calls": [], "output": [1]}), true),
            (json!({"calls": [], "output": [1, [2, [3]]]}), true),
            (json!({"calls": [{"_tool": "add", "n": 1}], "output": null}), true),
            (
                json!({"calls": [{"_tool": "tree", "inner": {"inner": {"inner": null}}}], "output": null}),
                true,
            ),
            (
                json!({"calls": [{"_tool": "tree", "inner": {"inner": {"outer": null}}}], "output": null}),
                false,
            ),
            (json!({"calls": [{"_tool": "add"}], "output": null}), false),
            (json!({"calls": [{"_tool": "add", "n": 1, "m": 1}], "output": null}), false),
            (json!({"calls": [{"_tool": "sub", "n": 1}], "output": null}), false),
            (json!({"calls": [{"n": 1}], "output": null}), false),
            (json!({"calls": [], "output": [1, ["x"]]}), false),
            (json!({"calls": []}), false),
            (json!([1]), false),
        ] {
            let violations = compiled.violations(&Value::from(&solution), Effort::POOL);
            assert_eq!(violations.is_empty(), expected, "{solution}: {violations:?}");
        }
    }

    #[test]
    fn only_schemas_of_objects_are_parameters() {
        for (schema, place) in [
            (json!({}), None),
            (json!({"type": ["object"], "properties": {}, "required": []}), None),
            (json!(true), Some("")),
            (json!({"type": "string"}), Some("/type")),
            (json!({"type": ["object", "null"]}), Some("/type")),
            (json!({"properties": []}), Some("/properties")),
            (json!({"properties": {"_tool": {}}}), Some("/properties/_tool")),
            (json!({"required": true}), Some("/required")),
        ] {
            assert_eq!(fault(&schema).map(|(place, _)| place), place, "{schema}");
        }
    }
}
