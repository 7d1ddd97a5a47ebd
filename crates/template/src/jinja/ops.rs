//! Arithmetic, as Python does it.

use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

use super::ast::BinaryOp;
use super::error::Stop;
use super::machine::Machine;
use super::val::Val;

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

    fn float(&self) -> f64 {
        match self {
            Number::Int(value) => *value as f64,
            Number::Big(value) => value.to_f64().unwrap_or(f64::INFINITY),
            Number::Float(value) => *value,
        }
    }

    fn big(self) -> BigInt {
        match self {
            Number::Int(value) => BigInt::from(value),
            Number::Big(value) => value,
            Number::Float(_) => BigInt::ZERO,
        }
    }

    fn is_zero(&self) -> bool {
        match self {
            Number::Int(value) => *value == 0,
            Number::Big(_) => false,
            Number::Float(value) => *value == 0.0,
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
        BinaryOp::Pow => "** or pow()",
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
            BinaryOp::Mod if left.as_text().is_some() => self.percent(left, right),
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
                self.check_room(a.len() + b.len())?;
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
            matches!(value, Val::Str(_) | Val::Markup(_) | Val::DataList(_) | Val::List(_) | Val::Tuple(_))
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
            self.check_room(bytes)?;
            let text = self.alloc_str(&text.repeat(times))?;
            return Ok(if matches!(of, Val::Markup(_)) { Val::Markup(text) } else { Val::Str(text) });
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
        let divides = matches!(op, BinaryOp::Div | BinaryOp::FloorDiv | BinaryOp::Mod);
        if divides && b.is_zero() {
            let float = matches!(a, Number::Float(_)) || matches!(b, Number::Float(_));
            return Err(self.fail(match (op, float) {
                (BinaryOp::Div, false) => "division by zero",
                (BinaryOp::Div, true) => "float division by zero",
                (BinaryOp::FloorDiv, true) => "float floor division by zero",
                (BinaryOp::Mod, true) => "float modulo",
                (_, false) => "integer division or modulo by zero",
                _ => "division by zero",
            }));
        }
        match (op, a, b) {
            (BinaryOp::Pow, a, b) => self.power(a, b),
            (op, Number::Float(a), b) => self.float_op(op, a, b.float()),
            (op, a, Number::Float(b)) => self.float_op(op, a.float(), b),
            (BinaryOp::Div, a, b) => Ok(Val::Float(a.float() / b.float())),
            (op, Number::Int(a), Number::Int(b)) => self.int_op(op, a, b),
            (op, a, b) => self.big_op(op, a.big(), b.big()),
        }
    }

    fn float_op(&mut self, op: BinaryOp, a: f64, b: f64) -> Result<Val<'a>, Stop> {
        Ok(Val::Float(match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::Div => a / b,
            BinaryOp::FloorDiv => float_divmod(a, b).0,
            BinaryOp::Mod => float_divmod(a, b).1,
            BinaryOp::Pow => return self.float_power(a, b),
        }))
    }

    fn int_op(&mut self, op: BinaryOp, a: i64, b: i64) -> Result<Val<'a>, Stop> {
        let fast = match op {
            BinaryOp::FloorDiv => {
                a.checked_div(b).map(|quotient| quotient - i64::from(a % b != 0 && (a < 0) != (b < 0)))
            }
            BinaryOp::Mod => a.checked_rem(b).map(|rest| {
                let other_sign = rest != 0 && (rest < 0) != (b < 0);
                if other_sign { rest + b } else { rest }
            }),
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Sub => a.checked_sub(b),
            BinaryOp::Mul => a.checked_mul(b),
            _ => None,
        };
        match fast {
            Some(value) => Ok(Val::Int(value)),
            None => self.big_op(op, BigInt::from(a), BigInt::from(b)),
        }
    }

    fn big_op(&mut self, op: BinaryOp, a: BigInt, b: BigInt) -> Result<Val<'a>, Stop> {
        if a.bits() + b.bits() > BITS_MAX {
            return Err(self.out_of_memory());
        }
        self.work((a.bits() + b.bits()) as usize / 4)?;
        let value = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::FloorDiv => big_divmod(&a, &b).0,
            _ => big_divmod(&a, &b).1,
        };
        self.big(value)
    }

    fn power(&mut self, a: Number, b: Number) -> Result<Val<'a>, Stop> {
        let (base, exponent) = match (a, b) {
            (Number::Float(a), b) => return self.float_power(a, b.float()),
            (a, Number::Float(b)) => return self.float_power(a.float(), b),
            (a, b) => (a.big(), b.big()),
        };
        if exponent.is_negative() {
            if base.is_zero() {
                return Err(self.fail("0.0 cannot be raised to a negative power"));
            }
            let (base, exponent) = (base.to_f64().unwrap_or(f64::INFINITY), exponent.to_f64().unwrap_or(0.0));
            return self.float_power(base, exponent);
        }
        if base.is_zero() || base.magnitude().bits() == 1 {
            // 0, 1 and -1 stay small, whatever the exponent.
            let even = (&exponent % 2_i32).is_zero();
            let value = match (exponent.is_zero(), even) {
                (true, _) => BigInt::from(1),
                (false, true) if base.sign() == Sign::Minus => BigInt::from(1),
                _ => base,
            };
            return self.big(value);
        }
        let bits = exponent.to_u64().map(|exponent| exponent.saturating_mul(base.bits()));
        match (bits, exponent.to_u32()) {
            (Some(bits), Some(exponent)) if bits <= BITS_MAX => {
                self.work(bits as usize)?;
                self.big(base.pow(exponent))
            }
            _ => Err(self.out_of_memory()),
        }
    }

    fn float_power(&mut self, a: f64, b: f64) -> Result<Val<'a>, Stop> {
        if a == 0.0 && b < 0.0 {
            return Err(self.fail("0.0 cannot be raised to a negative power"));
        }
        if a < 0.0 && a.is_finite() && b.is_finite() && b.fract() != 0.0 {
            return Err(self.fail("the result is a complex number, which templates cannot use"));
        }
        let value = a.powf(b);
        match value.is_infinite() && a.is_finite() && b.is_finite() {
            true => Err(self.fail("(34, 'Numerical result out of range')")),
            false => Ok(Val::Float(value)),
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

/// Python's `divmod` of floats.
pub(super) fn float_divmod(a: f64, b: f64) -> (f64, f64) {
    let mut rest = a % b;
    let mut quotient = (a - rest) / b;
    if rest != 0.0 {
        if (b < 0.0) != (rest < 0.0) {
            rest += b;
            quotient -= 1.0;
        }
    } else {
        rest = 0.0_f64.copysign(b);
    }
    if quotient == 0.0 {
        return (0.0_f64.copysign(a / b), rest);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}

fn big_divmod(a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    let (quotient, rest) = (a / b, a % b);
    match !rest.is_zero() && (rest.is_negative() != b.is_negative()) {
        true => (quotient - 1, rest + b),
        false => (quotient, rest),
    }
}
