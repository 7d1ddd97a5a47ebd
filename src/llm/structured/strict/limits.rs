//! How large a schema in strict mode may be, as OpenAI documents it.

use serde_json::Value as Json;

/// The most properties, in all objects.
const PROPERTIES_MAX: usize = 5_000;

/// How deep objects and arrays may nest. As in OpenAI's own libraries, references are not followed; a definition counts as one level
/// below the root.
const LEVELS_MAX: usize = 10;

/// The most characters of all names of properties and definitions, and values of `enum` and `const`.
const CHARACTERS_MAX: usize = 120_000;

/// The most values of all `enum`s.
pub(super) const VALUES_MAX: usize = 1_000;

/// From how many values on the characters of a single `enum` are limited, and to how many.
const LONG_ENUM: usize = 250;
const LONG_ENUM_CHARACTERS_MAX: usize = 15_000;

#[derive(Debug, Default)]
struct Size {
    properties: usize,
    characters: usize,
    values: usize,
}

/// Whether a strict form keeps the limits.
pub(super) fn are_kept(root: &Json) -> bool {
    let mut size = Size::default();
    let mut waiting = vec![(root, 0)];
    while let Some((schema, above)) = waiting.pop() {
        let is_container = schema.get("properties").or(schema.get("items")).is_some();
        let level = above + usize::from(is_container);
        if level > LEVELS_MAX || !size.add(schema) {
            return false;
        }
        waiting.extend(children(schema).map(|child| (child, level)));
    }
    true
}

/// The subschemas in a subschema.
fn children(schema: &Json) -> impl Iterator<Item = &Json> {
    let members = ["properties", "$defs"].into_iter().filter_map(|name| schema.get(name)?.as_object());
    let branches = schema.get("anyOf").and_then(Json::as_array);
    members
        .flat_map(|members| members.values())
        .chain(branches.into_iter().flatten())
        .chain(schema.get("items"))
}

impl Size {
    /// Adds what a subschema has itself; false if that is too much.
    fn add(&mut self, schema: &Json) -> bool {
        for (keyword, is_property) in [("properties", true), ("$defs", false)] {
            let named = schema.get(keyword).and_then(Json::as_object);
            self.characters += named
                .into_iter()
                .flat_map(|named| named.keys())
                .map(|name| name.chars().count())
                .sum::<usize>();
            self.properties += named.filter(|_| is_property).map_or(0, |named| named.len());
        }
        let values = schema.get("enum").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let characters: usize = values.iter().map(length).sum();
        self.values += values.len();
        self.characters += characters + schema.get("const").map_or(0, length);
        self.properties <= PROPERTIES_MAX
            && self.values <= VALUES_MAX
            && self.characters <= CHARACTERS_MAX
            && (values.len() <= LONG_ENUM || characters <= LONG_ENUM_CHARACTERS_MAX)
    }
}

/// How many characters a value of `enum` or `const` has.
fn length(value: &Json) -> usize {
    match value {
        Json::String(text) => text.chars().count(),
        value => value.to_string().len(),
    }
}
