//! Parsing that refuses objects in which a name occurs twice, which the usual parser lets pass.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use template::value::{Map, SmolStr, Value, parse_json};

/// Parses one JSON text.
///
/// # Errors
/// The parser's error, with line and column, if the text is not JSON, nests too deep, or repeats a name in an object.
pub fn parse_distinct(text: &str) -> Result<Value, serde_json::Error> {
    parse_json(text.as_bytes()).map(|Distinct(value)| value)
}

/// A value whose objects repeat no name.
struct Distinct(Value);

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distinct, D::Error> {
        deserializer.deserialize_any(DistinctVisitor)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Distinct, E> {
        Ok(Distinct(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Distinct, E> {
        Ok(Distinct(Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Distinct, E> {
        Ok(Distinct(i64::try_from(value).map_or(Value::UInt(value), Value::Int)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Distinct, E> {
        Ok(Distinct(Value::Float(value)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Distinct, E> {
        Ok(Distinct(Value::from(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Distinct, A::Error> {
        let mut items = Vec::new();
        while let Some(Distinct(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Distinct(Value::from(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut entries: Vec<(SmolStr, Value)> = Vec::new();
        while let Some((name, Distinct(value))) = map.next_entry()? {
            entries.push((name, value));
        }
        let written = entries.len();
        let map = Map::from_entries(entries);
        if map.len() < written {
            return Err(A::Error::custom("an object has two members of the same name"));
        }
        Ok(Distinct(Value::from(map)))
    }
}
