//! Makes values in the arena of the run, and counts their memory.

use std::borrow::Cow;
use std::cell::RefCell;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::dict::{Dict, ENTRY_BYTES, Key};
use super::error::Stop;
use super::iter::{Deferred, Iter, LazyStep, Source};
use super::machine::{Machine, address};
use super::val::{Object, Undefined, Val, View, ViewKind};
use crate::python::number::Int;
use crate::value::Value;

/// How deep values may nest that are printed, compared or converted.
pub(super) const NESTING_MAX: usize = 500;

impl<'a> Machine<'a> {
    /// Copies a text into the arena.
    pub fn alloc_str(&mut self, text: &str) -> Result<&'a str, Stop> {
        if text.is_empty() {
            return Ok("");
        }
        self.check_text(text.len())?;
        self.charge(text.len() + 16)?;
        self.work(text.len())?;
        Ok(self.store.bump.alloc_str(text))
    }

    /// Makes a text.
    pub fn str(&mut self, text: impl AsRef<str>) -> Result<Val<'a>, Stop> {
        Ok(Val::Str(self.alloc_str(text.as_ref())?))
    }

    /// Makes a text of one that may be a part of another.
    pub fn cow(&mut self, text: Cow<'a, str>) -> Result<Val<'a>, Stop> {
        match text {
            Cow::Borrowed(text) => Ok(Val::Str(text)),
            Cow::Owned(text) => self.str(text),
        }
    }

    /// Whether a text may have so many bytes. No operation on a text can be interrupted, so that each must be short.
    #[inline]
    pub fn check_text(&self, bytes: usize) -> Result<(), Stop> {
        match bytes <= self.text_room() {
            true => Ok(()),
            false => Err(self.too_long_text()),
        }
    }

    /// Whether values of so many bytes still fit.
    #[inline]
    pub fn check_room(&self, bytes: usize) -> Result<(), Stop> {
        match bytes <= self.room {
            true => Ok(()),
            false => Err(self.out_of_memory()),
        }
    }

    /// Makes a list.
    pub fn list(&mut self, items: Vec<Val<'a>>) -> Result<Val<'a>, Stop> {
        self.charge(items.len() * size_of::<Val<'a>>() + 64)?;
        Ok(Val::List(self.store.lists.alloc(RefCell::new(items))))
    }

    /// Makes an empty `dict`.
    pub fn new_dict(&mut self) -> Result<&'a RefCell<Dict<'a>>, Stop> {
        self.charge(size_of::<Dict<'a>>() + 16)?;
        Ok(self.store.dicts.alloc(RefCell::default()))
    }

    /// Puts a value into a `dict`.
    pub fn dict_insert(
        &mut self,
        dict: &'a RefCell<Dict<'a>>,
        name: Val<'a>,
        value: Val<'a>,
    ) -> Result<(), Stop> {
        let key = self.key(name)?;
        self.charge(ENTRY_BYTES)?;
        dict.borrow_mut().insert(key, name, value);
        Ok(())
    }

    /// Makes an integer of any size.
    pub fn big(&mut self, value: BigInt) -> Result<Val<'a>, Stop> {
        if let Some(small) = value.to_i64() {
            return Ok(Val::Int(small));
        }
        self.charge(value.bits() as usize / 8 + 32)?;
        Ok(Val::Big(self.store.bigs.alloc(value)))
    }

    /// Makes an integer.
    pub fn int(&mut self, value: Int) -> Result<Val<'a>, Stop> {
        match value {
            Int::Small(value) => Ok(Val::Int(value)),
            Int::Big(value) => self.big(value),
        }
    }

    pub fn object(&mut self, object: Object<'a>) -> Result<Val<'a>, Stop> {
        self.charge(size_of::<Object<'a>>())?;
        Ok(Val::Object(self.store.objects.alloc(object)))
    }

    pub fn view(&mut self, of: Val<'a>, kind: ViewKind) -> Result<Val<'a>, Stop> {
        self.charge(size_of::<View<'a>>())?;
        Ok(Val::View(self.store.bump.alloc(View { of, kind })))
    }

    /// Makes an iterator.
    pub fn iter_value(&mut self, source: Source<'a>, type_name: &'static str) -> Result<Val<'a>, Stop> {
        Ok(Val::Iter(self.iter_of(source, type_name)?))
    }

    /// Makes the iterator of a lazy filter.
    pub fn lazy(&mut self, of: &'a Iter<'a>, step: LazyStep<'a>) -> Result<Val<'a>, Stop> {
        self.charge(size_of::<LazyStep<'a>>())?;
        let step = self.store.steps.alloc(step);
        self.iter_value(Source::Lazy { of, step }, "generator")
    }

    /// Makes the iterator of a filter that begins when its first item is asked for.
    pub fn deferred(&mut self, deferred: Deferred<'a>) -> Result<Val<'a>, Stop> {
        let args = deferred.args.positional.len() + deferred.args.named.len();
        self.charge(size_of::<Deferred<'a>>() + args * size_of::<(&str, Val<'a>)>())?;
        let deferred = self.store.deferred.alloc(deferred);
        self.iter_value(Source::Deferred(deferred), "generator")
    }

    /// A part of the data as a value, or the changed copy that stands for it.
    #[inline]
    pub fn data(&mut self, value: &'a Value) -> Result<Val<'a>, Stop> {
        match value {
            Value::UInt(value) => self.big(BigInt::from(*value)),
            value => Ok(self.live(Val::data(value))),
        }
    }

    /// Makes a value of plain data, such as the result of a function.
    pub fn plain(&mut self, value: Value) -> Result<Val<'a>, Stop> {
        self.charge(value.bytes_up_to(self.room.saturating_add(1)))?;
        let value = self.store.values.alloc(value);
        self.data(value)
    }

    /// A list or `dict` that can be changed in place: one of the data gets a copy that stands for it from now on.
    pub fn changeable(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        let value = self.live(value);
        let Some(address) = address(&value) else { return Ok(value) };
        let copy = self.shallow_copy(value)?;
        self.charge(2 * size_of::<(usize, Val<'a>)>())?;
        self.changed.insert(address, copy);
        Ok(copy)
    }

    /// A new list or `dict` with the same parts.
    pub fn shallow_copy(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match self.live(value) {
            Val::DataMap(map) => {
                let dict = self.new_dict()?;
                for (name, value) in map.iter() {
                    let value = self.data(value)?;
                    self.dict_insert(dict, Val::Str(name), value)?;
                    self.work_items(1)?;
                }
                Ok(Val::Dict(dict))
            }
            Val::Dict(old) => {
                let dict = self.new_dict()?;
                let count = old.borrow().len();
                self.charge(count * ENTRY_BYTES)?;
                self.work_items(count)?;
                for (key, name, value) in old.borrow().entries() {
                    dict.borrow_mut().insert(key.clone(), name, value);
                }
                Ok(Val::Dict(dict))
            }
            other => {
                let items = self.collect(other)?;
                self.list(items)
            }
        }
    }

    /// The key of a `dict` for a value.
    pub fn key(&mut self, value: Val<'a>) -> Result<Key<'a>, Stop> {
        self.key_at(value, 0)
    }

    fn key_at(&mut self, value: Val<'a>, depth: usize) -> Result<Key<'a>, Stop> {
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        Ok(match value {
            Val::Str(text) | Val::Markup(text) => {
                self.work(text.len())?;
                Key::Str(text)
            }
            Val::Int(value) => Key::Int(value),
            Val::Bool(value) => Key::Int(i64::from(value)),
            Val::None => Key::None,
            Val::Float(value) => Key::of_float(value),
            Val::Big(value) => Key::Big(value.clone()),
            Val::Bytes(bytes) => Key::Bytes(bytes),
            Val::Tuple(tuple) => {
                self.charge(size_of_val(tuple.items))?;
                let mut keys = Vec::with_capacity(tuple.items.len());
                for item in tuple.items {
                    self.step()?;
                    keys.push(self.with_stack(|machine| machine.key_at(*item, depth + 1))?);
                }
                Key::Tuple(keys)
            }
            Val::Range(range) => Key::Tuple(vec![
                Key::Int(range.start),
                Key::Int(range.stop),
                Key::Int(range.step),
                Key::Identity(0),
            ]),
            Val::Object(object) => Key::Identity(std::ptr::from_ref(object) as usize),
            Val::Loop(state) => Key::Identity(std::ptr::from_ref(state) as usize),
            Val::Namespace(members) => Key::Identity(std::ptr::from_ref(members) as usize),
            Val::Iter(iter) => Key::Identity(std::ptr::from_ref(iter) as usize),
            Val::Undefined(Undefined::Blank) => Key::Identity(1),
            Val::Undefined(_) if self.lenient => Key::Identity(1),
            Val::Unset | Val::Gap => Key::None,
            Val::Undefined(_) | Val::Pending(_) => {
                self.demand(value)?;
                Key::None
            }
            Val::DataList(_) | Val::DataMap(_) | Val::List(_) | Val::Dict(_) | Val::View(_) => {
                return Err(self.fail(format!("unhashable type: '{}'", value.type_name())));
            }
        })
    }

    /// The error for values that nest too deep, or contain themselves.
    #[cold]
    pub fn too_deep(&self) -> Stop {
        Box::new(crate::RunError::Limit { what: "nesting", limit: NESTING_MAX as u64 })
    }
}
