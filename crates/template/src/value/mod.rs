//! The tree of JSON values that the catalog builds and both template engines read.
//!
//! A [`Value`] is cheap to clone (large parts are behind an [`Arc`]), keeps the order of members, and is parsed from JSON
//! text without an intermediate tree. It is plain data, independent of templates.

mod json;
mod map;
mod path;
mod raw;
mod weight;

use std::sync::Arc;

pub use json::{from_json, from_json_distinct, parse_json};
pub use map::Map;
pub use path::{Path, Step};
pub use raw::{RawObject, each_item};
pub use smol_str::SmolStr;
pub use weight::{TooDense, Tree, admissible_weight, weight};

/// One JSON value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`, which is a value, and not a missing one.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// An integer that fits 64 bits with a sign.
    Int(i64),
    /// An integer beyond `i64::MAX`.
    UInt(u64),
    /// Any other number.
    Float(f64),
    /// A string.
    Str(SmolStr),
    /// An array.
    List(Arc<List>),
    /// An object.
    Map(Arc<Map>),
}

/// The elements of an array.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct List(pub Vec<Value>);

impl std::ops::Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.0
    }
}

/// What an entry of an object takes besides the bytes of its key and its value.
const ENTRY_BYTES: usize = size_of::<(SmolStr, Value)>();
/// What an array or object takes besides its parts.
const CONTAINER_BYTES: usize = 160;

impl Value {
    /// The text, if this is a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(text) => Some(text),
            _ => None,
        }
    }

    /// The object, if this is one.
    pub fn as_map(&self) -> Option<&Arc<Map>> {
        match self {
            Value::Map(map) => Some(map),
            _ => None,
        }
    }

    /// The member `key` of an object; `None` if there is none, or the value is not an object.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.as_map().and_then(|map| map.get(key))
    }

    /// How many values are in the tree; counting stops at `limit`.
    pub fn count_up_to(&self, limit: usize) -> usize {
        let mut waiting = vec![self];
        let mut count = 0;
        while let Some(value) = waiting.pop() {
            count += 1;
            if count >= limit {
                break;
            }
            match value {
                Value::List(list) => waiting.extend(list.iter().take(limit)),
                Value::Map(map) => waiting.extend(map.iter().map(|(_, member)| member).take(limit)),
                _ => {}
            }
        }
        count
    }

    /// About how many bytes of memory the tree takes, with shared parts counted each time; counting stops soon after `limit`.
    pub fn bytes_up_to(&self, limit: usize) -> usize {
        let mut waiting = vec![self];
        let mut bytes = 0_usize;
        while let Some(value) = waiting.pop() {
            bytes += size_of::<Value>();
            match value {
                Value::Str(text) => bytes += text.len(),
                Value::List(list) => {
                    bytes += CONTAINER_BYTES;
                    waiting.extend(list.iter().take(limit / size_of::<Value>() + 1));
                }
                Value::Map(map) => {
                    bytes += CONTAINER_BYTES;
                    for (key, member) in map.iter().take(limit / ENTRY_BYTES + 1) {
                        bytes += ENTRY_BYTES + key.len();
                        waiting.push(member);
                    }
                }
                _ => {}
            }
            if bytes >= limit {
                break;
            }
        }
        bytes
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Str(SmolStr::new(text))
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(Arc::new(List(items)))
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Value {
        Value::Map(Arc::new(map))
    }
}
