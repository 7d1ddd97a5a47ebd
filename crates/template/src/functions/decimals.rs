//! Arithmetic without rounding errors, as `github.com/shopspring/decimal` does it for `addf`, `subf`, `mulf` and `divf`.

use num_bigint::BigInt;
use num_traits::{Signed, Zero};

use super::call::{Call, Made};
use super::convert::to_float64;
use crate::go::Val;

/// How many digits after the point a quotient has.
const QUOTIENT_DIGITS: i64 = 16;

/// The most digits that a number may grow to.
const MOST_DIGITS: u64 = 100_000;

/// `digits * 10^exponent`.
struct Decimal {
    digits: BigInt,
    exponent: i64,
}

impl Decimal {
    /// The shortest decimal number that stands for a float.
    fn of(value: &Val<'_>) -> Result<Decimal, String> {
        let value = to_float64(value);
        if !value.is_finite() {
            let name = if value.is_nan() {
                "NaN"
            } else if value > 0.0 {
                "+Inf"
            } else {
                "-Inf"
            };
            return Err(format!("Cannot create a Decimal from {name}"));
        }
        let text = format!("{value:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().unwrap_or_default();
        let exponent: i64 = exponent.parse().unwrap_or(0);
        Ok(Decimal { digits, exponent: exponent - fraction.len() as i64 })
    }

    /// The digits of both numbers with the smaller exponent of the two.
    fn aligned(self, other: Decimal) -> (BigInt, BigInt, i64) {
        let exponent = self.exponent.min(other.exponent);
        let scale = |number: Decimal| number.digits * power_of_ten(number.exponent - exponent);
        (scale(self), scale(other), exponent)
    }

    fn plus(self, other: Decimal) -> Result<Decimal, String> {
        let (a, b, exponent) = self.aligned(other);
        Ok(Decimal { digits: a + b, exponent })
    }

    fn minus(self, other: Decimal) -> Result<Decimal, String> {
        let (a, b, exponent) = self.aligned(other);
        Ok(Decimal { digits: a - b, exponent })
    }

    fn times(self, other: Decimal) -> Result<Decimal, String> {
        Ok(Decimal { digits: self.digits * other.digits, exponent: self.exponent + other.exponent })
    }

    /// The quotient with [`QUOTIENT_DIGITS`] after the point, halves rounded away from zero.
    fn over(self, other: Decimal) -> Result<Decimal, String> {
        if other.digits.is_zero() {
            return Err("decimal division by 0".to_owned());
        }
        let shift = self.exponent - other.exponent + QUOTIENT_DIGITS;
        let negative = self.digits.is_negative() != other.digits.is_negative();
        let (mut dividend, mut divisor) = (self.digits.abs(), other.digits.abs());
        match shift < 0 {
            true => divisor *= power_of_ten(-shift),
            false => dividend *= power_of_ten(shift),
        }
        let size: BigInt = (dividend * 2 + &divisor) / (divisor * 2);
        Ok(Decimal { digits: if negative { -size } else { size }, exponent: -QUOTIENT_DIGITS })
    }

    /// The nearest float.
    fn to_float(&self) -> f64 {
        format!("{}e{}", self.digits, self.exponent).parse().unwrap_or(f64::NAN)
    }
}

fn power_of_ten(exponent: i64) -> BigInt {
    BigInt::from(10).pow(u32::try_from(exponent).unwrap_or(0))
}

type Combine = fn(Decimal, Decimal) -> Result<Decimal, String>;

/// Combines numbers, from `start` on.
fn fold<'a>(start: Decimal, numbers: &[Val<'a>], combine: Combine) -> Made<'a> {
    let mut result = start;
    for number in numbers {
        result = combine(result, Decimal::of(number)?)?;
        if result.digits.bits() > MOST_DIGITS * 3 {
            return Err(format!("the number has more than {MOST_DIGITS} digits"));
        }
    }
    Ok(Val::float(result.to_float()))
}

pub fn addf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(Decimal { digits: BigInt::zero(), exponent: 0 }, call.args, Decimal::plus)
}

pub fn add1f<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(Decimal::of(&call.arg(0))?, &[Val::int(1)], Decimal::plus)
}

pub fn subf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(Decimal::of(&call.arg(0))?, call.rest(1), Decimal::minus)
}

pub fn mulf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(Decimal::of(&call.arg(0))?, call.rest(1), Decimal::times)
}

pub fn divf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(Decimal::of(&call.arg(0))?, call.rest(1), Decimal::over)
}
