//! Values as templates see them: borrowed from the data or from the arena of the run, and always cheap to copy.

use std::sync::Arc;

use crate::run::Absent;
use crate::value::{List, Map, Value};

use super::call::Type;

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
    /// A byte of a string (Go's `uint8`).
    Byte(u8),
    Float(f64),
    Complex(f64, f64),
    Str(&'a [u8]),
    List(&'a Arc<List>),
    Slice(&'a Slice<'a>),
    Map(&'a Arc<Map>),
    Dict(&'a Dict<'a>),
}

/// A part of a list, or a list made during the run.
pub(super) struct Slice<'a> {
    pub(super) base: Base<'a>,
    pub(super) start: usize,
    pub(super) len: usize,
    /// The capacity: how far slicing can extend the list again.
    pub(super) cap: usize,
}

/// The elements below a [`Slice`].
#[derive(Clone, Copy)]
pub(super) enum Base<'a> {
    Data(&'a Arc<List>),
    Made(&'a [Val<'a>]),
}

/// A map made during the run, sorted by key.
pub(super) struct Dict<'a> {
    pub(super) entries: Vec<(&'a [u8], Val<'a>)>,
    /// The type of the members.
    pub(super) of: Type,
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
}

impl<'a> Val<'a> {
    pub(super) const NONE: Val<'static> = Val { v: V::None, boxed: false, depth: 0 };
    pub(super) const NIL: Val<'static> = Val { v: V::Nil, boxed: true, depth: 0 };

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

    /// The value of a Go `int`.
    pub fn as_int(&self) -> Option<i64> {
        match self.v {
            V::Int(n) => Some(n),
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

    /// Whether the value is `nil`, or no value at all.
    pub fn is_nil(&self) -> bool {
        matches!(self.kind(), ValueKind::Invalid | ValueKind::Nil)
    }

    /// Whether the value is true in Go's sense: not empty, zero or nil.
    pub fn is_true(&self) -> bool {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap | V::Nil => false,
            V::Bool(value) => value,
            V::Int(n) => n != 0,
            V::Byte(n) => n != 0,
            V::Float(n) => n != 0.0,
            V::Complex(real, imaginary) => real != 0.0 || imaginary != 0.0,
            V::Str(bytes) => !bytes.is_empty(),
            V::List(list) => !list.is_empty(),
            V::Slice(slice) => slice.len > 0,
            V::Map(map) => !map.is_empty(),
            V::Dict(dict) => !dict.entries.is_empty(),
        }
    }

    pub(super) fn kind(&self) -> ValueKind {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap => ValueKind::Invalid,
            V::Nil => ValueKind::Nil,
            V::Bool(_) => ValueKind::Bool,
            V::Int(_) => ValueKind::Int,
            V::Byte(_) => ValueKind::Uint,
            V::Float(_) => ValueKind::Float,
            V::Complex(..) => ValueKind::Complex,
            V::Str(_) => ValueKind::String,
            V::List(_) | V::Slice(_) => ValueKind::Slice,
            V::Map(_) | V::Dict(_) => ValueKind::Map,
        }
    }

    /// The name of the dynamic Go type, as `%T` prints it.
    pub fn type_name(&self) -> &'static str {
        match self.v {
            V::None | V::Absent(_) | V::Pending(_) | V::Gap => "<nil>",
            V::Nil => "interface {}",
            V::Bool(_) => "bool",
            V::Int(_) => "int",
            V::Byte(_) => "uint8",
            V::Float(_) => "float64",
            V::Complex(..) => "complex128",
            V::Str(_) => "string",
            V::List(_) | V::Slice(_) => "[]interface {}",
            V::Dict(dict) => dict.of.map_name(),
            V::Map(_) => "map[string]interface {}",
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
            V::Dict(dict) => Some(dict.entries.len()),
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
            V::Dict(dict) => dict.entries.iter().map(|(key, value)| (*key, value.within(self))).collect(),
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
            Base::Made(items) => items.get(at).copied().unwrap_or(Val::NIL),
        }
    }
}

impl<'a> Dict<'a> {
    pub(super) fn get(&self, key: &[u8]) -> Option<Val<'a>> {
        let found = self.entries.binary_search_by(|(k, _)| (*k).cmp(key)).ok()?;
        self.entries.get(found).map(|(_, value)| *value)
    }
}
