//! Attributes, items and slices.

use super::ast::{Slice, Spot};
use super::error::Stop;
use super::machine::{Machine, needed};
use super::methods;
use super::val::{Object, Range, Undefined, Val};
use crate::python::text;
use crate::run::{Holder, Step};

impl<'a> Machine<'a> {
    /// `of.name`: an attribute of Python's type, else an item of that name, else a missing value.
    pub fn attr(&mut self, of: Val<'a>, name: &'a str, spot: Spot) -> Result<Val<'a>, Stop> {
        let of = self.live(of);
        match self.own_attr(of, name)? {
            Some(value) => Ok(value),
            None => match self.str_item(of, name)? {
                Some(value) => Ok(value),
                None => self.no_part(of, name, spot),
            },
        }
    }

    /// An attribute of the value's type. Names that begin with `_` are out of reach.
    pub fn own_attr(&mut self, of: Val<'a>, name: &'a str) -> Result<Option<Val<'a>>, Stop> {
        if name.starts_with('_') {
            return match of {
                Val::Namespace(members) => Ok(members.borrow().get_str(name)),
                Val::Object(Object::Module(module)) => Ok(module.members.get_str(name)),
                _ => Ok(None),
            };
        }
        let value = match of {
            Val::Namespace(members) => members.borrow().get_str(name),
            Val::Loop(state) => match self.loop_attr(state, name)? {
                Some(value) => Some(value),
                None => return self.method_value(of, name),
            },
            Val::Tuple(tuple) if tuple.is_group => match name {
                "grouper" => tuple.items.first().copied(),
                "list" => tuple.items.get(1).copied(),
                _ => return self.method_value(of, name),
            },
            Val::Object(object) => return self.object_attr(of, object, name),
            Val::Int(_) | Val::Bool(_) | Val::Float(_) | Val::Big(_) => match name {
                "real" => Some(if let Val::Bool(value) = of { Val::Int(i64::from(value)) } else { of }),
                "imag" if matches!(of, Val::Float(_)) => Some(Val::Float(0.0)),
                "imag" => Some(Val::Int(0)),
                "numerator" if !matches!(of, Val::Float(_)) => Some(of.as_int().map_or(of, Val::Int)),
                "denominator" if !matches!(of, Val::Float(_)) => Some(Val::Int(1)),
                _ => return self.method_value(of, name),
            },
            Val::Range(range) => match name {
                "start" => Some(Val::Int(range.start)),
                "stop" => Some(Val::Int(range.stop)),
                "step" => Some(Val::Int(range.step)),
                _ => return self.method_value(of, name),
            },
            _ => return self.method_value(of, name),
        };
        Ok(value)
    }

    fn method_value(&mut self, of: Val<'a>, name: &'a str) -> Result<Option<Val<'a>>, Stop> {
        match methods::has_method(&of, name) {
            true => Ok(Some(self.object(Object::Method { of, name })?)),
            false => Ok(None),
        }
    }

    fn object_attr(
        &mut self,
        of: Val<'a>,
        object: &'a Object<'a>,
        name: &'a str,
    ) -> Result<Option<Val<'a>>, Stop> {
        Ok(match object {
            Object::Module(module) => module.members.get_str(name),
            Object::Macro(value) => match name {
                "name" if value.anonymous => Some(Val::None),
                "name" => Some(Val::Str(&value.definition.name)),
                "arguments" => {
                    let names: Vec<Val<'a>> =
                        value.definition.params.iter().map(|param| Val::Str(&param.name)).collect();
                    Some(self.tuple(&names)?)
                }
                "catch_kwargs" => Some(Val::Bool(value.definition.kwargs.is_some())),
                "catch_varargs" => Some(Val::Bool(value.definition.varargs.is_some())),
                "caller" => Some(Val::Bool(value.definition.caller.is_some())),
                "explicit_caller" => {
                    Some(Val::Bool(value.definition.params.iter().any(|param| param.name == "caller")))
                }
                _ => None,
            },
            Object::Cycler { items, at } => match name {
                "current" => items.get(at.get()).copied(),
                "pos" => Some(Val::Int(at.get() as i64)),
                "items" => Some(self.tuple(items)?),
                _ => return self.method_value(of, name),
            },
            Object::Joiner { separator, used } => match name {
                "sep" => Some(*separator),
                "used" => Some(Val::Bool(used.get())),
                _ => None,
            },
            Object::Blocks(context) => match context.block(name, 0) {
                Some(_) => Some(self.object(Object::Block { name, context, depth: 0 })?),
                None => None,
            },
            Object::Global(_) => return self.method_value(of, name),
            Object::Block { name: block, context, depth } if name == "super" => {
                Some(match context.block(block, depth + 1) {
                    Some(_) => self.object(Object::Block { name: block, context, depth: depth + 1 })?,
                    None => self.undefined_because(format!("there is no parent block called '{block}'."))?,
                })
            }
            _ => None,
        })
    }

    /// The item of a text key.
    fn str_item(&mut self, of: Val<'a>, name: &str) -> Result<Option<Val<'a>>, Stop> {
        Ok(match of {
            Val::DataMap(map) => match map.get(name) {
                Some(value) => Some(self.data(value)?),
                None => None,
            },
            Val::Dict(dict) => dict.borrow().get_str(name),
            Val::Object(Object::Blocks(context)) => {
                let found = context.blocks.borrow().get_key_value(name).map(|(known, _)| *known);
                match found {
                    Some(name) => Some(self.object(Object::Block { name, context, depth: 0 })?),
                    None => None,
                }
            }
            _ => None,
        })
    }

    /// What stands for a part that a value does not have.
    pub fn no_part(&mut self, of: Val<'a>, name: &'a str, spot: Spot) -> Result<Val<'a>, Stop> {
        let step = Step::Key(name.as_bytes());
        match of {
            Val::DataMap(map) => self.absent(Holder::Map(map), step),
            Val::DataList(list) => self.absent(Holder::List(list), step),
            Val::Undefined(undefined) => {
                self.at = spot;
                self.below(undefined, step)
            }
            Val::Gap => Ok(Val::Gap),
            Val::Pending(call) => Err(needed(call)),
            _ => self.absent(Holder::Unknown, step),
        }
    }

    /// `of[key]`: an item, else for a text an attribute, else a missing value.
    pub fn item(&mut self, of: Val<'a>, key: Val<'a>, spot: Spot) -> Result<Val<'a>, Stop> {
        let of = self.live(of);
        match of {
            Val::Undefined(undefined) => {
                let step = self.step_of(key)?;
                return self.below(undefined, step);
            }
            Val::Gap => return Ok(Val::Gap),
            Val::Pending(call) => return Err(needed(call)),
            _ => {}
        }
        if let (Val::Undefined(_), true) = (key, self.has_no_keys(of)) {
            return Ok(key);
        }
        let key = self.settle(key, self.at)?;
        if let Some(value) = self.find_item(of, key)? {
            return Ok(value);
        }
        if let Some(name) = key.as_text() {
            if let Some(value) = self.own_attr(of, name)? {
                return Ok(value);
            }
            return self.no_part(of, name, spot);
        }
        let step = self.step_of(key)?;
        match of {
            Val::DataMap(map) => self.absent(Holder::Map(map), step),
            Val::DataList(list) => self.absent(Holder::List(list), step),
            _ => self.absent(Holder::Unknown, step),
        }
    }

    /// Whether an undefined key finds nothing in a value, as in a list, without being needed.
    fn has_no_keys(&self, of: Val<'a>) -> bool {
        !matches!(
            of,
            Val::DataMap(_)
                | Val::Dict(_)
                | Val::Undefined(_)
                | Val::Unset
                | Val::Gap
                | Val::Pending(_)
                | Val::Object(_)
        )
    }

    fn step_of(&mut self, key: Val<'a>) -> Result<Step<'a>, Stop> {
        Ok(match key.as_int() {
            Some(index) => Step::Index(index),
            None => Step::Key(self.text_of(key)?.as_bytes()),
        })
    }

    /// The item of a key, if the value has it.
    pub fn find_item(&mut self, of: Val<'a>, key: Val<'a>) -> Result<Option<Val<'a>>, Stop> {
        match self.live(of) {
            Val::DataMap(map) => match key.as_text() {
                Some(name) => match map.get(name) {
                    Some(value) => Ok(Some(self.data(value)?)),
                    None => Ok(None),
                },
                None => Ok(None),
            },
            Val::Dict(dict) => match self.hashable(key) {
                true => {
                    let key = self.key(key)?;
                    Ok(dict.borrow().get(&key))
                }
                false => Ok(None),
            },
            Val::Str(whole) | Val::Markup(whole) => {
                self.work(whole.len() / 16)?;
                Ok(key.as_int().and_then(|at| text::char_at(whole, at)).map(Val::Str))
            }
            Val::View(_) | Val::Iter(_) => Ok(None),
            Val::Object(Object::Blocks(_)) => match key.as_text() {
                Some(name) => self.str_item(of, name),
                None => Ok(None),
            },
            of => {
                let (Some(len), Some(at)) = (self.known_len(of), key.as_int()) else { return Ok(None) };
                match index(at, len) {
                    Some(at) => self.part(of, at),
                    None => Ok(None),
                }
            }
        }
    }

    /// Whether a value can be a key of a `dict`.
    pub fn hashable(&self, value: Val<'a>) -> bool {
        match value {
            Val::DataList(_) | Val::DataMap(_) | Val::List(_) | Val::Dict(_) | Val::View(_) => false,
            Val::Tuple(tuple) => tuple.items.iter().all(|item| match item {
                // Deeper tuples are checked as the key is made.
                Val::Tuple(_) => true,
                item => self.hashable(*item),
            }),
            _ => true,
        }
    }

    /// `of[start:stop:step]`.
    pub fn slice(&mut self, slice: &'a Slice, spot: Spot) -> Result<Val<'a>, Stop> {
        let of = self.value(&slice.of)?;
        let mut bounds = [None; 3];
        for (bound, expr) in bounds.iter_mut().zip([&slice.start, &slice.stop, &slice.step]) {
            let Some(expr) = expr else { continue };
            let value = self.value(expr)?;
            self.at = spot;
            *bound = match value {
                Val::None | Val::Gap => None,
                Val::Big(value) => {
                    Some(if value.sign() == num_bigint::Sign::Minus { i64::MIN } else { i64::MAX })
                }
                value => match value.as_int() {
                    Some(value) => Some(value),
                    None => {
                        return Err(
                            self.fail("slice indices must be integers or None or have an __index__ method")
                        );
                    }
                },
            };
        }
        self.at = spot;
        let [start, stop, step] = bounds;
        if step == Some(0) {
            return Err(self.fail("slice step cannot be zero"));
        }
        self.slice_of(of, start, stop, step.unwrap_or(1))
    }

    fn slice_of(
        &mut self,
        of: Val<'a>,
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
    ) -> Result<Val<'a>, Stop> {
        let of = self.live(of);
        match of {
            Val::Str(whole) => {
                self.work(whole.len())?;
                self.check_room(whole.len())?;
                self.cow(text::slice(whole, start, stop, step))
            }
            Val::Markup(whole) => {
                self.work(whole.len())?;
                let part = text::slice(whole, start, stop, step);
                Ok(Val::Markup(self.alloc_str(&part)?))
            }
            Val::Gap => Ok(Val::Gap),
            Val::Undefined(Undefined::Own(_) | Undefined::Absent(_) | Undefined::Blank) => self.demand(of),
            Val::Range(range) => {
                let [start, stop] = slice_bounds(range.len() as usize, start, stop, step);
                let pace = range.step.saturating_mul(step);
                let place = |at: i64| range.start.saturating_add(range.step.saturating_mul(at));
                let (start, stop) = (place(start), place(stop));
                self.charge(size_of::<Range>())?;
                Ok(Val::Range(self.store.bump.alloc(Range { start, stop, step: pace })))
            }
            Val::DataList(_) | Val::List(_) | Val::Tuple(_) => {
                let len = self.known_len(of).unwrap_or(0);
                let (first, count) = slice_positions(len, start, stop, step);
                self.check_room(count * size_of::<Val<'a>>())?;
                self.work_items(count)?;
                let mut items = Vec::with_capacity(count);
                for turn in 0..count as i64 {
                    let at = (first as i64).saturating_add(turn.saturating_mul(step));
                    items.extend(usize::try_from(at).ok().map(|at| self.part(of, at)).transpose()?.flatten());
                }
                match of {
                    Val::Tuple(_) => self.tuple(&items),
                    _ => self.list(items),
                }
            }
            Val::DataMap(_) | Val::Dict(_) => Err(self.fail("unhashable type: 'slice'")),
            _ => Err(self.fail(format!("'{}' object is not subscriptable", of.type_name()))),
        }
    }
}

/// The position of an index that counts from the end if it is negative.
pub(super) fn index(at: i64, len: usize) -> Option<usize> {
    let at = if at < 0 { at.checked_add(i64::try_from(len).ok()?)? } else { at };
    usize::try_from(at).ok().filter(|at| *at < len)
}

/// The first position of a slice, and the one after its last, which may be -1.
fn slice_bounds(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> [i64; 2] {
    let len = len as i64;
    let (low, high) = if step < 0 { (-1, len - 1) } else { (0, len) };
    let place = |bound: i64| {
        let bound = if bound < 0 { bound.saturating_add(len) } else { bound };
        bound.clamp(low, high)
    };
    let start = start.map_or(if step < 0 { high } else { low }, place);
    let stop = stop.map_or(if step < 0 { low } else { high }, place);
    [start, stop]
}

/// The first position of a slice, and how many it has.
fn slice_positions(len: usize, start: Option<i64>, stop: Option<i64>, step: i64) -> (usize, usize) {
    let [start, stop] = slice_bounds(len, start, stop, step);
    let way = if step < 0 { start - stop } else { stop - start };
    let pace = step.unsigned_abs();
    let count = if way <= 0 { 0 } else { (way as u64).div_ceil(pace) };
    (usize::try_from(start).unwrap_or(0), count as usize)
}
