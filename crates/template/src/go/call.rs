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
    /// `map[string]interface {}`.
    Map,
    /// `[]interface {}`.
    List,
    /// `time.Time`.
    Time,
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
            Type::Map => "map[string]interface {}",
            Type::List => "[]interface {}",
            Type::Time => "time.Time",
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
            Type::Map => "map[string]map[string]interface {}",
            Type::List => "map[string][]interface {}",
            Type::Time => "map[string]time.Time",
        }
    }

    /// The name of the type of lists of values of this type.
    pub(super) fn list_name(self) -> &'static str {
        match self {
            Type::Any | Type::Reflect => "[]interface {}",
            Type::String => "[]string",
            Type::Int => "[]int",
            Type::Float => "[]float64",
            Type::Bool => "[]bool",
            Type::Map => "[]map[string]interface {}",
            Type::List => "[][]interface {}",
            Type::Time => "[]time.Time",
        }
    }

    /// The zero value of the type.
    pub(super) fn zero<'a>(self) -> Val<'a> {
        match self {
            Type::Any | Type::Reflect | Type::Map | Type::List | Type::Time => Val::NIL,
            Type::String => Val::bytes(b""),
            Type::Int => Val::int(0),
            Type::Float => Val::float(0.0),
            Type::Bool => Val::bool(false),
        }
    }
}

/// The arguments of a function that may be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// None of them.
    None,
    /// The last one.
    Last,
    /// All of them.
    Any,
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
    /// Which arguments may be missing in strict mode; they are passed as nil then. If the result is nil, too, it is a
    /// missing value.
    pub takes_missing: Missing,
    /// Whether a gap in the place of a string, or of a value of any type, is passed as an empty string; otherwise the
    /// function is not called, and its result is a gap.
    pub takes_gaps: bool,
}

impl Signature {
    /// The signature with any number of arguments of any type, and a result of any type.
    pub const ANY: Signature = Signature {
        params: &[],
        variadic: Some(Type::Any),
        result: Type::Any,
        takes_missing: Missing::None,
        takes_gaps: false,
    };

    /// Whether a gap is passed as an empty string in the place `at`.
    pub(super) fn takes_gap(&self, at: usize) -> bool {
        self.takes_gaps && matches!(self.param(at), Type::String | Type::Any | Type::Reflect)
    }

    /// The type of the parameter at index `at`.
    pub(super) fn param(&self, at: usize) -> Type {
        self.params.get(at).copied().or(self.variadic).unwrap_or(Type::Any)
    }
}

/// What a function needs of its arguments, for the static analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArgumentUse {
    /// All of them must be there.
    Needed,
    /// They may be missing (see [`Signature::takes_missing`]).
    Tested,
    /// The last one may be missing.
    LastTested,
    /// The member of the first one that the second one names; it may be missing, and so may they.
    Member,
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
