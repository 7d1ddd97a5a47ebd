//! The methods of Python's types: which there are, and how their arguments are taken.

use num_traits::FromPrimitive;

use super::builtin::is_dict_method;
use super::error::Stop;
use super::iter::Arguments;
use super::machine::Machine;
use super::val::{Global, Object, Val};

const STR: [&str; 47] = [
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];
const MARKUP: [&str; 2] = ["striptags", "unescape"];
const LIST: [&str; 11] =
    ["append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse", "sort"];
const INT: [&str; 4] = ["as_integer_ratio", "bit_count", "bit_length", "conjugate"];
const FLOAT: [&str; 3] = ["as_integer_ratio", "conjugate", "is_integer"];

/// The methods of `str` that `bytes` does not have.
const NOT_BYTES: [&str; 9] = [
    "casefold",
    "encode",
    "format",
    "format_map",
    "isdecimal",
    "isidentifier",
    "isnumeric",
    "isprintable",
    "maketrans",
];

/// Whether `bytes` has a method of this name.
fn has_bytes_method(name: &str) -> bool {
    let is_own = matches!(name, "decode" | "hex");
    is_own || (name != "translate" && !NOT_BYTES.contains(&name) && STR.contains(&name))
}

/// Whether a value has a method of this name.
pub(super) fn has_method(value: &Val<'_>, name: &str) -> bool {
    match value {
        Val::Str(_) => STR.contains(&name),
        Val::Markup(_) => STR.contains(&name) || MARKUP.contains(&name),
        Val::Bytes(_) => has_bytes_method(name),
        Val::DataList(_) | Val::List(_) => LIST.contains(&name),
        Val::Tuple(_) | Val::Range(_) => matches!(name, "count" | "index"),
        Val::DataMap(_) | Val::Dict(_) => is_dict_method(name),
        Val::Int(_) | Val::Bool(_) | Val::Big(_) => INT.contains(&name),
        Val::Float(_) => FLOAT.contains(&name),
        Val::View(_) => name == "isdisjoint",
        Val::Loop(_) => matches!(name, "cycle" | "changed"),
        Val::Object(Object::Cycler { .. }) => matches!(name, "next" | "reset"),
        Val::Object(Object::Global(Global::Dict)) => is_dict_method(name),
        Val::Object(Object::Global(Global::Range)) => matches!(name, "count" | "index"),
        _ => false,
    }
}

impl<'a> Machine<'a> {
    /// Calls a method that the value has.
    pub fn call_method(&mut self, of: Val<'a>, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        self.step()?;
        match of {
            Val::Str(text) => self.str_method(text, name, args),
            Val::Markup(text) => self.markup_method(text, name, args),
            Val::DataList(_) | Val::List(_) => self.list_method(of, name, args),
            Val::Tuple(_) | Val::Range(_) => self.sequence_method(of, name, args),
            Val::DataMap(_) | Val::Dict(_) => self.dict_method(of, name, args),
            Val::Loop(state) => match name {
                "cycle" => self.loop_cycle(state, args),
                _ => self.loop_changed(state, args),
            },
            Val::Object(Object::Cycler { items, at }) => {
                self.none(name, args)?;
                let current = items.get(at.get()).copied().unwrap_or(Val::None);
                at.set(if name == "next" { (at.get() + 1) % items.len().max(1) } else { 0 });
                Ok(if name == "next" { current } else { Val::None })
            }
            Val::Object(Object::Global(class)) => self.class_method(*class, name, args),
            Val::Bytes(bytes) => self.bytes_method(bytes, name, args),
            Val::View(view) => {
                let other = self.one("isdisjoint", args)?;
                for item in self.collect(other)? {
                    if self.contains(Val::View(view), item)? {
                        return Ok(Val::Bool(false));
                    }
                }
                Ok(Val::Bool(true))
            }
            _ => self.number_method(of, name),
        }
    }

    /// `dict.fromkeys(…)`, and the methods of a class with the value as the first argument, such as `dict.get(d, 'a')`.
    fn class_method(&mut self, class: Global, name: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        if name == "fromkeys" {
            return self.dict_method(Val::None, name, args);
        }
        let mut rest = args.clone();
        let of = if rest.positional.is_empty() { Val::None } else { rest.positional.remove(0) };
        let of = self.settle(of, self.at)?;
        match (class, self.live(of)) {
            (_, Val::Gap) => Ok(Val::Gap),
            (Global::Dict, of @ (Val::DataMap(_) | Val::Dict(_))) => self.dict_method(of, name, &rest),
            (Global::Range, of @ Val::Range(_)) => self.sequence_method(of, name, &rest),
            _ => Err(self.fail(format!("descriptor '{name}' needs a value of its own type"))),
        }
    }

    fn number_method(&mut self, of: Val<'a>, name: &str) -> Result<Val<'a>, Stop> {
        match (name, of) {
            ("conjugate", Val::Bool(value)) => Ok(Val::Int(i64::from(value))),
            ("conjugate", of) => Ok(of),
            ("is_integer", Val::Float(value)) => Ok(Val::Bool(value.is_finite() && value.fract() == 0.0)),
            ("bit_length", Val::Big(value)) => Ok(Val::Int(value.bits() as i64)),
            ("bit_count", Val::Big(value)) => Ok(Val::Int(value.magnitude().count_ones() as i64)),
            ("bit_length", of) => {
                let value = of.as_int().unwrap_or(0).unsigned_abs();
                Ok(Val::Int(i64::from(u64::BITS - value.leading_zeros())))
            }
            ("bit_count", of) => {
                Ok(Val::Int(i64::from(of.as_int().unwrap_or(0).unsigned_abs().count_ones())))
            }
            (_, Val::Float(value)) => self.float_ratio(value),
            (_, Val::Bool(value)) => self.tuple(&[Val::Int(i64::from(value)), Val::Int(1)]),
            (_, of) => self.tuple(&[of, Val::Int(1)]),
        }
    }

    fn float_ratio(&mut self, value: f64) -> Result<Val<'a>, Stop> {
        let Some(mut top) = num_bigint::BigInt::from_f64(value) else {
            return Err(self.fail("cannot convert NaN or Infinity to integer ratio"));
        };
        let mut bottom = num_bigint::BigInt::from(1);
        let mut scaled = value;
        // A double has at most 1074 binary digits after its point.
        for _ in 0..1_100 {
            if scaled.fract() == 0.0 {
                break;
            }
            scaled *= 2.0;
            bottom *= 2;
            top = num_bigint::BigInt::from_f64(scaled).unwrap_or_default();
        }
        let (top, bottom) = (self.big(top)?, self.big(bottom)?);
        self.tuple(&[top, bottom])
    }

    /// The only argument of a method.
    pub fn one(&mut self, method: &str, args: &Arguments<'a>) -> Result<Val<'a>, Stop> {
        match (args.positional.as_slice(), args.named.is_empty()) {
            ([only], true) => self.settle(*only, self.at),
            (more, _) => {
                let got = more.len() + args.named.len();
                Err(self.fail(format!("{method}() takes exactly one argument ({got} given)")))
            }
        }
    }

    /// Checks that a method got no arguments.
    pub fn none(&self, method: &str, args: &Arguments<'a>) -> Result<(), Stop> {
        match args.positional.len() + args.named.len() {
            0 => Ok(()),
            got => Err(self.fail(format!("{method}() takes no arguments ({got} given)"))),
        }
    }

    /// An argument that must be there.
    pub fn required(&mut self, function: &str, value: Option<Val<'a>>) -> Result<Val<'a>, Stop> {
        match value {
            Some(value) => self.demand(value),
            None => Err(self.fail(format!("{function}() is missing a required argument"))),
        }
    }

    /// An integer argument; nothing for a gap.
    pub fn int_arg(&mut self, value: Val<'a>) -> Result<i64, Stop> {
        match self.demand(value)? {
            Val::Gap => Ok(0),
            Val::Big(value) if value.sign() == num_bigint::Sign::Minus => Ok(i64::MIN),
            Val::Big(_) => Ok(i64::MAX),
            value => match value.as_int() {
                Some(value) => Ok(value),
                None => {
                    let name = value.type_name();
                    Err(self.fail(format!("'{name}' object cannot be interpreted as an integer")))
                }
            },
        }
    }

    /// An argument that is true or false, but must be an integer for Python.
    pub fn flag(&mut self, value: Option<Val<'a>>) -> Result<bool, Stop> {
        let value = self.int_arg(value.unwrap_or(Val::Bool(false)))?;
        match i32::try_from(value) {
            Ok(value) => Ok(value != 0),
            Err(_) => Err(self.fail("Python int too large to convert to C int")),
        }
    }

    /// An integer argument that may be absent or `None`.
    pub fn int_option(&mut self, value: Option<Val<'a>>) -> Result<Option<i64>, Stop> {
        match value {
            None | Some(Val::None) => Ok(None),
            Some(value) => self.int_arg(value).map(Some),
        }
    }

    /// A text argument.
    pub fn str_arg(&mut self, function: &str, value: Val<'a>) -> Result<&'a str, Stop> {
        let value = self.demand(value)?;
        match (value.as_text(), value) {
            (Some(text), _) => Ok(text),
            (None, Val::Gap) => Ok(""),
            (None, other) => {
                let name = other.type_name();
                Err(self.fail(format!("{function}() argument must be str, not {name}")))
            }
        }
    }

    /// A text argument that may be absent or `None`.
    pub fn str_option(&mut self, function: &str, value: Option<Val<'a>>) -> Result<Option<&'a str>, Stop> {
        match value {
            None | Some(Val::None) => Ok(None),
            Some(value) => self.str_arg(function, value).map(Some),
        }
    }
}
