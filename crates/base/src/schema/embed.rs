//! Schemas inside of other schemas: their references go on to mean the same.
//!
//! A reference `#/$defs/x` counts from the root of its document. Where a schema becomes a part of another one, the reference has
//! to begin with the place of the schema there.

use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};
use serde_json::{Map, Value as Json, json};

/// The characters that a fragment (RFC 3986, section 3.5) cannot hold as they are.
const NOT_IN_FRAGMENTS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// Keywords that refer to another schema by a pointer.
const REFERENCES: [&str; 2] = ["$ref", "$dynamicRef"];

/// Keywords whose value is data.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];

/// Keywords whose value has a schema under each name.
const BY_NAME: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];

/// Keywords with definitions, which references name most often.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// The schema as a part of a larger document, in which it stands at the JSON Pointer `at`.
///
/// `$schema` is left out, because it has its place at the root of a document. A schema with an `$id` is a resource of its own,
/// whose references do not count from the document's root.
pub fn embedded(schema: &Json, at: &str) -> Json {
    let mut schema = without_dialect(schema);
    Rebase { to: &fragment(at), keeps_definitions: false }.schema(&mut schema);
    schema
}

/// The schema of an object whose only member, `name`, fits `schema`. Definitions are moved to the new root, where models
/// expect them.
pub fn wrapped(schema: &Json, name: &str) -> Json {
    let mut inner = without_dialect(schema);
    let mut definitions = Map::new();
    if !is_resource(&inner) {
        let at = format!("/properties/{}", token(name));
        Rebase { to: &fragment(&at), keeps_definitions: true }.schema(&mut inner);
        definitions = taken_definitions(&mut inner);
    }
    let mut properties = Map::new();
    properties.insert(name.to_owned(), inner);
    let mut root = Map::new();
    root.insert("type".to_owned(), "object".into());
    root.insert("properties".to_owned(), properties.into());
    root.insert("required".to_owned(), json!([name]));
    root.insert("additionalProperties".to_owned(), false.into());
    root.extend(definitions);
    Json::Object(root)
}

/// Whether every value that fits the schema is an object, as far as its root says so by itself.
pub fn promises_object(schema: &Json) -> bool {
    let is_object = match schema.get("type") {
        Some(Json::String(name)) => name == "object",
        Some(Json::Array(names)) => matches!(names.as_slice(), [Json::String(name)] if name == "object"),
        _ => false,
    };
    is_object && ["anyOf", "oneOf", "allOf", "$ref"].iter().all(|keyword| schema.get(keyword).is_none())
}

/// A name as a part of a JSON Pointer.
pub fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

fn fragment(pointer: &str) -> String {
    utf8_percent_encode(pointer, NOT_IN_FRAGMENTS).to_string()
}

fn without_dialect(schema: &Json) -> Json {
    let mut schema = schema.clone();
    if let Json::Object(members) = &mut schema {
        members.shift_remove("$schema");
    }
    schema
}

/// Whether a schema has an identity of its own. (Before 2019-09, an `$id` of a fragment alone was an anchor.)
fn is_resource(schema: &Json) -> bool {
    schema.get("$id").and_then(Json::as_str).is_some_and(|id| !id.starts_with('#'))
}

/// The definitions at the root of a schema, taken out of it.
fn taken_definitions(schema: &mut Json) -> Map<String, Json> {
    let Json::Object(members) = schema else { return Map::new() };
    let are_there = DEFINITIONS.into_iter().filter(|name| members.get(*name).is_some_and(Json::is_object));
    let names: Vec<&str> = are_there.collect();
    names.into_iter().filter_map(|name| members.shift_remove_entry(name)).collect()
}

/// Changes the references of a schema that moves.
struct Rebase<'a> {
    /// Its new place, as a fragment.
    to: &'a str,
    /// Whether the definitions at its root stay at the root.
    keeps_definitions: bool,
}

impl Rebase<'_> {
    fn schema(&self, schema: &mut Json) {
        if is_resource(schema) {
            return;
        }
        match schema {
            Json::Object(members) => {
                members.iter_mut().for_each(|(keyword, value)| self.keyword(keyword, value))
            }
            Json::Array(schemas) => schemas.iter_mut().for_each(|schema| self.schema(schema)),
            _ => {}
        }
    }

    /// The value of a keyword. One that is unknown may hold schemas to which references point.
    fn keyword(&self, keyword: &str, value: &mut Json) {
        match value {
            _ if DATA.contains(&keyword) => {}
            Json::String(reference) if REFERENCES.contains(&keyword) => {
                if let Some(rebased) = self.reference(reference) {
                    *reference = rebased;
                }
            }
            Json::Object(schemas) if BY_NAME.contains(&keyword) => {
                schemas.values_mut().for_each(|schema| self.schema(schema));
            }
            _ => self.schema(value),
        }
    }

    /// The reference from its new place; `None` if it stays as it is.
    fn reference(&self, reference: &str) -> Option<String> {
        let pointer = reference.strip_prefix('#')?;
        let is_pointer = pointer.is_empty() || pointer.starts_with('/');
        let stays = self.keeps_definitions && is_of_definition(pointer);
        (is_pointer && !stays).then(|| format!("#{}{pointer}", self.to))
    }
}

/// Whether a pointer, written as a fragment, leads into the definitions at the root.
fn is_of_definition(pointer: &str) -> bool {
    let first = pointer.split('/').nth(1).unwrap_or_default();
    percent_decode_str(first).decode_utf8().is_ok_and(|name| DEFINITIONS.contains(&name.as_ref()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::schema::{Effort, Schema};
    use template::value::Value;

    /// Whether values fit a schema.
    fn check(schema: &Json) -> impl Fn(&Json) -> bool {
        let compiled = Schema::compile(schema).unwrap_or_else(|error| panic!("{error}: {schema}"));
        move |value| compiled.violations(&Value::from(value), Effort::POOL).is_empty()
    }

    #[test]
    fn references_begin_with_the_new_place_and_all_that_is_no_reference_stays() {
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "properties": {
                "$ref": {"$ref": "#/$defs/x"},
                "enum": {"$ref": "#", "default": {"$ref": "#"}, "enum": [{"$ref": "#"}]},
                "other": {"$id": "https://a.example/b", "items": {"$ref": "#/items"}},
                "anchored": {"$ref": "#x", "$dynamicRef": "#/$defs/x"},
                "far": {"$ref": "https://a.example/b#/items"},
            },
            "dependencies": {"a": ["b"], "c": {"$ref": "#"}},
            "anyOf": [true, {"items": [{"$ref": "#/properties/a%20b"}]}],
            "x-shapes": {"y": {"const": {"$ref": "#"}, "not": {"$ref": "#/x-shapes"}}},
            "$defs": {"x": {"$anchor": "x"}},
        });
        let expected = json!({
            "properties": {
                "$ref": {"$ref": "#/p/a%20%25%C3%A4/$defs/x"},
                "enum": {"$ref": "#/p/a%20%25%C3%A4", "default": {"$ref": "#"}, "enum": [{"$ref": "#"}]},
                "other": {"$id": "https://a.example/b", "items": {"$ref": "#/items"}},
                "anchored": {"$ref": "#x", "$dynamicRef": "#/p/a%20%25%C3%A4/$defs/x"},
                "far": {"$ref": "https://a.example/b#/items"},
            },
            "dependencies": {"a": ["b"], "c": {"$ref": "#/p/a%20%25%C3%A4"}},
            "anyOf": [true, {"items": [{"$ref": "#/p/a%20%25%C3%A4/properties/a%20b"}]}],
            "x-shapes": {"y": {"const": {"$ref": "#"}, "not": {"$ref": "#/p/a%20%25%C3%A4/x-shapes"}}},
            "$defs": {"x": {"$anchor": "x"}},
        });
        assert_eq!(embedded(&schema, "/p/a %ä").to_string(), expected.to_string());
        let resource = json!({"$id": "https://a.example/c", "items": {"$ref": "#"}});
        assert_eq!(embedded(&resource, "/x"), resource);
        assert_eq!(embedded(&json!(true), "/x"), json!(true));
    }

    #[test]
    fn a_wrapper_has_the_definitions_and_keeps_the_order_of_members() {
        let schema = json!({
            "title": "T",
            "definitions": {"b": {"$ref": "#/properties/a"}},
            "type": ["object", "null"],
            "properties": {"a": {"$ref": "#/%24defs/c"}, "b": {"$ref": "#/definitions/b"}, "self": {"$ref": "#"}},
            "$defs": {"c": {"type": "integer"}},
        });
        let expected = json!({
            "type": "object",
            "properties": {"a/b": {
                "title": "T",
                "type": ["object", "null"],
                "properties": {
                    "a": {"$ref": "#/%24defs/c"},
                    "b": {"$ref": "#/definitions/b"},
                    "self": {"$ref": "#/properties/a~1b"},
                },
            }},
            "required": ["a/b"],
            "additionalProperties": false,
            "$defs": {"c": {"type": "integer"}},
            "definitions": {"b": {"$ref": "#/properties/a~1b/properties/a"}},
        });
        assert_eq!(wrapped(&schema, "a/b").to_string(), expected.to_string());
        let resource =
            json!({"$id": "https://a.example/c", "$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}});
        let wrapper = wrapped(&resource, "value");
        assert_eq!(wrapper["properties"]["value"], resource);
        let fits = check(&wrapper);
        assert!(fits(&json!({"value": "x"})) && !fits(&json!({"value": 1})));
    }

    #[test]
    fn only_a_root_that_says_so_promises_an_object() {
        for (schema, expected) in [
            (json!({"type": "object"}), true),
            (json!({"type": ["object"], "not": {}}), true),
            (json!({"type": ["object", "null"]}), false),
            (json!({"properties": {}}), false),
            (json!({"type": "object", "anyOf": [true]}), false),
            (json!({"type": "object", "$ref": "#/$defs/x"}), false),
            (json!(true), false),
        ] {
            assert_eq!(promises_object(&schema), expected, "{schema}");
        }
    }

    fn any_schema() -> impl Strategy<Value = Json> {
        let references =
            ["#", "#/$defs/x", "#/definitions/y", "#/properties/a", "#/properties/a~1b", "#/items"];
        let leaf = prop_oneof![
            prop::sample::select(vec!["integer", "string", "null", "object", "array"])
                .prop_map(|name| json!({"type": name})),
            prop::sample::select(references.to_vec()).prop_map(|to| json!({"items": {"$ref": to}})),
            prop::sample::select(references.to_vec())
                .prop_map(|to| json!({"properties": {"a": {"$ref": to}}})),
            Just(json!({"enum": [{"$ref": "#"}, 1, null]})),
            any::<bool>().prop_map(Json::from),
        ];
        leaf.prop_recursive(3, 12, 2, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 1..3).prop_map(|all| json!({"anyOf": all})),
                inner.clone().prop_map(|items| json!({"items": items})),
                (inner.clone(), inner.clone())
                    .prop_map(|(a, b)| json!({"properties": {"a": a, "$ref": b}, "required": ["a"]})),
                inner.prop_map(|all| json!({"allOf": [all]})),
            ]
        })
    }

    /// A document to whose parts all references of [`any_schema`] lead.
    fn any_document() -> impl Strategy<Value = Json> {
        (any_schema(), any_schema(), any_schema(), any_schema()).prop_map(|(x, y, a, items)| {
            json!({
                "title": "T",
                "properties": {"a": a.clone(), "a/b": a},
                "items": items,
                "$defs": {"x": x},
                "definitions": {"y": y},
            })
        })
    }

    fn any_value() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(json!(null)),
            Just(json!(1)),
            Just(json!("s")),
            Just(json!({"$ref": "#"})),
            Just(json!({}))
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
                prop::collection::vec((prop::sample::select(vec!["a", "$ref", "a/b"]), inner), 0..3)
                    .prop_map(|members| members
                        .into_iter()
                        .map(|(name, value)| (name.to_owned(), value))
                        .collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_schema_that_moves_accepts_what_it_did(
            schema in any_document(),
            values in prop::collection::vec(any_value(), 8),
            name in "[a-c/~ %#ä]{1,4}",
        ) {
            let wrapper = wrapped(&schema, &name);
            let at = format!("/properties/{}", token(&name));
            let around = json!({"properties": {&name: embedded(&schema, &at)}, "required": [&name]});
            let (alone, in_wrapper, in_place) = (check(&schema), check(&wrapper), check(&around));
            for value in values {
                let inside = json!({&name: &value});
                prop_assert_eq!(in_wrapper(&inside), alone(&value), "{} {}", wrapper, inside);
                prop_assert_eq!(in_place(&inside), alone(&value), "{} {}", around, inside);
            }
            let bad = [json!({}), json!({&name: null, "more": 1})];
            prop_assert!(!bad.iter().any(in_wrapper));
        }
    }
}
