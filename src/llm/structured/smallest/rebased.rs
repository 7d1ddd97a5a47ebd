//! A schema that stands inside of another one, so that its subschemas can be checked alone: their references still hold.

use serde_json::{Map, Value as Json, json};

/// Where the schema stands.
const PLACE: &str = "#/$defs/root";

/// Members whose values are no schemas.
const DATA: [&str; 4] = ["const", "default", "enum", "examples"];

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
    move_references(&mut root);
    Rebased { root, dialect }
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
    let pointer = reference.strip_prefix(PLACE)?;
    root.pointer(&percent_decoded(pointer)?)
}

/// The text with its percent escapes decoded.
fn percent_decoded(text: &str) -> Option<String> {
    let mut parts = text.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(part.get(2..)?.as_bytes());
    }
    String::from_utf8(bytes).ok()
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

fn move_references(root: &mut Json) {
    let mut waiting = vec![root];
    while let Some(value) = waiting.pop() {
        match value {
            Json::Array(items) => waiting.extend(items),
            Json::Object(members) => {
                move_reference(members);
                let schemas = members.iter_mut().filter(|(name, _)| !DATA.contains(&name.as_str()));
                waiting.extend(schemas.map(|(_, member)| member));
            }
            _ => {}
        }
    }
}

fn move_reference(members: &mut Map<String, Json>) {
    if let Some(Json::String(reference)) = members.get_mut("$ref")
        && let Some(pointer) = reference.strip_prefix('#')
    {
        *reference = format!("{PLACE}{pointer}");
    }
}
