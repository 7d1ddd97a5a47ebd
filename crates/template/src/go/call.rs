//! The functions that a template may call beside the built-in ones.

use super::context::Context;
use super::val::Val;

/// A type that a parameter of a function asks for, or a result has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Go's `interface {}`.
    Any,
    /// `string`.
    String,
    /// `int`; number literals without a fraction fit it, data numbers do not.
    Int,
    /// `float64`.
    Float,
    /// `bool`.
    Bool,
    /// Go's `reflect.Value`: anything at all, as it is.
    Reflect,
}

impl Type {
    /// The type as Go names it in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Type::Any => "interface {}",
            Type::String => "string",
            Type::Int => "int",
            Type::Float => "float64",
            Type::Bool => "bool",
            Type::Reflect => "reflect.Value",
        }
    }

    /// The type of maps from strings to values of this type.
    pub(super) fn map_name(self) -> &'static str {
        match self {
            Type::Any | Type::Reflect => "map[string]interface {}",
            Type::String => "map[string]string",
            Type::Int => "map[string]int",
            Type::Float => "map[string]float64",
            Type::Bool => "map[string]bool",
        }
    }

    /// The zero value of the type.
    pub(super) fn zero(self) -> Val<'static> {
        match self {
            Type::Any | Type::Reflect => Val::NIL,
            Type::String => Val::bytes(b""),
            Type::Int => Val::int(0),
            Type::Float => Val::float(0.0),
            Type::Bool => Val::bool(false),
        }
    }
}

/// What a function takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The parameters that every call must give.
    pub params: &'static [Type],
    /// The type of any further ones; without it there must not be any.
    pub variadic: Option<Type>,
    /// The declared type of the result.
    pub result: Type,
    /// In strict mode: the last argument may be a value that is not there; it is passed as nil.
    pub takes_missing: bool,
    /// An empty string is passed in place of a gap; otherwise the call is not made, and its result is a gap too.
    pub takes_gaps: bool,
}

impl Signature {
    /// Any number of arguments of any type, and a result of any type.
    pub const ANY: Signature = Signature {
        params: &[],
        variadic: Some(Type::Any),
        result: Type::Any,
        takes_missing: false,
        takes_gaps: false,
    };

    /// The type that the argument at `at` must have.
    pub(super) fn param(&self, at: usize) -> Type {
        self.params.get(at).copied().or(self.variadic).unwrap_or(Type::Any)
    }
}

/// What a call gave.
pub enum Outcome<'a> {
    /// The function's result.
    Value(Val<'a>),
    /// The function failed: the run ends with Go's `error calling NAME: …`.
    Error(String),
    /// The result is not known yet; the number is the function's own for it. As long as the result is only printed by
    /// itself, or given to a variable that nobody reads, the run goes on, and ends with
    /// [`ExecError::Pending`](super::ExecError::Pending); needed in any other way, it ends so at once.
    Pending(usize),
    /// The function failed, and a gap stands for the result: it prints nothing, is false, and has only gaps in it.
    Gap,
}

/// The functions that a template may call beside the built-in ones, which they may replace if they are known under
/// their names when a text is parsed.
pub trait Functions {
    /// What the function takes; `None` if there is none of that name. A run asks for every call.
    fn signature(&self, name: &str) -> Option<Signature>;

    /// Calls the function with arguments that fit its signature.
    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a>;
}

/// No functions at all.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn signature(&self, _: &str) -> Option<Signature> {
        None
    }

    fn call<'a>(&self, _: &str, _: &[Val<'a>], _: &Context<'a>) -> Outcome<'a> {
        Outcome::Value(Val::nil())
    }
}
