//! The smallest values of schemas.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use template::value::Value;

#[track_caller]
fn assert_smallest(table: impl IntoIterator<Item = (Json, Json)>) {
    let wrong: Vec<String> = table
        .into_iter()
        .filter_map(|(schema, expected)| {
            let found = smallest(&schema);
            (found.as_ref() != Some(&expected)).then(|| format!("{schema}: {found:?}, not {expected}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn kinds_come_in_their_order() {
    assert_smallest([
        (json!({}), json!(null)),
        (json!(true), json!(null)),
        (json!({"type": "boolean"}), json!(false)),
        (json!({"type": "integer"}), json!(0)),
        (json!({"type": "number"}), json!(0)),
        (json!({"type": "string"}), json!("")),
        (json!({"type": "array"}), json!([])),
        (json!({"type": "object"}), json!({})),
        (json!({"type": ["object", "string", "array"]}), json!("")),
        (json!({"type": ["string", "null"]}), json!(null)),
        (json!({"enum": ["b", {}, [], "a", "ab"]}), json!("a")),
        (json!({"enum": [2, -1, 1, 3]}), json!(1)),
        (json!({"enum": [[1, 2], [3]]}), json!([3])),
        (json!({"type": "string", "enum": [null, 1, "x"]}), json!("x")),
        (json!({"type": "integer", "enum": [0.5, 3]}), json!(3)),
        (json!({"const": {"a": [1]}}), json!({"a": [1]})),
        (json!({"enum": [1, 2], "allOf": [{"enum": [2, 3]}]}), json!(2)),
        (json!({"enum": ["a", "bcd"], "minLength": 2}), json!("bcd")),
        (json!({"not": {"type": "null"}}), json!(false)),
        (json!({"not": {"type": ["null", "boolean", "number"]}}), json!("")),
    ]);
}

#[test]
fn numbers_are_the_nearest_to_zero() {
    assert_smallest([
        (json!({"type": "integer", "minimum": 3}), json!(3)),
        (json!({"type": "integer", "maximum": -3}), json!(-3)),
        (json!({"type": "integer", "minimum": -3, "maximum": 3}), json!(0)),
        (json!({"type": "integer", "exclusiveMinimum": 0}), json!(1)),
        (json!({"type": "integer", "exclusiveMaximum": 0}), json!(-1)),
        (json!({"type": "integer", "minimum": 1.5}), json!(2)),
        (json!({"type": "integer", "minimum": 4, "multipleOf": 3}), json!(6)),
        (json!({"type": "integer", "maximum": -4, "multipleOf": 3}), json!(-6)),
        (json!({"type": "integer", "minimum": 1, "multipleOf": 1.5}), json!(3)),
        (json!({"type": "integer", "minimum": 9_007_199_254_740_993_u64}), json!(9_007_199_254_740_993_u64)),
        (json!({"type": "number", "minimum": 0.5}), json!(0.5)),
        (json!({"type": "number", "exclusiveMinimum": 0.5}), json!(1)),
        (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), json!(0.5)),
        (json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.1}), json!(0.1)),
        (json!({"type": "number", "minimum": 0.25, "multipleOf": 0.1}), json!(0.3)),
        (json!({"type": "number", "maximum": -0.5, "minimum": -2}), json!(-0.5)),
        (
            json!({"type": "integer", "minimum": 1, "allOf": [{"multipleOf": 4}, {"multipleOf": 6}]}),
            json!(12),
        ),
        (json!({"type": "integer", "not": {"enum": [0, 1]}}), json!(-1)),
    ]);
}

#[test]
fn strings_are_short_and_of_letters() {
    assert_smallest([
        (json!({"type": "string", "minLength": 3}), json!("aaa")),
        (json!({"type": "string", "not": {"const": ""}}), json!("a")),
        (json!({"type": "string", "format": "date-time"}), json!("1970-01-01T00:00:00Z")),
        (json!({"type": "string", "format": "date"}), json!("1970-01-01")),
        (json!({"type": "string", "format": "time"}), json!("00:00:00Z")),
        (json!({"type": "string", "format": "duration"}), json!("P0D")),
        (json!({"type": "string", "format": "email"}), json!("a@example.com")),
        (json!({"type": "string", "format": "idn-email"}), json!("a@example.com")),
        (json!({"type": "string", "format": "hostname"}), json!("example.com")),
        (json!({"type": "string", "format": "ipv4"}), json!("0.0.0.0")),
        (json!({"type": "string", "format": "ipv6"}), json!("::")),
        (json!({"type": "string", "format": "uri"}), json!("https://example.com/")),
        (json!({"type": "string", "format": "uri-reference"}), json!("")),
        (json!({"type": "string", "format": "uuid"}), json!("00000000-0000-0000-0000-000000000000")),
        (json!({"type": "string", "format": "regex", "minLength": 1}), json!("a")),
        (json!({"type": "string", "format": "json-pointer", "minLength": 2}), json!("/a")),
        (json!({"type": "string", "format": "email", "minLength": 15}), json!("aaa@example.com")),
        (json!({"type": "string", "format": "of-our-own"}), json!("")),
        (json!({"type": "string", "pattern": "^[A-Z]{2}-\\d+$"}), json!("AA-0")),
        (json!({"type": "string", "pattern": "b"}), json!("b")),
        (json!({"type": "string", "pattern": "^(yes|no)$"}), json!("no")),
        (json!({"type": "string", "pattern": "^[a-z]+$", "minLength": 4}), json!("aaaa")),
        (json!({"type": "string", "pattern": "^x", "minLength": 3}), json!("xaa")),
        (json!({"type": "string", "pattern": "^\\w+@\\w+\\.com$"}), json!("a@a.com")),
        (json!({"type": "string", "pattern": "^#\\/[^\\s]?"}), json!("#/")),
        (json!({"type": "string", "pattern": "^(?=.*b).{0,3}$"}), json!("b")),
    ]);
}

#[test]
fn lists_are_as_short_as_they_may_be() {
    assert_smallest([
        (json!({"type": "array", "items": {"type": "string"}, "minItems": 2}), json!(["", ""])),
        (
            json!({"type": "array", "items": {"type": "integer"}, "minItems": 3, "uniqueItems": true}),
            json!([0, 1, -1]),
        ),
        (
            json!({"type": "array", "items": {"type": "boolean"}, "minItems": 2, "uniqueItems": true}),
            json!([false, true]),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}, {"const": 5}], "minItems": 2}),
            json!(["", 5]),
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": {"type": "integer"}, "minItems": 3}),
            json!(["", 0, 0]),
        ),
        (json!({"type": "array", "contains": {"const": 7}}), json!([7])),
        (
            json!({"type": "array", "uniqueItems": true, "prefixItems": [{"const": 1}], "items": {"type": "integer"}, "minItems": 4}),
            json!([1, 0, -1, 2]),
        ),
        (
            json!({"type": "array", "uniqueItems": true, "contains": {"const": 0}, "items": {"type": "integer"}, "minItems": 3}),
            json!([0, 1, -1]),
        ),
        (
            json!({"type": "array", "contains": {"type": "string"}, "minContains": 2, "items": {"minLength": 1}}),
            json!(["a", "a"]),
        ),
        (json!({"type": "array", "contains": {"const": 7}, "minContains": 0}), json!([])),
        (
            json!({"type": "array", "contains": {"const": 7}, "prefixItems": [{"type": "string"}]}),
            json!(["", 7]),
        ),
        (json!({"type": "array", "contains": {"const": 7}, "minItems": 2}), json!([null, 7])),
        (json!({"type": "array", "not": {"maxItems": 1}}), json!([null, null])),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "array", "items": [{"const": 1}], "additionalItems": {"const": 2}, "minItems": 2}),
            json!([1, 2]),
        ),
    ]);
}

#[test]
fn objects_have_the_members_that_they_must_have() {
    let declared =
        json!({"b": {"type": "string"}, "a": {"type": "integer", "minimum": 1}, "c": {"type": "null"}});
    assert_smallest([
        (json!({"type": "object", "properties": declared, "required": ["a", "b"]}), json!({"b": "", "a": 1})),
        (
            json!({"type": "object", "properties": declared, "required": ["z", "a"]}),
            json!({"a": 1, "z": null}),
        ),
        (json!({"type": "object", "properties": declared, "minProperties": 2}), json!({"b": "", "a": 1})),
        (json!({"type": "object", "minProperties": 2}), json!({"a": null, "b": null})),
        (
            json!({"type": "object", "minProperties": 1, "additionalProperties": {"type": "integer"}}),
            json!({"a": 0}),
        ),
        (
            json!({"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}}),
            json!({"a": null, "b": null, "c": null}),
        ),
        (
            json!({"type": "object", "required": ["x1"], "patternProperties": {"^x": {"type": "string"}}, "additionalProperties": false}),
            json!({"x1": ""}),
        ),
        (
            json!({"type": "object", "minProperties": 1, "patternProperties": {"^x": {"const": 4}}, "additionalProperties": false}),
            json!({"x": 4}),
        ),
        (
            json!({"type": "object", "minProperties": 1, "propertyNames": {"minLength": 3}}),
            json!({"aaa": null}),
        ),
        (
            json!({"type": "object", "required": ["a"], "dependentSchemas": {"a": {"required": ["b"]}}}),
            json!({"a": null, "b": null}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "object", "properties": {"b": {"type": "array"}}, "required": ["b"]}}, "required": ["a"]}),
            json!({"a": {"b": []}}),
        ),
        (
            json!({"type": "object", "anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}], "properties": declared}),
            json!({"c": null}),
        ),
        (json!({"type": "object", "not": {"required": ["a"]}, "properties": declared}), json!({})),
        (
            json!({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "not": {"properties": {"a": {"const": 0}}}}),
            json!({"a": 1}),
        ),
    ]);
}

#[test]
fn alternatives_and_references_are_followed() {
    let tree = json!({"type": "object", "properties": {"v": {"type": "integer"}, "l": {"$ref": "#/$defs/t"}}, "required": ["v", "l"]});
    assert_smallest([
        (json!({"anyOf": [{"type": "object"}, {"type": "string", "minLength": 1}]}), json!("a")),
        (json!({"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 0}]}), json!(-1)),
        (json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}), json!(0.5)),
        (json!({"allOf": [{"type": "string"}, {"minLength": 2}]}), json!("aa")),
        (
            json!({"type": "integer", "if": {"maximum": 5}, "then": {"minimum": 4}, "else": {"minimum": 10}}),
            json!(4),
        ),
        (
            json!({"type": "integer", "if": {"maximum": 5}, "then": false, "else": {"multipleOf": 4}}),
            json!(8),
        ),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string"}}}), json!("")),
        (json!({"$ref": "#/definitions/a%20b", "definitions": {"a b": {"const": 3}}}), json!(3)),
        (
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "boolean"}, "b": {"$ref": "#/properties/a"}}}),
            json!({"a": false, "b": false}),
        ),
        (json!({"$ref": "#/$defs/t", "$defs": {"t": {"anyOf": [tree, {"type": "null"}]}}}), json!(null)),
        (
            json!({"$ref": "#/$defs/t", "$defs": {"t": {"oneOf": [tree, {"type": "object", "additionalProperties": false}]}}}),
            json!({}),
        ),
        (
            json!({"type": "object", "required": ["next"], "properties": {"next": {"anyOf": [{"$ref": "#"}, {"type": "array"}]}}}),
            json!({"next": []}),
        ),
        (
            json!({"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/e"}, "$defs": {"e": {"anyOf": [{"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/e"}}, {"type": "string"}]}}}),
            json!([""]),
        ),
        (
            json!({"$defs": {"e": {"type": "object", "properties": {"k": {"type": "string", "not": {"const": ""}}, "e": {"$ref": "#/$defs/e"}}, "required": ["k"]}}, "type": "array", "items": {"$ref": "#/$defs/e"}, "minItems": 1}),
            json!([{"k": "a"}]),
        ),
        (
            json!({"$id": "https://example.com/s", "type": "object", "required": ["a"], "properties": {"a": {"not": {"$ref": "#/$defs/n"}}}, "$defs": {"n": {"type": "null"}}}),
            json!({"a": false}),
        ),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "required": ["a"], "properties": {"a": {"oneOf": [{"$ref": "#/definitions/n"}, {"type": "null"}]}}, "definitions": {"n": {"type": ["null", "boolean"]}}}),
            json!({"a": false}),
        ),
    ]);
}

#[test]
fn schemas_as_programs_write_them_have_values() {
    let schema = json!({
        "$defs": {
            "Kind": {"enum": ["bug", "feature"], "title": "Kind", "type": "string"},
            "Person": {
                "properties": {
                    "name": {"title": "Name", "type": "string", "minLength": 1},
                    "email": {"anyOf": [{"type": "string", "format": "email"}, {"type": "null"}], "default": null},
                    "reports": {"items": {"$ref": "#/$defs/Person"}, "type": "array"},
                },
                "required": ["name", "email", "reports"], "title": "Person", "type": "object", "additionalProperties": false,
            },
        },
        "properties": {
            "kind": {"$ref": "#/$defs/Kind", "description": "What it is"},
            "author": {"allOf": [{"$ref": "#/$defs/Person"}]},
            "scores": {"additionalProperties": {"type": "number"}, "type": "object"},
            "due": {"type": ["string", "null"], "format": "date"},
            "part": {"oneOf": [
                {"type": "object", "properties": {"t": {"const": "b"}, "x": {"type": "integer"}}, "required": ["t", "x"]},
                {"type": "object", "properties": {"t": {"const": "a"}}, "required": ["t"]},
            ]},
        },
        "required": ["kind", "author", "scores", "due", "part"], "type": "object", "additionalProperties": false,
    });
    let author = json!({"name": "a", "email": null, "reports": []});
    let expected = json!({"kind": "bug", "author": author, "scores": {}, "due": null, "part": {"t": "a"}});
    assert_smallest([(schema, expected)]);
}

#[test]
fn deep_schemas_need_no_deep_stack() {
    let nested = |depth: usize, inner: Json| {
        (0..depth)
            .fold(inner, |inner, _| json!({"type": "object", "properties": {"a": inner}, "required": ["a"]}))
    };
    for depth in [10, 60, 90] {
        let found = smallest(&nested(depth, json!({"type": "string"})));
        assert!(found.is_some(), "{depth}");
    }
    let _ = smallest(&nested(120, json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})));
}

#[test]
fn where_nothing_fits_there_is_nothing() {
    for schema in [
        json!(false),
        json!({"type": "no type"}),
        json!({"enum": []}),
        json!({"type": "integer", "minimum": 2, "maximum": 1}),
        json!({"type": "string", "minLength": 2, "maxLength": 1}),
        json!({"allOf": [{"type": "string"}, {"type": "null"}]}),
        json!({"not": {}}),
        json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#"}}}),
        json!({"type": "array", "minItems": 3, "uniqueItems": true, "items": {"type": "boolean"}}),
        json!({"type": "array", "minItems": 1_000_000_000}),
        json!({"type": "string", "minLength": 1_000_000_000}),
        json!({"type": "object", "minProperties": 1_000_000_000}),
        json!({"type": "string", "pattern": "^(a{1000}){1000}$"}),
        json!({"type": "object", "required": ["a"], "additionalProperties": false}),
    ] {
        assert_eq!(smallest(&schema), None, "{schema}");
    }
}

#[test]
fn a_large_schema_ends_soon() {
    let names: Vec<String> = (0..1_500).map(|number| format!("m{number}")).collect();
    let members: serde_json::Map<String, Json> = names
        .iter()
        .map(|name| (name.clone(), json!({"anyOf": [{"type": "string"}, {"type": "integer"}]})))
        .collect();
    let schema = json!({"type": "object", "properties": members, "required": names});
    assert_eq!(smallest(&schema).and_then(|value| Some(value.as_object()?.len())), Some(1_500));
    let branching = json!({"anyOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {
        "type": "array", "minItems": 3, "prefixItems": [{"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}, {"$ref": "#/$defs/n"}],
    }}});
    assert_eq!(smallest(&branching), None);
    for large in [
        json!({"type": "array", "minItems": 10_000, "items": {"type": "string", "minLength": 100_000}}),
        json!({"type": "array", "minItems": 10_000, "uniqueItems": true, "items": {"type": "string", "minLength": 100_000}}),
        json!({"type": "string", "minLength": 60, "pattern": format!("^a{{900}}{}$", "[ab]?".repeat(200))}),
        json!({"type": "array", "minItems": 10_000, "uniqueItems": true, "items": {"type": "string"}}),
        json!({"type": "array", "minItems": 90, "items": {"type": "array", "minItems": 90, "items": {"type": "array", "minItems": 90}}}),
    ] {
        assert!(smallest(&large).is_none_or(|value| value.to_string().len() < 10_000_000), "{large}");
    }
}

/// Schemas of the usual keywords.
fn any_schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": ["null", "boolean"]})),
        (-9i64..9, 0i64..9, 1u64..5).prop_map(
            |(low, more, step)| json!({"type": "integer", "minimum": low, "maximum": low + more, "multipleOf": step})
        ),
        (-9.0f64..9.0, 0.0f64..2.0).prop_map(
            |(low, more)| json!({"type": "number", "exclusiveMinimum": low, "maximum": low + more})
        ),
        (0u64..5, 0u64..5).prop_map(|(low, high)| json!({"type": "string", "minLength": low, "maxLength": high})),
        "[ab][bc]{0,2}(x|yz)?".prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        prop::collection::vec(-2i64..3, 0..4).prop_map(|values| json!({"enum": values})),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let members = || prop::collection::btree_map("[a-c]", inner.clone(), 0..3);
        prop_oneof![
            (inner.clone(), 0u64..3, any::<bool>())
                .prop_map(|(items, least, unique)| json!({"type": "array", "items": items, "minItems": least, "uniqueItems": unique})),
            (members(), prop::collection::btree_set("[a-d]", 0..3), any::<bool>())
                .prop_map(|(members, required, open)| json!({"type": "object", "properties": members, "required": required, "additionalProperties": open})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"oneOf": all})),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"allOf": all})),
            inner.clone().prop_map(|other| json!({"not": other})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn what_is_found_fits(schema in any_schema()) {
        if let Some(value) = smallest(&schema) {
            let compiled = Schema::compile(&schema).unwrap();
            prop_assert_eq!(compiled.violations(&Value::from(&value), Effort::POOL), vec![]);
        }
    }

    #[test]
    fn an_object_of_simple_members_is_always_found(members in prop::collection::btree_map("[a-z]{1,3}", prop_oneof![
        Just(json!({"type": "string"})), Just(json!({"type": "integer", "minimum": 2})), Just(json!({"type": "array"})),
        Just(json!({"enum": ["x", "y"]})), Just(json!({"anyOf": [{"type": "string"}, {"type": "null"}]})),
    ], 0..8)) {
        let required: Vec<&String> = members.keys().collect();
        let schema = json!({"type": "object", "properties": members, "required": required, "additionalProperties": false});
        let found = smallest(&schema).unwrap();
        prop_assert!(found.as_object().unwrap().keys().eq(members.keys()));
    }
}
