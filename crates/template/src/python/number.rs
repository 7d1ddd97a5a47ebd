//! Arithmetic with Python's signs and sizes.

use num_bigint::{BigInt, Sign};
use num_traits::{Signed, ToPrimitive, Zero};

use super::PyError;
use super::arg::big_float;

/// An `int`; what fits into 64 bits is always `Small`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Int {
    /// An `int` of 64 bits.
    Small(i64),
    /// A larger one.
    Big(BigInt),
}

impl From<BigInt> for Int {
    fn from(value: BigInt) -> Int {
        value.to_i64().map_or(Int::Big(value), Int::Small)
    }
}

fn zero<T>(message: &str) -> Result<T, PyError> {
    Err(PyError::Zero(message.to_owned()))
}

const INT_BY_ZERO: &str = "integer division or modulo by zero";
const INT_MODULO_ZERO: &str = "integer modulo by zero";

/// `left / right` of floats
pub fn divide(left: f64, right: f64) -> Result<f64, PyError> {
    if right == 0.0 { zero("float division by zero") } else { Ok(left / right) }
}

/// `left / right` of ints: the float that is nearest to the exact quotient
pub fn int_divide(left: &BigInt, right: &BigInt) -> Result<f64, PyError> {
    if right.is_zero() {
        return zero("division by zero");
    }
    // Up to 53 bits, both are exact as floats, and so is the rounding of their quotient.
    if let (0..=53, 0..=53, Some(left), Some(right)) =
        (left.bits(), right.bits(), left.to_f64(), right.to_f64())
    {
        return Ok(left / right);
    }
    // A quotient of at least 66 bits and a last bit for what is left over round to the nearest float as the exact one does.
    let shift =
        66 + i64::try_from(right.bits()).unwrap_or(i64::MAX) - i64::try_from(left.bits()).unwrap_or(0);
    let (top, bottom) = match shift {
        0.. => (left.abs() << shift.unsigned_abs(), right.abs()),
        _ => (left.abs(), right.abs() << shift.unsigned_abs()),
    };
    let (quotient, rest) = (&top / &bottom, &top % &bottom);
    let quotient = (quotient << 1_u32) + i32::from(!rest.is_zero());
    let negative = left.is_negative() != right.is_negative();
    let value = scaled(&quotient, -shift - 1);
    match value {
        Some(value) => Ok(if negative { -value } else { value }),
        None => Err(PyError::Overflow("integer division result too large for a float".to_owned())),
    }
}

/// `value * 2 ** exponent` as a float; nothing if it is too large for one
fn scaled(value: &BigInt, exponent: i64) -> Option<f64> {
    let float = value.to_f64()?;
    let exponent = i32::try_from(exponent).ok()?;
    // In two steps, since a power of two alone may be too large or too small.
    let half = exponent / 2;
    let scaled = float * 2.0_f64.powi(half) * 2.0_f64.powi(exponent - half);
    scaled.is_finite().then_some(scaled)
}

/// `left // right`
pub fn int_floor_div(left: i64, right: i64) -> Result<Int, PyError> {
    if right == 0 {
        return zero(INT_BY_ZERO);
    }
    let Some(quotient) = left.checked_div(right) else { return Ok(Int::Big(-BigInt::from(left))) };
    let inexact = left.wrapping_rem(right) != 0;
    Ok(Int::Small(quotient - i64::from(inexact && (left < 0) != (right < 0))))
}

/// `left % right`, with the sign of `right`.
pub fn int_modulo(left: i64, right: i64) -> Result<i64, PyError> {
    if right == 0 {
        return zero(INT_MODULO_ZERO);
    }
    let rest = left.wrapping_rem(right);
    Ok(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
}

/// `left // right`
pub fn big_floor_div(left: &BigInt, right: &BigInt) -> Result<Int, PyError> {
    if right.is_zero() {
        return zero(INT_BY_ZERO);
    }
    let (quotient, rest) = (left / right, left % right);
    let down = !rest.is_zero() && rest.is_negative() != right.is_negative();
    Ok(Int::from(if down { quotient - 1 } else { quotient }))
}

/// `left % right`, with the sign of `right`.
pub fn big_modulo(left: &BigInt, right: &BigInt) -> Result<Int, PyError> {
    if right.is_zero() {
        return zero(INT_MODULO_ZERO);
    }
    let rest = left % right;
    let other = !rest.is_zero() && rest.is_negative() != right.is_negative();
    Ok(Int::from(if other { rest + right } else { rest }))
}

/// `left // right`
pub fn float_floor_div(left: f64, right: f64) -> Result<f64, PyError> {
    if right == 0.0 {
        return zero("float floor division by zero");
    }
    let rest = left % right;
    let mut quotient = (left - rest) / right;
    if rest != 0.0 && (rest < 0.0) != (right < 0.0) {
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return Ok(0.0_f64.copysign(left / right));
    }
    let floor = quotient.floor();
    Ok(if quotient - floor > 0.5 { floor + 1.0 } else { floor })
}

/// `left % right`, with the sign of `right`.
pub fn float_modulo(left: f64, right: f64) -> Result<f64, PyError> {
    if right == 0.0 {
        return zero("float modulo");
    }
    let rest = left % right;
    if rest == 0.0 {
        return Ok(0.0_f64.copysign(right));
    }
    Ok(if (rest < 0.0) != (right < 0.0) { rest + right } else { rest })
}

/// A power of ints: an `int`, or a `float` if the exponent is negative.
#[derive(Clone, Debug, PartialEq)]
pub enum Power {
    /// The power of a natural number.
    Int(Int),
    /// The power of a negative one.
    Float(f64),
}

/// `base ** exponent` of ints; the result has at most about `room` bits.
pub fn int_pow(base: &BigInt, exponent: &BigInt, room: usize) -> Result<Power, PyError> {
    if exponent.is_negative() {
        return float_pow(big_float(base)?, big_float(exponent)?).map(Power::Float);
    }
    if base.bits() <= 1 {
        let odd = exponent.bit(0);
        let power = match base.sign() {
            _ if exponent.is_zero() => 1,
            Sign::NoSign => 0,
            Sign::Minus if odd => -1,
            _ => 1,
        };
        return Ok(Power::Int(Int::Small(power)));
    }
    let exponent = exponent.to_u32().ok_or(PyError::TooLarge)?;
    if base.bits().saturating_mul(u64::from(exponent)) > room as u64 {
        return Err(PyError::TooLarge);
    }
    Ok(Power::Int(Int::from(base.pow(exponent))))
}

/// `base ** exponent` of floats. Where Python gives a complex number, this is a `ValueError`.
pub fn float_pow(base: f64, exponent: f64) -> Result<f64, PyError> {
    if base == 0.0 && exponent < 0.0 {
        return zero("0.0 cannot be raised to a negative power");
    }
    if base < 0.0 && base.is_finite() && exponent.is_finite() && exponent.fract() != 0.0 {
        return PyError::value_error("negative number cannot be raised to a fractional power");
    }
    let power = base.powf(exponent);
    if power.is_infinite() && base.is_finite() && exponent.is_finite() {
        return Err(PyError::Overflow("(34, 'Numerical result out of range')".to_owned()));
    }
    Ok(power)
}

/// `round(int, digits)`: to a multiple of a power of ten if `digits` is negative, ties to even.
pub fn round_int(value: &BigInt, digits: i32) -> Int {
    if digits >= 0 {
        return Int::from(value.clone());
    }
    // A power of ten that is longer than the number by a digit is more than twice as large.
    let zeros = digits.unsigned_abs();
    if u64::from(zeros) > value.bits() / 3 + 2 {
        return Int::Small(0);
    }
    let unit = BigInt::from(10).pow(zeros);
    let (quotient, rest) = (value / &unit, value % &unit);
    let twice = rest.abs() * 2;
    let away = twice > unit || twice == unit && quotient.bit(0);
    let step = if value.is_negative() { -1 } else { 1 };
    Int::from((if away { quotient + step } else { quotient }) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn division_rounds_down() {
        assert_eq!((int_floor_div(-7, 2), int_modulo(-7, 2)), (Ok(Int::Small(-4)), Ok(1)));
        assert_eq!((int_floor_div(7, -2), int_modulo(7, -2)), (Ok(Int::Small(-4)), Ok(-1)));
        assert_eq!(int_floor_div(i64::MIN, -1), Ok(Int::Big(BigInt::from(i64::MIN).abs())));
        assert_eq!(int_modulo(i64::MIN, -1), Ok(0));
        assert_eq!((float_floor_div(-7.5, 2.0), float_modulo(-7.5, 2.0)), (Ok(-4.0), Ok(0.5)));
        assert_eq!(float_modulo(5.0, 0.0), zero("float modulo"));
        assert_eq!(big_modulo(&BigInt::from(-7), &BigInt::from(3)), Ok(Int::Small(2)));
    }

    #[test]
    fn powers_are_bounded() {
        let pow = |base: i64, exponent: i64| int_pow(&base.into(), &exponent.into(), 1000);
        assert_eq!(pow(2, 70), Ok(Power::Int(Int::Big(BigInt::from(1_u128 << 70)))));
        assert_eq!(
            (pow(-1, i64::MAX), pow(0, 0)),
            (Ok(Power::Int(Int::Small(-1))), Ok(Power::Int(Int::Small(1))))
        );
        assert_eq!((pow(2, -1), pow(10, 1_000_000)), (Ok(Power::Float(0.5)), Err(PyError::TooLarge)));
        assert_eq!(pow(0, -1), zero("0.0 cannot be raised to a negative power"));
        assert_eq!(
            float_pow(10.0, 400.0),
            Err(PyError::Overflow("(34, 'Numerical result out of range')".into()))
        );
    }

    #[test]
    fn ints_are_rounded_to_even_multiples() {
        for (value, digits, rounded) in
            [(1250, -2, 1200), (1350, -2, 1400), (-1251, -2, -1300), (5, -1, 0), (9, -9, 0)]
        {
            assert_eq!(round_int(&BigInt::from(value), digits), Int::Small(rounded));
        }
    }
}
