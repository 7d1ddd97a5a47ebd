//! Which of two values is smaller.

use std::cmp::Ordering;

use serde_json::Value as Json;

/// The kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `null`
    Null,
    /// `false`, `true`
    Bool,
    /// Any number.
    Number,
    /// A string.
    String,
    /// An array.
    List,
    /// An object.
    Object,
}

impl Kind {
    /// The kinds, the smallest first.
    pub const ALL: [Kind; 6] = [Kind::Null, Kind::Bool, Kind::Number, Kind::String, Kind::List, Kind::Object];

    /// The kind of a value.
    pub fn of(value: &Json) -> Kind {
        match value {
            Json::Null => Kind::Null,
            Json::Bool(_) => Kind::Bool,
            Json::Number(_) => Kind::Number,
            Json::String(_) => Kind::String,
            Json::Array(_) => Kind::List,
            Json::Object(_) => Kind::Object,
        }
    }

    /// Its name in schemas.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "boolean",
            Kind::Number => "number",
            Kind::String => "string",
            Kind::List => "array",
            Kind::Object => "object",
        }
    }
}

/// Compares by kind, and values of one kind by their size: numbers by their distance from 0, positive ones first; strings by
/// length, then by the alphabet; lists and objects by length, then part by part.
pub fn compare(a: &Json, b: &Json) -> Ordering {
    match (a, b) {
        (Json::Bool(a), Json::Bool(b)) => a.cmp(b),
        (Json::Number(a), Json::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            a.abs().total_cmp(&b.abs()).then(b.total_cmp(&a))
        }
        (Json::String(a), Json::String(b)) => a.chars().count().cmp(&b.chars().count()).then(a.cmp(b)),
        (Json::Array(a), Json::Array(b)) => a.len().cmp(&b.len()).then_with(|| by_parts(a.iter(), b.iter())),
        (Json::Object(a), Json::Object(b)) => {
            a.len().cmp(&b.len()).then_with(|| by_parts(a.values(), b.values()))
        }
        _ => Kind::of(a).cmp(&Kind::of(b)),
    }
}

fn by_parts<'j>(a: impl Iterator<Item = &'j Json>, b: impl Iterator<Item = &'j Json>) -> Ordering {
    a.zip(b).map(|(a, b)| compare(a, b)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
