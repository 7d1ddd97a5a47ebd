//! The filters that compare items: `sort`, `unique`, `min`, `max`, `dictsort`, `groupby`; and sorting itself.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::error::Stop;
use super::iter::{Arguments, PathStep};
use super::machine::Machine;
use super::paths::path_of;
use super::val::{Tuple, Val};
use crate::python::case;

impl<'a> Machine<'a> {
    /// The value that an item is compared by: at a path, and in lower case if case does not matter.
    pub fn sort_key(
        &mut self,
        item: Val<'a>,
        path: &[PathStep<'a>],
        case_sensitive: bool,
    ) -> Result<Val<'a>, Stop> {
        let key = self.walk(item, path, None)?;
        match (case_sensitive, key) {
            (false, Val::Str(text) | Val::Markup(text)) => {
                self.work(text.len())?;
                // Most keys are in lower case already.
                if text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
                    return Ok(Val::Str(text));
                }
                self.check_room(text.len().saturating_mul(3))?;
                self.str(case::lower(text))
            }
            (_, key) => Ok(key),
        }
    }

    pub fn filter_extreme(&mut self, base: Val<'a>, args: &Arguments<'a>, op: &str) -> Result<Val<'a>, Stop> {
        let [case_sensitive, attribute] = self.bind("min", ["case_sensitive", "attribute"], args)?;
        let case_sensitive = self.truth(case_sensitive.unwrap_or(Val::Bool(false)))?;
        let path = self.attribute_path(attribute)?.unwrap_or_default();
        let wanted = if op == "<" { Ordering::Less } else { Ordering::Greater };
        let mut source = self.iterate(base)?;
        let Some(mut best) = self.advance(&mut source)? else {
            return self.nothing("No aggregated item, sequence was empty.");
        };
        let mut best_key = self.sort_key(best, &path, case_sensitive)?;
        while let Some(item) = self.advance(&mut source)? {
            self.step()?;
            let key = self.sort_key(item, &path, case_sensitive)?;
            if self.order(key, best_key, op)? == Some(wanted) {
                (best, best_key) = (item, key);
            }
        }
        Ok(best)
    }

    pub fn filter_unique(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [case_sensitive, attribute] = self.bind("unique", ["case_sensitive", "attribute"], args)?;
        let case_sensitive = self.truth(case_sensitive.unwrap_or(Val::Bool(false)))?;
        let path = self.attribute_path(attribute)?.unwrap_or_default();
        let mut seen = HashSet::new();
        let mut unique = Vec::new();
        let mut source = self.iterate(base)?;
        while let Some(item) = self.advance(&mut source)? {
            self.step()?;
            let name = self.sort_key(item, &path, case_sensitive)?;
            let key = self.key(name)?;
            self.charge(64)?;
            if seen.insert(key) {
                unique.push(item);
            }
        }
        self.items_iter(unique)
    }

    pub fn filter_sort(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let names = ["reverse", "case_sensitive", "attribute"];
        let [reverse, case_sensitive, attribute] = self.bind("sort", names, args)?;
        let reverse = self.flag(reverse)?;
        let case_sensitive = self.truth(case_sensitive.unwrap_or(Val::Bool(false)))?;
        let paths: Vec<Vec<PathStep<'a>>> = match attribute.and_then(|attribute| attribute.as_text()) {
            Some(text) => text.split(',').map(path_of).collect(),
            None => vec![self.attribute_path(attribute)?.unwrap_or_default()],
        };
        let mut keyed = Vec::new();
        for item in self.collect(base)? {
            self.step()?;
            let mut keys = Vec::with_capacity(paths.len());
            for path in &paths {
                keys.push(self.sort_key(item, path, case_sensitive)?);
            }
            self.charge(paths.len() * size_of::<Val<'a>>() + 24)?;
            keyed.push((keys, item));
        }
        let sorted = self.sorted_in(keyed, reverse, |machine, (a, _), (b, _)| machine.order_keys(a, b))?;
        self.list(sorted.into_iter().map(|(_, item)| item).collect())
    }

    /// How two lists of keys are ordered.
    fn order_keys(&mut self, a: &[Val<'a>], b: &[Val<'a>]) -> Result<Option<Ordering>, Stop> {
        for (a, b) in a.iter().zip(b) {
            if !a.is_same(b) && !self.equal(*a, *b)? {
                return self.order(*a, *b, "<");
            }
        }
        Ok(Some(Ordering::Equal))
    }

    /// The items of a list in order.
    pub fn sorted(&mut self, items: Vec<Val<'a>>, reverse: bool) -> Result<Vec<Val<'a>>, Stop> {
        self.sorted_in(items, reverse, |machine, a, b| machine.order(*a, *b, "<"))
    }

    /// Sorts by a comparison that can fail.
    pub fn sorted_by<T: Clone>(
        &mut self,
        items: Vec<T>,
        order: impl FnMut(&mut Self, &T, &T) -> Result<Option<Ordering>, Stop>,
    ) -> Result<Vec<T>, Stop> {
        self.sorted_in(items, false, order)
    }

    /// A stable merge sort by a comparison that can fail; `reverse` puts greater items first.
    fn sorted_in<T: Clone>(
        &mut self,
        mut items: Vec<T>,
        reverse: bool,
        mut order: impl FnMut(&mut Self, &T, &T) -> Result<Option<Ordering>, Stop>,
    ) -> Result<Vec<T>, Stop> {
        let first = if reverse { Ordering::Greater } else { Ordering::Less };
        let mut width = 1;
        while width < items.len() {
            let mut merged = Vec::with_capacity(items.len());
            for run in items.chunks(2 * width) {
                let (mut left, mut right) = run.split_at(width.min(run.len()));
                while let (Some(a), Some(b)) = (left.first(), right.first()) {
                    self.step()?;
                    let takes_right = order(self, b, a)? == Some(first);
                    let from = if takes_right { &mut right } else { &mut left };
                    if let Some((item, rest)) = from.split_first() {
                        merged.push(item.clone());
                        *from = rest;
                    }
                }
                merged.extend_from_slice(left);
                merged.extend_from_slice(right);
            }
            items = merged;
            width *= 2;
        }
        Ok(items)
    }

    pub fn filter_dictsort(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [case_sensitive, by, reverse] =
            self.bind("dictsort", ["case_sensitive", "by", "reverse"], args)?;
        let case_sensitive = self.truth(case_sensitive.unwrap_or(Val::Bool(false)))?;
        let reverse = self.flag(reverse)?;
        let by = self.demand(by.unwrap_or(Val::Str("key")))?;
        let by_value = match by.as_text() {
            Some("key") => false,
            Some("value") => true,
            _ => return Err(self.fail("You can only sort by either \"key\" or \"value\"")),
        };
        let base = self.demand(base)?;
        let base = self.live(base);
        if !matches!(base, Val::DataMap(_) | Val::Dict(_)) {
            let name = base.type_name();
            return Err(self.fail(format!("'{name}' object has no attribute 'items'")));
        }
        let mut keyed = Vec::new();
        while let Some((name, value)) = self.map_entry(base, keyed.len())? {
            self.step()?;
            let key = self.sort_key(if by_value { value } else { name }, &[], case_sensitive)?;
            let pair = self.tuple(&[name, value])?;
            keyed.push((key, pair));
        }
        let sorted = self.sorted_in(keyed, reverse, |machine, (a, _), (b, _)| machine.order(*a, *b, "<"))?;
        self.list(sorted.into_iter().map(|(_, pair)| pair).collect())
    }

    pub fn filter_groupby(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let names = ["attribute", "default", "case_sensitive"];
        let [attribute, default, case_sensitive] = self.bind("groupby", names, args)?;
        let case_sensitive = self.truth(case_sensitive.unwrap_or(Val::Bool(false)))?;
        let default = default.filter(|default| !matches!(default, Val::None));
        let attribute = self.required("groupby", attribute)?;
        let path = self.attribute_path(Some(attribute))?.unwrap_or_default();
        let mut keyed = Vec::new();
        for item in self.collect(base)? {
            self.step()?;
            let part = self.walk(item, &path, default)?;
            let key = self.sort_key(part, &[], case_sensitive)?;
            keyed.push((key, item));
        }
        let sorted = self.sorted_in(keyed, false, |machine, (a, _), (b, _)| machine.order(*a, *b, "<"))?;
        let mut groups: Vec<(Val<'a>, Vec<Val<'a>>)> = Vec::new();
        for (key, item) in sorted {
            self.step()?;
            match groups.last_mut() {
                Some((known, items)) if self.equal(*known, key)? => items.push(item),
                _ => groups.push((key, vec![item])),
            }
        }
        let mut tuples = Vec::with_capacity(groups.len());
        for (key, items) in groups {
            let grouper = match (case_sensitive, items.first()) {
                (false, Some(first)) => self.walk(*first, &path, default)?,
                _ => key,
            };
            let items = self.list(items)?;
            self.charge(2 * size_of::<Val<'a>>() + size_of::<Tuple<'a>>())?;
            let items = self.store.bump.alloc_slice_copy(&[grouper, items]);
            tuples.push(Val::Tuple(self.store.bump.alloc(Tuple { items, is_group: true })));
        }
        self.list(tuples)
    }
}
