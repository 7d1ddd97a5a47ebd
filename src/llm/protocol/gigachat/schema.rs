//! JSON Schemas of parameters, as GigaChat takes them.
//!
//! GigaChat knows a part of JSON Schema: one type for each value, `properties` for each object, `items` for each list. What it refuses is
//! written in that part, and loses what cannot be said there: of alternatives (`anyOf`, `oneOf`) the first that is not null remains, the
//! parts of `allOf` become one, references are written out; one to a schema inside of which it stands is any object. Keywords that are not
//! named here are left out. A property that may be null need not be given, as the model could only invent a value. Whoever asked checks
//! the arguments by their own schema.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value as Json, json};

use super::types::{is_null, may_be_null, settle};
use crate::llm::pointer;

/// How many schemas the functions of a request may hold, their references written out.
const SCHEMAS: usize = 20_000;

/// How many bytes may be written in the place of references.
const REFERRED_BYTES: usize = 4 << 20;

/// How deep schemas may lie in schemas; what is deeper is any object.
const DEPTH: usize = 32;

/// The members that go to GigaChat as they are, before the type is settled, beside `properties`, `required` and `items`.
const KEPT: [&str; 13] = [
    "type",
    "description",
    "enum",
    "const",
    "format",
    "default",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
];

/// What the schemas of a request may still cost.
#[derive(Debug)]
pub struct Budget {
    schemas: usize,
    bytes: usize,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { schemas: SCHEMAS, bytes: REFERRED_BYTES }
    }
}

impl Budget {
    /// Pays for one schema, and for bytes that are written once more.
    fn pay(&mut self, bytes: usize) -> Result<(), String> {
        let left = self.schemas.checked_sub(1).zip(self.bytes.checked_sub(bytes));
        let (schemas, bytes) = left.ok_or_else(|| {
            format!("makes too much, its references written out: {SCHEMAS} schemas and {REFERRED_BYTES} bytes may come of all")
        })?;
        *self = Budget { schemas, bytes };
        Ok(())
    }
}

/// The schema of an object of parameters; none means that there are no parameters.
///
/// # Errors
/// What is wrong with it, as the rest of a sentence.
pub fn simplified(schema: Option<&Json>, budget: &mut Budget) -> Result<Json, String> {
    let empty = || json!({"type": "object", "properties": {}});
    let Some(root) = schema else { return Ok(empty()) };
    if !root.is_object() {
        return Err("must be a JSON Schema: an object".to_owned());
    }
    let open = Some(Rc::new(Opened { target: root, around: None }));
    let mut schema = Simplifier { root, budget }.schema(Place { schema: root, open }, 0)?;
    if let Some(members) = schema.as_object_mut() {
        members.insert("type".to_owned(), "object".into());
        members.entry("properties").or_insert_with(|| json!({}));
    }
    Ok(schema)
}

/// The targets of references that are being written out: the innermost one, and those around it.
type Open<'s> = Option<Rc<Opened<'s>>>;

struct Opened<'s> {
    target: &'s Json,
    around: Open<'s>,
}

/// A schema, and what is being written out around it.
#[derive(Clone)]
struct Place<'s> {
    schema: &'s Json,
    open: Open<'s>,
}

impl<'s> Place<'s> {
    /// A schema in this one.
    fn inner(&self, schema: &'s Json) -> Place<'s> {
        Place { schema, open: self.open.clone() }
    }

    /// The target of a reference in this schema; `None` if this schema stands in it.
    fn target(&self, target: &'s Json) -> Option<Place<'s>> {
        let mut opened = self.open.as_ref();
        while let Some(Opened { target: known, around }) = opened.map(|opened| &**opened) {
            if std::ptr::eq(*known, target) {
                return None;
            }
            opened = around.as_ref();
        }
        let open = Some(Rc::new(Opened { target, around: self.open.clone() }));
        Some(Place { schema: target, open })
    }
}

/// What a schema says together with those that it refers to, or is put together from. What is said first wins.
#[derive(Default)]
struct Merged<'s> {
    members: Map<String, Json>,
    properties: Vec<(&'s str, Place<'s>)>,
    required: Vec<&'s str>,
    items: Option<Place<'s>>,
}

impl<'s> Merged<'s> {
    /// Adds what one of them says itself.
    fn add(&mut self, place: &Place<'s>, own: &'s Map<String, Json>) {
        for (name, value) in own {
            match (name.as_str(), value) {
                ("properties", Json::Object(properties)) => {
                    let properties =
                        properties.iter().map(|(name, schema)| (name.as_str(), place.inner(schema)));
                    self.properties.extend(properties);
                }
                ("required", Json::Array(names)) => {
                    self.required.extend(names.iter().filter_map(Json::as_str))
                }
                ("items", Json::Object(_)) => drop(self.items.get_or_insert_with(|| place.inner(value))),
                (name, value) if KEPT.contains(&name) => {
                    self.members.entry(name).or_insert_with(|| value.clone());
                }
                _ => {}
            }
        }
    }

    /// Leaves each name there once, and of those that are required the ones that may not be null.
    fn settle_names(&mut self) {
        let mut known = HashSet::new();
        self.properties.retain(|(name, _)| known.insert(*name));
        let nullable = self.properties.iter().filter(|(_, place)| may_be_null(place.schema));
        let mut spared: HashSet<&str> = nullable.map(|(name, _)| *name).collect();
        self.required.retain(|name| spared.insert(name));
    }
}

/// Simplifies the schemas of a document.
struct Simplifier<'s, 'b> {
    /// To which references refer.
    root: &'s Json,
    budget: &'b mut Budget,
}

impl<'s> Simplifier<'s, '_> {
    fn schema(&mut self, place: Place<'s>, depth: usize) -> Result<Json, String> {
        self.budget.pay(0)?;
        let mut merged = Merged::default();
        if depth <= DEPTH {
            self.merge(&mut merged, &place, depth)?;
        }
        merged.settle_names();
        let Merged { mut members, properties, required, items } = merged;
        if !properties.is_empty() {
            let simplified = properties
                .into_iter()
                .map(|(name, place)| Ok((name.to_owned(), self.schema(place, depth + 1)?)));
            let simplified = simplified.collect::<Result<Map<String, Json>, String>>()?;
            members.insert("properties".to_owned(), simplified.into());
        }
        if !required.is_empty() {
            members.insert("required".to_owned(), required.into());
        }
        if let Some(items) = items {
            members.insert("items".to_owned(), self.schema(items, depth + 1)?);
        }
        settle(&mut members);
        Ok(Json::Object(members))
    }

    /// Adds what a schema says, and then what the schemas say that it refers to, or is put together from.
    fn merge(&mut self, merged: &mut Merged<'s>, place: &Place<'s>, depth: usize) -> Result<(), String> {
        let Some(own) = place.schema.as_object() else { return Ok(()) };
        merged.add(place, own);
        for other in self.others(place, own)? {
            if depth < DEPTH {
                self.budget.pay(0)?;
                self.merge(merged, &other, depth + 1)?;
            }
        }
        Ok(())
    }

    /// The schemas that a schema refers to, or is put together from.
    fn others(&mut self, place: &Place<'s>, own: &'s Map<String, Json>) -> Result<Vec<Place<'s>>, String> {
        let list = |name| own.get(name).and_then(Json::as_array);
        let mut others = Vec::from_iter(own.get("$ref").and_then(|reference| self.target(place, reference)));
        if let Some(target) = others.first() {
            self.budget.pay(target.schema.to_string().len())?;
        }
        others.extend(list("allOf").into_iter().flatten().map(|part| place.inner(part)));
        for alternatives in ["anyOf", "oneOf"].into_iter().filter_map(list) {
            others.extend(
                alternatives.iter().find(|schema| !is_null(schema)).map(|schema| place.inner(schema)),
            );
        }
        Ok(others)
    }

    /// The schema that a reference refers to. There are none outside of the document.
    fn target(&self, place: &Place<'s>, reference: &Json) -> Option<Place<'s>> {
        let steps = pointer::steps(reference.as_str()?)?;
        place.target(pointer::follow(self.root, &steps)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn simplified(schema: Option<&Json>) -> Result<Json, String> {
        super::simplified(schema, &mut Budget::default())
    }

    fn of_property(property: &Json) -> Json {
        let schema = json!({"type": "object", "properties": {"p": property}, "$defs": {
            "City": {"type": "object", "title": "City", "properties": {"name": {"type": "string", "title": "Name"}}, "required": ["name"]},
            "Loop": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Loop"}}},
        }});
        simplified(Some(&schema)).unwrap()["properties"]["p"].clone()
    }

    #[test]
    fn what_gigachat_takes_stays_as_it_is() {
        let schema = json!({"type": "object", "required": ["a"], "properties": {
            "a": {"type": "string", "description": "d", "enum": ["x", "y"]}, "title": {"type": "string", "format": "date"},
            "l": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "number"}}}},
        }});
        assert_eq!(simplified(Some(&schema)).unwrap(), schema);
        assert_eq!(simplified(None).unwrap(), json!({"type": "object", "properties": {}}));
        assert_eq!(simplified(Some(&json!({}))).unwrap(), json!({"type": "object", "properties": {}}));
        assert!(simplified(Some(&json!([]))).is_err());
    }

    #[test]
    fn what_gigachat_refuses_is_said_in_another_way() {
        let city =
            json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
        for (property, expected) in [
            (json!({"$ref": "#/$defs/City"}), city.clone()),
            (
                json!({"anyOf": [{"$ref": "#/$defs/City"}, {"type": "null"}], "default": null}),
                json!({"default": null, "type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
            ),
            (
                json!({"anyOf": [{"type": "null"}, {"type": "integer"}], "description": "d"}),
                json!({"description": "d", "type": "integer"}),
            ),
            (
                json!({"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "string"}}, "required": ["b"]}]}),
                json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["b"], "type": "object"}),
            ),
            (json!({"type": ["null", "string"], "format": "uuid"}), json!({"type": "string"})),
            (json!({"const": "x"}), json!({"enum": ["x"], "type": "string"})),
            (json!({"enum": [1, 2]}), json!({"type": "integer"})),
            (
                json!({"type": "object", "additionalProperties": {"type": "string"}}),
                json!({"type": "object", "properties": {}}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
            (json!(true), json!({"type": "object", "properties": {}})),
            (json!({"$ref": "other.json"}), json!({"type": "object", "properties": {}})),
        ] {
            assert_eq!(of_property(&property), expected, "{property}");
        }
    }

    #[test]
    fn what_may_be_null_need_not_be_given() {
        let schema = json!({"type": "object", "required": ["a", "b", "c"], "properties": {
            "a": {"type": ["string", "null"]}, "b": {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "c": {"type": "string"},
        }});
        assert_eq!(simplified(Some(&schema)).unwrap()["required"], json!(["c"]));
        let all =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": ["string", "null"]}}});
        assert_eq!(simplified(Some(&all)).unwrap().get("required"), None);
    }

    #[test]
    fn many_parts_that_require_much_are_joined_each_name_once() {
        let names: Vec<String> = (0..100_000).map(|number| format!("n{number}")).collect();
        let parts = std::iter::once(json!({"required": names}))
            .chain(std::iter::repeat_n(json!({"required": ["n0", "x"]}), 10_000));
        let joined = simplified(Some(&json!({"allOf": parts.collect::<Vec<_>>()}))).unwrap();
        assert_eq!(joined["required"].as_array().unwrap().len(), names.len() + 1);
        let alternatives = vec![json!({}); 100_000];
        let again = json!({"required": vec!["a"; 100_000], "properties": {"a": {"anyOf": alternatives}}});
        assert_eq!(simplified(Some(&again)).unwrap()["required"], json!(["a"]));
    }

    #[test]
    fn a_reference_to_a_schema_inside_of_which_it_stands_is_any_object() {
        let any = json!({"type": "object", "properties": {}});
        assert_eq!(
            of_property(&json!({"$ref": "#/$defs/Loop"})),
            json!({"type": "object", "properties": {"next": any}})
        );
        assert_eq!(of_property(&json!({"$ref": "#"})), any);
        let node = json!({"type": "object", "required": ["value"], "properties": {
            "value": {"type": "string"}, "left": {"$ref": "#/$defs/Node"}, "right": {"$ref": "#/$defs/Node", "description": "d"},
            "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
        }});
        let tree = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}}, "$defs": {"Node": node}});
        let written = json!({"type": "object", "required": ["value"], "properties": {
            "value": {"type": "string"}, "left": any, "right": {"type": "object", "properties": {}, "description": "d"},
            "all": {"type": "array", "items": any},
        }});
        let simple = simplified(Some(&tree)).unwrap();
        assert_eq!(simple["properties"], json!({"a": written, "b": written}));
    }

    #[test]
    fn keywords_that_gigachat_does_not_know_are_left_out_with_the_schemas_in_them() {
        let inner = json!({"$ref": "#/$defs/City", "anyOf": [{}]});
        let property = json!({"type": "object", "description": "d", "properties": {"a": {"type": "string", "pattern": "x", "readOnly": true}},
            "if": inner, "then": inner, "else": inner, "dependentSchemas": {"a": inner}, "dependentRequired": {"a": ["b"]},
            "propertyNames": inner, "contains": inner, "additionalItems": inner, "$dynamicRef": "#x", "examples": [1], "x-own": inner});
        let expected = json!({"type": "object", "description": "d", "properties": {"a": {"type": "string", "pattern": "x"}}});
        assert_eq!(of_property(&property), expected);
    }

    #[test]
    fn references_are_read_percent_decoded() {
        let schema = json!({"properties": {"p": {"$ref": "#/$defs/A%20B~1C"}}, "$defs": {"A B/C": {"type": "string"}}});
        assert_eq!(simplified(Some(&schema)).unwrap()["properties"], json!({"p": {"type": "string"}}));
    }

    #[test]
    fn references_that_make_too_much_are_refused() {
        let refer = |name: &str| json!({"$ref": format!("#/$defs/{name}")});
        let mut defs = Map::new();
        for level in 0..20 {
            let next = format!("d{}", level + 1);
            let two = json!({"type": "object", "properties": {"a": refer(&next), "b": refer(&next)}});
            defs.insert(format!("d{level}"), two);
        }
        let bomb = json!({"type": "object", "properties": {"p": refer("d0")}, "$defs": defs});
        assert!(simplified(Some(&bomb)).unwrap_err().contains("too much"));
        let turn =
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
        assert_eq!(simplified(Some(&turn)).unwrap(), json!({"type": "object", "properties": {}}));
        let wide =
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [refer("a"), refer("a"), refer("a")]}}});
        assert_eq!(simplified(Some(&wide)).unwrap(), json!({"type": "object", "properties": {}}));
        let long = "x".repeat(REFERRED_BYTES / 2);
        let list: Vec<Json> = (0..3).map(|_| refer("a")).collect();
        let copied = json!({"allOf": list, "$defs": {"a": {"type": "object", "description": long}}});
        assert!(simplified(Some(&copied)).unwrap_err().contains("too much"));
    }
}
