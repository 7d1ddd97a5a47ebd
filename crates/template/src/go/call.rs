//! Functions that a program adds to the built-in ones.

use super::context::Context;
use super::val::Val;

/// The Go type of a parameter or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Go's `interface {}`.
    Any,
    /// `string`.
    String,
    /// `int`: number literals without a fraction have it, numbers of the data do not.
    Int,
    /// `float64`.
    Float,
    /// `bool`.
    Bool,
    /// Go's `reflect.Value`: any value, without conversion.
    Reflect,
}

impl Type {
    /// The name of the type in Go's messages.
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

    /// The name of the type of maps from strings to values of this type.
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

/// The parameters and the result of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature {
    /// The required parameters.
    pub params: &'static [Type],
    /// The type of further arguments; `None` if there must not be any.
    pub variadic: Option<Type>,
    /// The type of the result.
    pub result: Type,
    /// Whether the last argument may be missing in strict mode; it is passed as nil then.
    pub takes_missing: bool,
    /// Whether a gap among the arguments is passed as an empty string; otherwise the function is not called, and its
    /// result is a gap.
    pub takes_gaps: bool,
}

impl Signature {
    /// The signature with any number of arguments of any type, and a result of any type.
    pub const ANY: Signature = Signature {
        params: &[],
        variadic: Some(Type::Any),
        result: Type::Any,
        takes_missing: false,
        takes_gaps: false,
    };

    /// The type of the parameter at index `at`.
    pub(super) fn param(&self, at: usize) -> Type {
        self.params.get(at).copied().or(self.variadic).unwrap_or(Type::Any)
    }
}

/// The result of a call.
pub enum Outcome<'a> {
    /// The value that the function returned.
    Value(Val<'a>),
    /// The run ends with Go's `error calling NAME: …`.
    Error(String),
    /// The result is not there yet; the function chooses the number, which identifies it. While the result is only printed
    /// by itself, or assigned to a variable that is not read, the run goes on, and ends with
    /// [`ExecError::Pending`](super::ExecError::Pending). Any other use ends the run at once.
    Pending(usize),
    /// The call failed, and its result is a gap: it prints nothing and is false, and its members are gaps.
    Gap,
}

/// Functions that a template may call besides the built-in ones. A function replaces the built-in one of its name if
/// [`ParseOptions::functions`](super::ParseOptions::functions) knows it when the text is parsed.
pub trait Functions {
    /// The signature of a function; `None` if there is none of that name. It is read for every call.
    fn signature(&self, name: &str) -> Option<Signature>;

    /// Calls a function with arguments that fit its signature.
    fn call<'a>(&self, name: &str, args: &[Val<'a>], context: &Context<'a>) -> Outcome<'a>;
}

/// [`Functions`] without any entries.
pub struct NoFunctions;

impl Functions for NoFunctions {
    fn signature(&self, _: &str) -> Option<Signature> {
        None
    }

    fn call<'a>(&self, _: &str, _: &[Val<'a>], _: &Context<'a>) -> Outcome<'a> {
        Outcome::Value(Val::nil())
    }
}
