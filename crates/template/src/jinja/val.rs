//! Values as Jinja templates see them: Python's, borrowed from the data or from the arena of the run, cheap to copy.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use num_bigint::BigInt;

use super::ast::{Block, Macro};
use super::context::Context;
use super::dict::Dict;
use super::iter::Iter;
use super::library::Text;
use crate::run::Absent;
use crate::value::{List, Map, Value};

/// A value inside a run.
#[derive(Clone, Copy)]
pub(super) enum Val<'a> {
    /// A variable without a value.
    Unset,
    Undefined(&'a Undefined<'a>),
    /// The pending result of a function, by the number that the function gave it; or a text that contains it.
    Pending(usize),
    /// The gap that a failed call leaves, and what follows the use of a missing value: it prints nothing and is false.
    Gap,
    None,
    Bool(bool),
    Int(i64),
    /// An integer beyond 64 bits.
    Big(&'a BigInt),
    Float(f64),
    Str(&'a str),
    /// A text that is not escaped again (markupsafe's `Markup`).
    Markup(&'a str),
    Bytes(&'a [u8]),
    /// A list of the data. If the run has changed it, its changed copy stands for it: see `Machine::live`.
    DataList(&'a Arc<List>),
    /// An object of the data, likewise.
    DataMap(&'a Arc<Map>),
    List(&'a RefCell<Vec<Val<'a>>>),
    Tuple(&'a Tuple<'a>),
    Dict(&'a RefCell<Dict<'a>>),
    View(&'a View<'a>),
    Range(&'a Range),
    Iter(&'a Iter<'a>),
    Namespace(&'a RefCell<Dict<'a>>),
    /// The variable `loop`.
    Loop(&'a Loop<'a>),
    Object(&'a Object<'a>),
}

/// What stands for a value that is not there.
pub(super) enum Undefined<'a> {
    /// A member of the data, which is recorded as missing when it is needed.
    Absent(Absent<'a>),
    /// A name or value of the template's own, with the error for its use.
    Own(String),
    /// The value of `x if c` when `c` is false: always lenient.
    Blank,
}

/// An immutable list.
pub(super) struct Tuple<'a> {
    pub items: &'a [Val<'a>],
    /// Whether its two items are also attributes: `grouper` and `list`, the result of `groupby`.
    pub is_group: bool,
}

/// `dict.keys()`, `dict.values()` or `dict.items()`.
pub(super) struct View<'a> {
    pub of: Val<'a>,
    pub kind: ViewKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ViewKind {
    Keys,
    Values,
    Items,
}

/// `range(start, stop, step)`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    pub start: i64,
    pub stop: i64,
    pub step: i64,
}

impl Range {
    /// The number of its items.
    pub fn len(&self) -> u64 {
        let (start, stop, step) = (i128::from(self.start), i128::from(self.stop), i128::from(self.step));
        let way = if step > 0 { stop - start } else { start - stop };
        let pace = step.abs().max(1);
        u64::try_from((way.max(0) + pace - 1) / pace).unwrap_or(u64::MAX)
    }

    /// The item at an index, from 0.
    pub fn get(&self, at: u64) -> i64 {
        let value = i128::from(self.start) + i128::from(at) * i128::from(self.step);
        i64::try_from(value).unwrap_or(self.stop)
    }
}

/// The other kinds of values.
pub(super) enum Object<'a> {
    Cycler {
        items: Vec<Val<'a>>,
        at: Cell<usize>,
    },
    Joiner {
        separator: Val<'a>,
        used: Cell<bool>,
    },
    Macro(MacroValue<'a>),
    Module(Module<'a>),
    /// A block as `super()` or `self.name()` calls it: its versions from the innermost template outwards.
    Block {
        name: &'a str,
        context: &'a Context<'a>,
        depth: usize,
    },
    /// `self`.
    Blocks(&'a Context<'a>),
    Global(Global),
    /// A function from outside of the template.
    Tool(&'a str),
    /// A method that was looked up but not called yet.
    Method {
        of: Val<'a>,
        name: &'a str,
    },
}

/// A function of Jinja's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    Range,
    Dict,
    Lipsum,
    Cycler,
    Joiner,
    Namespace,
    RaiseException,
    StrftimeNow,
}

impl Global {
    /// The function of this name.
    pub fn find(name: &str) -> Option<Global> {
        Some(match name {
            "range" => Global::Range,
            "dict" => Global::Dict,
            "lipsum" => Global::Lipsum,
            "cycler" => Global::Cycler,
            "joiner" => Global::Joiner,
            "namespace" => Global::Namespace,
            "raise_exception" => Global::RaiseException,
            "strftime_now" => Global::StrftimeNow,
            _ => return None,
        })
    }
}

/// The variable `loop`.
pub(super) struct Loop<'a> {
    /// What is iterated over, for its length.
    pub over: Val<'a>,
    pub iter: &'a Iter<'a>,
    /// The turn, from 0.
    pub index0: Cell<usize>,
    pub depth0: usize,
    pub length: Cell<Option<usize>>,
    /// The next item, if it was looked at already.
    pub after: Cell<Option<Val<'a>>>,
    pub current: Cell<Val<'a>>,
    pub before: Cell<Val<'a>>,
    /// The last arguments of `loop.changed`.
    pub changed: Cell<Option<&'a [Val<'a>]>>,
    /// For a recursive loop: what a call of `loop` runs.
    pub recursion: Option<Recursion<'a>>,
}

/// A recursive loop with the variables around it.
#[derive(Clone, Copy)]
pub(super) struct Recursion<'a> {
    pub statement: &'a super::ast::For,
    pub outer: &'a Activation<'a>,
}

/// A macro with the variables around its definition.
pub(super) struct MacroValue<'a> {
    pub definition: &'a Macro,
    /// Whether it is the body of a call block, which has no name.
    pub anonymous: bool,
    pub outer: &'a Activation<'a>,
    /// The text that defines it, and its context.
    pub text: &'a Text,
    pub context: &'a Context<'a>,
    /// Whether escaping was on where it was defined.
    pub escapes: bool,
}

/// An imported text.
pub(super) struct Module<'a> {
    pub name: &'a str,
    /// What the text printed.
    pub body: Val<'a>,
    pub members: Dict<'a>,
}

/// The variables of a function that is running, or ran.
pub(super) struct Activation<'a> {
    pub slots: &'a [Cell<Val<'a>>],
    pub outer: Option<&'a Activation<'a>>,
}

/// A version of a block, with the text that it comes from.
#[derive(Clone, Copy)]
pub(super) struct BlockVersion<'a> {
    pub block: &'a Block,
    pub text: &'a Text,
}

/// Texts of up to so many bytes are the same object if they are equal.
const SHARED_BYTES: usize = 64;

impl<'a> Val<'a> {
    /// A part of the data.
    #[inline]
    pub fn data(value: &'a Value) -> Val<'a> {
        match value {
            Value::Null => Val::None,
            Value::Bool(value) => Val::Bool(*value),
            Value::Int(value) => Val::Int(*value),
            // Rare, and exact only up to 2^53; see `Machine::data` for the exact form.
            Value::UInt(value) => Val::Float(*value as f64),
            Value::Float(value) => Val::Float(*value),
            Value::Str(text) => Val::Str(text),
            Value::List(list) => Val::DataList(list),
            Value::Map(map) => Val::DataMap(map),
        }
    }

    /// The text of a `str`, with or without markup.
    pub fn as_text(&self) -> Option<&'a str> {
        match self {
            Val::Str(text) | Val::Markup(text) => Some(text),
            _ => None,
        }
    }

    /// The value of an `int`, a `bool` included; `None` beyond 64 bits.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Val::Int(value) => Some(*value),
            Val::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Whether it is a number, a `bool` included.
    pub fn is_number(&self) -> bool {
        matches!(self, Val::Int(_) | Val::Bool(_) | Val::Big(_) | Val::Float(_))
    }

    /// The name of Python's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Val::Unset | Val::Undefined(_) | Val::Pending(_) | Val::Gap => "Undefined",
            Val::None => "NoneType",
            Val::Bool(_) => "bool",
            Val::Int(_) | Val::Big(_) => "int",
            Val::Float(_) => "float",
            Val::Str(_) => "str",
            Val::Markup(_) => "Markup",
            Val::Bytes(_) => "bytes",
            Val::DataList(_) | Val::List(_) => "list",
            Val::DataMap(_) | Val::Dict(_) => "dict",
            Val::Tuple(tuple) if tuple.is_group => "_GroupTuple",
            Val::Tuple(_) => "tuple",
            Val::View(view) => match view.kind {
                ViewKind::Keys => "dict_keys",
                ViewKind::Values => "dict_values",
                ViewKind::Items => "dict_items",
            },
            Val::Range(_) => "range",
            Val::Iter(_) => "generator",
            Val::Namespace(_) => "Namespace",
            Val::Loop(_) => "LoopContext",
            Val::Object(object) => match object {
                Object::Cycler { .. } => "Cycler",
                Object::Joiner { .. } => "Joiner",
                Object::Macro(_) => "Macro",
                Object::Module(_) => "TemplateModule",
                Object::Block { .. } => "BlockReference",
                Object::Blocks(_) => "TemplateReference",
                Object::Global(_) | Object::Tool(_) => "function",
                Object::Method { .. } => "builtin_function_or_method",
            },
        }
    }

    /// Whether both are the same object (Python's `is`).
    pub fn is_same(&self, other: &Val<'a>) -> bool {
        match (self, other) {
            (Val::None, Val::None) => true,
            (Val::Bool(a), Val::Bool(b)) => a == b,
            (Val::Int(a), Val::Int(b)) => a == b,
            (Val::Float(a), Val::Float(b)) => a.to_bits() == b.to_bits(),
            // Short texts are shared, as Python interns them; long ones are not compared here, where nothing counts.
            (Val::Str(a), Val::Str(b)) => std::ptr::eq(*a, *b) || (a.len() <= SHARED_BYTES && a == b),
            (Val::Markup(a), Val::Markup(b)) => std::ptr::eq(*a, *b),
            (Val::Bytes(a), Val::Bytes(b)) => std::ptr::eq(*a, *b),
            (Val::Big(a), Val::Big(b)) => std::ptr::eq(*a, *b),
            (Val::DataList(a), Val::DataList(b)) => Arc::ptr_eq(a, b),
            (Val::DataMap(a), Val::DataMap(b)) => Arc::ptr_eq(a, b),
            (Val::List(a), Val::List(b)) => std::ptr::eq(*a, *b),
            (Val::Tuple(a), Val::Tuple(b)) => {
                std::ptr::eq(*a, *b) || (a.items.is_empty() && b.items.is_empty())
            }
            (Val::Dict(a), Val::Dict(b)) | (Val::Namespace(a), Val::Namespace(b)) => std::ptr::eq(*a, *b),
            (Val::View(a), Val::View(b)) => std::ptr::eq(*a, *b),
            (Val::Range(a), Val::Range(b)) => std::ptr::eq(*a, *b),
            (Val::Iter(a), Val::Iter(b)) => std::ptr::eq(*a, *b),
            (Val::Object(Object::Global(a)), Val::Object(Object::Global(b))) => a == b,
            (Val::Loop(a), Val::Loop(b)) => std::ptr::eq(*a, *b),
            (Val::Object(a), Val::Object(b)) => std::ptr::eq(*a, *b),
            (Val::Undefined(a), Val::Undefined(b)) => std::ptr::eq(*a, *b),
            _ => false,
        }
    }
}
