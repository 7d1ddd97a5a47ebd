//! The smallest value that a JSON Schema allows: what the built-in model answers when it is asked for one.
//!
//! Values are constructed from what the keywords say, kind by kind from `null` to objects, and checked where keywords say more
//! than a construction can follow. The result is always checked against the whole schema.
//!
//! - `order`: which of two values is smaller
//! - `expand`: the ways to satisfy a schema, without references and alternatives; `rebased`: references that hold in any schema
//! - `check`: whether a value fits a subschema
//! - `numbers`, `texts`, `formats`, `pattern`, `lists`, `objects`: values of one kind

mod check;
mod expand;
mod formats;
mod lists;
mod numbers;
mod objects;
mod order;
mod pattern;
mod rebased;
#[cfg(test)]
mod tests;
mod texts;

use std::cell::Cell;

use serde_json::Value as Json;

use base::schema::{Effort, Schema};
use check::Checker;
use expand::{Branch, Goal};
use order::Kind;

/// How often a path may come back to a schema in which it is already.
const RETURNS_MAX: usize = 32;

/// How deep values may nest.
const DEPTH_MAX: usize = 100;

/// The most steps of the search: about one for each subschema looked at and each part of a value made.
const STEPS_MAX: usize = 100_000;

/// How many bytes of values are made in a step.
const BYTES_A_STEP: usize = 100;

/// How many listed values are looked at in a step.
const LISTED_A_STEP: usize = 16;

/// How many more values than wanted are made where they have to be checked.
const SPARE: usize = 8;

/// How many values of the whole schema are tried.
const TRIES: usize = 16;

/// The smallest value that a JSON Schema allows, as far as it can be found; `None` if none was found.
///
/// Small are, in this order: `null`, `false`, `true`, numbers by their distance from 0, strings by length and then by the
/// alphabet, lists by length, objects.
pub fn smallest(schema: &Json) -> Option<Json> {
    let whole = Schema::compile(schema).ok()?;
    // On a stack of the usual size: values are asked for where requests are served.
    let fits = |value: &Json| whole.violations(&value.into(), Effort::BLOCKING).is_empty();
    let rebased = rebased::rebased(schema);
    let finder = Finder::new(&rebased);
    for returns in 0..=RETURNS_MAX {
        finder.returns_max.set(returns);
        finder.was_cut.set(false);
        for (tries, thorough) in [(1, false), (TRIES, true)] {
            finder.is_thorough.set(thorough);
            let found = finder.values(&Goal::of(&rebased.root), tries);
            if let Some(value) = found.into_iter().find(&fits) {
                return Some(value);
            }
        }
        if !finder.was_cut.get() {
            break;
        }
    }
    None
}

/// The search in one schema.
struct Finder<'s> {
    root: &'s Json,
    checker: Checker<'s>,
    steps: Cell<usize>,
    /// How often a path may come back to a schema now. Values that need less are found first, so that recursion ends.
    returns_max: Cell<usize>,
    /// Whether a path was given up for that reason.
    was_cut: Cell<bool>,
    /// Whether more values are tried, and all of them checked: the first ones did not fit the whole schema.
    is_thorough: Cell<bool>,
}

impl<'s> Finder<'s> {
    fn new(rebased: &'s rebased::Rebased) -> Finder<'s> {
        Finder {
            root: &rebased.root,
            checker: Checker::new(rebased),
            steps: Cell::new(STEPS_MAX),
            returns_max: Cell::new(0),
            was_cut: Cell::new(false),
            is_thorough: Cell::new(false),
        }
    }

    /// Takes these steps; whether there were so many left.
    fn spend(&self, steps: usize) -> bool {
        let left = self.steps.get().checked_sub(steps);
        left.inspect(|left| self.steps.set(*left)).is_some()
    }

    /// Takes the steps to make these bytes of a value; whether there were so many left.
    fn spend_bytes(&self, bytes: usize) -> bool {
        self.spend(1 + bytes / BYTES_A_STEP)
    }

    /// Up to `wanted` different values that satisfy a goal, the smallest ones first.
    fn values(&self, goal: &Goal<'s>, wanted: usize) -> Vec<Json> {
        if goal.depth > DEPTH_MAX || !self.spend(1) {
            return Vec::new();
        }
        let branches = self.expand(goal);
        let is_sure = !self.is_thorough.get() && branches.iter().all(Branch::is_plain);
        let made = if is_sure { wanted } else { wanted + SPARE };
        let mut found = Vec::new();
        for kind in Kind::ALL {
            let mut values: Vec<Json> =
                branches.iter().flat_map(|branch| self.of_kind(kind, branch, made)).collect();
            values.sort_by(order::compare);
            values.dedup();
            let fitting = values.into_iter().filter(|value| is_sure || self.fits(goal, value));
            found.extend(fitting.take(wanted - found.len()));
            if found.len() >= wanted {
                break;
            }
        }
        found
    }

    fn fits(&self, goal: &Goal<'s>, value: &Json) -> bool {
        goal.schemas.iter().all(|schema| self.checker.fits(schema, value))
    }

    fn of_kind(&self, kind: Kind, branch: &Branch<'s>, wanted: usize) -> Vec<Json> {
        if !branch.allows(kind) {
            return Vec::new();
        }
        if let Some(listed) = branch.listed() {
            if !self.spend(listed.len() / LISTED_A_STEP) {
                return Vec::new();
            }
            return listed.iter().filter(|value| branch.allows_listed(kind, value)).cloned().collect();
        }
        match kind {
            Kind::Null => vec![Json::Null],
            Kind::Bool => vec![false.into(), true.into()],
            Kind::Number => numbers::numbers(branch, wanted, self.is_thorough.get()),
            Kind::String => texts::texts(branch, wanted, &|bytes| self.spend_bytes(bytes)),
            Kind::List => self.lists(branch, wanted),
            Kind::Object => self.objects(branch, wanted),
        }
    }
}
