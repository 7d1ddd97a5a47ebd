//! The methods of `list`, `tuple` and `dict`.

use std::cell::RefCell;

use super::access::index;
use super::dict::{Dict, ENTRY_BYTES};
use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::{Val, ViewKind};

impl<'a> Machine<'a> {
    pub fn list_method(&mut self, of: Val<'a>, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        match name {
            "count" | "index" => return self.sequence_method(of, name, args),
            "copy" => {
                self.none(name, args)?;
                return self.shallow_copy(of);
            }
            _ => {}
        }
        let Val::List(list) = self.changeable(of)? else { return Ok(Val::None) };
        let len = list.borrow().len();
        match name {
            "append" => {
                let [item] = self.bind(name, [""], args)?;
                let Some(item) = item else {
                    return Err(self.fail("append() takes exactly one argument (0 given)"));
                };
                self.charge(size_of::<Val<'a>>())?;
                list.borrow_mut().push(item);
            }
            "extend" => {
                let items = self.one(name, args)?;
                let items = self.collect(items)?;
                self.charge(items.len() * size_of::<Val<'a>>())?;
                list.borrow_mut().extend(items);
            }
            "insert" => {
                let [at, item] = self.bind(name, ["", ""], args)?;
                let (Some(at), Some(item)) = (at, item) else {
                    return Err(self.fail("insert expected 2 arguments"));
                };
                let at = self.int_arg(at)?;
                self.charge(size_of::<Val<'a>>())?;
                self.work_items(len / 16)?;
                let at = if at < 0 { at.saturating_add(len as i64).max(0) } else { at.min(len as i64) };
                list.borrow_mut().insert(at as usize, item);
            }
            "pop" => {
                let [at] = self.bind(name, [""], args)?;
                let at = at.map_or(Ok(-1), |at| self.int_arg(at))?;
                self.work_items(len / 16)?;
                if len == 0 {
                    return Err(self.fail("pop from empty list"));
                }
                return match index(at, len) {
                    Some(at) => Ok(list.borrow_mut().remove(at)),
                    None => Err(self.fail("pop index out of range")),
                };
            }
            "remove" => {
                let [Some(item)] = self.bind(name, [""], args)? else {
                    return Err(self.fail("remove() takes exactly one argument (0 given)"));
                };
                match self.position_of(Val::List(list), item, 0, len)? {
                    Some(at) => {
                        list.borrow_mut().remove(at);
                    }
                    None => return Err(self.fail("list.remove(x): x not in list")),
                }
            }
            "clear" => {
                self.none(name, args)?;
                list.borrow_mut().clear();
            }
            "reverse" => {
                self.none(name, args)?;
                self.work_items(len)?;
                list.borrow_mut().reverse();
            }
            _ => {
                let [key, reverse] = self.bind(name, ["key", "reverse"], args)?;
                if key.is_some_and(|key| !matches!(key, Val::None)) {
                    return Err(self.fail("list.sort() takes no key function here: use the filter `sort`"));
                }
                let reverse = self.flag(reverse)?;
                let items = list.borrow().clone();
                let sorted = self.sorted(items, reverse)?;
                list.replace(sorted);
            }
        }
        Ok(Val::None)
    }

    /// `count` and `index` of a list, a tuple or a range.
    pub fn sequence_method(
        &mut self,
        of: Val<'a>,
        name: &str,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        let len = self.known_len(of).unwrap_or(0);
        if name == "count" {
            let [Some(item)] = self.bind(name, [""], args)? else {
                return Err(self.fail("count() takes exactly one argument (0 given)"));
            };
            if let (Val::Range(_), true) = (of, item.is_number()) {
                return Ok(Val::Int(i64::from(self.contains(of, item)?)));
            }
            let mut count = 0;
            let mut at = 0;
            while let Some(part) = self.part(of, at)? {
                self.step()?;
                count += i64::from(part.is_same(&item) || self.equal(part, item)?);
                at += 1;
            }
            return Ok(Val::Int(count));
        }
        let [item, start, stop] = self.bind(name, ["", "", ""], args)?;
        let item = self.required(name, item)?;
        let bound = |bound: i64| {
            let bound = if bound < 0 { bound.saturating_add(len as i64) } else { bound };
            bound.clamp(0, len as i64) as usize
        };
        let start = self.int_option(start)?.map_or(0, bound);
        let stop = self.int_option(stop)?.map_or(len, bound);
        match self.position_of(of, item, start, stop)? {
            Some(at) => Ok(Val::Int(at as i64)),
            None => {
                let mut shown = String::new();
                self.write_repr(&mut shown, item, &mut Vec::new())?;
                let shown: String = shown.chars().take(200).collect();
                Err(self.fail(format!("{shown} is not in {}", of.type_name())))
            }
        }
    }

    fn position_of(
        &mut self,
        of: Val<'a>,
        item: Val<'a>,
        start: usize,
        stop: usize,
    ) -> Result<Option<usize>, Stop> {
        for at in start..stop {
            self.step()?;
            let Some(part) = self.part(of, at)? else { break };
            if part.is_same(&item) || self.equal(part, item)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    pub fn dict_method(&mut self, of: Val<'a>, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        match name {
            "get" => {
                let [key, default] = self.bind(name, ["", ""], args)?;
                let Some(key) = key else { return Err(self.fail("get expected at least 1 argument, got 0")) };
                let key = self.settle(key, self.at)?;
                self.check_key(key)?;
                Ok(match self.find_item(of, key)? {
                    Some(value) => value,
                    None => default.unwrap_or(Val::None),
                })
            }
            "items" | "keys" | "values" => {
                self.none(name, args)?;
                let kind = match name {
                    "items" => ViewKind::Items,
                    "keys" => ViewKind::Keys,
                    _ => ViewKind::Values,
                };
                self.view(of, kind)
            }
            "copy" => {
                self.none(name, args)?;
                self.shallow_copy(of)
            }
            "fromkeys" => {
                let [keys, value] = self.bind(name, ["", ""], args)?;
                let Some(keys) = keys else {
                    return Err(self.fail("fromkeys expected at least 1 argument, got 0"));
                };
                let keys = self.settle(keys, self.at)?;
                let dict = self.new_dict()?;
                for key in self.collect(keys)? {
                    self.dict_insert(dict, key, value.unwrap_or(Val::None))?;
                }
                Ok(Val::Dict(dict))
            }
            _ => {
                let Val::Dict(dict) = self.changeable(of)? else { return Ok(Val::None) };
                self.change_dict(dict, name, args)
            }
        }
    }

    pub fn check_key(&mut self, key: Val<'a>) -> Result<(), Stop> {
        match self.hashable(key) {
            true => Ok(()),
            false => Err(self.fail(format!("unhashable type: '{}'", key.type_name()))),
        }
    }

    fn change_dict(
        &mut self,
        dict: &'a RefCell<Dict<'a>>,
        name: &str,
        args: &Arguments<'a>,
    ) -> Result<Val<'a>, Stop> {
        match name {
            "pop" => {
                let [key, default] = self.bind(name, ["", ""], args)?;
                let name = self.required(name, key)?;
                let key = self.key(name)?;
                self.work_items(dict.borrow().len() / 4)?;
                let removed = dict.borrow_mut().remove(&key);
                match removed.or(default) {
                    Some(value) => Ok(value),
                    None => {
                        let mut shown = String::new();
                        self.write_repr(&mut shown, name, &mut Vec::new())?;
                        Err(self.fail(shown))
                    }
                }
            }
            "popitem" => {
                self.none(name, args)?;
                let popped = dict.borrow_mut().pop();
                match popped {
                    Some((name, value)) => self.tuple(&[name, value]),
                    None => Err(self.fail("popitem(): dictionary is empty")),
                }
            }
            "setdefault" => {
                let [key, default] = self.bind(name, ["", ""], args)?;
                let name = self.required(name, key)?;
                let key = self.key(name)?;
                if let Some(value) = dict.borrow().get(&key) {
                    return Ok(value);
                }
                let value = default.unwrap_or(Val::None);
                self.dict_insert(dict, name, value)?;
                Ok(value)
            }
            "clear" => {
                self.none(name, args)?;
                dict.borrow_mut().clear();
                Ok(Val::None)
            }
            _ => {
                self.dict_fill(dict, "update", args)?;
                Ok(Val::None)
            }
        }
    }

    /// Puts what `dict(…)` and `update(…)` are given into a `dict`: a mapping or pairs, and named arguments.
    pub fn dict_fill(
        &mut self,
        dict: &'a RefCell<Dict<'a>>,
        function: &str,
        args: &Arguments<'a>,
    ) -> Result<(), Stop> {
        match args.positional.as_slice() {
            [] => {}
            [from] => {
                let from = self.demand(*from)?;
                self.dict_update(dict, from)?;
            }
            more => {
                let got = more.len();
                return Err(self.fail(format!("{function} expected at most 1 argument, got {got}")));
            }
        }
        for (name, value) in &args.named {
            self.charge(ENTRY_BYTES)?;
            dict.borrow_mut().insert_str(name, *value);
        }
        Ok(())
    }

    /// Puts the entries of a mapping, or pairs, into a `dict`.
    pub fn dict_update(&mut self, dict: &'a RefCell<Dict<'a>>, from: Val<'a>) -> Result<(), Stop> {
        let from = self.live(from);
        if let Val::DataMap(_) | Val::Dict(_) = from {
            let mut at = 0;
            while let Some((name, value)) = self.map_entry(from, at)? {
                self.step()?;
                self.dict_insert(dict, name, value)?;
                at += 1;
            }
            return Ok(());
        }
        for (at, pair) in self.collect(from)?.into_iter().enumerate() {
            self.step()?;
            let pair = self.settle(pair, self.at)?;
            if !self.is_iterable(pair) {
                return Err(self
                    .fail(format!("cannot convert dictionary update sequence element #{at} to a sequence")));
            }
            match self.collect(pair)?.as_slice() {
                [name, value] => self.dict_insert(dict, *name, *value)?,
                other => {
                    let len = other.len();
                    return Err(self.fail(format!(
                        "dictionary update sequence element #{at} has length {len}; 2 is required"
                    )));
                }
            }
        }
        Ok(())
    }
}
