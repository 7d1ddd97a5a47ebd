//! The values that formatting writes.

use std::borrow::Cow;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use super::PyError;
use super::float::write_float;
use super::out::fits;
use super::repr::write_repr;

/// A value to be formatted. What is neither number nor text writes itself, and only when it is asked to.
pub enum Arg<'v> {
    /// `bool`, which formats as an int where a number is wanted.
    Bool(bool),
    /// `int`
    Int(i64),
    /// An `int` of any size.
    Big(Cow<'v, BigInt>),
    /// `float`
    Float(f64),
    /// `str`
    Str(Cow<'v, str>),
    /// Any other object.
    Other(Box<dyn Object + 'v>),
}

/// An object that is neither number nor text.
pub trait Object {
    /// `type(object).__name__`, for messages.
    fn type_name(&self) -> &str;
    /// `str(object)`, of `room` bytes at most.
    fn str(&self, room: usize) -> Result<String, PyError>;
    /// `repr(object)`, of `room` bytes at most.
    fn repr(&self, room: usize) -> Result<String, PyError>;
}

impl Arg<'_> {
    /// `type(value).__name__`
    pub fn type_name(&self) -> &str {
        match self {
            Arg::Bool(_) => "bool",
            Arg::Int(_) | Arg::Big(_) => "int",
            Arg::Float(_) => "float",
            Arg::Str(_) => "str",
            Arg::Other(object) => object.type_name(),
        }
    }

    /// `str(value)`
    pub fn str(&self, room: usize) -> Result<Cow<'_, str>, PyError> {
        match self {
            Arg::Str(text) => Ok(Cow::Borrowed(text)),
            Arg::Other(object) => object.str(room).map(Cow::Owned),
            number => number.number_text().map(Cow::Owned),
        }
    }

    /// `repr(value)`
    pub fn repr(&self, room: usize) -> Result<String, PyError> {
        match self {
            Arg::Str(text) => {
                fits(text.len(), room)?;
                let mut out = String::new();
                write_repr(&mut out, text);
                Ok(out)
            }
            Arg::Other(object) => object.repr(room),
            number => number.number_text(),
        }
    }

    fn number_text(&self) -> Result<String, PyError> {
        match self {
            Arg::Bool(true) => Ok("True".to_owned()),
            Arg::Bool(false) => Ok("False".to_owned()),
            Arg::Int(value) => Ok(value.to_string()),
            Arg::Big(value) => big_text(value),
            Arg::Float(value) => {
                let mut out = String::new();
                write_float(&mut out, *value);
                Ok(out)
            }
            Arg::Str(_) | Arg::Other(_) => Ok(String::new()),
        }
    }

    /// The value as an `int`, if it is one.
    pub(super) fn int(&self) -> Option<Cow<'_, BigInt>> {
        match self {
            Arg::Bool(value) => Some(Cow::Owned(BigInt::from(u8::from(*value)))),
            Arg::Int(value) => Some(Cow::Owned(BigInt::from(*value))),
            Arg::Big(value) => Some(Cow::Borrowed(value)),
            Arg::Float(_) | Arg::Str(_) | Arg::Other(_) => None,
        }
    }

    /// `float(value)` of a number.
    pub(super) fn float(&self) -> Result<f64, PyError> {
        match self {
            Arg::Bool(value) => Ok(f64::from(u8::from(*value))),
            Arg::Int(value) => Ok(*value as f64),
            Arg::Float(value) => Ok(*value),
            Arg::Big(value) => big_float(value),
            other => PyError::type_error(format!("must be real number, not {}", other.type_name())),
        }
    }
}

/// Python refuses to write or to read more decimal digits.
pub(super) const MOST_DIGITS: usize = 4300;

/// `str(int)`, which Python refuses for more than 4300 digits.
pub fn big_text(value: &BigInt) -> Result<String, PyError> {
    // 4300 digits have 14284 or 14285 bits, so what is longer need not be converted, which takes quadratic time.
    let text = (value.bits() <= 14_285).then(|| value.to_string());
    text.filter(|text| text.trim_start_matches('-').len() <= MOST_DIGITS).ok_or_else(|| {
        PyError::Value(format!(
            "Exceeds the limit ({MOST_DIGITS} digits) for integer string conversion; use \
             sys.set_int_max_str_digits() to increase the limit"
        ))
    })
}

/// `float(int)`
pub fn big_float(value: &BigInt) -> Result<f64, PyError> {
    value
        .to_f64()
        .filter(|float| float.is_finite())
        .ok_or_else(|| PyError::Overflow("int too large to convert to float".to_owned()))
}

/// `int(float)`: without what follows the point.
pub fn float_int(value: f64) -> Result<BigInt, PyError> {
    if value.is_nan() {
        return PyError::value_error("cannot convert float NaN to integer");
    }
    num_traits::FromPrimitive::from_f64(value.trunc())
        .ok_or_else(|| PyError::Overflow("cannot convert float infinity to integer".to_owned()))
}
