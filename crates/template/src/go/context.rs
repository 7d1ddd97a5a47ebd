//! Makes the values of a run, within the limit of their memory.

use std::cell::Cell;
use std::time::Instant;

use crate::run::{Absent, Holder, Step};
use crate::value::{Map, Value};

use super::call::Type;
use super::exec::{ExecOptions, MissingKey};
use super::fmt::{Printer, sprint};
use super::store::Store;
use super::time::Moment;
use super::val::{Base, Dict, V, Val};

/// How deep lists and maps that functions make may nest.
pub(super) const MAX_DEPTH: u16 = 500;

/// Below this, a 64-bit float represents every whole number exactly (2^53).
const EXACT_BELOW: f64 = 9_007_199_254_740_992.0;

/// Why values cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Excess {
    /// They take too much memory.
    Memory,
    /// They nest too deep, or contain themselves.
    Depth,
}

/// Makes the values that functions return, and converts arguments to text, JSON or plain data.
///
/// ```
/// use ai_prompt_template::go::{Context, Outcome, Val};
///
/// /// `summary LIST`: a map with the list's length and its elements as texts.
/// fn summary<'a>(list: &Val<'a>, context: &Context<'a>) -> Outcome<'a> {
///     let Some(len) = list.len() else { return Outcome::Error("needs a list".to_owned()) };
///     let items = (0..len).filter_map(|at| list.item(at));
///     let texts = items.map(|item| context.bytes(context.printed(&[item]))).collect();
///     Outcome::Value(context.map(vec![
///         (b"count".to_vec(), Val::int(len as i64)),
///         (b"texts".to_vec(), context.list(texts)),
///     ]))
/// }
/// ```
///
/// The values count against the memory of the run. If that is exceeded, the run ends with
/// [`ExecError::Scratch`](super::ExecError::Scratch) as soon as the function returns.
pub struct Context<'a> {
    pub(super) store: &'a Store<'a>,
    scratch: Cell<usize>,
    /// Why the run has to end, if it has.
    excess: Cell<Option<Excess>>,
    /// How many bytes functions have processed since the last reading of the clock.
    worked: Cell<usize>,
    deadline: Option<Instant>,
    strict: bool,
    /// Whether functions may change maps of the data.
    live: bool,
}

impl<'a> Context<'a> {
    pub(super) fn new(store: &'a Store<'a>, options: &ExecOptions) -> Context<'a> {
        Context {
            store,
            scratch: Cell::new(options.scratch_bytes),
            excess: Cell::new(None),
            worked: Cell::new(0),
            deadline: options.deadline,
            strict: options.missing_key == MissingKey::Strict,
            live: options.live_data,
        }
    }

    /// A part of the data.
    pub(super) fn data(&self, value: &'a Value) -> Val<'a> {
        if self.live { self.store.live(value) } else { Val::data(value) }
    }

    /// Whether the run's time is over; functions that take long ask from time to time, and give up.
    pub fn is_late(&self) -> bool {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late {
            // The run looks at the clock, too, as soon as the function returns.
            self.work(usize::MAX);
        }
        late
    }

    /// Whether values may take so many more bytes. If not, the run ends as soon as the function returns.
    pub fn has_room(&self, bytes: usize) -> bool {
        let fits = bytes <= self.scratch_left() && self.excess.get().is_none();
        if !fits {
            self.exceed(Excess::Memory);
        }
        fits
    }

    /// How many more bytes values may take.
    pub fn scratch_left(&self) -> usize {
        self.scratch.get()
    }

    /// Tells the run that a function processes so many bytes, so that the clock is read in time.
    pub fn work(&self, bytes: usize) {
        self.worked.set(self.worked.get().saturating_add(bytes));
    }

    /// Takes the number of bytes that functions have processed since the last call.
    pub(super) fn take_work(&self) -> usize {
        self.worked.take()
    }

    /// Whether the run is in strict mode, where missing members are different from nil.
    pub(super) fn is_strict(&self) -> bool {
        self.strict
    }

    /// Why the run has to end, if it has.
    pub(super) fn excess(&self) -> Option<Excess> {
        self.excess.get()
    }

    fn exceed(&self, excess: Excess) {
        self.excess.set(self.excess.get().or(Some(excess)));
    }

    /// Counts bytes of a value that was made.
    pub(super) fn charge(&self, bytes: usize) {
        match self.scratch.get().checked_sub(bytes) {
            Some(left) => self.scratch.set(left),
            None => self.exceed(Excess::Memory),
        }
    }

    /// Makes a string of any bytes.
    pub fn bytes(&self, bytes: impl Into<Box<[u8]>>) -> Val<'a> {
        let bytes = bytes.into();
        self.charge(bytes.len() + 32);
        Val::of(V::Str(self.store.bytes.alloc(bytes)))
    }

    /// Makes a string.
    pub fn text(&self, text: impl Into<String>) -> Val<'a> {
        self.bytes(text.into().into_bytes())
    }

    /// Makes a value of plain data, such as a tool's answer. Its numbers become floats, like all numbers of the data.
    pub fn value(&self, value: Value) -> Val<'a> {
        let bytes = weight(&value);
        self.weighed(value, bytes)
    }

    /// As [`value`](Self::value), of data that takes so many bytes with all its parts.
    pub(crate) fn weighed(&self, value: Value, bytes: usize) -> Val<'a> {
        self.charge(bytes);
        self.data(self.store.values.alloc(value))
    }

    /// Converts a value to plain data. The memory counts, since parts that are shared here are copied.
    ///
    /// Invalid UTF-8 in strings becomes U+FFFD. Whole numbers, which are floats in a template, become integers, as JSON
    /// writes them.
    pub fn to_value(&self, value: &Val<'a>) -> Value {
        self.to_value_at(value, 0)
    }

    fn to_value_at(&self, value: &Val<'a>, depth: u16) -> Value {
        self.charge(size_of::<Value>());
        if depth > MAX_DEPTH {
            self.exceed(Excess::Depth);
        }
        if self.excess.get().is_some() {
            return Value::Null;
        }
        match value.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil => Value::Null,
            V::Bool(value) => Value::Bool(value),
            V::Int(n) | V::Whole(_, n) => Value::Int(n),
            V::Byte(n) => Value::Int(i64::from(n)),
            V::Float(n) if n.fract() == 0.0 && n.abs() < EXACT_BELOW => Value::Int(n as i64),
            V::Float(n) => Value::Float(n),
            V::Complex(..) => Value::from(sprint(&[*value]).as_str()),
            V::Str(bytes) => {
                self.charge(bytes.len());
                Value::from(String::from_utf8_lossy(bytes).as_ref())
            }
            V::List(list) => Value::List(list.clone()),
            V::Slice(slice) => match slice.base {
                Base::Live(list, _)
                    if slice.start == 0 && slice.len == list.len() && !self.store.changed.get() =>
                {
                    Value::List(list.clone())
                }
                _ => {
                    let items = (0..slice.len).map(|at| self.to_value_at(&slice.get(at), depth + 1));
                    items.collect::<Vec<_>>().into()
                }
            },
            V::Map(map) => Value::Map(map.clone()),
            V::Dict(dict) => match dict.base() {
                Some(base) if !self.store.changed.get() => Value::Map(base.clone()),
                _ => {
                    let members = dict.members().into_iter().map(|(key, value)| {
                        (String::from_utf8_lossy(key).as_ref().into(), self.to_value_at(&value, depth + 1))
                    });
                    Value::from(Map::from_entries(members.collect()))
                }
            },
            V::Time(moment) => match moment.json() {
                Ok(json) => Value::from(String::from_utf8_lossy(&json).as_ref()),
                Err(_) => Value::Null,
            },
        }
    }

    /// The output of `print` for the values, cut off where the memory of the run ends.
    pub fn printed(&self, values: &[Val<'a>]) -> Vec<u8> {
        self.print_with(|printer| printer.print(values))
    }

    /// The output of Go's `json.Marshal` for a value, cut off where the memory of the run ends; `escape_html` says whether `<`, `>`
    /// and `&` are escaped, as they are in Go.
    ///
    /// # Errors
    /// Go's message for a value that JSON cannot represent: a complex number, an infinity, or NaN.
    pub fn json(&self, value: &Val<'a>, escape_html: bool) -> Result<Vec<u8>, String> {
        let mut result = Ok(());
        let text = self.print_with(|printer| result = printer.json(value, escape_html));
        result.map(|()| text)
    }

    pub(super) fn print_with(&self, print: impl FnOnce(&mut Printer<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        let mut printer = Printer::new(&mut out, self.scratch_left());
        print(&mut printer);
        if !printer.fitted() {
            self.exceed(if printer.is_too_deep() { Excess::Depth } else { Excess::Memory });
        }
        out
    }

    /// Makes a map of the type of another one.
    pub fn map_like(&self, map: &Val<'a>, entries: Vec<(Vec<u8>, Val<'a>)>) -> Val<'a> {
        match map.v {
            V::Dict(dict) => self.map_of(dict.of, entries),
            _ => self.map(entries),
        }
    }

    /// Makes a Go `time.Time`.
    pub fn time(&self, moment: Moment) -> Val<'a> {
        self.charge(size_of::<Moment>());
        Val::of(V::Time(self.store.moments.alloc(moment)))
    }

    /// Sets a member of a map, or removes it; everyone who holds the map sees it.
    ///
    /// # Errors
    /// If the value is not a map that functions may change.
    pub fn change(&self, map: &Val<'a>, key: &'a [u8], value: Option<Val<'a>>) -> Result<(), String> {
        let V::Dict(dict) = map.v else {
            return Err(match map.is_nil() {
                true => "assignment to entry in nil map".to_owned(),
                false => "this map belongs to the data, which cannot be changed here".to_owned(),
            });
        };
        let copied = dict.shared_members() + 1;
        self.work(copied * size_of::<Val<'a>>());
        if self.has_room(copied * (size_of::<Val<'a>>() + 16)) {
            self.charge(copied * (size_of::<Val<'a>>() + 16));
            self.store.changed.set(true);
            dict.change(key, value.map(Val::boxed));
        }
        Ok(())
    }

    /// Makes a map; of equal keys, the last one counts.
    pub fn map(&self, entries: Vec<(Vec<u8>, Val<'a>)>) -> Val<'a> {
        self.map_of(Type::Any, entries)
    }

    /// Makes a map whose members all have this type; of equal keys, the last one counts.
    pub fn map_of(&self, of: Type, entries: Vec<(Vec<u8>, Val<'a>)>) -> Val<'a> {
        self.charge(entries.len() * (size_of::<Val<'a>>() + 16) + 64);
        let depth = deepest(entries.iter().map(|(_, value)| value));
        let mut kept: Vec<(&'a [u8], Val<'a>)> = Vec::with_capacity(entries.len());
        for (key, value) in entries {
            let key = self.bytes(key).as_bytes().unwrap_or_default();
            kept.push((key, if of == Type::Any { value.boxed() } else { value.unboxed() }));
        }
        kept.reverse();
        kept.sort_by(|a, b| a.0.cmp(b.0));
        kept.dedup_by(|later, first| later.0 == first.0);
        let dict = self.store.dicts.alloc(Dict::new(of, kept));
        self.nested(Val::of(V::Dict(dict)), depth)
    }

    /// Sets the depth of a list or map to one more than that of its members.
    pub(super) fn nested(&self, mut value: Val<'a>, inner: u16) -> Val<'a> {
        value.depth = inner.saturating_add(1);
        if value.depth > MAX_DEPTH {
            self.exceed(Excess::Depth);
            return Val::NONE;
        }
        value
    }

    /// Releases bytes that are no longer used.
    pub(super) fn release(&self, bytes: usize) {
        self.scratch.set(self.scratch.get().saturating_add(bytes));
    }

    /// Makes the missing member `key` of a value.
    pub(super) fn absent(&self, of: Holder<'a>, key: &'a [u8]) -> Val<'a> {
        if let Holder::Absent(outer) = of
            && outer.is_deepest()
        {
            return Val::of(V::Absent(outer));
        }
        self.charge(size_of::<Absent<'a>>());
        Val::of(V::Absent(self.store.absents.alloc(Absent::new(of, Step::Key(key)))))
    }
}

/// The greatest depth among `values`.
pub(super) fn deepest<'v, 'a: 'v>(values: impl Iterator<Item = &'v Val<'a>>) -> u16 {
    values.map(|value| value.depth).max().unwrap_or(0)
}

/// About how many bytes the outer level of a value takes; its parts are not counted.
fn weight(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len() + 64,
        Value::List(list) => list.len() * size_of::<Value>() + 64,
        Value::Map(map) => map.len() * 2 * size_of::<Value>() + 64,
        _ => 64,
    }
}
