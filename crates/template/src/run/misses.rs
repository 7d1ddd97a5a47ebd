//! Records missing values with the places that needed them, and finds their paths in the data.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use crate::value::{List, Map, Value};

/// A member or element that was looked up and not found.
#[derive(Clone, Copy)]
pub(crate) struct Absent<'a> {
    pub of: Holder<'a>,
    pub step: Step<'a>,
    /// How many missing members there are on the path, this one included.
    depth: u8,
}

/// The step from a value to a part of it.
#[derive(Clone, Copy)]
pub(crate) enum Step<'a> {
    /// The member of an object.
    Key(&'a [u8]),
    /// The element of a list.
    Index(i64),
}

/// The value that the member was looked up in.
#[derive(Clone, Copy)]
pub(crate) enum Holder<'a> {
    Map(&'a Arc<Map>),
    List(&'a Arc<List>),
    Absent(&'a Absent<'a>),
    /// A value that is not part of the data, such as a map that a function made.
    Unknown,
}

/// The most missing members that a path names.
const MAX_NAMES: u8 = 32;

impl<'a> Absent<'a> {
    pub fn new(of: Holder<'a>, step: Step<'a>) -> Absent<'a> {
        let depth = match of {
            Holder::Absent(outer) => outer.depth.saturating_add(1),
            Holder::Map(_) | Holder::List(_) | Holder::Unknown => 1,
        };
        Absent { of, step, depth }
    }

    /// Whether the path to this member has the greatest length.
    pub fn is_deepest(&self) -> bool {
        self.depth >= MAX_NAMES
    }
}

/// The most missing values that a run records.
const MAX_RECORDED: usize = 10_000;

/// The start of paths in a value that is not part of the data, such as a function's result.
const OUTSIDE: &str = "(an expression)";

/// How deep the data is searched for the paths of objects.
const MAX_SEARCH_DEPTH: usize = 500;

/// The missing values of a run, each with the place that needed it first.
pub(crate) struct Misses<'a, P> {
    /// By the address of the holder and the path below it.
    seen: HashMap<(usize, String), (Holder<'a>, P)>,
}

impl<P> Default for Misses<'_, P> {
    fn default() -> Self {
        Misses { seen: HashMap::new() }
    }
}

impl<'a, P> Misses<'a, P> {
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Records that `absent` was needed; `place` is called if it is new. Returns how many bytes the record takes.
    pub fn record(&mut self, absent: &Absent<'a>, place: impl FnOnce() -> P) -> usize {
        if self.seen.len() >= MAX_RECORDED {
            return 0;
        }
        let (holder, path) = resolve(absent);
        let id = match holder {
            Holder::Map(map) => Arc::as_ptr(map) as usize,
            Holder::List(list) => Arc::as_ptr(list) as usize,
            _ => 0,
        };
        // Counted twice, as the whole path will repeat this part.
        let bytes = 2 * path.len() + size_of::<(String, P)>();
        match self.seen.entry((id, path)) {
            Entry::Occupied(_) => 0,
            Entry::Vacant(news) => {
                news.insert((holder, place()));
                bytes
            }
        }
    }

    /// All missing values with their paths from `root`, sorted, each path once.
    pub fn finish(self, root: &Value) -> Vec<(String, P)>
    where
        P: Ord,
    {
        let mut paths: HashMap<usize, Option<String>> = HashMap::new();
        for (id, _) in self.seen.keys().filter(|(id, _)| *id != 0) {
            paths.insert(*id, None);
        }
        let mut unfound = paths.len();
        if unfound > 0 {
            search(root, &mut String::new(), 0, &mut |id, path| {
                if let Some(slot @ None) = paths.get_mut(&id) {
                    *slot = Some(path.to_owned());
                    unfound -= 1;
                }
                unfound == 0
            });
        }
        let mut all: Vec<(String, P)> = self
            .seen
            .into_iter()
            .map(|((id, below), (_, place))| {
                let holder = paths.get(&id).and_then(Option::as_deref).unwrap_or(OUTSIDE);
                (joined(holder, &below), place)
            })
            .collect();
        all.sort();
        all.dedup_by(|later, first| later.0 == first.0);
        all
    }
}

/// A path, and another one below it, which begins with `[` or a name.
fn joined(holder: &str, below: &str) -> String {
    let dot = if holder.is_empty() || below.starts_with('[') { "" } else { "." };
    format!("{holder}{dot}{below}")
}

/// The innermost value that is there, and the path from it to the missing member.
fn resolve<'a>(absent: &Absent<'a>) -> (Holder<'a>, String) {
    let mut steps = vec![absent.step];
    let mut holder = absent.of;
    while let Holder::Absent(outer) = holder {
        steps.push(outer.step);
        holder = outer.of;
    }
    let mut path = String::new();
    for step in steps.into_iter().rev() {
        path = match step {
            Step::Key(key) if path.is_empty() => String::from_utf8_lossy(key).into_owned(),
            Step::Key(key) => format!("{path}.{}", String::from_utf8_lossy(key)),
            Step::Index(index) => format!("{path}[{index}]"),
        };
    }
    (holder, path)
}

/// Calls `found` with the address and the path of every object and list below `value`, later members first, until it
/// returns true.
fn search(
    value: &Value,
    path: &mut String,
    depth: usize,
    found: &mut impl FnMut(usize, &str) -> bool,
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
            found(Arc::as_ptr(map) as usize, path)
        }
        Value::List(list) => {
            let stopped = list
                .iter()
                .enumerate()
                .filter(|(_, item)| is_container(item))
                .any(|(at, item)| inside(format!("[{at}]"), item, path));
            stopped || found(Arc::as_ptr(list) as usize, path)
        }
        _ => false,
    }
}

fn is_container(value: &Value) -> bool {
    matches!(value, Value::Map(_) | Value::List(_))
}

fn inside_map(
    map: &Arc<Map>,
    path: &mut String,
    inside: &mut impl FnMut(String, &Value, &mut String) -> bool,
) -> bool {
    let members: Vec<_> = map.iter().filter(|(_, value)| is_container(value)).collect();
    members.into_iter().rev().any(|(key, value)| {
        let dot = if path.is_empty() { "" } else { "." };
        inside(format!("{dot}{key}"), value, path)
    })
}
