//! Iterators: over the parts of a value, and lazy ones as Jinja2's filters return them.

use std::cell::{Cell, RefCell};
use std::str::Chars;

use super::ast::{For, Spot};
use super::builtin::FilterName;
use super::library::Text;
use super::val::{Activation, Val};

/// An iterator, which gives each item once.
pub(super) struct Iter<'a> {
    pub source: RefCell<Source<'a>>,
    /// The name of Python's type.
    pub type_name: &'static str,
    /// Whether it is being advanced right now.
    pub running: Cell<bool>,
}

/// Where an iterator takes its items from.
pub(super) enum Source<'a> {
    Empty,
    /// The items of a list, a tuple, a `dict` (its keys), a view or a range, from a position on.
    Parts {
        of: Val<'a>,
        at: usize,
    },
    /// The items of a list, the last one first.
    Backwards {
        of: Val<'a>,
        left: usize,
    },
    Chars(Chars<'a>),
    Items {
        items: &'a [Val<'a>],
        at: usize,
    },
    /// Another iterator.
    Other(&'a Iter<'a>),
    /// The items of `inner` for which the condition of a loop is true.
    Tested {
        inner: &'a Iter<'a>,
        looping: &'a For,
        here: &'a Activation<'a>,
    },
    /// The items of `of`, each changed by `step` or left out.
    Lazy {
        of: &'a Iter<'a>,
        step: &'a LazyStep<'a>,
    },
    /// A filter that has not begun yet.
    Deferred(&'a Deferred<'a>),
}

/// A filter that Jinja2 writes as a generator: it does nothing, and fails at nothing, until its first item is asked for.
pub(super) struct Deferred<'a> {
    pub filter: FilterName,
    pub base: Val<'a>,
    pub args: Arguments<'a>,
    /// The place of the filter.
    pub at: Spot,
    pub text: &'a Text,
}

/// What a lazy filter does with each item.
pub(super) enum LazyStep<'a> {
    /// `map('filter', …)`.
    Filter { name: Val<'a>, args: Arguments<'a> },
    /// `map(attribute=…, default=…)`.
    Attribute { path: Vec<PathStep<'a>>, default: Option<Val<'a>> },
    /// `select`, `reject`, `selectattr`, `rejectattr`.
    Select { path: Option<Vec<PathStep<'a>>>, test: Option<(Val<'a>, Arguments<'a>)>, keeps: bool },
}

/// A step of `attribute='a.0.b'`.
#[derive(Clone, Copy)]
pub(super) enum PathStep<'a> {
    Name(&'a str),
    Index(i64),
    /// An attribute that was given as a value.
    Value(Val<'a>),
}

/// The arguments of a call, evaluated.
#[derive(Clone, Default)]
pub(super) struct Arguments<'a> {
    pub positional: Vec<Val<'a>>,
    pub named: Vec<(&'a str, Val<'a>)>,
}
