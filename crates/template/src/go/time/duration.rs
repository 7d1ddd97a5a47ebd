//! Durations as texts: `1h15m30.918s`.

use super::{NANOS, quoted};

/// A duration in nanoseconds as Go prints it.
pub fn format_duration(nanos: i64) -> String {
    let size = nanos.unsigned_abs();
    let sign = if nanos < 0 { "-" } else { "" };
    let (seconds, rest) = (size / NANOS as u64, size % NANOS as u64);
    let text = match size {
        0 => "0s".to_owned(),
        1..1_000 => format!("{size}ns"),
        1_000..1_000_000 => format!("{}µs", fraction(size, 1_000)),
        1_000_000..1_000_000_000 => format!("{}ms", fraction(size, 1_000_000)),
        _ => {
            let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60);
            let last = fraction(seconds % 60 * NANOS as u64 + rest, NANOS as u64);
            match (hours, minutes) {
                (0, 0) => format!("{last}s"),
                (0, _) => format!("{minutes}m{last}s"),
                _ => format!("{hours}h{minutes}m{last}s"),
            }
        }
    };
    format!("{sign}{text}")
}

/// `size / unit` as a decimal number without zeros at its end.
fn fraction(size: u64, unit: u64) -> String {
    let digits = unit.ilog10() as usize;
    let text = format!("{}.{:0digits$}", size / unit, size % unit);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The duration in nanoseconds, rounded to seconds, halves away from zero.
pub fn round_to_seconds(nanos: i64) -> i64 {
    let rest = nanos % NANOS;
    let down = nanos - rest;
    match rest {
        NANOS_HALF.. => down.checked_add(NANOS).unwrap_or(i64::MAX),
        _ if rest <= -NANOS_HALF => down.checked_sub(NANOS).unwrap_or(i64::MIN),
        _ => down,
    }
}

const NANOS_HALF: i64 = NANOS / 2;

/// The largest absolute value of a duration.
const LARGEST: u64 = 1 << 63;

/// The nanoseconds of a duration as Go writes it: numbers with units, such as `-1.5h` or `2h45m`.
///
/// # Errors
/// Go's message.
pub fn parse_duration(text: &[u8]) -> Result<i64, String> {
    let fail = |what: &str| Err(format!("time: {what} {}", quoted(text)));
    let (negative, mut rest) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    if rest == b"0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return fail("invalid duration");
    }
    let mut sum: u64 = 0;
    while !rest.is_empty() {
        let Some(number) = Number::read(&mut rest) else { return fail("invalid duration") };
        let end = rest.iter().position(|byte| matches!(byte, b'.' | b'0'..=b'9')).unwrap_or(rest.len());
        let (unit, after) = rest.split_at(end);
        if unit.is_empty() {
            return fail("missing unit in duration");
        }
        let Some(scale) = unit_of(unit) else {
            return Err(format!("time: unknown unit {} in duration {}", quoted(unit), quoted(text)));
        };
        rest = after;
        match number.times(scale).and_then(|part| sum.checked_add(part)).filter(|sum| *sum <= LARGEST) {
            Some(next) => sum = next,
            None => return fail("invalid duration"),
        }
    }
    match (negative, i64::try_from(sum)) {
        (true, _) => Ok((sum as i64).wrapping_neg()),
        (false, Ok(sum)) => Ok(sum),
        (false, Err(_)) => fail("invalid duration"),
    }
}

fn unit_of(unit: &[u8]) -> Option<u64> {
    Some(match unit {
        b"ns" => 1,
        b"us" | b"\xc2\xb5s" | b"\xce\xbcs" => 1_000,
        b"ms" => 1_000_000,
        b"s" => NANOS as u64,
        b"m" => 60 * NANOS as u64,
        b"h" => 3_600 * NANOS as u64,
        _ => return None,
    })
}

/// A decimal number: its whole part, and its fraction `fraction / scale`.
struct Number {
    whole: u64,
    fraction: u64,
    scale: f64,
}

impl Number {
    /// Reads a number; `None` if there is none, or if it is too large.
    fn read(rest: &mut &[u8]) -> Option<Number> {
        let (whole, any) = whole(rest)?;
        let mut number = Number { whole, fraction: 0, scale: 1.0 };
        let [b'.', after @ ..] = *rest else { return any.then_some(number) };
        *rest = after;
        let digits = after.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (fraction, after) = after.split_at(digits);
        *rest = after;
        for digit in fraction {
            // Further digits make no difference.
            match number.fraction.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0'))) {
                Some(next) if next <= LARGEST => {
                    number.fraction = next;
                    number.scale *= 10.0;
                }
                _ => break,
            }
        }
        (any || digits > 0).then_some(number)
    }

    fn times(&self, unit: u64) -> Option<u64> {
        let whole = self.whole.checked_mul(unit).filter(|size| *size <= LARGEST)?;
        let part = (self.fraction as f64 * (unit as f64 / self.scale)) as u64;
        whole.checked_add(part).filter(|size| *size <= LARGEST)
    }
}

/// Reads digits, and says whether there are any; `None` if the number is too large.
fn whole(rest: &mut &[u8]) -> Option<(u64, bool)> {
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (text, after) = rest.split_at(digits);
    *rest = after;
    let mut number: u64 = 0;
    for digit in text {
        number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
    }
    (number <= LARGEST).then_some((number, digits > 0))
}
