//! Whatever looks like a schema is either not expressed, or by the rules.

use proptest::prelude::*;
use serde_json::{Map, Value as Json, json};

use super::StrictSchema;
use super::rules::broken;
use template::value::Value;

/// Texts that occur in schemas; the last ones are places.
const TEXTS: [&str; 11] = [
    "a",
    "object",
    "string",
    "null",
    "integer",
    "array",
    "date",
    "#",
    "#/$defs/a",
    "#/properties/a",
    "#/properties/b/items",
];

const NAMES: [&str; 25] = [
    "a",
    "b",
    "type",
    "properties",
    "items",
    "anyOf",
    "oneOf",
    "allOf",
    "$ref",
    "$defs",
    "definitions",
    "enum",
    "const",
    "required",
    "additionalProperties",
    "title",
    "description",
    "not",
    "minimum",
    "maxItems",
    "format",
    "pattern",
    "default",
    "$id",
    "dependencies",
];

/// JSON that looks like a schema here and there.
fn any_schema() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        3 => Just(json!({"type": "string"})),
        2 => prop::sample::select(&TEXTS[7..]).prop_map(|place| json!({"$ref": place})),
        2 => prop::sample::select(&TEXTS[..]).prop_map(Json::from),
        1 => prop_oneof![Just(Json::Null), any::<bool>().prop_map(Json::from), (0..3).prop_map(Json::from)],
    ];
    leaf.prop_recursive(5, 60, 5, move |inner| {
        let members = prop::collection::vec((prop::sample::select(&["a", "b", "$defs", "type"][..]), inner.clone()), 1..4);
        let members = members.prop_map(|members| members.into_iter().map(|(name, json)| (name.to_owned(), json)).collect::<Map<_, _>>());
        let list = prop::collection::vec(inner.clone(), 0..3);
        prop_oneof![
            5 => (members.clone(), members).prop_map(|(own, defined)| json!({"type": "object", "properties": own, "$defs": defined})),
            2 => inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            2 => list.clone().prop_map(|branches| json!({"anyOf": branches})),
            1 => list.clone().prop_map(|members| json!({"allOf": members, "description": "D"})),
            1 => list.clone().prop_map(|values| json!({"enum": values})),
            1 => (inner.clone(), prop::sample::select(&NAMES[..]), inner).prop_map(|(mut schema, name, json)| {
                if let Some(schema) = schema.as_object_mut() {
                    schema.insert(name.to_owned(), json);
                }
                schema
            }),
            1 => list.prop_map(Json::from),
        ]
    })
}

proptest! {
    #[test]
    fn whatever_is_expressed_keeps_the_rules(schema in any_schema(), answer in any_schema()) {
        if let Some(strict) = StrictSchema::of(&schema) {
            prop_assert_eq!(broken(strict.schema()), [""; 0], "{} became {}", schema, strict.schema());
            let again = StrictSchema::of(strict.schema()).map(|again| again.schema().to_string());
            prop_assert_eq!(again, Some(strict.schema().to_string()), "of {}", schema);
            strict.read_back(&Value::from(&answer));
        }
    }
}
