//! Strict mode: values that are not there, who needed them, and their paths from the root of the data.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::value::{Map, Value};

use super::error::{Missing, Place};

/// A member that was looked for and not found.
#[derive(Clone, Copy)]
pub(super) struct Absent<'a> {
    pub(super) of: Holder<'a>,
    pub(super) key: &'a [u8],
    /// How many members that are not there lead to this one.
    depth: u8,
}

/// Paths of missing values name no more members than this below what is there.
const MAX_NAMES: u8 = 32;

impl<'a> Absent<'a> {
    pub(super) fn new(of: Holder<'a>, key: &'a [u8]) -> Absent<'a> {
        let depth = match of {
            Holder::Absent(outer) => outer.depth.saturating_add(1),
            Holder::Map(_) | Holder::Unknown => 1,
        };
        Absent { of, key, depth }
    }

    /// Whether the path to this member is as long as paths get.
    pub(super) fn is_deepest(&self) -> bool {
        self.depth >= MAX_NAMES
    }
}

/// What should have had the member.
#[derive(Clone, Copy)]
pub(super) enum Holder<'a> {
    Map(&'a Arc<Map>),
    Absent(&'a Absent<'a>),
    /// Something that no path leads to, such as a map that a function made.
    Unknown,
}

/// A run that needs so many values that are not there gets no more of them listed.
const MAX_RECORDED: usize = 10_000;

/// What stands for a value that is not part of the data, such as a function's result.
const OUTSIDE: &str = "(an expression)";

/// Objects nested deeper than this in the data are not searched for.
const MAX_SEARCH_DEPTH: usize = 500;

/// The misses of a run, each with the place that needed it first.
#[derive(Default)]
pub(super) struct Misses<'a> {
    /// By the holder's address and the keys below it, joined by points.
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

    /// Notes that `absent` was needed; `place` is asked for when it is news. Returns the bytes that were kept.
    pub(super) fn record(&mut self, absent: &Absent<'a>, place: impl FnOnce() -> Place) -> usize {
        if self.seen.len() >= MAX_RECORDED {
            return 0;
        }
        let (holder, keys) = resolve(absent);
        let id = match holder {
            Holder::Map(map) => Arc::as_ptr(map) as usize,
            _ => 0,
        };
        // The text of the path will be kept once more.
        let bytes = 2 * keys.len() + size_of::<Missing>();
        match self.seen.entry((id, keys)) {
            Entry::Occupied(_) => 0,
            Entry::Vacant(news) => {
                news.insert(Miss { holder, place: place() });
                bytes
            }
        }
    }

    /// All misses with their paths below `root`, sorted by path, each path once.
    pub(super) fn finish(self, root: &Value) -> Vec<Missing> {
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
        let mut all: Vec<Missing> =
            self.seen.into_iter().map(|((_, keys), miss)| miss.named(&keys, &paths)).collect();
        all.sort();
        all.dedup_by(|later, first| later.path == first.path);
        all
    }
}

impl Miss<'_> {
    fn named(self, keys: &[u8], paths: &HashMap<*const Map, Option<String>>) -> Missing {
        let holder = match self.holder {
            Holder::Map(map) => paths.get(&Arc::as_ptr(map)).cloned().flatten(),
            _ => None,
        };
        let holder = holder.as_deref().unwrap_or(OUTSIDE);
        let keys = String::from_utf8_lossy(keys);
        let dot = if holder.is_empty() { "" } else { "." };
        Missing { path: format!("{holder}{dot}{keys}"), place: self.place }
    }
}

/// The innermost thing that is there, and the keys from it to what is not.
fn resolve<'a>(absent: &Absent<'a>) -> (Holder<'a>, Vec<u8>) {
    let mut keys = vec![absent.key];
    let mut holder = absent.of;
    while let Holder::Absent(outer) = holder {
        keys.push(outer.key);
        holder = outer.of;
    }
    keys.reverse();
    (holder, keys.join(&b'.'))
}

/// Shows every object below `value` with its path to `found`, later members first, until that says stop.
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
