//! Conversions, as `github.com/spf13/cast` does them, and the names of types.

use super::call::{Call, Made};
use crate::go::{self, Val};

/// A Go float as an integer: without its fraction; what does not fit is the smallest one, as on common processors.
pub fn truncated(value: f64) -> i64 {
    let fits = value > -9_223_372_036_854_777_856.0 && value < 9_223_372_036_854_775_808.0;
    if fits { value as i64 } else { i64::MIN }
}

/// `cast.ToInt64`: what is no number is 0.
pub fn to_int64(value: &Val<'_>) -> i64 {
    if let Some(bytes) = value.as_bytes() {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        return parse_int(without_decimals(text)).unwrap_or(0);
    }
    let number = value.as_int().or_else(|| value.as_float().map(truncated));
    number.or_else(|| value.as_bool().map(i64::from)).unwrap_or(0)
}

/// `cast.ToFloat64`: what is no number is 0.
pub fn to_float64(value: &Val<'_>) -> f64 {
    if let Some(bytes) = value.as_bytes() {
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        return named_float(text).or_else(|| go::parse_float(text).ok()).unwrap_or(0.0);
    }
    let number = value.as_float().or_else(|| value.as_int().map(|n| n as f64));
    number.or_else(|| value.as_bool().map(f64::from)).unwrap_or(0.0)
}

/// The infinities and NaN, as `strconv.ParseFloat` reads them.
fn named_float(text: &str) -> Option<f64> {
    let (sign, name) = match text.as_bytes().first()? {
        b'-' => (-1.0, text.get(1..)?),
        b'+' => (1.0, text.get(1..)?),
        _ => (1.0, text),
    };
    match name.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => Some(sign * f64::INFINITY),
        "nan" if name.len() == text.len() => Some(f64::NAN),
        _ => None,
    }
}

/// A decimal number without its fraction; any other text stays as it is.
fn without_decimals(text: &str) -> &str {
    let Some((whole, fraction)) = text.split_once('.') else { return text };
    let digits = whole.strip_prefix(['-', '+']).unwrap_or(whole);
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    match plain(digits) && plain(fraction) {
        true if digits.is_empty() => "0",
        true => whole,
        false => text,
    }
}

/// `strconv.ParseInt(text, 0, 64)`: a prefix may tell the base, and `_` may separate digits.
fn parse_int(text: &str) -> Option<i64> {
    if text.contains('_') && !go::underscores_separate_digits(text) {
        return None;
    }
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let prefix = digits.get(..2).filter(|_| digits.len() > 2).unwrap_or_default().to_ascii_lowercase();
    let (base, digits) = match prefix.as_str() {
        "0x" => (16, digits.get(2..)?),
        "0o" => (8, digits.get(2..)?),
        "0b" => (2, digits.get(2..)?),
        _ if digits.starts_with('0') && digits.len() > 1 => (8, digits.get(1..)?),
        _ => (10, digits),
    };
    let digits: String = digits.chars().filter(|c| *c != '_').collect();
    let sign = if negative { "-" } else { "" };
    let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    plain.then(|| i64::from_str_radix(&format!("{sign}{digits}"), base).ok()).flatten()
}

/// The result that `strconv.Atoi` gives beside its error: the nearest integer for a number that is too large, else 0.
pub fn atoi_or_nearest(text: &[u8]) -> i64 {
    let text = std::str::from_utf8(text).unwrap_or_default();
    text.parse().unwrap_or_else(|error: std::num::ParseIntError| match error.kind() {
        std::num::IntErrorKind::PosOverflow => i64::MAX,
        std::num::IntErrorKind::NegOverflow => i64::MIN,
        _ => 0,
    })
}

pub fn int<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int(to_int64(&call.arg(0))))
}

pub fn int64<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int64(to_int64(&call.arg(0))))
}

pub fn float64<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::float(to_float64(&call.arg(0))))
}

pub fn atoi<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::int(atoi_or_nearest(call.text(0))))
}

/// The value of an octal number.
pub fn to_decimal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let shown = call.shown(&call.arg(0));
    let text = std::str::from_utf8(&shown).unwrap_or_default();
    Ok(Val::int64(i64::from_str_radix(text, 8).unwrap_or(0)))
}

pub fn to_string<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    match call.arg(0) {
        text if text.as_bytes().is_some() => Ok(text),
        value => call.string(call.shown(&value)),
    }
}

/// The elements as strings, without nil; a single value is a list of one.
pub fn strings_of<'a>(call: &Call<'_, 'a>, value: &Val<'a>) -> Result<Vec<Val<'a>>, String> {
    let string = |item: Val<'a>| match item.as_bytes() {
        Some(bytes) => Val::bytes(bytes),
        None => call.context.bytes(call.shown(&item)),
    };
    let items = match value.is_list() {
        true => call.items(value)?,
        false => vec![*value],
    };
    let mut strings = Vec::with_capacity(items.len());
    for item in items.into_iter().filter(|item| !item.is_nil()) {
        call.room(0)?;
        strings.push(string(item));
    }
    Ok(strings)
}

pub fn to_strings<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let strings = strings_of(call, &call.arg(0))?;
    Ok(call.context.list_of(go::Type::String, strings))
}

fn type_name(value: &Val<'_>) -> &'static str {
    if value.is_nil() { "<nil>" } else { value.type_name() }
}

pub fn type_of<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::text(type_name(&call.arg(0))))
}

pub fn type_is<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.text(0) == type_name(&call.arg(1)).as_bytes()))
}

pub fn kind_of<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::text(call.arg(0).kind_name()))
}

pub fn kind_is<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.text(0) == call.arg(1).kind_name().as_bytes()))
}
