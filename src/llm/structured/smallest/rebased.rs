//! A schema that stands inside of another one, so that its subschemas can be checked alone: their references still hold.

use serde_json::{Map, Value as Json, json};

use base::encoding::percent_decoded;
use base::schema::embedded;

/// Where the schema stands, as a JSON Pointer.
const PLACE: &str = "/$defs/root";

/// A schema with references to that place.
pub struct Rebased {
    /// The schema, without what says its dialect and its own address.
    pub root: Json,
    /// Its dialect.
    dialect: Option<Json>,
}

/// The schema, to stand at that place.
pub fn rebased(schema: &Json) -> Rebased {
    let mut root = schema.clone();
    let dialect = root.as_object_mut().and_then(|members| {
        members.shift_remove("$id");
        members.shift_remove("$schema")
    });
    Rebased { root: embedded(&root, PLACE), dialect }
}

impl Rebased {
    /// A schema of its own that says what a subschema does.
    pub fn alone(&self, subschema: &Json) -> Json {
        let mut alone = Map::from_iter([("allOf".to_owned(), json!([subschema]))]);
        alone.extend(self.dialect.iter().map(|dialect| ("$schema".to_owned(), dialect.clone())));
        if has_references(subschema) {
            alone.insert("$defs".to_owned(), json!({"root": self.root}));
        }
        alone.into()
    }
}

/// What a reference refers to: a place in the schema, by a JSON Pointer.
pub fn target<'s>(root: &'s Json, reference: &str) -> Option<&'s Json> {
    let pointer = reference.strip_prefix('#')?.strip_prefix(PLACE)?;
    root.pointer(&percent_decoded(pointer)?)
}

fn has_references(schema: &Json) -> bool {
    let mut waiting = vec![schema];
    while let Some(value) = waiting.pop() {
        match value {
            Json::Array(items) => waiting.extend(items),
            Json::Object(members) if members.contains_key("$ref") => return true,
            Json::Object(members) => waiting.extend(members.values()),
            _ => {}
        }
    }
    false
}
