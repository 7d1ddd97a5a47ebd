//! OpenAI's published rules for schemas in strict mode, as a check for tests: written from the rules, and not from the code.

use std::collections::HashSet;

use serde_json::{Map, Value as Json};

const TYPES: &str = "string number boolean integer object array null";
const FORMATS: &str = "date-time time date duration email hostname ipv4 ipv6 uuid";

/// What a schema breaks of the rules; empty if it may be sent.
pub(super) fn broken(schema: &Json) -> Vec<String> {
    let mut check = Check::default();
    let mut root = schema.as_object().expect("the root is an object").clone();
    let definitions = root.remove("$defs").unwrap_or(Json::Object(Map::new()));
    check.definitions = definitions.as_object().expect("definitions are an object").clone();
    check.that(root.get("type") == Some(&Json::from("object")), "#", "the root is no object schema");
    check.schema(&Json::Object(root), "#", 0);
    for (name, definition) in check.definitions.clone() {
        check.characters += name.chars().count();
        check.schema(&definition, &format!("#/$defs/{name}"), 1);
    }
    check.sums();
    check.broken
}

#[derive(Default)]
struct Check {
    definitions: Map<String, Json>,
    broken: Vec<String>,
    referred: HashSet<String>,
    properties: usize,
    values: usize,
    characters: usize,
}

impl Check {
    fn that(&mut self, holds: bool, place: &str, complaint: &str) {
        if !holds {
            self.broken.push(format!("{place}: {complaint}"));
        }
    }

    fn schema(&mut self, schema: &Json, place: &str, level: usize) {
        let Some(schema) = schema.as_object() else { return self.that(false, place, "is no object") };
        if let Some(reference) = schema.get("$ref") {
            self.keywords(schema, place, "$ref");
            self.reference(reference.as_str().unwrap_or_default(), place);
        } else if let Some(branches) = schema.get("anyOf") {
            self.keywords(schema, place, "anyOf title description");
            let branches = branches.as_array().cloned().unwrap_or_default();
            self.that(!branches.is_empty(), place, "has no branches");
            for (number, branch) in branches.iter().enumerate() {
                self.schema(branch, &format!("{place}/anyOf/{number}"), level);
            }
        } else {
            self.typed(schema, place, level);
        }
    }

    fn keywords(&mut self, schema: &Map<String, Json>, place: &str, allowed: &str) {
        let allowed: HashSet<&str> = allowed.split(' ').collect();
        let others: Vec<&String> = schema.keys().filter(|name| !allowed.contains(name.as_str())).collect();
        self.that(others.is_empty(), place, &format!("{others:?} are not permitted"));
    }

    fn reference(&mut self, reference: &str, place: &str) {
        let name = reference.strip_prefix("#/$defs/");
        let is_known = name.is_some_and(|name| self.definitions.contains_key(name));
        self.that(reference == "#" || is_known, place, "refers to nothing");
        self.referred.extend(name.map(str::to_owned));
    }

    fn typed(&mut self, schema: &Map<String, Json>, place: &str, level: usize) {
        let names: Vec<&str> = match schema.get("type") {
            Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).collect(),
            Some(Json::String(name)) => vec![name],
            _ => vec![],
        };
        let is_known = names.iter().all(|name| TYPES.split(' ').any(|known| known == *name));
        let distinct: HashSet<&str> = names.iter().copied().collect();
        self.that(
            !names.is_empty() && is_known && distinct.len() == names.len(),
            place,
            "must have a 'type' key",
        );
        let mut others = distinct.clone();
        others.remove("null");
        let structured = others.iter().find(|name| ["object", "array"].contains(name));
        self.that(structured.is_none() || others.len() == 1, place, "mixes types with objects or arrays");
        match structured {
            Some(&"object") => self.object(schema, place, level + 1),
            Some(_) => self.array(schema, place, level + 1),
            None => self.scalar(schema, place, &others, &distinct),
        }
    }

    fn object(&mut self, schema: &Map<String, Json>, place: &str, level: usize) {
        self.keywords(schema, place, "type title description properties required additionalProperties");
        self.that(level <= 10, place, "nests too deep");
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
            return self.that(false, place, "has no properties");
        };
        let names: Vec<&String> = properties.keys().collect();
        self.that(
            schema.get("required") == Some(&serde_json::json!(names)),
            place,
            "does not require all properties",
        );
        self.that(schema.get("additionalProperties") == Some(&Json::Bool(false)), place, "allows others");
        self.properties += properties.len();
        for (name, property) in properties {
            self.characters += name.chars().count();
            self.schema(property, &format!("{place}/{name}"), level);
        }
    }

    fn array(&mut self, schema: &Map<String, Json>, place: &str, level: usize) {
        self.keywords(schema, place, "type title description items minItems maxItems");
        self.that(level <= 10, place, "nests too deep");
        self.schema(schema.get("items").unwrap_or(&Json::Null), &format!("{place}/items"), level);
    }

    fn scalar(
        &mut self,
        schema: &Map<String, Json>,
        place: &str,
        types: &HashSet<&str>,
        all: &HashSet<&str>,
    ) {
        let mut allowed = "type title description enum const".to_owned();
        if types.contains("string") {
            allowed += " pattern format";
        }
        if types.contains("number") || types.contains("integer") {
            allowed += " multipleOf minimum exclusiveMinimum maximum exclusiveMaximum";
        }
        self.keywords(schema, place, &allowed);
        if let Some(format) = schema.get("format") {
            self.that(FORMATS.split(' ').any(|known| format == known), place, "has an unknown format");
        }
        if let Some(pattern) = schema.get("pattern") {
            let pattern = pattern.as_str().unwrap_or("(?=");
            self.that(
                !["(?=", "(?!", "(?<"].iter().any(|around| pattern.contains(around)),
                place,
                "looks around",
            );
        }
        let listed = schema.get("enum").map(|values| values.as_array().cloned().unwrap_or_default());
        self.that(listed.as_ref().is_none_or(|values| !values.is_empty()), place, "lists no values");
        self.values += listed.as_ref().map_or(0, Vec::len);
        let values: Vec<Json> = listed.into_iter().flatten().chain(schema.get("const").cloned()).collect();
        let lengths = values
            .iter()
            .map(|value| value.as_str().map_or(value.to_string().len(), |text| text.chars().count()));
        let length: usize = lengths.sum();
        self.characters += length;
        self.that(values.len() <= 250 || length <= 15_000, place, "has an enum that is too long");
        for value in &values {
            self.that(has_type(value, all), place, &format!("{value} is of another type"));
        }
    }

    fn sums(&mut self) {
        let unused: Vec<String> =
            self.definitions.keys().filter(|name| !self.referred.contains(*name)).cloned().collect();
        self.that(unused.is_empty(), "#/$defs", &format!("{unused:?} are not referred to"));
        self.that(self.properties <= 5_000, "#", "has too many properties");
        self.that(self.values <= 1_000, "#", "has too many values");
        self.that(self.characters <= 120_000, "#", "has too many characters");
    }
}

fn has_type(value: &Json, types: &HashSet<&str>) -> bool {
    match value {
        Json::Null => types.contains("null"),
        Json::Bool(_) => types.contains("boolean"),
        Json::String(_) => types.contains("string"),
        Json::Number(number) => {
            types.contains("number")
                || types.contains("integer") && number.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        Json::Array(_) | Json::Object(_) => false,
    }
}

#[test]
fn the_rules_tell_what_may_be_sent() {
    use serde_json::json;
    let closed = |properties: Json| {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "required": names, "properties": properties, "additionalProperties": false})
    };
    let fine = closed(
        json!({"a": {"type": ["string", "null"], "enum": ["x", null]}, "b": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}}),
    );
    assert_eq!(broken(&fine), Vec::<String>::new());
    for property in [
        json!(true),
        json!({}),
        json!({"type": "object"}),
        json!({"type": "array"}),
        json!({"type": "string", "minLength": 1}),
        json!({"type": "string", "enum": [1]}),
        json!({"type": ["string", "array"], "items": {"type": "string"}}),
        json!({"$ref": "#", "title": "t"}),
        json!({"$ref": "#/$defs/none"}),
        json!({"anyOf": []}),
        json!({"type": "object", "properties": {"x": {"type": "string"}}, "required": [], "additionalProperties": false}),
        json!({"type": "object", "properties": {}, "required": []}),
    ] {
        assert!(!broken(&closed(json!({"a": property}))).is_empty(), "{property}");
    }
}
