//! Sets of the types of JSON Schema.

use serde_json::Value as Json;

use template::value::Value;

/// A set of types.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Types(u8);

const NAMES: [(&str, Types); 7] = [
    ("null", Types::NULL),
    ("boolean", Types::BOOLEAN),
    ("integer", Types::INTEGER),
    ("number", Types::NUMBER),
    ("string", Types::STRING),
    ("array", Types::ARRAY),
    ("object", Types::OBJECT),
];

impl Types {
    pub const NULL: Types = Types(1);
    pub const BOOLEAN: Types = Types(1 << 1);
    pub const INTEGER: Types = Types(1 << 2);
    pub const NUMBER: Types = Types(1 << 3);
    pub const STRING: Types = Types(1 << 4);
    pub const ARRAY: Types = Types(1 << 5);
    pub const OBJECT: Types = Types(1 << 6);
    pub const NONE: Types = Types(0);
    pub const ANY: Types = Types(0x7f);
    /// Whole numbers have both types.
    pub const NUMBERS: Types = Types(Types::INTEGER.0 | Types::NUMBER.0);

    /// The types that the keyword `type` names; `None` if it is not valid.
    pub fn named(json: &Json) -> Option<Types> {
        let of = |name: &Json| NAMES.iter().find(|(known, _)| name == known).map(|(_, types)| *types);
        match json {
            Json::Array(names) if names.is_empty() => None,
            Json::Array(names) => names.iter().try_fold(Types::NONE, |all, name| Some(all.or(of(name)?))),
            name => of(name),
        }
    }

    /// The types that a value has.
    pub fn of(value: &Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Bool(_) => Types::BOOLEAN,
            Value::Int(_) | Value::UInt(_) => Types::NUMBERS,
            Value::Float(number) if number.fract() == 0.0 => Types::NUMBERS,
            Value::Float(_) => Types::NUMBER,
            Value::Str(_) => Types::STRING,
            Value::List(_) => Types::ARRAY,
            Value::Map(_) => Types::OBJECT,
        }
    }

    /// The types that a list of these values is to name: the fewest that all of them have.
    pub fn of_all(values: &[Value]) -> Types {
        let each = values.iter().map(|value| match Types::of(value) {
            Types::NUMBERS => Types::INTEGER,
            types => types,
        });
        let all = each.fold(Types::NONE, Types::or);
        if all.has_all(Types::NUMBERS) { all.without(Types::INTEGER) } else { all }
    }

    /// The types of both sets.
    pub fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// The types that are not in the other set.
    pub fn without(self, other: Types) -> Types {
        Types(self.0 & !other.0)
    }

    /// Whether the sets have a type in common.
    pub fn has(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// The keyword `type` for this set: a name, or a list of names with `null` at its end.
    pub fn to_json(self) -> Json {
        let mut names: Vec<&str> =
            NAMES.iter().filter(|(_, own)| self.has(*own)).map(|(name, _)| *name).collect();
        if let ["null", _, ..] = names.as_slice() {
            names.rotate_left(1);
        }
        match names.as_slice() {
            [name] => Json::from(*name),
            names => Json::from(names),
        }
    }

    fn has_all(self, other: Types) -> bool {
        other.without(self) == Types::NONE
    }
}
