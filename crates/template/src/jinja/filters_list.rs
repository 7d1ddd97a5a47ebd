//! The filters of lists and mappings.

use super::ast::BinaryOp;
use super::builtin::FilterName;
use super::error::Stop;
use super::iter::{Arguments, Source};
use super::machine::Machine;
use super::val::{Val, ViewKind};

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

    pub fn items_source(&mut self, items: Vec<Val<'a>>) -> Result<Source<'a>, Stop> {
        self.charge(items.len() * size_of::<Val<'a>>())?;
        Ok(Source::Items { items: self.store.bump.alloc_slice_copy(&items), at: 0 })
    }

    pub fn items_iter(&mut self, items: Vec<Val<'a>>) -> Result<Val<'a>, Stop> {
        let source = self.items_source(items)?;
        self.iter_value(source, "generator")
    }

    pub fn filter_reverse(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    pub fn filter_join(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    pub fn filter_batch(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    pub fn filter_slice(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    pub fn filter_sum(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
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

    pub fn filter_random(&mut self, base: Val<'a>, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.bind("random", [], args)?;
        let items = self.collect(base)?;
        match items.get((self.random.draw() % items.len().max(1) as u128) as usize) {
            Some(item) => Ok(*item),
            None => self.nothing("No random item, sequence was empty."),
        }
    }
}
