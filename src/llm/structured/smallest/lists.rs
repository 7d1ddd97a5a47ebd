//! The smallest lists: as short as they may be, with the smallest items.

use std::collections::HashSet;
use std::rc::Rc;

use serde_json::{Map, Value as Json};

use super::Finder;
use super::expand::{Branch, Goal};

/// The longest list that is made.
const LENGTH_MAX: usize = 10_000;

/// Where the items stand that `contains` asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    End,
    Start,
}

/// What a list is to be like.
struct Shape<'s> {
    length: usize,
    /// How many of the first items have schemas of their own.
    prefix: usize,
    /// What `contains` asks for, once for each item that has to be it.
    contained: Vec<&'s Json>,
    side: Side,
    is_distinct: bool,
    /// How many values its last item passes over.
    skipped: usize,
}

impl<'s> Finder<'s> {
    /// Some of the smallest lists that a branch allows.
    pub fn lists(&self, branch: &Branch<'s>, wanted: usize) -> Vec<Json> {
        let contained = contained(branch);
        let least = branch.at_least("minItems").max(contained.len());
        let prefix = prefix_length(branch);
        let longest = least.saturating_add(prefix + wanted).min(branch.at_most("maxItems"));
        let sides = if contained.is_empty() { &[Side::End][..] } else { &[Side::End, Side::Start] };
        let is_distinct = branch.all("uniqueItems").any(|value| value == &Json::Bool(true));
        let mut found = Vec::new();
        // Longer lists and other items take turns.
        for round in 0..=longest.saturating_sub(least) + wanted {
            for length in (least..=longest).take(round + 1) {
                let skipped = round - (length - least);
                for &side in sides {
                    if found.len() >= wanted || !self.spend(1) {
                        return found;
                    }
                    let contained = contained.clone();
                    let list =
                        self.list(branch, &Shape { length, prefix, contained, side, is_distinct, skipped });
                    found.extend(list.filter(|list| !found.contains(list)));
                }
            }
        }
        found
    }

    fn list(&self, branch: &Branch<'s>, shape: &Shape<'s>) -> Option<Json> {
        if shape.length > LENGTH_MAX {
            return None;
        }
        let mut row = Row::default();
        // The items after the special ones are all alike, and their values are looked for once.
        let mut alike: Option<Rc<Vec<Json>>> = None;
        for at in 0..shape.length {
            let values = match alike.clone().filter(|_| shape.is_alike(at)) {
                Some(values) => values,
                None => Rc::new(self.items(branch, shape, at)),
            };
            let bytes = row.add(&values, shape, at)?;
            alike = shape.is_alike(at).then_some(values).or(alike);
            if !self.spend_bytes(bytes) {
                return None;
            }
        }
        Some(Json::Array(row.items))
    }

    /// The values that the item at a place may have.
    fn items(&self, branch: &Branch<'s>, shape: &Shape<'s>, at: usize) -> Vec<Json> {
        let others = if shape.is_distinct { shape.length } else { 1 };
        self.values(&item_goal(branch, at, shape.contained_at(at)), others + shape.skipped)
    }
}

/// A list that grows.
#[derive(Default)]
struct Row {
    items: Vec<Json>,
    /// The texts of the items, if they have to be distinct.
    used: HashSet<String>,
    /// How many of the values of items that are alike were passed already.
    passed: usize,
}

impl Row {
    /// Adds the first of some values that may be added; gives the length of its text.
    fn add(&mut self, values: &[Json], shape: &Shape, at: usize) -> Option<usize> {
        let skipped = if at + 1 == shape.length { shape.skipped } else { 0 };
        let passed = if shape.is_distinct && shape.is_alike(at) { self.passed } else { 0 };
        let texts =
            values.iter().enumerate().skip(passed).map(|(number, value)| (number, value, value.to_string()));
        let mut new = texts.filter(|(_, _, text)| !self.used.contains(text));
        let (number, value, text) = new.nth(skipped)?;
        let bytes = text.len();
        self.items.push(value.clone());
        if shape.is_distinct {
            self.used.insert(text);
            self.passed = if shape.is_alike(at) { number + 1 } else { self.passed };
        }
        Some(bytes)
    }
}

impl<'s> Shape<'s> {
    /// Whether the item at a place has to satisfy what all do that no position and no `contains` speaks of.
    fn is_alike(&self, at: usize) -> bool {
        at >= self.prefix && self.contained_at(at).is_none()
    }

    fn contained_at(&self, at: usize) -> Option<&'s Json> {
        let first = match self.side {
            Side::Start => 0,
            Side::End => self.length - self.contained.len(),
        };
        self.contained.get(at.checked_sub(first)?).copied()
    }
}

/// The schemas of `contains`, each as often as items have to satisfy it.
fn contained<'s>(branch: &Branch<'s>) -> Vec<&'s Json> {
    let all = branch.parts.iter().filter_map(|part| {
        let least = part.get("minContains").and_then(Json::as_u64).unwrap_or(1);
        Some((part.get("contains")?, usize::try_from(least).ok()?.min(LENGTH_MAX)))
    });
    all.flat_map(|(schema, least)| std::iter::repeat_n(schema, least)).take(LENGTH_MAX + 1).collect()
}

/// The schemas of the first items in one part of a branch; older dialects have them in `items`.
fn prefix(part: &Map<String, Json>) -> Option<&Vec<Json>> {
    part.get("prefixItems").or_else(|| part.get("items"))?.as_array()
}

fn prefix_length(branch: &Branch) -> usize {
    branch.parts.iter().filter_map(|part| prefix(part)).map(Vec::len).max().unwrap_or(0)
}

fn item_goal<'s>(branch: &Branch<'s>, at: usize, contained: Option<&'s Json>) -> Goal<'s> {
    let of_part = |part: &&'s Map<String, Json>| {
        let own = prefix(part).and_then(|prefix| prefix.get(at));
        let others = || part.get("items").filter(|items| !items.is_array());
        own.or_else(others).or_else(|| part.get("additionalItems").filter(|_| part.contains_key("items")))
    };
    branch.inner(branch.parts.iter().filter_map(of_part).chain(contained).collect())
}
