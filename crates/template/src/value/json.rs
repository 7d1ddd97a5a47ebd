//! Parses JSON text to [`Value`]s and writes it, without an intermediate tree.

use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use smallvec::SmallVec;

use super::{List, Map, SmolStr, Value};

/// Parses one JSON text (UTF-8). Half of a surrogate pair, which programs leave that cut strings by UTF-16 units,
/// becomes U+FFFD.
///
/// # Errors
/// The parser's error, with line and column, if the text is not JSON or nests deeper than 128.
pub fn from_json(text: &[u8]) -> Result<Value, serde_json::Error> {
    parse_json(text)
}

/// As [`from_json`]; that an object repeats a name is an error, too.
///
/// # Errors
/// As [`from_json`], and for a repeated name.
pub fn from_json_distinct(text: &[u8]) -> Result<Value, serde_json::Error> {
    parse_json(text).map(|Parsed::<true>(value)| value)
}

/// As [`from_json`], into any type.
///
/// # Errors
/// As [`from_json`], and if the text does not fit the type.
pub fn parse_json<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    parse(text).or_else(|error| match without_lone_surrogates(text) {
        Some(whole) => parse(&whole),
        None => Err(error),
    })
}

fn parse<T: DeserializeOwned>(text: &[u8]) -> Result<T, serde_json::Error> {
    // Checking the UTF-8 of the whole text at once is faster than checking each string.
    match simdutf8::basic::from_utf8(text) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(text),
    }
}

/// A copy of the JSON text in which every escaped half of a surrogate pair is U+FFFD; `None` if there is none.
fn without_lone_surrogates(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| rest.iter().position(|&byte| byte == b'\\')) {
        at += next;
        at += match (escaped_unit(text, at), escaped_unit(text, at + ESCAPE)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 2 * ESCAPE,
            (Some(0xd800..=0xdfff), _) => {
                out.extend_from_slice(text.get(copied..at)?);
                out.extend_from_slice(b"\\ufffd");
                copied = at + ESCAPE;
                ESCAPE
            }
            (Some(_), _) => ESCAPE,
            (None, _) => 2,
        };
    }
    if copied == 0 {
        return None;
    }
    out.extend_from_slice(text.get(copied..)?);
    Some(out)
}

/// The length of an escape such as `\u0000`.
const ESCAPE: usize = 6;

/// The UTF-16 unit of the escape at this place.
fn escaped_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, &digit| Some(unit << 4 | char::from(digit).to_digit(16)?))
}

/// Arrays and objects of up to this many parts are collected on the stack, and moved only once.
const FEW: usize = 8;

/// From this length on, a list is large.
const LARGE: usize = 4_096;

/// The parts in memory of exactly their size, unless they are many. (`into_vec` would first move the whole stack buffer.)
fn moved_once<T>(mut parts: SmallVec<[T; FEW]>) -> Vec<T> {
    if parts.spilled() { parts.into_vec() } else { parts.drain(..).collect() }
}

/// A value; if it is to be `DISTINCT`, its objects repeat no name.
struct Parsed<const DISTINCT: bool>(Value);

impl<'de, const DISTINCT: bool> Deserialize<'de> for Parsed<DISTINCT> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Parsed<DISTINCT>, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<DISTINCT>).map(Parsed)
    }
}

struct ValueVisitor<const DISTINCT: bool>;

impl<'de, const DISTINCT: bool> Visitor<'de> for ValueVisitor<DISTINCT> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(i64::try_from(value).map_or(Value::UInt(value), Value::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::from(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = SmallVec::<[Value; FEW]>::new();
        while let Some(Parsed::<DISTINCT>(item)) = seq.next_element()? {
            items.push(item);
        }
        let mut items = moved_once(items);
        // A large list keeps its spare capacity: its pages were never touched and cost nothing, while moving would.
        if items.len() < LARGE {
            items.shrink_to_fit();
        }
        Ok(Value::from(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = SmallVec::<[_; FEW]>::new();
        while let Some(Key(key)) = map.next_key()? {
            let Parsed::<DISTINCT>(value) = map.next_value()?;
            entries.push((key, value));
        }
        let written = entries.len();
        let map = Map::from_entries(moved_once(entries));
        match DISTINCT && map.len() < written {
            true => Err(de::Error::custom("an object has two members of the same name")),
            false => Ok(Value::from(map)),
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(ValueVisitor::<false>)
    }
}

/// An object's key: read without an allocation when it is short.
struct Key(SmolStr);

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        struct KeyVisitor;
        impl Visitor<'_> for KeyVisitor {
            type Value = Key;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Key, E> {
                Ok(Key(SmolStr::new(text)))
            }
        }
        deserializer.deserialize_str(KeyVisitor)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(*value),
            Value::Int(value) => serializer.serialize_i64(*value),
            Value::UInt(value) => serializer.serialize_u64(*value),
            Value::Float(value) => serializer.serialize_f64(*value),
            Value::Str(text) => serializer.serialize_str(text),
            Value::List(list) => list.serialize(serializer),
            Value::Map(map) => map.serialize(serializer),
        }
    }
}

impl Serialize for List {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(self.len()))?;
        for (key, value) in self.iter() {
            members.serialize_entry(key.as_str(), value)?;
        }
        members.end()
    }
}

impl From<serde_json::Value> for Value {
    fn from(json: serde_json::Value) -> Value {
        Value::from(&json)
    }
}

impl From<&serde_json::Value> for Value {
    fn from(json: &serde_json::Value) -> Value {
        match json {
            serde_json::Value::Null => Value::Null,
            serde_json::Value::Bool(value) => Value::Bool(*value),
            serde_json::Value::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(n), _) => Value::Int(n),
                (None, Some(n)) => Value::UInt(n),
                (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            serde_json::Value::String(text) => Value::from(text.as_str()),
            serde_json::Value::Array(items) => Value::from(items.iter().map(Value::from).collect::<Vec<_>>()),
            serde_json::Value::Object(members) => Value::from(
                members.iter().map(|(key, value)| (SmolStr::new(key), Value::from(value))).collect::<Map>(),
            ),
        }
    }
}

impl Value {
    /// The same value as a `serde_json` tree, for libraries that need one.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => (*value).into(),
            Value::Int(value) => (*value).into(),
            Value::UInt(value) => (*value).into(),
            Value::Float(value) => (*value).into(),
            Value::Str(text) => text.as_str().into(),
            Value::List(list) => list.iter().map(Value::to_json).collect(),
            Value::Map(map) => map.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            any::<u64>().prop_map(Into::into),
            (-1e300f64..1e300).prop_map(Into::into),
            ".{0,40}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
                prop::collection::vec((".{0,30}", inner), 0..20)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_and_trees_survive_the_way_through_a_value(json in any_json()) {
            let text = json.to_string();
            let value = from_json(text.as_bytes()).unwrap();
            prop_assert_eq!(value.to_json(), json.clone());
            prop_assert_eq!(serde_json::to_string(&value).unwrap(), text);
            prop_assert_eq!(Value::from(json), value);
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_replaced_and_a_whole_one_is_not() {
        for (text, expected) in [
            (r#""a\ud83d\ude00b""#, "a😀b"),
            (r#""a\ud83d""#, "a\u{fffd}"),
            (r#""\ude00\ud83d\u0041""#, "\u{fffd}\u{fffd}A"),
            (r#""\ud83d\ud83d\ude00\n""#, "\u{fffd}😀\n"),
            (r#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}"),
        ] {
            assert_eq!(from_json(text.as_bytes()).unwrap(), Value::from(expected), "{text}");
        }
        for text in [r#""\ud83""#, r#""\ud83d"#, r#"{"a": "\ud83d}"#, "\\"] {
            assert!(from_json(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_value_takes_no_more_room_than_its_text() {
        assert_eq!(std::mem::size_of::<Value>(), 24);
    }
}
