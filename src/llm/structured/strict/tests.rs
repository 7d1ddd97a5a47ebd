//! What becomes of schemas as people and libraries write them.

use serde_json::{Value as Json, json};

use super::StrictSchema;
use super::rules::broken;
use template::value::Value;

pub(super) fn strict(schema: &Json) -> StrictSchema {
    let strict = StrictSchema::of(schema).unwrap_or_else(|| panic!("not expressible: {schema}"));
    assert_eq!(broken(strict.schema()), [""; 0], "{schema} became {}", strict.schema());
    strict
}

/// An object schema with these members, none of which is required.
pub(super) fn of_members(properties: Json) -> Json {
    json!({"type": "object", "properties": properties})
}

/// What becomes of a required member.
fn member(schema: &Json) -> Option<Json> {
    let root = json!({"type": "object", "properties": {"m": schema}, "required": ["m"]});
    StrictSchema::of(&root).map(|_| strict(&root).schema()["properties"]["m"].clone())
}

pub(super) fn read(schema: &Json, answer: &Json) -> Json {
    strict(schema).read_back(&Value::from(answer)).to_json()
}

#[test]
fn all_members_are_required_and_optional_ones_may_be_null() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Person",
        "type": "object",
        "required": ["näme"],
        "properties": {
            "näme": {"type": "string", "minLength": 1, "description": "The name."},
            "age": {"type": "integer", "minimum": 0, "default": 3},
            "mood": {"enum": ["good", "bad"]},
            "kind": {"const": "person"},
            "nick": {"type": ["string", "null"]},
            "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": true, "minItems": 1},
            "id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "integer"}], "title": "Id"},
        },
    });
    let expected = json!({
        "title": "Person",
        "type": "object",
        "properties": {
            "näme": {"type": "string", "description": "The name."},
            "age": {"type": ["integer", "null"], "minimum": 0},
            "mood": {"type": ["string", "null"], "enum": ["good", "bad", null]},
            "kind": {"anyOf": [{"type": "string", "const": "person"}, {"type": "null"}]},
            "nick": {"type": ["string", "null"]},
            "tags": {"anyOf": [{"type": "array", "items": {"type": "string"}, "minItems": 1}, {"type": "null"}]},
            "id": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "integer"}, {"type": "null"}], "title": "Id"},
        },
        "required": ["näme", "age", "mood", "kind", "nick", "tags", "id"],
        "additionalProperties": false,
    });
    assert_eq!(strict(&schema).schema().to_string(), expected.to_string());
    let answer = json!({"näme": "Zoë", "age": null, "mood": null, "kind": null, "nick": null, "tags": null, "id": null});
    assert_eq!(read(&schema, &answer).to_string(), json!({"näme": "Zoë", "nick": null}).to_string());
}

#[test]
fn what_pydantic_writes_is_expressed() {
    let schema = json!({
        "$defs": {
            "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
            "Wheel": {
                "properties": {
                    "color": {"allOf": [{"$ref": "#/$defs/Color"}], "default": "red", "description": "Paint."},
                    "size": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": null, "title": "Size"},
                },
                "title": "Wheel",
                "type": "object",
            },
            "Unused": {"type": "object"},
        },
        "properties": {
            "wheels": {"items": {"$ref": "#/$defs/Wheel"}, "title": "Wheels", "type": "array"},
            "spare": {"$ref": "#/$defs/Wheel", "description": "In the boot."},
            "best": {"$ref": "#/$defs/Color", "default": "red"},
        },
        "required": ["wheels", "spare"],
        "title": "Car",
        "type": "object",
    });
    let expected = json!({
        "properties": {
            "wheels": {"items": {"$ref": "#/$defs/Wheel"}, "title": "Wheels", "type": "array"},
            "spare": {"anyOf": [{"$ref": "#/$defs/Wheel"}], "description": "In the boot."},
            "best": {"anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}]},
        },
        "title": "Car",
        "type": "object",
        "required": ["wheels", "spare", "best"],
        "additionalProperties": false,
        "$defs": {
            "Wheel": {
                "properties": {
                    "color": {
                        "description": "Paint.",
                        "anyOf": [{"$ref": "#/$defs/Color"}, {"type": "null"}],
                    },
                    "size": {"anyOf": [{"type": "number"}, {"type": "null"}], "title": "Size"},
                },
                "title": "Wheel",
                "type": "object",
                "required": ["color", "size"],
                "additionalProperties": false,
            },
            "Color": {"enum": ["red", "blue"], "title": "Color", "type": "string"},
        },
    });
    assert_eq!(strict(&schema).schema(), &expected);
    let wheel = json!({"color": null, "size": null});
    let answer = json!({"wheels": [wheel, {"color": "red", "size": 1.5}], "spare": wheel, "best": null});
    let read = read(&schema, &answer);
    assert_eq!(
        read,
        json!({"wheels": [{"size": null}, {"color": "red", "size": 1.5}], "spare": {"size": null}})
    );
}

#[test]
fn what_zod_writes_is_expressed() {
    let schema = json!({
        "$ref": "#/definitions/Node",
        "definitions": {
            "Node": {
                "type": "object",
                "properties": {
                    "value": {"type": ["string", "number"]},
                    "next": {"$ref": "#/definitions/Node"},
                    "copy": {"$ref": "#/definitions/Node/properties/value"},
                },
                "required": ["value"],
                "additionalProperties": false,
            },
        },
        "$schema": "http://json-schema.org/draft-07/schema#",
    });
    let expected = json!({
        "type": "object",
        "properties": {
            "value": {"$ref": "#/$defs/Node_value"},
            "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]},
            "copy": {"anyOf": [{"$ref": "#/$defs/Node_value"}, {"type": "null"}]},
        },
        "required": ["value", "next", "copy"],
        "additionalProperties": false,
        "$defs": {"Node_value": {"type": ["number", "string"]}},
    });
    assert_eq!(strict(&schema).schema(), &expected);
    let answer = json!({"value": 1, "next": {"value": "x", "next": null, "copy": null}, "copy": 2});
    assert_eq!(read(&schema, &answer), json!({"value": 1, "next": {"value": "x"}, "copy": 2}));
}

#[test]
fn trees_refer_to_the_root_or_to_a_definition() {
    for reference in ["#", "#/$defs/Tree"] {
        let tree = json!({
            "type": "object",
            "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": reference}}},
            "required": ["name"],
        });
        let mut schema = tree.clone();
        schema["$defs"] = json!({"Tree": tree});
        let children = strict(&schema).schema()["properties"]["children"]["anyOf"][0].clone();
        assert_eq!(children, json!({"type": "array", "items": {"$ref": reference}}));
        let answer = json!({"name": "a", "children": [{"name": "b", "children": null}]});
        assert_eq!(read(&schema, &answer), json!({"name": "a", "children": [{"name": "b"}]}));
    }
}

#[test]
fn definitions_get_names_of_their_own() {
    let text = json!({"type": "string"});
    let schema = json!({
        "type": "object",
        "properties": {
            "a": {"type": "array", "items": text},
            "a/b": {"type": "integer"},
            "1": {"$ref": "#/properties/a"},
            "2": {"$ref": "#/$defs/a"},
            "3": {"$ref": "#/definitions/a"},
            "4": {"$ref": "#/properties/a/items"},
            "5": {"$ref": "#/properties/a~1b"},
            "6": {"$ref": "#/$defs/%E4%BD%A0"},
            "7": {"$ref": "#/$defs/alias"},
            "8": {"$ref": "#/properties"},
        },
        "required": ["a", "a/b", "1", "2", "3", "4", "5", "6", "7"],
        "$defs": {"a": {"type": "boolean"}, "你": {"type": "null"}, "alias": {"$ref": "#/$defs/a", "default": true}},
        "definitions": {"a": {"type": "number"}},
    });
    assert!(StrictSchema::of(&schema).is_none(), "members are no subschema");
    let mut schema = schema;
    schema["properties"].as_object_mut().unwrap().remove("8");
    let strict = strict(&schema);
    let reference = |name: &str| strict.schema()["properties"][name]["$ref"].as_str().unwrap().to_owned();
    let names = ["a", "a/b", "1", "2", "3", "4", "5", "6", "7"].map(reference);
    let expected = ["a_3", "a_b", "a_3", "a", "a_2", "a_items", "a_b", "definition", "a"];
    assert_eq!(names, expected.map(|name| format!("#/$defs/{name}")));
    assert_eq!(strict.schema()["$defs"]["a_items"], text);
    assert_eq!(
        strict.schema()["$defs"]["a_3"],
        json!({"type": "array", "items": {"$ref": "#/$defs/a_items"}})
    );
}

#[test]
fn what_a_required_member_becomes() {
    let point = json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "additionalProperties": false});
    for (schema, expected) in [
        (json!({"enum": ["a", 1, "a", 2.5]}), json!({"type": ["number", "string"], "enum": ["a", 1, 2.5]})),
        (json!({"enum": ["a", 1], "type": "string"}), json!({"enum": ["a"], "type": "string"})),
        (json!({"enum": ["a", "b"], "const": "a"}), json!({"type": "string", "enum": ["a"]})),
        (json!({"const": 1}), json!({"type": "integer", "const": 1})),
        (json!({"const": null}), json!({"type": "null"})),
        (json!({"enum": [null], "type": ["string", "null"]}), json!({"type": "null"})),
        (
            json!({"oneOf": [{"const": 1}, {"type": "string"}]}),
            json!({"anyOf": [{"type": "integer", "const": 1}, {"type": "string"}]}),
        ),
        (json!({"type": "object", "anyOf": [point, point]}), json!({"anyOf": [point, point]})),
        (
            json!({"type": ["string", "null"], "format": "uri", "pattern": "^a(?:b)\\d$"}),
            json!({"type": ["string", "null"], "pattern": "^a(?:b)\\d$"}),
        ),
        (
            json!({"type": "string", "pattern": "^(?=a)", "format": "date"}),
            json!({"type": "string", "format": "date"}),
        ),
        (json!({"type": "string", "pattern": "(a)\\1"}), json!({"type": "string"})),
        (
            json!({"type": "number", "minimum": 1, "exclusiveMaximum": true, "minItems": 1}),
            json!({"type": "number", "minimum": 1}),
        ),
        (
            json!({"type": "string", "properties": 5, "title": true, "description": ["x"]}),
            json!({"type": "string"}),
        ),
        (json!({"allOf": [{"type": "string"}], "title": "T"}), json!({"title": "T", "type": "string"})),
        (
            json!({"allOf": [{"allOf": [{"type": "string"}]}, {"not": {"const": ""}}]}),
            json!({"type": "string"}),
        ),
        (
            json!({"allOf": [{"type": "string", "title": "inner"}], "title": "T", "type": "string"}),
            json!({"title": "T", "type": "string"}),
        ),
        (json!({"not": {"const": ""}, "type": "string", "if_": true}), json!({"type": "string"})),
        (
            json!({"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"], "minProperties": 1,
                "anyOf": [{"required": ["x"]}, {"not": {"required": ["x"]}}], "dependencies": {"x": ["x"]}, "unevaluatedProperties": false}),
            point.clone(),
        ),
        (
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            json!({"type": "object", "properties": {}, "additionalProperties": false, "required": []}),
        ),
        (json!({"type": ["null", "object"], "properties": {"x": {"type": "number"}}, "required": ["x"]}), {
            let mut point = point.clone();
            point["type"] = json!(["object", "null"]);
            point
        }),
    ] {
        assert_eq!(member(&schema), Some(expected), "{schema}");
    }
}

#[test]
fn what_strict_mode_cannot_express_is_told() {
    let text = json!({"type": "string"});
    let record = of_members(json!({"x": text}));
    let with = |name: &str, value: Json| {
        let mut schema = record.clone();
        schema[name] = value;
        schema
    };
    let nested = with("properties", json!({"x": {"$id": "https://example.com/x", "type": "string"}}));
    for schema in [
        json!(true),
        json!(false),
        json!({}),
        json!(null),
        json!("string"),
        json!({"title": "anything"}),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "properties": []}),
        json!({"properties": {"x": text}}),
        json!({"items": text}),
        with("additionalProperties", json!(true)),
        with("additionalProperties", json!({})),
        with("additionalProperties", text.clone()),
        with("additionalProperties", json!(null)),
        with("patternProperties", json!({"^a": text})),
        with("unevaluatedProperties", json!(true)),
        with("required", json!(["y"])),
        with("required", json!("x")),
        with("required", json!([1])),
        with("properties", json!({"x": true})),
        with("properties", json!({"x": false})),
        with("if", json!({"required": ["x"]})),
        with("dependentSchemas", json!({"x": {"required": ["x"]}})),
        with("dependencies", json!({"x": {"required": ["x"]}})),
        with("anyOf", json!([{"required": ["x"]}, record])),
        with("oneOf", json!([record])),
        with("allOf", json!([of_members(json!({"y": text}))])),
        with("allOf", json!([{"additionalProperties": false}])),
        with("allOf", json!({})),
        with("enum", json!([{"x": "a"}])),
        with("$anchor", json!("here")),
        with("$dynamicRef", json!("#here")),
        with("$ref", json!("#")),
        with("type", json!(["object", "string"])),
        with("type", json!("record")),
        with("type", json!([])),
        with("type", json!(null)),
        nested.clone(),
        json!({"type": "array"}),
        json!({"type": "array", "items": [text]}),
        json!({"type": "array", "items": true}),
        json!({"type": "array", "items": text, "prefixItems": [text]}),
        json!({"type": ["array", "string"], "items": text}),
        json!({"type": "string", "enum": []}),
        json!({"type": "string", "enum": [1]}),
        json!({"type": "string", "enum": "a"}),
        json!({"enum": ["a", []]}),
        json!({"const": {}}),
        json!({"enum": ["a"], "const": "b"}),
        json!({"anyOf": []}),
        json!({"anyOf": {}}),
        json!({"anyOf": [text, {}]}),
        json!({"anyOf": [text], "oneOf": [text]}),
        json!({"anyOf": [text], "enum": ["a"]}),
        json!({"allOf": [text, {"minLength": 1}]}),
        json!({"allOf": [{"type": "string"}], "type": "integer"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"$ref": "https://example.com/schema"}),
        json!({"$ref": "other.json#/x"}),
        json!({"$ref": "#name"}),
        json!({"$ref": 5}),
        json!({"$ref": "#/properties/m"}),
        json!({"anyOf": [{"$ref": "#/properties/m"}, text]}),
        json!({"$ref": "#", "type": "object"}),
        json!({"$ref": "#", "required": ["m"]}),
    ] {
        assert_eq!(member(&schema), None, "{schema}");
    }
    for root in [
        json!(true),
        json!({"$ref": "#"}),
        text,
        json!({"anyOf": [record]}),
        with("type", json!(["object", "null"])),
    ] {
        assert!(StrictSchema::of(&root).is_none(), "{root}");
    }
    assert!(
        StrictSchema::of(&with("$id", json!("https://example.com/x"))).is_some(),
        "that names the document"
    );
}

#[test]
fn limits_are_kept() {
    let nested = |levels: usize| {
        let inner =
            (2..levels).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
        of_members(json!({"x": {"type": "array", "items": inner}}))
    };
    let many = |count: usize| {
        let names = (0..count).map(|number| (format!("p{number}"), json!({"type": "string"})));
        of_members(names.collect::<serde_json::Map<_, _>>().into())
    };
    let listing = |count: usize, length: usize| {
        let values: Vec<String> = (0..count).map(|number| format!("{number:0length$}")).collect();
        json!({"type": "object", "properties": {"x": {"enum": values}}, "required": ["x"]})
    };
    let long = |length: usize| of_members(json!({"x": {"const": "ä".repeat(length - 1)}}));
    for (kept, exceeding) in [
        (nested(10), nested(11)),
        (many(5_000), many(5_001)),
        (listing(1_000, 15), listing(1_001, 4)),
        (listing(251, 59), listing(251, 60)),
        (listing(250, 479), listing(250, 481)),
        (long(120_000), long(120_001)),
    ] {
        assert_eq!(broken(strict(&kept).schema()), [""; 0]);
        assert!(StrictSchema::of(&exceeding).is_none());
    }
}
