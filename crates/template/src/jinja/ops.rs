//! Arithmetic, as Python does it.

use num_bigint::BigInt;

use super::ast::BinaryOp;
use super::error::Stop;
use super::machine::Machine;
use super::val::Val;
use crate::python::number::{self, Power};
use crate::python::{PyError, arg};

/// The most bits of an integer.
const BITS_MAX: u64 = 1 << 17;

/// A number, as arithmetic sees it.
enum Number {
    Int(i64),
    Big(BigInt),
    Float(f64),
}

impl Number {
    fn of(value: &Val<'_>) -> Option<Number> {
        Some(match value {
            Val::Int(value) => Number::Int(*value),
            Val::Bool(value) => Number::Int(i64::from(*value)),
            Val::Big(value) => Number::Big((*value).clone()),
            Val::Float(value) => Number::Float(*value),
            _ => return None,
        })
    }

    fn float(&self) -> Result<f64, PyError> {
        match self {
            Number::Int(value) => Ok(*value as f64),
            Number::Big(value) => arg::big_float(value),
            Number::Float(value) => Ok(*value),
        }
    }

    fn big(self) -> BigInt {
        match self {
            Number::Int(value) => BigInt::from(value),
            Number::Big(value) => value,
            Number::Float(_) => BigInt::ZERO,
        }
    }
}

/// The sign of an operator, for messages.
fn sign(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Sub => "-",
        BinaryOp::Mul => "*",
        BinaryOp::Div => "/",
        BinaryOp::FloorDiv => "//",
        BinaryOp::Mod => "%",
        BinaryOp::Pow | BinaryOp::ConstPow => "** or pow()",
    }
}

impl<'a> Machine<'a> {
    /// The value of a binary operation. A gap gives the other operand.
    pub fn binary(&mut self, op: BinaryOp, left: Val<'a>, right: Val<'a>) -> Result<Val<'a>, Stop> {
        if let (Val::Int(a), Val::Int(b)) = (left, right) {
            let fast = match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                _ => None,
            };
            if let Some(value) = fast {
                return Ok(Val::Int(value));
            }
        }
        if op == BinaryOp::Mod && left.as_text().is_some() {
            return self.percent(left, right);
        }
        let (left, right) = (self.demand(left)?, self.demand(right)?);
        match (left, right) {
            (Val::Gap, other) | (other, Val::Gap) => return Ok(other),
            _ => {}
        }
        if let (Some(a), Some(b)) = (Number::of(&left), Number::of(&right)) {
            return self.arithmetic(op, a, b);
        }
        let (left, right) = (self.live(left), self.live(right));
        match op {
            BinaryOp::Add => self.add(left, right),
            BinaryOp::Mul => self.repeat(left, right),
            _ => Err(self.unsupported(op, left, right)),
        }
    }

    #[cold]
    fn unsupported(&self, op: BinaryOp, left: Val<'a>, right: Val<'a>) -> Stop {
        let (left, right) = (left.type_name(), right.type_name());
        self.fail(format!("unsupported operand type(s) for {}: '{left}' and '{right}'", sign(op)))
    }

    fn add(&mut self, left: Val<'a>, right: Val<'a>) -> Result<Val<'a>, Stop> {
        match (left, right) {
            (Val::Str(a), Val::Str(b)) => {
                self.check_text(a.len() + b.len())?;
                self.charge(a.len() + b.len() + 16)?;
                self.work(a.len() + b.len())?;
                let mut text =
                    bumpalo::collections::String::with_capacity_in(a.len() + b.len(), &self.store.bump);
                text.push_str(a);
                text.push_str(b);
                Ok(Val::Str(text.into_bump_str()))
            }
            (Val::Markup(_), Val::Str(_) | Val::Markup(_)) | (Val::Str(_), Val::Markup(_)) => {
                let mut text = String::new();
                for part in [left, right] {
                    match part {
                        Val::Markup(part) => text.push_str(part),
                        part => {
                            text.push_str(&crate::python::html::escape(part.as_text().unwrap_or_default()))
                        }
                    }
                }
                Ok(Val::Markup(self.alloc_str(&text)?))
            }
            (Val::DataList(_) | Val::List(_), Val::DataList(_) | Val::List(_)) => {
                let mut items = self.collect(left)?;
                items.extend(self.collect(right)?);
                self.list(items)
            }
            (Val::Bytes(a), Val::Bytes(b)) => {
                self.check_room(a.len() + b.len())?;
                self.bytes([a, b].concat())
            }
            (Val::Tuple(a), Val::Tuple(b)) => {
                self.check_room((a.items.len() + b.items.len()) * size_of::<Val<'a>>())?;
                self.work_items(a.items.len() + b.items.len())?;
                self.tuple(&[a.items, b.items].concat())
            }
            (Val::Str(_) | Val::Markup(_), other) => {
                Err(self.fail(format!("can only concatenate str (not \"{}\") to str", other.type_name())))
            }
            (Val::DataList(_) | Val::List(_), other) => {
                Err(self.fail(format!("can only concatenate list (not \"{}\") to list", other.type_name())))
            }
            _ => Err(self.unsupported(BinaryOp::Add, left, right)),
        }
    }

    /// `text * n` and `list * n`.
    fn repeat(&mut self, left: Val<'a>, right: Val<'a>) -> Result<Val<'a>, Stop> {
        let is_sequence = |value: &Val<'a>| {
            matches!(
                value,
                Val::Str(_)
                    | Val::Markup(_)
                    | Val::Bytes(_)
                    | Val::DataList(_)
                    | Val::List(_)
                    | Val::Tuple(_)
            )
        };
        let (of, times) = match (is_sequence(&left), is_sequence(&right)) {
            (true, false) => (left, right),
            (false, true) => (right, left),
            _ => return Err(self.unsupported(BinaryOp::Mul, left, right)),
        };
        let Some(times) = times.as_int() else {
            return Err(match times {
                Val::Big(_) => self.out_of_memory(),
                _ => self.fail(format!("can't multiply sequence by non-int of type '{}'", times.type_name())),
            });
        };
        let times = usize::try_from(times).unwrap_or(0);
        if let Some(text) = of.as_text() {
            let bytes = text.len().saturating_mul(times);
            self.check_text(bytes)?;
            let text = self.alloc_str(&text.repeat(times))?;
            return Ok(if matches!(of, Val::Markup(_)) { Val::Markup(text) } else { Val::Str(text) });
        }
        if let Val::Bytes(bytes) = of {
            self.check_room(bytes.len().saturating_mul(times))?;
            return self.bytes(bytes.repeat(times));
        }
        let items = self.collect(of)?;
        let count = items.len().saturating_mul(times);
        self.check_room(count.saturating_mul(size_of::<Val<'a>>()))?;
        self.work_items(count)?;
        match of {
            Val::Tuple(_) => self.tuple(&items.repeat(times)),
            _ => self.list(items.repeat(times)),
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, a: Number, b: Number) -> Result<Val<'a>, Stop> {
        match (a, b) {
            (Number::Int(a), Number::Int(b)) => self.int_op(op, a, b),
            (Number::Float(a), b) => {
                let b = self.check(b.float())?;
                self.float_op(op, a, b)
            }
            (a, Number::Float(b)) => {
                let a = self.check(a.float())?;
                self.float_op(op, a, b)
            }
            (a, b) => self.big_op(op, &a.big(), &b.big()),
        }
    }

    fn float_op(&mut self, op: BinaryOp, a: f64, b: f64) -> Result<Val<'a>, Stop> {
        let value = match op {
            BinaryOp::Add => Ok(a + b),
            BinaryOp::Sub => Ok(a - b),
            BinaryOp::Mul => Ok(a * b),
            BinaryOp::Div => number::divide(a, b),
            BinaryOp::FloorDiv => number::float_floor_div(a, b),
            BinaryOp::Mod => number::float_modulo(a, b),
            BinaryOp::Pow | BinaryOp::ConstPow => number::float_pow(a, b),
        };
        self.check(value).map(Val::Float)
    }

    fn int_op(&mut self, op: BinaryOp, a: i64, b: i64) -> Result<Val<'a>, Stop> {
        let fast = match op {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::Mod => Some(self.check(number::int_modulo(a, b))?),
            BinaryOp::FloorDiv => {
                let quotient = self.check(number::int_floor_div(a, b))?;
                return self.int(quotient);
            }
            BinaryOp::Div if is_exact(a) && is_exact(b) => {
                let quotient = self.check(number::divide(a as f64, b as f64))?;
                return Ok(Val::Float(quotient));
            }
            BinaryOp::Div => None,
            BinaryOp::Pow | BinaryOp::ConstPow => {
                u32::try_from(b).ok().and_then(|exponent| a.checked_pow(exponent))
            }
        };
        match fast {
            Some(value) => Ok(Val::Int(value)),
            None => self.big_op(op, &BigInt::from(a), &BigInt::from(b)),
        }
    }

    fn big_op(&mut self, op: BinaryOp, a: &BigInt, b: &BigInt) -> Result<Val<'a>, Stop> {
        if a.bits() + b.bits() > BITS_MAX {
            return Err(self.out_of_memory());
        }
        self.work((a.bits() + b.bits()) as usize / 4)?;
        let value = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => {
                let quotient = self.check(number::int_divide(a, b))?;
                return Ok(Val::Float(quotient));
            }
            BinaryOp::FloorDiv => {
                let quotient = self.check(number::big_floor_div(a, b))?;
                return self.int(quotient);
            }
            BinaryOp::Mod => {
                let rest = self.check(number::big_modulo(a, b))?;
                return self.int(rest);
            }
            BinaryOp::Pow | BinaryOp::ConstPow => {
                self.work(BITS_MAX as usize / 16)?;
                return match number::int_pow(a, b, BITS_MAX as usize) {
                    Ok(Power::Int(value)) => self.int(value),
                    Ok(Power::Float(value)) => Ok(Val::Float(value)),
                    Err(PyError::TooLarge) => Err(self.out_of_memory()),
                    Err(error) => Err(self.python_error(error)),
                };
            }
        };
        self.big(value)
    }

    /// The float of a number.
    pub fn float_of(&mut self, value: Val<'a>) -> Result<f64, Stop> {
        let float = Number::of(&value).map_or(Ok(0.0), |number| number.float());
        self.check(float)
    }

    /// Whether a value is a negative number, `-0.0` included.
    pub fn is_negative(&self, value: Val<'a>) -> bool {
        match value {
            Val::Int(value) => value < 0,
            Val::Float(value) => value.is_sign_negative() && !value.is_nan(),
            Val::Big(value) => value.sign() == num_bigint::Sign::Minus,
            _ => false,
        }
    }

    /// `-value`.
    pub fn negate(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match self.demand(value)? {
            Val::Int(value) => match value.checked_neg() {
                Some(value) => Ok(Val::Int(value)),
                None => self.big(-BigInt::from(value)),
            },
            Val::Bool(value) => Ok(Val::Int(-i64::from(value))),
            Val::Float(value) => Ok(Val::Float(-value)),
            Val::Big(value) => self.big(-value),
            Val::Gap => Ok(Val::Gap),
            other => Err(self.fail(format!("bad operand type for unary -: '{}'", other.type_name()))),
        }
    }

    /// `+value`.
    pub fn positive(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match self.demand(value)? {
            Val::Bool(value) => Ok(Val::Int(i64::from(value))),
            value @ (Val::Int(_) | Val::Float(_) | Val::Big(_) | Val::Gap) => Ok(value),
            other => Err(self.fail(format!("bad operand type for unary +: '{}'", other.type_name()))),
        }
    }
}

/// Whether an integer is exact as a float.
fn is_exact(value: i64) -> bool {
    value.unsigned_abs() <= 1 << 53
}
