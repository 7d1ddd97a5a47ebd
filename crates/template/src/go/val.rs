//! Values as templates see them: borrowed from the data or from the arena of the run, and always cheap to copy.

use std::cell::RefCell;
use std::sync::Arc;

use crate::run::Absent;
use crate::value::{List, Map, Value};

use super::call::Type;
use super::store::Store;
use super::time::Moment;

/// A value inside a run.
///
/// It lives as long as the run and can be copied freely. [`Context`](super::Context) makes new ones and turns them into plain data.
#[derive(Clone, Copy)]
pub struct Val<'a> {
    pub(super) v: V<'a>,
    /// Whether Go holds the value in an `interface {}`, as it does for elements of lists and maps.
    pub(super) boxed: bool,
    /// An upper bound for how deep lists and maps that the run made nest in it.
    pub(super) depth: u16,
}

/// The value itself.
#[derive(Clone, Copy)]
pub(super) enum V<'a> {
    /// No value: Go's invalid `reflect.Value`, printed as `<no value>`.
    None,
    /// A missing member in strict mode, which is recorded when it is needed.
    Absent(&'a Absent<'a>),
    /// The pending result of a function, by the number that the function gave it.
    Pending(usize),
    /// The gap that a failed call leaves: it prints nothing and is false, and its members are gaps.
    Gap,
    /// A `null`: an `interface {}` that holds nil.
    Nil,
    Bool(bool),
    Int(i64),
    /// An integer of another type than `int`.
    Whole(IntType, i64),
    /// A byte of a string (Go's `uint8`).
    Byte(u8),
    Float(f64),
    Complex(f64, f64),
    Str(&'a [u8]),
    List(&'a Arc<List>),
    Slice(&'a Slice<'a>),
    Map(&'a Arc<Map>),
    Dict(&'a Dict<'a>),
    Time(&'a Moment),
}

/// The integer types that functions and methods give besides `int`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntType {
    Int64,
    Month,
    Weekday,
}

impl IntType {
    fn name(self) -> &'static str {
        match self {
            IntType::Int64 => "int64",
            IntType::Month => "time.Month",
            IntType::Weekday => "time.Weekday",
        }
    }
}

/// A part of a list, or a list made during the run.
pub(super) struct Slice<'a> {
    pub(super) base: Base<'a>,
    pub(super) start: usize,
    pub(super) len: usize,
    /// The capacity: how far slicing can extend the list again.
    pub(super) cap: usize,
    /// The type of the elements.
    pub(super) of: Type,
    /// Whether it is Go's nil slice, which only JSON and `deepEqual` tell from an empty one.
    pub(super) nil: bool,
}

/// The elements below a [`Slice`].
#[derive(Clone, Copy)]
pub(super) enum Base<'a> {
    Data(&'a Arc<List>),
    /// A list of the data in a run that may change maps.
    Live(&'a Arc<List>, &'a Store<'a>),
    Made(&'a [Val<'a>]),
    /// Elements that several lists share; the longest of them may still grow.
    Grown(&'a RefCell<Vec<Val<'a>>>),
}

/// A map made during the run, or one that stands for a map of the data in a run that may change maps.
pub(super) struct Dict<'a> {
    members: RefCell<Members<'a>>,
    /// The type of the members.
    pub(super) of: Type,
    /// The map of the data that this one stands for.
    base: Option<(&'a Arc<Map>, &'a Store<'a>)>,
}

/// The members of a [`Dict`].
enum Members<'a> {
    /// Those of the base.
    Unchanged,
    /// Members of its own, sorted by key, and the names of the base that were removed.
    Own { entries: Vec<(&'a [u8], Val<'a>)>, removed: Vec<&'a [u8]> },
}

/// Go's `reflect.Kind`, as far as templates can tell kinds apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueKind {
    Invalid,
    /// An `interface {}` that holds nil.
    Nil,
    Bool,
    Int,
    Uint,
    Float,
    Complex,
    String,
    Slice,
    Map,
    Struct,
}

impl<'a> Val<'a> {
    pub(super) const NONE: Val<'a> = Val { v: V::None, boxed: false, depth: 0 };
    pub(super) const NIL: Val<'a> = Val { v: V::Nil, boxed: true, depth: 0 };

    pub(super) fn of(v: V<'a>) -> Val<'a> {
        Val { v, boxed: false, depth: 0 }
    }

    /// Makes a string.
    pub fn text(text: &'a str) -> Val<'a> {
        Val::of(V::Str(text.as_bytes()))
    }

    /// Makes a string of any bytes.
    pub fn bytes(bytes: &'a [u8]) -> Val<'a> {
        Val::of(V::Str(bytes))
    }

    /// Makes a Go `int`.
    pub fn int(value: i64) -> Val<'a> {
        Val::of(V::Int(value))
    }

    /// Makes a Go `int64`.
    pub fn int64(value: i64) -> Val<'a> {
        Val::of(V::Whole(IntType::Int64, value))
    }

    /// Makes a Go `float64`, which is the type of every number in the data.
    pub fn float(value: f64) -> Val<'a> {
        Val::of(V::Float(value))
    }

    /// Makes a Go `bool`.
    pub fn bool(value: bool) -> Val<'a> {
        Val::of(V::Bool(value))
    }

    /// Go's `nil`.
    pub fn nil() -> Val<'a> {
        Val::NIL
    }

    /// A part of the data, held in an `interface {}`.
    #[inline]
    pub fn data(value: &'a Value) -> Val<'a> {
        let v = match value {
            Value::Null => V::Nil,
            Value::Bool(value) => V::Bool(*value),
            Value::Int(n) => V::Float(*n as f64),
            Value::UInt(n) => V::Float(*n as f64),
            Value::Float(n) => V::Float(*n),
            Value::Str(text) => V::Str(text.as_bytes()),
            Value::List(list) => V::List(list),
            Value::Map(map) => V::Map(map),
        };
        Val { v, boxed: true, depth: 0 }
    }

    /// The bytes of a string.
    pub fn as_bytes(&self) -> Option<&'a [u8]> {
        match self.v {
            V::Str(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The value of a Go integer.
    pub fn as_int(&self) -> Option<i64> {
        match self.v {
            V::Int(n) | V::Whole(_, n) => Some(n),
            V::Byte(n) => Some(i64::from(n)),
            _ => None,
        }
    }

    /// The value of a Go `float64`, which is the type of every number in the data.
    pub fn as_float(&self) -> Option<f64> {
        match self.v {
            V::Float(n) => Some(n),
            _ => None,
        }
    }

    /// The value of a Go `bool`.
    pub fn as_bool(&self) -> Option<bool> {
        match self.v {
            V::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The value of a Go `time.Time`.
    pub fn as_time(&self) -> Option<&'a Moment> {
        match self.v {
            V::Time(moment) => Some(moment),
            _ => None,
        }
    }

    /// Whether the value is a Go slice.
    pub fn is_list(&self) -> bool {
        self.kind() == ValueKind::Slice
    }

    /// Whether the value is Go's nil slice.
    pub fn is_nil_list(&self) -> bool {
        matches!(self.v, V::Slice(slice) if slice.nil)
    }

    /// Whether both are the same map, which a change of either changes.
    pub fn is_same_map(&self, other: &Val<'a>) -> bool {
        match (self.v, other.v) {
            (V::Map(a), V::Map(b)) => Arc::ptr_eq(a, b),
            (V::Dict(a), V::Dict(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }

    /// Whether the value is a Go map.
    pub fn is_map(&self) -> bool {
        self.kind() == ValueKind::Map
    }

    /// The name of the value's Go kind (`reflect.Kind`).
    pub fn kind_name(&self) -> &'static str {
        match self.kind() {
            ValueKind::Invalid | ValueKind::Nil => "invalid",
            ValueKind::Bool => "bool",
            ValueKind::Int if matches!(self.v, V::Whole(IntType::Int64, _)) => "int64",
            ValueKind::Int => "int",
            ValueKind::Uint => "uint8",
            ValueKind::Float => "float64",
            ValueKind::Complex => "complex128",
            ValueKind::String => "string",
            ValueKind::Slice => "slice",
            ValueKind::Map => "map",
            ValueKind::Struct => "struct",
        }
    }

    /// Whether the value is `nil`, or no value at all.
    pub fn is_nil(&self) -> bool {
        matches!(self.kind(), ValueKind::Invalid | ValueKind::Nil)
    }

    /// Whether the value is true in Go's sense: not empty, zero or nil.
    pub fn is_true(&self) -> bool {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil => false,
            V::Bool(value) => value,
            V::Int(n) | V::Whole(_, n) => n != 0,
            V::Byte(n) => n != 0,
            V::Float(n) => n != 0.0,
            V::Complex(real, imaginary) => real != 0.0 || imaginary != 0.0,
            V::Str(bytes) => !bytes.is_empty(),
            V::List(list) => !list.is_empty(),
            V::Slice(slice) => slice.len > 0,
            V::Map(map) => !map.is_empty(),
            V::Dict(dict) => dict.len() > 0,
            V::Time(_) => true,
        }
    }

    pub(super) fn kind(&self) -> ValueKind {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap => ValueKind::Invalid,
            V::Nil => ValueKind::Nil,
            V::Bool(_) => ValueKind::Bool,
            V::Int(_) | V::Whole(..) => ValueKind::Int,
            V::Byte(_) => ValueKind::Uint,
            V::Float(_) => ValueKind::Float,
            V::Complex(..) => ValueKind::Complex,
            V::Str(_) => ValueKind::String,
            V::List(_) | V::Slice(_) => ValueKind::Slice,
            V::Map(_) | V::Dict(_) => ValueKind::Map,
            V::Time(_) => ValueKind::Struct,
        }
    }

    /// The name of the dynamic Go type, as `%T` prints it.
    pub fn type_name(&self) -> &'static str {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap => "<nil>",
            V::Nil => "interface {}",
            V::Bool(_) => "bool",
            V::Int(_) => "int",
            V::Whole(of, _) => of.name(),
            V::Byte(_) => "uint8",
            V::Float(_) => "float64",
            V::Complex(..) => "complex128",
            V::Str(_) => "string",
            V::List(_) => "[]interface {}",
            V::Slice(slice) => slice.of.list_name(),
            V::Dict(dict) => dict.of.map_name(),
            V::Map(_) => "map[string]interface {}",
            V::Time(_) => "time.Time",
        }
    }

    /// The name of the static Go type.
    pub(super) fn static_type(&self) -> &'static str {
        if self.boxed { "interface {}" } else { self.type_name() }
    }

    /// The value in an `interface {}`; a nil becomes no value.
    #[inline]
    pub(super) fn unboxed(mut self) -> Val<'a> {
        if matches!(self.v, V::Nil) {
            self.v = V::None;
        }
        self.boxed = false;
        self
    }

    /// The value held in an `interface {}`.
    pub(super) fn boxed(self) -> Val<'a> {
        match self.v {
            V::None => Val::NIL,
            v => Val { v, boxed: true, depth: self.depth },
        }
    }

    /// The number of elements of a list, of members of a map, or of bytes of a string.
    pub fn len(&self) -> Option<usize> {
        match self.v {
            V::List(list) => Some(list.len()),
            V::Slice(slice) => Some(slice.len),
            V::Map(map) => Some(map.len()),
            V::Dict(dict) => Some(dict.len()),
            V::Str(bytes) => Some(bytes.len()),
            _ => None,
        }
    }

    /// Whether the value has the length 0.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The element of a list at an index, from 0.
    #[inline]
    pub fn item(&self, at: usize) -> Option<Val<'a>> {
        let item = match self.v {
            V::List(list) => list.get(at).map(Val::data),
            V::Slice(slice) if at < slice.len => Some(slice.get(at)),
            _ => None,
        };
        item.map(|item| item.within(self))
    }

    /// The member of a map.
    pub fn member(&self, key: &[u8]) -> Option<Val<'a>> {
        let member = match self.v {
            V::Map(map) => std::str::from_utf8(key).ok().and_then(|key| map.get(key)).map(Val::data),
            V::Dict(dict) => dict.get(key),
            _ => None,
        };
        member.map(|member| member.within(self))
    }

    /// The members of a map, sorted by the bytes of their keys.
    pub fn members(&self) -> Vec<(&'a [u8], Val<'a>)> {
        match self.v {
            V::Map(map) => {
                let members = map.iter_sorted().into_iter();
                members.map(|(key, value)| (key.as_bytes(), Val::data(value).within(self))).collect()
            }
            V::Dict(dict) => {
                dict.members().into_iter().map(|(key, value)| (key, value.within(self))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The value as a part of `whole`, which has at least its depth.
    #[inline]
    fn within(mut self, whole: &Val<'a>) -> Val<'a> {
        if matches!(self.kind(), ValueKind::Slice | ValueKind::Map) {
            self.depth = whole.depth;
        }
        self
    }
}

impl<'a> Slice<'a> {
    /// The element at `at`, which may be beyond the length, where elements are nil.
    pub(super) fn get(&self, at: usize) -> Val<'a> {
        let at = self.start + at;
        match self.base {
            Base::Data(list) => list.get(at).map_or(Val::NIL, Val::data),
            Base::Live(list, store) => list.get(at).map_or(Val::NIL, |value| store.live(value)),
            Base::Made(items) => items.get(at).copied().unwrap_or(self.of.zero()),
            Base::Grown(items) => items.borrow().get(at).copied().unwrap_or(self.of.zero()),
        }
    }
}

impl<'a> Dict<'a> {
    /// A map with these members, sorted by key.
    pub(super) fn new(of: Type, entries: Vec<(&'a [u8], Val<'a>)>) -> Dict<'a> {
        Dict { members: RefCell::new(Members::Own { entries, removed: Vec::new() }), of, base: None }
    }

    /// A map that stands for one of the data.
    pub(super) fn over(base: &'a Arc<Map>, store: &'a Store<'a>) -> Dict<'a> {
        Dict { members: RefCell::new(Members::Unchanged), of: Type::Any, base: Some((base, store)) }
    }

    /// The map of the data that this one stands for.
    pub(super) fn base(&self) -> Option<&'a Arc<Map>> {
        self.base.map(|(base, _)| base)
    }

    pub(super) fn len(&self) -> usize {
        match (&*self.members.borrow(), self.base) {
            (Members::Own { entries, .. }, _) => entries.len(),
            (Members::Unchanged, Some((base, _))) => base.len(),
            (Members::Unchanged, None) => 0,
        }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<Val<'a>> {
        let name = || std::str::from_utf8(key).ok();
        let below = || self.base.and_then(|(base, store)| base.get(name()?).map(|value| store.live(value)));
        match &*self.members.borrow() {
            Members::Unchanged => below(),
            Members::Own { entries, removed } => match entries.binary_search_by(|(k, _)| (*k).cmp(key)) {
                Ok(found) => entries.get(found).map(|(_, value)| *value),
                // Look-ups in the root find more than its own members.
                Err(_) if removed.contains(&key) => None,
                Err(_) => below(),
            },
        }
    }

    /// The members, sorted by key.
    pub(super) fn members(&self) -> Vec<(&'a [u8], Val<'a>)> {
        match (&*self.members.borrow(), self.base) {
            (Members::Own { entries, .. }, _) => entries.clone(),
            (Members::Unchanged, Some((base, store))) => {
                let members = base.iter_sorted().into_iter();
                members.map(|(key, value)| (key.as_bytes(), store.live(value))).collect()
            }
            (Members::Unchanged, None) => Vec::new(),
        }
    }

    /// How many members a change has to copy first.
    pub(super) fn shared_members(&self) -> usize {
        let unchanged = matches!(&*self.members.borrow(), Members::Unchanged);
        if unchanged { self.len() } else { 0 }
    }

    /// Sets a member, or removes it.
    pub(super) fn change(&self, key: &'a [u8], value: Option<Val<'a>>) {
        if matches!(&*self.members.borrow(), Members::Unchanged) {
            let entries = self.members();
            self.members.replace(Members::Own { entries, removed: Vec::new() });
        }
        let Members::Own { entries, removed } = &mut *self.members.borrow_mut() else { return };
        match (entries.binary_search_by(|(k, _)| (*k).cmp(key)), value) {
            (Ok(at), Some(value)) => {
                if let Some(slot) = entries.get_mut(at) {
                    slot.1 = value;
                }
            }
            (Ok(at), None) => {
                entries.remove(at);
                removed.push(key);
            }
            (Err(at), Some(value)) => entries.insert(at, (key, value)),
            (Err(_), None) => removed.push(key),
        }
    }
}
