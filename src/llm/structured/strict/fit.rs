//! Whether a value fits a subschema by itself: its types, its values and its bounds. Patterns and formats are not looked at.

use serde_json::Value as Json;

use super::graph::Node;
use super::keywords::Keywords;
use super::types::Types;
use template::value::Value;

/// A bound on a number, or on the length of an array or a string.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    measure: Measure,
    is_met: fn(&f64, &f64) -> bool,
    limit: f64,
}

#[derive(Debug, Clone, Copy)]
enum Measure {
    Number,
    Items,
    /// The length of a string in characters.
    Length,
}

/// A keyword and the bound that it sets.
type Row = (&'static str, Measure, fn(&f64, &f64) -> bool);

const BOUNDS: [Row; 8] = [
    ("minimum", Measure::Number, f64::ge),
    ("exclusiveMinimum", Measure::Number, f64::gt),
    ("maximum", Measure::Number, f64::le),
    ("exclusiveMaximum", Measure::Number, f64::lt),
    ("minItems", Measure::Items, f64::ge),
    ("maxItems", Measure::Items, f64::le),
    ("minLength", Measure::Length, f64::ge),
    ("maxLength", Measure::Length, f64::le),
];

/// How many bytes of a text, or values of a list, are looked at in a step.
const BYTES_A_STEP: usize = 64;
const VALUES_A_STEP: usize = 16;

impl Bound {
    /// The bounds that these keywords set.
    pub fn all(keywords: &Keywords) -> Vec<Bound> {
        let bound = |&(name, measure, is_met): &Row| {
            let limit = keywords.get(name).and_then(Json::as_f64)?;
            Some(Bound { measure, is_met, limit })
        };
        BOUNDS.iter().filter_map(bound).collect()
    }

    /// Whether a value keeps the bound; those that it says nothing of do.
    fn is_met_by(&self, value: &Value) -> bool {
        let measured = match (self.measure, value) {
            (Measure::Number, value) => number(value),
            (Measure::Items, Value::List(items)) => Some(items.len() as f64),
            (Measure::Length, Value::Str(text)) => Some(text.chars().count() as f64),
            _ => None,
        };
        measured.is_none_or(|measured| (self.is_met)(&measured, &self.limit))
    }
}

/// About how many steps it takes to find out whether a value fits.
pub(super) fn steps(node: &Node, value: &Value) -> usize {
    let length = match value {
        Value::Str(text) => text.len() / BYTES_A_STEP,
        Value::Map(members) => members.len(),
        _ => 0,
    };
    let values = node.values.as_ref().map_or(0, |values| values.len() / VALUES_A_STEP);
    1 + length + values
}

impl Node {
    /// Whether it allows values of the type of this one.
    pub fn has_type_of(&self, value: &Value) -> bool {
        self.types.has(Types::of(value))
    }

    /// Whether a value fits what the subschema says by itself.
    pub fn allows(&self, value: &Value) -> bool {
        self.has_type_of(value)
            && self.values.as_ref().is_none_or(|values| values.iter().any(|own| is_same(own, value)))
            && self.bounds.iter().all(|bound| bound.is_met_by(value))
    }
}

/// Whether two values are the same by JSON Schema, for which 1 and 1.0 are.
pub(super) fn is_same(one: &Value, other: &Value) -> bool {
    let is_float = |value: &Value| matches!(value, Value::Float(_));
    one == other
        || is_float(one) != is_float(other)
            && number(one).is_some_and(|number_one| number(other) == Some(number_one))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(number) => Some(*number as f64),
        Value::UInt(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}
