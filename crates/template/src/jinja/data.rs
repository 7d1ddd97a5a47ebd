//! Our value tree as objects of the engine, shared and not copied, and the way back.

use std::sync::Arc;

use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, Value as Engine};

use super::missing::{self, Missing, Parent, step_of};
use super::run::{self, Lookup};
use crate::value::{List, Map, SmolStr, Value};

/// Strings up to this many bytes are stored inside an engine value.
const ENGINE_INLINE: usize = 22;
/// How deep a value may nest that a template hands to a function.
const DEEPEST: usize = 64;

/// The engine's view of a value; big parts stay where they are.
pub(super) fn to_engine(value: &Value) -> Engine {
    match value {
        Value::Null => Engine::from(()),
        Value::Bool(value) => Engine::from(*value),
        Value::Int(value) => Engine::from(*value),
        Value::UInt(value) => Engine::from(*value),
        Value::Float(value) => Engine::from(*value),
        Value::Str(text) => text_to_engine(text),
        Value::List(list) => Engine::from_dyn_object(list.clone()),
        Value::Map(map) => Engine::from_dyn_object(map.clone()),
    }
}

fn text_to_engine(text: &SmolStr) -> Engine {
    if text.len() <= ENGINE_INLINE {
        Engine::from(text.as_str())
    } else {
        Engine::from(Arc::<str>::from(text.clone()))
    }
}

/// A value of the engine as one of ours; parts that are ours already are shared.
pub(super) fn from_engine(value: &Engine) -> Result<Value, Error> {
    convert(value, 0)
}

fn convert(value: &Engine, depth: usize) -> Result<Value, Error> {
    run::work(0)?;
    if depth > DEEPEST {
        return Err(Error::new(ErrorKind::InvalidOperation, "the value nests too deep"));
    }
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => Ok(Value::Null),
        ValueKind::Bool => Ok(Value::Bool(value.is_true())),
        ValueKind::Number => Ok(number(value)),
        ValueKind::String => Ok(Value::Str(text_of(value))),
        _ => container(value, depth),
    }
}

fn number(value: &Engine) -> Value {
    if !value.is_integer() {
        return Value::Float(f64::try_from(value.clone()).unwrap_or(f64::NAN));
    }
    match (i64::try_from(value.clone()), u64::try_from(value.clone())) {
        (Ok(n), _) => Value::Int(n),
        (Err(_), Ok(n)) => Value::UInt(n),
        (Err(_), Err(_)) => Value::Float(i128::try_from(value.clone()).map_or(f64::NAN, |n| n as f64)),
    }
}

fn text_of(value: &Engine) -> SmolStr {
    match (value.as_str(), value.to_str()) {
        (Some(text), Some(shared)) if text.len() > ENGINE_INLINE => SmolStr::from(shared),
        (Some(text), _) => SmolStr::new(text),
        (None, _) => SmolStr::default(),
    }
}

fn container(value: &Engine, depth: usize) -> Result<Value, Error> {
    if let Some(map) = value.downcast_object::<Map>() {
        return Ok(Value::Map(map));
    }
    if let Some(list) = value.downcast_object::<List>() {
        return Ok(Value::List(list));
    }
    if let Some(missing) = missing::as_missing(value) {
        run::record(&missing);
    }
    if !missing::is_there(value) {
        return Ok(Value::Null);
    }
    match value.kind() {
        ValueKind::Map => pairs(value, depth),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.checked().map(|item| convert(&item?, depth + 1));
            Ok(Value::from(items.collect::<Result<Vec<_>, _>>()?))
        }
        kind => Err(Error::new(ErrorKind::InvalidOperation, format!("cannot pass a {kind} to a function"))),
    }
}

fn pairs(value: &Engine, depth: usize) -> Result<Value, Error> {
    let pairs = value.as_object().and_then(|object| object.try_iter_pairs()).into_iter().flatten();
    let entries = pairs.map(|(key, value)| {
        let key = key.as_str().map_or_else(|| SmolStr::new(key.to_string()), SmolStr::new);
        Ok((key, convert(&value, depth + 1)?))
    });
    Ok(Value::from(Map::from_entries(entries.collect::<Result<Vec<_>, Error>>()?)))
}

/// What an absent member or element is for the engine just now.
fn absent(miss: impl FnOnce() -> Arc<Missing>) -> Option<Engine> {
    let lookup = run::with(|run| run.lookup()).unwrap_or(Lookup::Absent);
    if lookup == Lookup::Absent {
        return None;
    }
    let miss = miss();
    if lookup == Lookup::Record {
        run::record(&miss);
    }
    Some(Engine::from_dyn_object(miss))
}

impl Object for Map {
    fn get_value(self: &Arc<Self>, key: &Engine) -> Option<Engine> {
        match key.as_str() {
            Some(key) => self.get_value_by_str(key),
            None => absent(|| Missing::new(Parent::Map(self.clone()), step_of(key))),
        }
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Engine> {
        match self.get(key) {
            Some(value) => Some(to_engine(value)),
            None => absent(|| Missing::member(Parent::Map(self.clone()), key)),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let map = match self.flattened() {
            std::borrow::Cow::Borrowed(_) => self.clone(),
            std::borrow::Cow::Owned(flat) => Arc::new(flat),
        };
        let end = map.len();
        Enumerator::KeyValueIter(Box::new(Walk { of: map, at: 0, end }))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.len())
    }
}

impl Object for List {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Engine) -> Option<Engine> {
        match key.as_usize().and_then(|index| self.get(index)) {
            Some(value) => Some(to_engine(value)),
            None => absent(|| Missing::new(Parent::List(self.clone()), step_of(key))),
        }
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Iter(Box::new(Walk { of: self.clone(), at: 0, end: self.len() }))
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.len())
    }
}

/// A walk over a container that keeps an eye on the clock.
struct Walk<C> {
    of: Arc<C>,
    at: usize,
    end: usize,
}

trait Entries {
    type Entry;
    /// The entry at `index`.
    fn entry(&self, index: usize) -> Option<Self::Entry>;
    /// An entry that makes the engine stop with `error`.
    fn from_error(error: Error) -> Self::Entry;
}

impl Entries for List {
    type Entry = Engine;

    fn entry(&self, index: usize) -> Option<Engine> {
        self.get(index).map(to_engine)
    }

    fn from_error(error: Error) -> Engine {
        Engine::from(error)
    }
}

impl Entries for Map {
    type Entry = (Engine, Engine);

    fn entry(&self, index: usize) -> Option<(Engine, Engine)> {
        self.entry_at(index).map(|(key, value)| (text_to_engine(key), to_engine(value)))
    }

    fn from_error(error: Error) -> (Engine, Engine) {
        (Engine::from(error), Engine::UNDEFINED)
    }
}

impl<C: Entries> Iterator for Walk<C> {
    type Item = C::Entry;

    fn next(&mut self) -> Option<C::Entry> {
        if self.at >= self.end {
            return None;
        }
        if let Err(error) = run::work(0) {
            self.at = self.end;
            return Some(C::from_error(error));
        }
        self.at += 1;
        self.of.entry(self.at - 1)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.saturating_sub(self.at);
        (left, Some(left))
    }
}
