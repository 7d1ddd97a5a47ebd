//! Strict mode: records missing values with the places that needed them, and finds their paths in the data.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::value::{Map, Value};

use super::error::{MissingValue, Place};

/// A member that was looked up and not found.
#[derive(Clone, Copy)]
pub(super) struct AbsentMember<'a> {
    pub(super) of: Holder<'a>,
    pub(super) key: &'a [u8],
    /// How many missing members there are on the path, this one included.
    depth: u8,
}

/// The most missing members that a path names.
const MAX_NAMES: u8 = 32;

impl<'a> AbsentMember<'a> {
    pub(super) fn new(of: Holder<'a>, key: &'a [u8]) -> AbsentMember<'a> {
        let depth = match of {
            Holder::Absent(outer) => outer.depth.saturating_add(1),
            Holder::Map(_) | Holder::Unknown => 1,
        };
        AbsentMember { of, key, depth }
    }

    /// Whether the path to this member has the greatest length.
    pub(super) fn is_deepest(&self) -> bool {
        self.depth >= MAX_NAMES
    }
}

/// The value that the member was looked up in.
#[derive(Clone, Copy)]
pub(super) enum Holder<'a> {
    Map(&'a Arc<Map>),
    Absent(&'a AbsentMember<'a>),
    /// A value that is not part of the data, such as a map that a function made.
    Unknown,
}

/// The most missing values that a run records.
const MAX_RECORDED: usize = 10_000;

/// The start of paths in a value that is not part of the data, such as a function's result.
const OUTSIDE: &str = "(an expression)";

/// How deep the data is searched for the paths of objects.
const MAX_SEARCH_DEPTH: usize = 500;

/// The missing values of a run, each with the place that needed it first.
#[derive(Default)]
pub(super) struct Misses<'a> {
    /// By the address of the holder and the keys below it, joined by dots.
    seen: HashMap<(usize, Vec<u8>), Miss<'a>>,
}

struct Miss<'a> {
    holder: Holder<'a>,
    place: Place,
}

impl<'a> Misses<'a> {
    pub(super) fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Records that `absent` was needed; `place` is called if it is new. Returns how many bytes the record takes.
    pub(super) fn record(&mut self, absent: &AbsentMember<'a>, place: impl FnOnce() -> Place) -> usize {
        if self.seen.len() >= MAX_RECORDED {
            return 0;
        }
        let (holder, keys) = resolve(absent);
        let id = match holder {
            Holder::Map(map) => Arc::as_ptr(map) as usize,
            _ => 0,
        };
        // Counted twice, as the path will repeat the keys.
        let bytes = 2 * keys.len() + size_of::<MissingValue>();
        match self.seen.entry((id, keys)) {
            Entry::Occupied(_) => 0,
            Entry::Vacant(news) => {
                news.insert(Miss { holder, place: place() });
                bytes
            }
        }
    }

    /// All missing values with their paths from `root`, sorted, each path once.
    pub(super) fn finish(self, root: &Value) -> Vec<MissingValue> {
        let mut paths: HashMap<*const Map, Option<String>> = HashMap::new();
        for miss in self.seen.values() {
            if let Holder::Map(map) = miss.holder {
                paths.insert(Arc::as_ptr(map), None);
            }
        }
        let mut unfound = paths.len();
        search(root, &mut String::new(), 0, &mut |map, path| {
            if let Some(slot @ None) = paths.get_mut(&Arc::as_ptr(map)) {
                *slot = Some(path.to_owned());
                unfound -= 1;
            }
            unfound == 0
        });
        let mut all: Vec<MissingValue> =
            self.seen.into_iter().map(|((_, keys), miss)| miss.named(&keys, &paths)).collect();
        all.sort();
        all.dedup_by(|later, first| later.path == first.path);
        all
    }
}

impl Miss<'_> {
    fn named(self, keys: &[u8], paths: &HashMap<*const Map, Option<String>>) -> MissingValue {
        let holder = match self.holder {
            Holder::Map(map) => paths.get(&Arc::as_ptr(map)).cloned().flatten(),
            _ => None,
        };
        let holder = holder.as_deref().unwrap_or(OUTSIDE);
        let keys = String::from_utf8_lossy(keys);
        let dot = if holder.is_empty() { "" } else { "." };
        MissingValue { path: format!("{holder}{dot}{keys}"), place: self.place }
    }
}

/// The innermost value that is there, and the keys from it to the missing member.
fn resolve<'a>(absent: &AbsentMember<'a>) -> (Holder<'a>, Vec<u8>) {
    let mut keys = vec![absent.key];
    let mut holder = absent.of;
    while let Holder::Absent(outer) = holder {
        keys.push(outer.key);
        holder = outer.of;
    }
    keys.reverse();
    (holder, keys.join(&b'.'))
}

/// Calls `found` with every object below `value` and its path, later members first, until it returns true.
fn search(
    value: &Value,
    path: &mut String,
    depth: usize,
    found: &mut impl FnMut(&Arc<Map>, &str) -> bool,
) -> bool {
    if depth > MAX_SEARCH_DEPTH {
        return false;
    }
    let length = path.len();
    let mut inside = |step: String, value: &Value, path: &mut String| {
        path.push_str(&step);
        let stop = search(value, path, depth + 1, found);
        path.truncate(length);
        stop
    };
    match value {
        Value::Map(map) => {
            if inside_map(map, path, &mut inside) {
                return true;
            }
            found(map, path)
        }
        Value::List(list) => list
            .iter()
            .enumerate()
            .filter(|(_, item)| matches!(item, Value::Map(_) | Value::List(_)))
            .any(|(at, item)| inside(format!("[{at}]"), item, path)),
        _ => false,
    }
}

fn inside_map(
    map: &Arc<Map>,
    path: &mut String,
    inside: &mut impl FnMut(String, &Value, &mut String) -> bool,
) -> bool {
    let members: Vec<_> =
        map.iter().filter(|(_, value)| matches!(value, Value::Map(_) | Value::List(_))).collect();
    members.into_iter().rev().any(|(key, value)| {
        let dot = if path.is_empty() { "" } else { "." };
        inside(format!("{dot}{key}"), value, path)
    })
}
