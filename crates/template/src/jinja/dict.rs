//! Python's `dict`: keys of any hashable kind, in the order of their insertion.

use std::collections::HashMap;

use num_bigint::BigInt;

use super::val::Val;

/// A hashable value, equal where Python's keys are: `1`, `1.0` and `True` are one key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Key<'a> {
    None,
    Int(i64),
    /// A float that is not a whole number of 64 bits, by its bits.
    Float(u64),
    Big(BigInt),
    Str(&'a str),
    Bytes(&'a [u8]),
    Tuple(Vec<Key<'a>>),
    /// A value that equals only itself, by its address.
    Identity(usize),
}

impl Key<'_> {
    /// The key of a float.
    pub fn of_float(value: f64) -> Key<'static> {
        const LIMIT: f64 = 9_223_372_036_854_775_808.0;
        match value.fract() == 0.0 && (-LIMIT..LIMIT).contains(&value) {
            true => Key::Int(value as i64),
            false => Key::Float(value.to_bits()),
        }
    }
}

/// About what an entry takes, in bytes.
pub(super) const ENTRY_BYTES: usize = 96;

/// Up to this many entries are searched one by one.
const LINEAR_MAX: usize = 8;

/// The entries of a `dict`.
#[derive(Default)]
pub(super) struct Dict<'a> {
    entries: Vec<Entry<'a>>,
    /// The positions of the keys, for more than [`LINEAR_MAX`] entries.
    index: Option<HashMap<Key<'a>, usize>>,
}

struct Entry<'a> {
    key: Key<'a>,
    name: Val<'a>,
    value: Val<'a>,
}

impl<'a> Dict<'a> {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    fn find(&self, key: &Key<'_>) -> Option<usize> {
        match &self.index {
            Some(index) => index.get(key).copied(),
            None => self.entries.iter().position(|entry| entry.key == *key),
        }
    }

    pub fn get(&self, key: &Key<'_>) -> Option<Val<'a>> {
        self.find(key).and_then(|at| self.entries.get(at)).map(|entry| entry.value)
    }

    /// The value of a key that is a text.
    pub fn get_str(&self, key: &str) -> Option<Val<'a>> {
        self.get(&Key::Str(key))
    }

    /// The key and the value at a position.
    pub fn at(&self, at: usize) -> Option<(Val<'a>, Val<'a>)> {
        self.entries.get(at).map(|entry| (entry.name, entry.value))
    }

    pub fn insert(&mut self, key: Key<'a>, name: Val<'a>, value: Val<'a>) {
        if let Some(entry) = self.find(&key).and_then(|at| self.entries.get_mut(at)) {
            entry.value = value;
            return;
        }
        let at = self.entries.len();
        match &mut self.index {
            Some(index) => {
                index.insert(key.clone(), at);
            }
            None if at >= LINEAR_MAX => {
                let mut index: HashMap<Key<'a>, usize> =
                    self.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
                index.insert(key.clone(), at);
                self.index = Some(index);
            }
            None => {}
        }
        self.entries.push(Entry { key, name, value });
    }

    /// Inserts a value under a text.
    pub fn insert_str(&mut self, key: &'a str, value: Val<'a>) {
        self.insert(Key::Str(key), Val::Str(key), value);
    }

    /// Takes an entry out. The positions of all others are computed anew, so that the work grows with their number.
    pub fn remove(&mut self, key: &Key<'a>) -> Option<Val<'a>> {
        let at = self.find(key)?;
        let last = at + 1 == self.entries.len();
        let entry = self.entries.remove(at);
        if last {
            if let Some(index) = &mut self.index {
                index.remove(key);
            }
        } else if self.index.is_some() {
            let positions = self.entries.iter().enumerate();
            self.index = Some(positions.map(|(at, entry)| (entry.key.clone(), at)).collect());
        }
        Some(entry.value)
    }

    /// Takes the last entry out.
    pub fn pop(&mut self) -> Option<(Val<'a>, Val<'a>)> {
        let entry = self.entries.pop()?;
        if let Some(index) = &mut self.index {
            index.remove(&entry.key);
        }
        Some((entry.name, entry.value))
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.index = None;
    }

    /// The entries with their keys.
    pub fn entries(&self) -> impl Iterator<Item = (&Key<'a>, Val<'a>, Val<'a>)> {
        self.entries.iter().map(|entry| (&entry.key, entry.name, entry.value))
    }
}
