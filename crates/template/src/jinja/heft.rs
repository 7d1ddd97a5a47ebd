//! Estimates how long an operation of the engine takes that cannot be interrupted, from the sizes of its operands.

use minijinja::value::{DynObject, Kwargs, ObjectRepr, from_args};
use minijinja::{Error, Value as Engine};

use super::run::{self, Lookup};
use crate::value::{List, Map, Value};

/// The most of our own data in one place whose size is measured, in bytes.
const DATA_BYTES: usize = 16 << 20;

/// What comparing takes for a byte of text, in fractions of a nanosecond (letters of one case), and for a part of a container.
const BYTES_A_NANOSECOND: u64 = 4;
const PART_NANOSECONDS: u64 = 20;

/// What turning a byte of text into another one takes: letters into those of the other case, text into escaped text.
const CHANGE_NANOSECONDS: u64 = 4;

/// How much an operation may have to look at: shared parts count each time.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Heft {
    /// Bytes of text.
    bytes: u64,
    /// Values.
    parts: u64,
}

impl Heft {
    /// The heft of a value, which the caller has [checked](super::print::check).
    pub fn of(value: &Engine) -> Result<Heft, Error> {
        let mut heft = Heft::default();
        heft.add(value)?;
        Ok(heft)
    }

    fn add(&mut self, value: &Engine) -> Result<(), Error> {
        run::work(0)?;
        self.parts = self.parts.saturating_add(1);
        match (value.as_str(), value.as_object()) {
            (Some(text), _) => self.bytes = self.bytes.saturating_add(text.len() as u64),
            (None, Some(object)) => self.add_object(object)?,
            (None, None) => {}
        }
        Ok(())
    }

    fn add_object(&mut self, object: &DynObject) -> Result<(), Error> {
        if let Some(list) = object.downcast_ref::<List>() {
            return list.0.iter().try_for_each(|value| self.add_data(value));
        }
        if let Some(map) = object.downcast_ref::<Map>() {
            return map.iter().try_for_each(|(_, value)| self.add_data(value));
        }
        match object.repr() {
            ObjectRepr::Map => object
                .try_iter_pairs()
                .into_iter()
                .flatten()
                .try_for_each(|(key, value)| self.add(&key).and_then(|()| self.add(&value))),
            ObjectRepr::Seq | ObjectRepr::Iterable => {
                object.try_iter().into_iter().flatten().try_for_each(|item| self.add(&item))
            }
            _ => Ok(()),
        }
    }

    fn add_data(&mut self, value: &Value) -> Result<(), Error> {
        let bytes = value.bytes_up_to(DATA_BYTES);
        run::work(bytes)?;
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.parts = self.parts.saturating_add(1);
        Ok(())
    }

    /// What comparing all of it once takes, in nanoseconds.
    fn compared(self) -> u64 {
        (self.bytes / BYTES_A_NANOSECOND).saturating_add(self.parts.saturating_mul(PART_NANOSECONDS))
    }

    /// The same when each text is turned into lower case before.
    fn folded(self) -> u64 {
        self.compared().saturating_add(self.bytes.saturating_mul(CHANGE_NANOSECONDS))
    }
}

/// Before a value is compared with another one.
pub(super) fn comparison(value: &Engine) -> Result<(), Error> {
    run::heavy(Heft::of(value)?.compared())
}

/// Before a value is looked for among the items of a container.
pub(super) fn search(value: &Engine, container: &Engine) -> Result<(), Error> {
    let (one, all) = (Heft::of(value)?, Heft::of(container)?);
    let each = one.compared().saturating_add(PART_NANOSECONDS);
    run::heavy(all.compared().min(each.saturating_mul(all.parts)))
}

/// Before a text is turned into another one.
pub(super) fn change(value: &Engine) -> Result<(), Error> {
    match value.as_str() {
        Some(text) => run::heavy((text.len() as u64).saturating_mul(CHANGE_NANOSECONDS)),
        None => Ok(()),
    }
}

/// Before a filter brings items into an order, or looks for equal ones: `sort`, `unique`, `min`, …
pub(super) fn order(name: &str, args: &[Engine]) -> Result<(), Error> {
    let (positional, named): (&[Engine], Kwargs) = from_args(args)?;
    let Some(items) = positional.first() else { return Ok(()) };
    let place = if name == "groupby" { positional.get(1).cloned() } else { None };
    let attribute = place.or_else(|| named.peek::<Option<Engine>>("attribute").ok().flatten());
    let heft = match attribute {
        Some(attribute) => below(items, &attribute)?,
        None => Heft::of(items)?,
    };
    let count = items.len().unwrap_or(0).max(1);
    // Comparisons for each item; `min` and `max` need one.
    let times = if matches!(name, "min" | "max") { 1 } else { u64::from(count.ilog2()) + 2 };
    run::heavy(heft.folded().saturating_mul(times))
}

/// The heft of what items are compared by.
fn below(items: &Engine, attribute: &Engine) -> Result<Heft, Error> {
    let mut heft = Heft::default();
    let Some(run) = run::current() else { return Ok(heft) };
    run.looking_up(Lookup::Absent, || {
        for item in items.try_iter()?.checked() {
            heft.add(&super::filters::member(item?, Some(attribute)).unwrap_or_default())?;
        }
        Ok(heft)
    })
}
