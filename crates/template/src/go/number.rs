//! Number literals: which of Go's number types a text can stand for, and with which value.

use super::quote::{quoted, unquote_unit};

/// A number literal as every type that it fits; the context decides which one is used.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number {
    /// The source text.
    pub(super) text: Box<str>,
    /// The value as a signed integer.
    pub(super) int: Option<i64>,
    /// The value as an unsigned integer.
    pub(super) uint: Option<u64>,
    /// The value as a float.
    pub(super) float: Option<f64>,
    /// The value as a complex number, only for literals written as one.
    pub(super) complex: Option<(f64, f64)>,
}

/// The type of a literal without a required type.
pub(super) enum Ideal {
    /// `1i`, `1+2i`.
    Complex(f64, f64),
    /// A literal with a point or an exponent.
    Float(f64),
    /// Any other literal.
    Int(i64),
    /// An integer that is too large for its type.
    Overflow,
}

impl Number {
    fn of(text: &str) -> Number {
        Number { text: text.into(), int: None, uint: None, float: None, complex: None }
    }

    /// A character constant, with its quotes.
    pub(super) fn from_char(text: &str) -> Result<Number, String> {
        let inner = text.strip_prefix('\'').unwrap_or(text);
        let (unit, tail) = unquote_unit(inner, b'\'').ok_or("invalid syntax")?;
        if tail != "'" {
            return Err(format!("malformed character constant: {text}"));
        }
        let code = unit.code();
        Ok(Number {
            int: Some(i64::from(code)),
            uint: Some(u64::from(code)),
            float: Some(f64::from(code)),
            ..Number::of(text)
        })
    }

    /// A sum such as `1+2i`, as `fmt.Sscan` reads it: what it does not read does not count.
    pub(super) fn from_sum(text: &str) -> Result<Number, String> {
        let (real, rest) = text.split_at(float_token(text));
        let signed = rest.starts_with(['+', '-']);
        let (sign, rest) = rest.split_at(usize::from(signed));
        let (imaginary, rest) = rest.split_at(float_token(rest));
        if !signed || !rest.starts_with('i') {
            return Err("syntax error scanning complex number".into());
        }
        let imaginary = format!("{sign}{imaginary}");
        Ok(Number::of(text).with_complex(scanned(real)?, scanned(&imaginary)?))
    }

    /// Any other number.
    pub(super) fn from_text(text: &str) -> Result<Number, String> {
        let mut number = Number::of(text);
        if let Some(imaginary) = text.strip_suffix('i').and_then(|text| parse_float(text).ok()) {
            return Ok(number.with_complex(0.0, imaginary));
        }
        number.uint = parse_uint(text);
        number.int = parse_int(text);
        if number.int == Some(0) {
            number.uint = number.uint.or(Some(0));
        }
        number.float = number.int.map(|n| n as f64).or(number.uint.map(|n| n as f64));
        if number.float.is_none()
            && let Ok(float) = parse_float(text)
        {
            if !text.contains(['.', 'e', 'E', 'p', 'P']) {
                return Err(format!("integer overflow: {}", quoted(text)));
            }
            number.float = Some(float);
            number.int = exact_int(float);
            number.uint = exact_uint(float);
        }
        if number.float.is_none() {
            return Err(format!("illegal number syntax: {}", quoted(text)));
        }
        Ok(number)
    }

    fn with_complex(mut self, real: f64, imaginary: f64) -> Number {
        self.complex = Some((real, imaginary));
        if imaginary == 0.0 {
            self.float = Some(real);
            self.int = exact_int(real);
            self.uint = exact_uint(real);
        }
        self
    }

    /// The type of the literal without a required type.
    pub(super) fn ideal(&self) -> Ideal {
        if let Some((real, imaginary)) = self.complex {
            return Ideal::Complex(real, imaginary);
        }
        let is_hex = (self.text.starts_with("0x") || self.text.starts_with("0X"))
            && self.text.len() > 2
            && !self.text.contains(['p', 'P']);
        if let Some(float) = self.float
            && !is_hex
            && !self.text.starts_with('\'')
            && self.text.contains(['.', 'e', 'E', 'p', 'P'])
        {
            return Ideal::Float(float);
        }
        self.int.map_or(Ideal::Overflow, Ideal::Int)
    }
}

fn exact_int(float: f64) -> Option<i64> {
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    (fits && (float as i64) as f64 == float).then_some(float as i64)
}

fn exact_uint(float: f64) -> Option<u64> {
    let fits = (0.0..18_446_744_073_709_551_616.0).contains(&float);
    (fits && (float as u64) as f64 == float).then_some(float as u64)
}

/// `strconv.ParseUint` with base 0: prefixes, a leading 0 for octal, underscores.
fn parse_uint(text: &str) -> Option<u64> {
    let lower = text.to_ascii_lowercase();
    let (radix, digits) = match lower.as_bytes() {
        [b'0', b'b', _, ..] => (2, lower.get(2..)?),
        [b'0', b'o', _, ..] => (8, lower.get(2..)?),
        [b'0', b'x', _, ..] => (16, lower.get(2..)?),
        [b'0', ..] => (8, lower.get(1..)?),
        _ => (10, lower.as_str()),
    };
    if digits.contains('_') && !underscores_separate_digits(text) {
        return None;
    }
    let digits: String = digits.chars().filter(|&c| c != '_').collect();
    if lower == "0"
        || (digits.is_empty() && !lower.is_empty() && lower.bytes().all(|b| b == b'0' || b == b'_'))
    {
        return Some(0);
    }
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(&digits, radix).ok()
}

fn parse_int(text: &str) -> Option<i64> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let magnitude = i128::from(parse_uint(digits)?);
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Whether every underscore stands between digits or between a base prefix and a digit.
pub(crate) fn underscores_separate_digits(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text).to_ascii_lowercase();
    let prefixed = ["0b", "0o", "0x"].iter().any(|prefix| text.starts_with(prefix));
    let is_hex = text.starts_with("0x");
    let number = if prefixed { text.get(2..).unwrap_or("") } else { &text };
    let mut after_digit = prefixed;
    let mut after_underscore = false;
    for c in number.chars() {
        let digit = c.is_ascii_digit() || (is_hex && c.is_ascii_hexdigit());
        if (c == '_' && !after_digit) || (c != '_' && !digit && after_underscore) {
            return false;
        }
        after_underscore = c == '_';
        after_digit = digit;
    }
    !after_underscore
}

/// The error of a text that is not a float.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FloatError {
    Syntax,
    Range,
}

/// `strconv.ParseFloat`, without its names for infinity and NaN.
pub(crate) fn parse_float(text: &str) -> Result<f64, FloatError> {
    let plain: String = text.chars().filter(|&c| c != '_').collect();
    if plain.len() < text.len() && !underscores_separate_digits(text) {
        return Err(FloatError::Syntax);
    }
    let unsigned = plain.strip_prefix(['+', '-']).unwrap_or(&plain);
    let hex = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"));
    let value = match hex {
        Some(hex) => parse_hex_float(hex),
        None if unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') => unsigned.parse().ok(),
        None => None,
    };
    match value {
        None => Err(FloatError::Syntax),
        Some(value) if value.is_infinite() => Err(FloatError::Range),
        Some(value) => Ok(if plain.starts_with('-') { -value } else { value }),
    }
}

/// The digits after `0x`: a mantissa and the exponent of two that has to follow it.
fn parse_hex_float(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size: i64 = digits.parse().map_or(100_000, |n: i64| n.min(100_000));
    let mut power = if exponent.starts_with('-') { -size } else { size };
    let mut bits: u128 = 0;
    let mut sticky = false;
    for (at, digit) in whole.chars().chain(fraction.chars()).enumerate() {
        let digit = digit.to_digit(16)?;
        let past_point = at >= whole.len();
        if bits >> 120 == 0 {
            bits = bits << 4 | u128::from(digit);
            power -= if past_point { 4 } else { 0 };
        } else {
            sticky |= digit != 0;
            power += if past_point { 0 } else { 4 };
        }
    }
    Some(scale(bits, sticky, power))
}

/// `bits * 2^power`, rounded to the nearest double, ties to even.
fn scale(bits: u128, sticky: bool, power: i64) -> f64 {
    if bits == 0 {
        return 0.0;
    }
    let top = 127 - i64::from(bits.leading_zeros());
    let exponent = top + power;
    if exponent > 1023 {
        return f64::INFINITY;
    }
    // The exponent of the last bit that a double of this size has.
    let last = (exponent - 52).max(-1074);
    let drop = last - power;
    if drop > 127 {
        return 0.0;
    }
    let (kept, rest_is) = if drop <= 0 {
        (bits << (-drop).min(127) as u32, std::cmp::Ordering::Less)
    } else {
        let (kept, rest) = (bits >> drop, bits & ((1 << drop) - 1));
        let half = 1u128 << (drop - 1);
        (kept, if sticky && rest == half { std::cmp::Ordering::Greater } else { rest.cmp(&half) })
    };
    let up = match rest_is {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Equal => kept & 1 == 1,
        std::cmp::Ordering::Greater => true,
    };
    ldexp((kept + u128::from(up)) as f64, last)
}

/// `value * 2^power` in steps that are exact as long as the result is.
fn ldexp(mut value: f64, mut power: i64) -> f64 {
    while power > 1000 {
        value *= 2f64.powi(1000);
        power -= 1000;
    }
    while power < -1000 {
        value *= 2f64.powi(-1000);
        power += 1000;
    }
    value * 2f64.powi(power as i32)
}

/// How much of the start of a text `fmt.Sscan` takes for a float.
fn float_token(text: &str) -> usize {
    let mut rest = text.as_bytes();
    let mut accept = |set: &[u8], times: usize| {
        let accepted = rest.iter().take(times).take_while(|byte| set.contains(byte)).count();
        rest = rest.get(accepted..).unwrap_or_default();
        accepted > 0
    };
    let all = usize::MAX;
    accept(b"+-", 1);
    // Go reads the `i` because it may begin `Inf`, and does not put it back.
    accept(b"iI", 1);
    let hex = accept(b"0", 1) && accept(b"xX", 1);
    let digits: &[u8] = if hex { b"0123456789abcdefABCDEF_" } else { b"0123456789_" };
    accept(digits, all);
    if accept(b".", 1) {
        accept(digits, all);
    }
    if accept(if hex { b"pP" } else { b"eEpP" }, 1) {
        accept(b"+-", 1);
        accept(b"0123456789_", all);
    }
    text.len() - rest.len()
}

/// Parses a part of a sum as a float.
fn scanned(text: &str) -> Result<f64, String> {
    parse_float(text).map_err(|error| {
        let why = match error {
            FloatError::Syntax => "invalid syntax",
            FloatError::Range => "value out of range",
        };
        format!("strconv.ParseFloat: parsing {}: {why}", quoted(text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_in_every_base() {
        for (text, value) in
            [("0x_1F", 31), ("0b101", 5), ("0o17", 15), ("017", 15), ("1_000", 1000), ("-5", -5), ("0", 0)]
        {
            assert_eq!(Number::from_text(text).unwrap().int, Some(value), "{text}");
        }
        for broken in ["1__0", "1_", "0x", "089", "1e", "."] {
            assert!(Number::from_text(broken).is_err(), "{broken}");
        }
        assert_eq!(
            Number::from_text("18446744073709551616").unwrap_err(),
            "integer overflow: \"18446744073709551616\""
        );
    }

    #[test]
    fn floats_that_are_whole_fit_integers_too() {
        let number = Number::from_text("1e3").unwrap();
        assert_eq!((number.int, number.float), (Some(1000), Some(1000.0)));
        assert!(matches!(number.ideal(), Ideal::Float(_)));
        assert_eq!(Number::from_text("0x1p-2").unwrap().float, Some(0.25));
        assert_eq!(Number::from_text("0x1.8p1").unwrap().int, Some(3));
        assert_eq!(Number::from_text("1e-400").unwrap().float, Some(0.0));
        assert!(Number::from_text("1e400").is_err());
    }

    #[test]
    fn a_sum_is_split_at_the_sign_that_is_no_exponents() {
        for (text, error) in [
            ("1i+2i", "syntax error scanning complex number"),
            ("0o17+1i", "syntax error scanning complex number"),
            ("-i+2i", "strconv.ParseFloat: parsing \"-i\": invalid syntax"),
            ("1+i", "syntax error scanning complex number"),
            ("0x1+2i", "strconv.ParseFloat: parsing \"0x1\": invalid syntax"),
            ("1_0e400+1i", "strconv.ParseFloat: parsing \"1_0e400\": value out of range"),
            ("1e--2.5i", "strconv.ParseFloat: parsing \"1e-\": invalid syntax"),
        ] {
            assert_eq!(Number::from_sum(text).unwrap_err(), error, "{text}");
        }
        assert_eq!(Number::from_sum("1e+3-2i").unwrap().complex, Some((1000.0, -2.0)));
        assert_eq!(Number::from_sum("1+0i").unwrap().int, Some(1));
    }
}
