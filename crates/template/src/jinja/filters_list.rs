//! The filters of lists and mappings.

use std::cmp::Ordering;
use std::collections::HashSet;

use super::ast::BinaryOp;
use super::builtin::{FilterName, TestName};
use super::error::Stop;
use super::iter::{Arguments, Iter, LazyStep, PathStep, Source};
use super::machine::Machine;
use super::val::{Tuple, Val, ViewKind};
use crate::python::case;

impl<'a> Machine<'a> {
    /// Applies a filter that takes the items of its value.
    pub fn filter_list(
        &mut self,
        name: FilterName,
        base: Val<'a>,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        match name {
            FilterName::Length => {
                self.bind("length", [], args)?;
                Ok(Val::Int(self.len(base)? as i64))
            }
            FilterName::First => {
                self.bind("first", [], args)?;
                let mut source = self.iterate(base)?;
                match self.advance(&mut source)? {
                    Some(item) => Ok(item),
                    None => self.nothing("No first item, sequence was empty."),
                }
            }
            FilterName::Last => {
                self.bind("last", [], args)?;
                if let Val::Str(text) | Val::Markup(text) = base
                    && let Some((at, _)) = text.char_indices().next_back()
                {
                    return self.str(text.get(at..).unwrap_or_default());
                }
                let mut source = self.backwards(base)?;
                match self.advance(&mut source)? {
                    Some(item) => Ok(item),
                    None => self.nothing("No last item, sequence was empty."),
                }
            }
            FilterName::List => {
                self.bind("list", [], args)?;
                let items = self.collect(base)?;
                self.list(items)
            }
            FilterName::Reverse => self.filter_reverse(base, args),
            FilterName::Join => self.filter_join(base, args),
            FilterName::Items => {
                self.bind("items", [], args)?;
                match self.live(base) {
                    Val::Undefined(_) => self.iter_value(Source::Empty, "generator"),
                    base @ (Val::DataMap(_) | Val::Dict(_)) => {
                        let view = self.view(base, ViewKind::Items)?;
                        self.iter_value(Source::Parts { of: view, at: 0 }, "generator")
                    }
                    _ => Err(self.fail("Can only get item pairs from a mapping.")),
                }
            }
            FilterName::Map => self.filter_map(base, args),
            FilterName::Select => self.filter_select(base, args, false, true),
            FilterName::Reject => self.filter_select(base, args, false, false),
            FilterName::Selectattr => self.filter_select(base, args, true, true),
            FilterName::Rejectattr => self.filter_select(base, args, true, false),
            FilterName::Batch => self.filter_batch(base, args),
            FilterName::Slice => self.filter_slice(base, args),
            FilterName::Sum => self.filter_sum(base, args),
            FilterName::Min => self.filter_extreme(base, args, "<"),
            FilterName::Max => self.filter_extreme(base, args, ">"),
            FilterName::Unique => self.filter_unique(base, args),
            FilterName::Sort => self.filter_sort(base, args),
            FilterName::Dictsort => self.filter_dictsort(base, args),
            FilterName::Groupby => self.filter_groupby(base, args),
            _ => self.filter_random(base, args),
        }
    }

    /// The items of a value, the last one first.
    fn backwards(&mut self, value: Val<'a>) -> Result<Source<'a>, Stop> {
        let value = self.live(value);
        match value {
            Val::Str(text) | Val::Markup(text) => {
                self.work(text.len())?;
                let mut letters = Vec::new();
                for (at, c) in text.char_indices().rev() {
                    letters.extend(text.get(at..at + c.len_utf8()).map(Val::Str));
                }
                self.items_source(letters)
            }
            Val::Iter(_) | Val::Loop(_) => {
                Err(self.fail(format!("'{}' object is not reversible", value.type_name())))
            }
            value => match self.known_len(value) {
                Some(left) => {
                    if let Val::Undefined(_) | Val::Gap = value {
                        return Ok(Source::Empty);
                    }
                    Ok(Source::Backwards { of: value, left })
                }
                None => Err(self.fail(format!("'{}' object is not reversible", value.type_name()))),
            },
        }
    }

    fn items_source(&mut self, items: Vec<Val<'a>>) -> Result<Source<'a>, Stop> {
        self.charge(items.len() * size_of::<Val<'a>>())?;
        Ok(Source::Items { items: self.store.bump.alloc_slice_copy(&items), at: 0 })
    }

    fn items_iter(&mut self, items: Vec<Val<'a>>) -> Result<Val<'a>, Stop> {
        let source = self.items_source(items)?;
        self.iter_value(source, "generator")
    }

    fn filter_reverse(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.bind("reverse", [], args)?;
        match base {
            Val::Str(text) | Val::Markup(text) => {
                self.work(text.len())?;
                self.str(text.chars().rev().collect::<String>())
            }
            Val::Iter(_) | Val::Loop(_) => {
                let mut items = self.collect(base)?;
                items.reverse();
                self.list(items)
            }
            base if self.is_iterable(base) => {
                let source = self.backwards(base)?;
                self.iter_value(source, "list_reverseiterator")
            }
            _ => Err(self.fail("argument must be iterable")),
        }
    }

    fn filter_join(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [separator, attribute] = self.bind("join", ["d", "attribute"], args)?;
        let separator = self.settle(separator.unwrap_or(Val::Str("")), self.at)?;
        let path = self.attribute_path(attribute)?;
        let mut items = self.collect(base)?;
        if let Some(path) = &path {
            for item in &mut items {
                *item = self.walk(*item, path, None)?;
            }
        }
        if self.escapes {
            return self.join_escaped(items, separator);
        }
        let separator = self.text_of(separator)?;
        let mut out = String::new();
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                self.check_text(out.len() + separator.len())?;
                out.push_str(separator);
            }
            let item = self.settle(item, self.at)?;
            self.write_str(&mut out, item)?;
        }
        self.str(out)
    }

    fn join_escaped(&mut self, items: Vec<Val<'a>>, separator: Val<'a>) -> Result<Val<'a>, Stop> {
        let markup = |value: &Val<'a>| matches!(value, Val::Markup(_));
        let is_markup = markup(&separator) || items.iter().any(markup);
        let separator = if is_markup { self.escaped(separator)? } else { self.text_of(separator)? };
        let mut out = String::new();
        for (at, item) in items.into_iter().enumerate() {
            if at > 0 {
                out.push_str(separator);
            }
            let item = self.settle(item, self.at)?;
            let part = if is_markup { self.escaped(item)? } else { self.text_of(item)? };
            out.push_str(part);
            self.check_text(out.len())?;
        }
        let text = self.alloc_str(&out)?;
        Ok(if is_markup { Val::Markup(text) } else { Val::Str(text) })
    }

    /// The steps of `attribute='a.0.b'`.
    fn attribute_path(&mut self, attribute: Option<Val<'a>>) -> Result<Option<Vec<PathStep<'a>>>, Stop> {
        let Some(attribute) = attribute else { return Ok(None) };
        Ok(match attribute {
            Val::None | Val::Gap => None,
            attribute => match attribute.as_text() {
                Some(text) => Some(path_of(text)),
                None => Some(vec![PathStep::Value(attribute)]),
            },
        })
    }

    /// The part of an item at a path.
    fn walk(
        &mut self,
        item: Val<'a>,
        path: &[PathStep<'a>],
        default: Option<Val<'a>>,
    ) -> Result<Val<'a>, Stop> {
        let mut item = item;
        for step in path {
            self.step()?;
            let key = match step {
                PathStep::Name(name) => Val::Str(name),
                PathStep::Index(index) => Val::Int(*index),
                PathStep::Value(value) => *value,
            };
            if let Val::Pending(call) = item {
                return Err(super::machine::needed(call));
            }
            item = self.item(item, key, self.at)?;
            if let (Some(default), Val::Undefined(_)) = (default, item) {
                item = default;
            }
        }
        Ok(item)
    }

    /// The value that an item is compared by: at a path, and in lower case if case does not matter.
    fn sort_key(
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

    fn filter_map(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        if !self.truth(base)? {
            return self.iter_value(Source::Empty, "generator");
        }
        let source = self.iterate(base)?;
        let of = self.iter_of(source, "generator")?;
        let attribute = args.named.iter().find(|(name, _)| *name == "attribute");
        if let (true, Some((_, attribute))) = (args.positional.is_empty(), attribute) {
            let other = args.named.iter().find(|(name, _)| !matches!(*name, "attribute" | "default"));
            if let Some((name, _)) = other {
                return Err(self.fail(format!("Unexpected keyword argument '{name}'")));
            }
            let default = args.named.iter().find(|(name, _)| *name == "default").map(|(_, value)| *value);
            let default = default.filter(|default| !matches!(default, Val::None));
            let path = self.attribute_path(Some(*attribute))?.unwrap_or_default();
            return self.lazy(of, LazyStep::Attribute { path, default });
        }
        let Some((name, rest)) = args.positional.split_first() else {
            return Err(self.fail("map requires a filter argument"));
        };
        let args = Arguments { positional: rest.to_vec(), named: args.named.clone() };
        self.lazy(of, LazyStep::Filter { name: *name, args })
    }

    fn filter_select(
        &mut self,
        base: Val<'a>,
        args: &Arguments<'a>,
        by_attribute: bool,
        keeps: bool,
    ) -> Result<Val<'a>, Stop> {
        if !self.truth(base)? {
            return self.iter_value(Source::Empty, "generator");
        }
        let source = self.iterate(base)?;
        let of = self.iter_of(source, "generator")?;
        let mut rest = args.positional.as_slice();
        let mut path = None;
        if by_attribute {
            let Some((attribute, others)) = rest.split_first() else {
                return Err(self.fail("Missing parameter for attribute name"));
            };
            path = Some(self.attribute_path(Some(*attribute))?.unwrap_or_default());
            rest = others;
        }
        let test = rest
            .split_first()
            .map(|(name, rest)| (*name, Arguments { positional: rest.to_vec(), named: args.named.clone() }));
        self.lazy(of, LazyStep::Select { path, test, keeps })
    }

    /// The next item of a lazy filter.
    pub fn advance_lazy(
        &mut self,
        of: &'a Iter<'a>,
        step: &'a LazyStep<'a>,
    ) -> Result<Option<Val<'a>>, Stop> {
        while let Some(item) = self.next(of)? {
            self.step()?;
            match step {
                LazyStep::Filter { name, args } => {
                    let name = self.demand(*name)?;
                    let name = self.text_of(name)?;
                    return match FilterName::find(name) {
                        Some(filter) => self.apply_filter(filter, item, args).map(Some),
                        None => Err(self.fail(format!("No filter named '{name}'."))),
                    };
                }
                LazyStep::Attribute { path, default } => return self.walk(item, path, *default).map(Some),
                LazyStep::Select { path, test, keeps } => {
                    let subject = match path {
                        Some(path) => self.walk(item, path, None)?,
                        None => item,
                    };
                    let holds = match test {
                        Some((name, args)) => self.named_test(*name, subject, args)?,
                        None => self.truth(subject)?,
                    };
                    if holds == *keeps {
                        return Ok(Some(item));
                    }
                }
            }
        }
        Ok(None)
    }

    fn named_test(&mut self, name: Val<'a>, subject: Val<'a>, args: &Arguments<'a>) -> Result<bool, Stop> {
        let name = self.demand(name)?;
        let name = self.text_of(name)?;
        match TestName::find(name) {
            Some(test) => self.holds_test(test, subject, args),
            None => Err(self.fail(format!("No test named '{name}'."))),
        }
    }

    fn filter_batch(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [count, fill] = self.bind("batch", ["linecount", "fill_with"], args)?;
        let count = self.required("batch", count)?;
        let fill = fill.filter(|fill| !matches!(fill, Val::None));
        let mut batches = Vec::new();
        let mut batch = Vec::new();
        for item in self.collect(base)? {
            self.step()?;
            if self.equal(Val::Int(batch.len() as i64), count)? {
                batches.push(self.list(std::mem::take(&mut batch))?);
            }
            batch.push(item);
        }
        if !batch.is_empty() {
            let wanted = match fill {
                Some(_) => usize::try_from(self.int_arg(count)?).unwrap_or(0),
                None => 0,
            };
            if let (Some(fill), true) = (fill, batch.len() < wanted) {
                self.check_room(wanted.saturating_mul(size_of::<Val<'a>>()))?;
                batch.resize(wanted, fill);
            }
            batches.push(self.list(batch)?);
        }
        self.items_iter(batches)
    }

    fn filter_slice(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [slices, fill] = self.bind("slice", ["slices", "fill_with"], args)?;
        let slices = self.required("slice", slices)?;
        let slices = self.int_arg(slices)?;
        let fill = fill.filter(|fill| !matches!(fill, Val::None));
        let items = self.collect(base)?;
        let Ok(slices) = usize::try_from(slices) else { return self.items_iter(Vec::new()) };
        if slices == 0 {
            return Err(self.fail("integer division or modulo by zero"));
        }
        self.check_room(slices.saturating_mul(64))?;
        let (each, longer) = (items.len() / slices, items.len() % slices);
        let mut lists = Vec::new();
        let mut start = 0;
        for number in 0..slices {
            self.step()?;
            let end = start + each + usize::from(number < longer);
            let mut part = items.get(start..end).unwrap_or_default().to_vec();
            part.extend(fill.filter(|_| number >= longer));
            lists.push(self.list(part)?);
            start = end;
        }
        self.items_iter(lists)
    }

    fn filter_sum(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        let [attribute, start] = self.bind("sum", ["attribute", "start"], args)?;
        let path = self.attribute_path(attribute)?.unwrap_or_default();
        let mut sum = self.demand(start.unwrap_or(Val::Int(0)))?;
        if sum.as_text().is_some() {
            return Err(self.fail("sum() can't sum strings [use ''.join(seq) instead]"));
        }
        let mut source = self.iterate(base)?;
        while let Some(item) = self.advance(&mut source)? {
            self.step()?;
            let item = self.walk(item, &path, None)?;
            let item = self.settle(item, self.at)?;
            sum = self.binary(BinaryOp::Add, sum, item)?;
        }
        Ok(sum)
    }

    fn filter_extreme(&mut self, base: Val<'a>, args: &Arguments<'a>, op: &str) -> Result<Val<'a>, Stop> {
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

    fn filter_unique(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    fn filter_sort(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    fn filter_dictsort(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    fn filter_groupby(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    fn filter_random(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        use std::hash::BuildHasher;
        self.bind("random", [], args)?;
        let items = self.collect(base)?;
        let seed = std::hash::RandomState::new().hash_one(items.len());
        match items.get((seed % items.len().max(1) as u64) as usize) {
            Some(item) => Ok(*item),
            None => self.nothing("No random item, sequence was empty."),
        }
    }
}

fn path_of(text: &str) -> Vec<PathStep<'_>> {
    let step = |part| match !str::is_empty(part) && part.bytes().all(|byte| byte.is_ascii_digit()) {
        true => part.parse().map_or(PathStep::Name(part), PathStep::Index),
        false => PathStep::Name(part),
    };
    text.split('.').map(step).collect()
}
