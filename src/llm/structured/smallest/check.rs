//! Whether a value fits a part of a schema.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr;

use serde_json::{Value as Json, json};

use super::rebased::Rebased;
use base::schema::{Effort, Schema};
use template::value::Value;

/// The most steps of all checks together: about one for each value, and for these bytes of a schema that is compiled.
const STEPS_MAX: usize = 100_000;
const BYTES_A_STEP: usize = 20;

/// The compiled subschemas of one schema.
pub struct Checker<'s> {
    rebased: &'s Rebased,
    /// The steps that are left.
    steps: Cell<usize>,
    /// By their addresses; `None` for those that cannot be checked alone.
    subschemas: RefCell<HashMap<*const Json, Option<Schema>>>,
    patterns: RefCell<HashMap<&'s str, Option<Schema>>>,
}

impl<'s> Checker<'s> {
    /// Checks for this schema.
    pub fn new(rebased: &'s Rebased) -> Checker<'s> {
        let steps = Cell::new(STEPS_MAX);
        Checker { rebased, steps, subschemas: RefCell::default(), patterns: RefCell::default() }
    }

    /// Whether a value fits a subschema. If that cannot be found out, or it would take too long, it does: the whole value is
    /// checked again in the end.
    pub fn fits(&self, subschema: &'s Json, value: &Json) -> bool {
        let mut known = self.subschemas.borrow_mut();
        let compiled = known.entry(ptr::from_ref(subschema)).or_insert_with(|| self.compile(subschema));
        !self.spend(1) || compiled.as_ref().is_none_or(|schema| fits(schema, value))
    }

    fn compile(&self, subschema: &Json) -> Option<Schema> {
        let alone = self.rebased.alone(subschema);
        let bytes = alone.to_string().len();
        self.spend(bytes / BYTES_A_STEP).then(|| Schema::compile(&alone).ok()).flatten()
    }

    fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        left.inspect(|left| self.steps.set(*left)).is_some()
    }

    /// Whether a name matches a pattern.
    pub fn matches(&self, pattern: &'s str, name: &str) -> bool {
        let mut known = self.patterns.borrow_mut();
        let compiled =
            known.entry(pattern).or_insert_with(|| Schema::compile(&json!({"pattern": pattern})).ok());
        compiled.as_ref().is_some_and(|schema| fits(schema, &name.into()))
    }
}

fn fits(schema: &Schema, value: &Json) -> bool {
    schema.check(&Value::from(value), Effort::BLOCKING).is_ok_and(|violations| violations.is_empty())
}
