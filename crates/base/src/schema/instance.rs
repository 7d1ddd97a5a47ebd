//! What a schema can check: values as documents and as requests bring them, each as it is, without a copy.

use std::borrow::Cow;

use jsonschema::json::unique::is_unique;
use jsonschema::json::{Array, Json as Form, Node, NodeIdentity, Object, SerdeJson};
use jsonschema::types::JsonType;
use serde_json::{Map as JsonMap, Number, Value as Json};

use template::value::{List, Map, Value};

/// A kind of values that a schema can check.
pub trait Instance: Sized + 'static {
    /// How the validator sees it.
    type Form: Form;
    /// The members of an object.
    type Members: Members<Self>;

    /// The value as the validator sees it.
    fn node(&self) -> <Self::Form as Form>::Node<'_>;

    /// What it consists of.
    fn parts(&self) -> Parts<'_, Self>;
}

/// What a value consists of.
pub enum Parts<'i, I: Instance> {
    /// Nothing else.
    None,
    Text(&'i str),
    Items(&'i [I]),
    Members(&'i I::Members),
}

/// The members of an object.
pub trait Members<I: 'static> {
    /// How many there are.
    fn count(&self) -> usize;
    /// The one of this name.
    fn named<'i>(&'i self, name: &str) -> Option<&'i I>;
    /// All of them.
    fn all(&self) -> impl Iterator<Item = (&str, &I)>;
}

impl Instance for Json {
    type Form = SerdeJson;
    type Members = JsonMap<String, Json>;

    fn node(&self) -> &Json {
        self
    }

    fn parts(&self) -> Parts<'_, Json> {
        match self {
            Json::String(text) => Parts::Text(text),
            Json::Array(items) => Parts::Items(items),
            Json::Object(members) => Parts::Members(members),
            _ => Parts::None,
        }
    }
}

impl Members<Json> for JsonMap<String, Json> {
    fn count(&self) -> usize {
        self.len()
    }

    fn named<'i>(&'i self, name: &str) -> Option<&'i Json> {
        self.get(name)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.iter().map(|(name, member)| (name.as_str(), member))
    }
}

impl Instance for Value {
    type Form = Values;
    type Members = Map;

    fn node(&self) -> &Value {
        self
    }

    fn parts(&self) -> Parts<'_, Value> {
        match self {
            Value::Str(text) => Parts::Text(text),
            Value::List(items) => Parts::Items(items),
            Value::Map(members) => Parts::Members(members.as_ref()),
            _ => Parts::None,
        }
    }
}

impl Members<Value> for Map {
    fn count(&self) -> usize {
        self.len()
    }

    fn named<'i>(&'i self, name: &str) -> Option<&'i Value> {
        self.get(name)
    }

    fn all(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.iter().map(|(name, member)| (name.as_str(), member))
    }
}

/// How the validator sees [`Value`]s.
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
            // JSON has no infinity.
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
                    && own.iter().zip(expected).all(|(own, expected)| own.node().equals_value(expected))
            }
            (Value::Map(own), Json::Object(expected)) => {
                let equals = |(name, own): (&str, &Value)| {
                    expected.get(name).is_some_and(|expected| own.node().equals_value(expected))
                };
                own.len() == expected.len() && own.all().all(equals)
            }
            (Value::List(_) | Value::Map(_), _) => false,
            (scalar, expected) => jsonschema::json::cmp::equal(&scalar.to_json(), expected),
        }
    }

    /// What messages show; ours show neither lists nor objects, and a copy of them may be large.
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
        Box::new(self.all())
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

    /// The copy is no larger than what was counted for this keyword (see `cost`).
    fn is_unique(&self) -> bool {
        is_unique(&self.iter().map(Value::to_json).collect::<Vec<_>>())
    }
}
