//! JSON Schemas of parameters, as GigaChat takes them.
//!
//! GigaChat knows a part of JSON Schema: one type for each value, `properties` for each object, `items` for each list. What it refuses is
//! written in that part, and loses what cannot be said there: of alternatives (`anyOf`, `oneOf`) the first that is not null remains, the
//! parts of `allOf` become one, references are written out. A property that may be null need not be given, as the model could only
//! invent a value. Whoever asked checks the arguments by their own schema.

use serde_json::{Map, Value as Json, json};

use super::types::{is_null, settle, spare_nulls};

/// How many schemas the functions of a request may hold, their references written out.
const SCHEMAS: usize = 20_000;

/// How many bytes may be written in the place of references.
const REFERRED_BYTES: usize = 4 << 20;

/// How deep schemas may lie in schemas; what is deeper is any object.
const DEPTH: usize = 32;

/// The members that GigaChat has no use for, or refuses.
const DROPPED: [&str; 15] = [
    "$schema",
    "$id",
    "$anchor",
    "$comment",
    "$defs",
    "definitions",
    "title",
    "examples",
    "additionalProperties",
    "patternProperties",
    "unevaluatedProperties",
    "prefixItems",
    "not",
    "if",
    "strict",
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
    /// Pays for one schema, and for bytes that are copied.
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
    let mut schema = Simplifier { root, budget }.schema(root.clone(), 0)?;
    if let Some(members) = schema.as_object_mut() {
        members.insert("type".to_owned(), "object".into());
        members.entry("properties").or_insert_with(|| json!({}));
    }
    Ok(schema)
}

/// Simplifies the schemas of a document.
struct Simplifier<'s> {
    /// To which references refer.
    root: &'s Json,
    budget: &'s mut Budget,
}

impl Simplifier<'_> {
    fn schema(&mut self, schema: Json, depth: usize) -> Result<Json, String> {
        self.budget.pay(0)?;
        let mut members = match schema {
            Json::Object(members) if depth <= DEPTH => self.merged(members, depth)?,
            _ => Map::new(),
        };
        members.retain(|name, _| !DROPPED.contains(&name.as_str()));
        spare_nulls(&mut members);
        settle(&mut members);
        if let Some(Json::Object(properties)) = members.get_mut("properties") {
            for property in properties.values_mut() {
                *property = self.schema(property.take(), depth + 1)?;
            }
        }
        if let Some(items) = members.get_mut("items") {
            *items = self.schema(items.take(), depth + 1)?;
        }
        Ok(Json::Object(members))
    }

    /// The members of a schema with those of the schemas that it refers to, or is put together from. Its own win.
    fn merged(&mut self, mut members: Map<String, Json>, depth: usize) -> Result<Map<String, Json>, String> {
        let mut others = Vec::new();
        if let Some(place) = members.remove("$ref") {
            others.extend(self.target(&place)?);
        }
        if let Some(Json::Array(parts)) = members.remove("allOf") {
            others.extend(parts);
        }
        for name in ["anyOf", "oneOf"] {
            if let Some(Json::Array(alternatives)) = members.remove(name) {
                others.extend(alternatives.into_iter().find(|schema| !is_null(schema)));
            }
        }
        for other in others {
            if let Json::Object(other) = other
                && depth < DEPTH
            {
                self.budget.pay(0)?;
                let other = self.merged(other, depth + 1)?;
                add(&mut members, other);
            }
        }
        Ok(members)
    }

    /// The schema at the place that a reference names. There are none outside of the document.
    fn target(&mut self, place: &Json) -> Result<Option<Json>, String> {
        let pointer = place.as_str().and_then(|place| place.strip_prefix('#'));
        let Some(target) = pointer.and_then(|pointer| self.root.pointer(pointer)) else { return Ok(None) };
        self.budget.pay(target.to_string().len())?;
        Ok(Some(target.clone()))
    }
}

/// Adds the members that are not there yet; properties and lists of required ones are joined.
fn add(members: &mut Map<String, Json>, others: Map<String, Json>) {
    for (name, other) in others {
        match (members.get_mut(&name), other) {
            (None, other) => drop(members.insert(name, other)),
            (Some(Json::Object(own)), Json::Object(other)) if name == "properties" => {
                for (name, property) in other {
                    own.entry(name).or_insert(property);
                }
            }
            (Some(Json::Array(own)), Json::Array(other)) if name == "required" => {
                // Names that are there twice go at the end, all at once: a look at each list would be quadratic.
                own.extend(other);
            }
            (Some(_), _) => {}
        }
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
    fn references_without_end_end_and_too_many_are_refused() {
        let mut deep = &of_property(&json!({"$ref": "#/$defs/Loop"}));
        let mut depth = 0;
        while let Some(next) = deep.pointer("/properties/next") {
            (deep, depth) = (next, depth + 1);
        }
        assert!((10..100).contains(&depth), "{depth}");
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
        assert!(simplified(Some(&wide)).unwrap_err().contains("too much"));
        let long = "x".repeat(REFERRED_BYTES / 2);
        let list: Vec<Json> = (0..3).map(|_| refer("a")).collect();
        let copied = json!({"allOf": list, "$defs": {"a": {"type": "object", "description": long}}});
        assert!(simplified(Some(&copied)).unwrap_err().contains("too much"));
    }
}
