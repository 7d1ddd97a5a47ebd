//! Arithmetic on integers and floats, and lists of numbers.

use super::call::{Call, Made};
use super::convert::{to_float64, to_int64};
use crate::go::{Type, Val};

/// Combines the arguments as integers, from the first one on.
fn fold<'a>(call: &Call<'_, 'a>, combine: impl Fn(i64, i64) -> i64) -> Made<'a> {
    let numbers = call.args.iter().map(to_int64);
    Ok(Val::int64(numbers.reduce(combine).unwrap_or(0)))
}

/// Combines the arguments as floats, from the first one on.
fn fold_floats<'a>(call: &Call<'_, 'a>, combine: impl Fn(f64, f64) -> f64) -> Made<'a> {
    let numbers = call.args.iter().map(to_float64);
    Ok(Val::float(numbers.reduce(combine).unwrap_or(0.0)))
}

pub fn add<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(call, i64::wrapping_add)
}

pub fn add1<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int64(to_int64(&call.arg(0)).wrapping_add(1)))
}

pub fn sub<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(call, i64::wrapping_sub)
}

pub fn mul<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(call, i64::wrapping_mul)
}

/// The divisor, which must not be 0.
fn divisor(call: &Call<'_, '_>) -> Result<i64, String> {
    match to_int64(&call.arg(1)) {
        0 => Err("runtime error: integer divide by zero".to_owned()),
        divisor => Ok(divisor),
    }
}

pub fn div<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int64(to_int64(&call.arg(0)).wrapping_div(divisor(call)?)))
}

pub fn modulo<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int64(to_int64(&call.arg(0)).wrapping_rem(divisor(call)?)))
}

pub fn max<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(call, i64::max)
}

pub fn min<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold(call, i64::min)
}

pub fn maxf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold_floats(call, |a, b| match (a, b) {
        _ if a == f64::INFINITY || b == f64::INFINITY => f64::INFINITY,
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        _ if a == 0.0 && b == 0.0 => a + b,
        _ => a.max(b),
    })
}

pub fn minf<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    fold_floats(call, |a, b| match (a, b) {
        _ if a == f64::NEG_INFINITY || b == f64::NEG_INFINITY => f64::NEG_INFINITY,
        _ if a.is_nan() || b.is_nan() => f64::NAN,
        _ if a == 0.0 && b == 0.0 => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => a.min(b),
    })
}

pub fn floor<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::float(to_float64(&call.arg(0)).floor()))
}

pub fn ceil<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::float(to_float64(&call.arg(0)).ceil()))
}

/// `round NUMBER PLACES [FROM]`: fractions from `FROM` on (0.5) are rounded up.
pub fn round<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let round_on = call.args.get(2).and_then(Val::as_float).unwrap_or(0.5);
    let scale = power_of_ten(call.int(1));
    let digits = scale * to_float64(&call.arg(0));
    let rounded = if digits.fract() >= round_on { digits.ceil() } else { digits.floor() };
    Ok(Val::float(rounded / scale))
}

/// Go's `math.Pow(10, n)`: the powers that a double has are exact, others are rounded.
fn power_of_ten(n: i64) -> f64 {
    format!("1e{}", n.clamp(-400, 400)).parse().unwrap_or(f64::NAN)
}

/// `untilStep START STOP STEP` as numbers.
fn steps(call: &Call<'_, '_>, start: i64, stop: i64, step: i64) -> Result<Vec<i64>, String> {
    let (down, distance) = (stop < start, i128::from(stop) - i128::from(start));
    if (down && step >= 0) || (!down && step <= 0) {
        return Ok(Vec::new());
    }
    let step = i128::from(step);
    let count = (distance.abs() + step.abs() - 1) / step.abs();
    let room = usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(size_of::<Val<'_>>() + 8);
    call.room(room)?;
    Ok((0..count).map(|at| (i128::from(start) + at * step) as i64).collect())
}

fn list_of_steps<'a>(call: &Call<'_, 'a>, start: i64, stop: i64, step: i64) -> Made<'a> {
    let numbers = steps(call, start, stop, step)?;
    Ok(call.context.list_of(Type::Int, numbers.into_iter().map(Val::int).collect()))
}

pub fn until<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let count = call.int(0);
    list_of_steps(call, 0, count, if count < 0 { -1 } else { 1 })
}

pub fn until_step<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    list_of_steps(call, call.int(0), call.int(1), call.int(2))
}

/// `seq [START [STEP]] END`: the numbers as one text.
pub fn seq<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (start, step, end) = match call.args {
        [_] => (1, None, call.int(0)),
        [_, _] => (call.int(0), None, call.int(1)),
        [_, _, _] => (call.int(0), Some(call.int(1)), call.int(2)),
        _ => return call.string(Vec::new()),
    };
    let direction = if end < start { -1 } else { 1 };
    if direction < 0 && step.is_some_and(|step| step > 0) {
        return call.string(Vec::new());
    }
    let numbers = steps(call, start, end.wrapping_add(direction), step.unwrap_or(direction))?;
    let shown: Vec<String> = numbers.iter().map(i64::to_string).collect();
    call.string(shown.join(" ").into_bytes())
}
