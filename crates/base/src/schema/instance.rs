//! Lets the validator read [`Value`]s directly, without a conversion to its own JSON type.

use std::borrow::Cow;

use jsonschema::json::unique::is_unique;
use jsonschema::json::{Array, Json as Form, Node, NodeIdentity, Object};
use jsonschema::types::JsonType;
use serde_json::{Map as JsonMap, Number, Value as Json};

use template::value::{List, Map, SmolStr, Value};

/// The representation of JSON as [`Value`]s, for the validator.
#[derive(Debug)]
pub struct Values;

impl Form for Values {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Option<Value>;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Option<Value>, text: &str, f: impl FnOnce(&Value) -> T) -> T {
        f(buffer.insert(Value::from(text)))
    }
}

impl<'a> Node<'a, Values> for &'a Value {
    type Object = &'a Map;
    type Array = &'a List;
    type Number = Number;

    fn as_object(&self) -> Option<&'a Map> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    fn as_array(&self) -> Option<&'a List> {
        match self {
            Value::List(list) => Some(list),
            _ => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Value::Str(text) => Some(Cow::Borrowed(text)),
            _ => None,
        }
    }

    fn as_number(&self) -> Option<Number> {
        match self {
            Value::Int(number) => Some((*number).into()),
            Value::UInt(number) => Some((*number).into()),
            Value::Float(number) => Number::from_f64(*number),
            _ => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Value::Bool(value) => Some(*value),
            _ => None,
        }
    }

    fn is_null(&self) -> bool {
        self.json_type() == JsonType::Null
    }

    fn json_type(&self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            // JSON has no infinity and no NaN; they are written as null.
            Value::Float(number) if !number.is_finite() => JsonType::Null,
            Value::Int(_) | Value::UInt(_) | Value::Float(_) => JsonType::Number,
            Value::Str(_) => JsonType::String,
            Value::List(_) => JsonType::Array,
            Value::Map(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Json) -> bool {
        match (self, expected) {
            (Value::List(own), Json::Array(expected)) => {
                own.len() == expected.len()
                    && own.iter().zip(expected).all(|(own, expected)| (&own).equals_value(expected))
            }
            (Value::Map(own), Json::Object(expected)) => {
                let equals = |(name, own): (&SmolStr, &Value)| {
                    expected.get(name.as_str()).is_some_and(|expected| (&own).equals_value(expected))
                };
                own.len() == expected.len() && own.iter().all(equals)
            }
            (Value::List(_) | Value::Map(_), _) => false,
            (scalar, expected) => jsonschema::json::cmp::equal(&scalar.to_json(), expected),
        }
    }

    /// The value as messages show it. Lists and objects are left empty: our messages do not show them, and a copy may be large.
    fn to_value(&self) -> Cow<'a, Json> {
        Cow::Owned(match self {
            Value::List(_) => Json::Array(Vec::new()),
            Value::Map(_) => Json::Object(JsonMap::new()),
            scalar => scalar.to_json(),
        })
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Value>(self) as usize))
    }
}

impl<'a> Object<'a, Values> for &'a Map {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Box<dyn Iterator<Item = (&'a str, &'a Value)> + 'a>;

    fn len(&self) -> usize {
        Map::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        Map::get(self, key)
    }

    fn members(&self) -> Self::MembersIter {
        Box::new(self.iter().map(|(name, member)| (name.as_str(), member)))
    }
}

impl<'a> Array<'a, Values> for &'a List {
    type Node = &'a Value;
    type ElementsIter = std::slice::Iter<'a, Value>;

    fn len(&self) -> usize {
        <[Value]>::len(self)
    }

    fn elements(&self) -> Self::ElementsIter {
        self.iter()
    }

    /// Copies the items; `cost` has counted this for the keyword `uniqueItems`.
    fn is_unique(&self) -> bool {
        is_unique(&self.iter().map(Value::to_json).collect::<Vec<_>>())
    }
}
