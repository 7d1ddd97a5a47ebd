//! `repr` of floats, and `round`.

use super::float_text::{FloatStyle, Notation};

const REPR: FloatStyle =
    FloatStyle { notation: Notation::Shortest, precision: 0, alternate: false, dot_zero: true };

/// Python's `repr(float)` and `str(float)`: `1.0`, `1e+16`, `1e-05`, `inf`, `nan`.
pub fn write_float(out: &mut String, value: f64) {
    let size = value.abs();
    if (1e-4..1e16).contains(&size) || size == 0.0 {
        out.push_str(zmij::Buffer::new().format_finite(value));
    } else {
        out.push_str(&REPR.text(value));
    }
}

/// Python's `round(float, digits)`, correctly rounded, ties to even; infinite where Python raises
/// `OverflowError("rounded value too large to represent")`.
pub fn round(value: f64, digits: i32) -> f64 {
    if !value.is_finite() || digits > 323 {
        value
    } else if digits < -308 {
        0.0 * value
    } else if digits >= 0 {
        format!("{value:.*}", digits.unsigned_abs() as usize).parse().unwrap_or(value)
    } else {
        round_whole(value, digits.unsigned_abs() as usize)
    }
}

/// Rounds to a multiple of 10 to the power of `zeros`, which is not 0.
fn round_whole(value: f64, zeros: usize) -> f64 {
    // A double of 5 or more has at most 50 binary digits after the point, so this text is exact.
    let exact = format!("{:.50}", value.abs());
    let whole = exact.find('.').unwrap_or(exact.len());
    let mut kept = exact.get(..whole.saturating_sub(zeros)).unwrap_or_default().to_owned();
    let rest = if whole >= zeros { exact.get(kept.len()..) } else { None };
    kept.insert(0, '0');
    if rest.is_some_and(|rest| rounds_up(&kept, rest)) {
        increment(&mut kept);
    }
    format!("{kept}e{zeros}").parse::<f64>().unwrap_or(0.0).copysign(value)
}

/// Whether what follows `kept` is more than a half, or just a half after an odd digit.
fn rounds_up(kept: &str, rest: &str) -> bool {
    let odd = kept.bytes().last().is_some_and(|digit| digit % 2 == 1);
    let beyond = rest.bytes().skip(1).any(|digit| !matches!(digit, b'0' | b'.'));
    match rest.bytes().next() {
        Some(b'5') => beyond || odd,
        first => first > Some(b'5'),
    }
}

/// The decimal number that follows `digits`, which begins with a zero.
fn increment(digits: &mut String) {
    let nines = digits.bytes().rev().take_while(|&digit| digit == b'9').count();
    digits.truncate(digits.len() - nines);
    let last = digits.pop().unwrap_or('0') as u8;
    digits.push(char::from(last + 1));
    digits.extend(std::iter::repeat_n('0', nines));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repr(value: f64) -> String {
        let mut out = String::new();
        write_float(&mut out, value);
        out
    }

    #[test]
    fn repr_is_the_shortest_text_that_reads_back() {
        let cases = [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (0.1, "0.1"),
            (1e16, "1e+16"),
            (9999999999999998.0, "9999999999999998.0"),
            (1e-4, "0.0001"),
            (0.00001, "1e-05"),
            (1.5e-7, "1.5e-07"),
            (5e-324, "5e-324"),
            (1.7976931348623157e308, "1.7976931348623157e+308"),
            (123456789012345680.0, "1.2345678901234568e+17"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ];
        for (value, text) in cases {
            assert_eq!(repr(value), text);
        }
    }

    #[test]
    fn rounding_is_exact_and_ties_go_to_the_even_digit() {
        let cases = [
            (2.5, 0, 2.0),
            (0.5, 0, 0.0),
            (2.675, 2, 2.67),
            (42.55, 1, 42.5),
            (1250.0, -2, 1200.0),
            (1350.0, -2, 1400.0),
            (1250.0000001, -2, 1300.0),
            (50.0, -2, 0.0),
            (50.1, -2, 100.0),
            (49.0, -3, 0.0),
            (999.9, -1, 1000.0),
            (1.5, 400, 1.5),
            (-2.5, 0, -2.0),
        ];
        for (value, digits, rounded) in cases {
            assert_eq!(round(value, digits), rounded, "round({value}, {digits})");
        }
    }
}
