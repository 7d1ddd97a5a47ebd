//! The smallest lists: as short as they may be, with the smallest items.

use std::collections::HashSet;

use serde_json::Value as Json;

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
        let longest = least.saturating_add(prefix_length(branch) + wanted).min(branch.at_most("maxItems"));
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
                    let list = self.list(branch, &Shape { length, contained, side, is_distinct, skipped });
                    found.extend(list.filter(|list| !found.contains(list)));
                }
            }
        }
        found
    }

    fn list(&self, branch: &Branch<'s>, shape: &Shape<'s>) -> Option<Json> {
        if shape.length > LENGTH_MAX || !self.spend(shape.length) {
            return None;
        }
        let (mut items, mut used) = (Vec::with_capacity(shape.length), HashSet::new());
        let different = if shape.is_distinct { shape.length } else { 1 } + shape.skipped;
        // The items after the special ones are all alike.
        let mut alike: Option<Vec<Json>> = None;
        let prefix = prefix_length(branch);
        for at in 0..shape.length {
            let skipped = if at + 1 == shape.length { shape.skipped } else { 0 };
            let contained = shape.contained_at(at);
            let goal = || item_goal(branch, at, contained);
            let own;
            let values = if at < prefix || contained.is_some() {
                own = self.values(&goal(), different);
                &own
            } else {
                alike.get_or_insert_with(|| self.values(&goal(), different))
            };
            let is_new = |value: &&Json| !shape.is_distinct || !used.contains(&value.to_string());
            let value = values.iter().filter(is_new).nth(skipped)?.clone();
            if shape.is_distinct {
                used.insert(value.to_string());
            }
            items.push(value);
        }
        Some(Json::Array(items))
    }
}

impl<'s> Shape<'s> {
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
    all.flat_map(|(schema, least)| std::iter::repeat_n(schema, least)).collect()
}

/// The schemas of the first items in one part of a branch; older dialects have them in `items`.
fn prefix<'s>(part: &'s serde_json::Map<String, Json>) -> Option<&'s Vec<Json>> {
    part.get("prefixItems").or_else(|| part.get("items"))?.as_array()
}

fn prefix_length(branch: &Branch) -> usize {
    branch.parts.iter().filter_map(|part| prefix(part)).map(Vec::len).max().unwrap_or(0)
}

fn item_goal<'s>(branch: &Branch<'s>, at: usize, contained: Option<&'s Json>) -> Goal<'s> {
    let of_part = |part: &&'s serde_json::Map<String, Json>| {
        let own = prefix(part).and_then(|prefix| prefix.get(at));
        let others = || part.get("items").filter(|items| !items.is_array());
        own.or_else(others).or_else(|| part.get("additionalItems").filter(|_| part.contains_key("items")))
    };
    branch.inner(branch.parts.iter().filter_map(of_part).chain(contained).collect())
}
