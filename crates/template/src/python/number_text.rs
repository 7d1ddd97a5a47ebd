//! Reading numbers from texts: `int(text, base)` and `float(text)`.

use num_bigint::BigInt;

use super::PyError;
use super::arg::MOST_DIGITS;
use super::chars::{decimal_value, is_space};
use super::number::Int;
use super::repr::write_repr;
use super::text::head;

/// `int(text, base)` with a base from 2 to 36, or 0 for the base that a prefix names.
pub fn parse_int(text: &str, base: i64) -> Result<Int, PyError> {
    let radix = match base {
        0 | 2..=36 => base as u32,
        _ => return PyError::value_error("int() base must be >= 2 and <= 36, or 0"),
    };
    let plain = plain(text);
    let (negative, body) = signed(&plain);
    let (radix, digits, zero_only) = prefixed(body, radix);
    let digits = without_underscores(digits, |c| c.is_digit(radix));
    let digits = digits.filter(|digits| !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix)));
    let digits = digits.filter(|digits| !zero_only || digits.chars().all(|c| c == '0'));
    let Some(digits) = digits else {
        return invalid(text, &format!("invalid literal for int() with base {base}: "), 200);
    };
    if !radix.is_power_of_two() && digits.len() > MOST_DIGITS {
        return PyError::value_error(format!(
            "Exceeds the limit ({MOST_DIGITS} digits) for integer string conversion: value has {} digits; use \
             sys.set_int_max_str_digits() to increase the limit",
            digits.len()
        ));
    }
    let value = BigInt::parse_bytes(digits.as_bytes(), radix).unwrap_or_default();
    Ok(Int::from(if negative { -value } else { value }))
}

/// `float(text)`
pub fn parse_float(text: &str) -> Result<f64, PyError> {
    let plain = plain(text);
    without_underscores(&plain, |c| c.is_ascii_digit())
        .and_then(|plain| plain.parse().ok())
        .map_or_else(|| invalid(text, "could not convert string to float: ", usize::MAX), Ok)
}

/// The text without whitespace at its ends, with the digits of all scripts as those of ASCII.
fn plain(text: &str) -> String {
    let digit = |c| decimal_value(c).and_then(|digit| char::from_digit(u32::from(digit), 10));
    // The separators of ASCII are whitespace everywhere else.
    let blank = |c| is_space(c) && !matches!(c, '\x1c'..='\x1f');
    text.trim_matches(blank).chars().map(|c| digit(c).unwrap_or(c)).collect()
}

fn signed(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// The base, the digits after its prefix, and whether they must all be zero.
fn prefixed(text: &str, radix: u32) -> (u32, &str, bool) {
    for (letters, own) in [(['x', 'X'], 16), (['o', 'O'], 8), (['b', 'B'], 2)] {
        let rest = text.strip_prefix('0').and_then(|rest| rest.strip_prefix(letters));
        if let Some(rest) = rest.filter(|_| radix == own || radix == 0) {
            return (own, rest.strip_prefix('_').unwrap_or(rest), false);
        }
    }
    // Zeros before other digits once meant octal digits.
    if radix == 0 { (10, text, text.starts_with('0')) } else { (radix, text, false) }
}

/// The text without its underscores, if each stands between two digits.
fn without_underscores(text: &str, is_digit: impl Fn(char) -> bool) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '_' {
            out.push(c);
        } else if !before.is_some_and(&is_digit) || !chars.peek().copied().is_some_and(&is_digit) {
            return None;
        }
        before = Some(c);
    }
    Some(out)
}

fn invalid<T>(text: &str, message: &str, most: usize) -> Result<T, PyError> {
    let mut repr = String::new();
    write_repr(&mut repr, text);
    PyError::value_error([message, head(&repr, most)].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ints_are_read_in_any_base() {
        let cases = [
            (" 42\n", 10, 42),
            ("-1_000", 10, -1000),
            ("٣", 10, 3),
            ("0xFf", 16, 255),
            ("ff", 16, 255),
            ("0x_f", 0, 15),
            ("0b11", 0, 3),
            ("00", 0, 0),
            ("0b1", 16, 0xb1),
            ("z", 36, 35),
        ];
        for (text, base, value) in cases {
            assert_eq!(parse_int(text, base), Ok(Int::Small(value)), "{text}");
        }
        for (text, base) in [
            ("", 10),
            ("1__0", 10),
            ("_1", 10),
            ("1_", 10),
            ("012", 0),
            ("0x", 16),
            ("8", 8),
            ("- 1", 10),
            ("1.5", 10),
        ] {
            assert!(parse_int(text, base).is_err(), "{text}");
        }
        assert_eq!(
            parse_int("x'", 10),
            PyError::value_error("invalid literal for int() with base 10: \"x'\"")
        );
        assert!(parse_int(&"9".repeat(4301), 10).is_err());
        assert!(matches!(parse_int(&"f".repeat(4301), 16), Ok(Int::Big(_))));
    }

    #[test]
    fn floats_are_read() {
        for (text, value) in
            [("1_0.5e-1", 1.05), (" .5 ", 0.5), ("1.", 1.0), ("-Infinity", f64::NEG_INFINITY), ("٣.٥", 3.5)]
        {
            assert_eq!(parse_float(text), Ok(value));
        }
        for text in ["", ".", "1_.5", "1e_5", "0x1", "1 2", "in", "infinit", "n_an"] {
            assert!(parse_float(text).is_err(), "{text}");
        }
    }
}
