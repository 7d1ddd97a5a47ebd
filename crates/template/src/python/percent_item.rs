//! The conversions of printf-style formatting: one value as text, with flags, width and precision.

use std::borrow::Cow;

use num_bigint::Sign;
use num_traits::ToPrimitive;

use super::PyError;
use super::arg::{Arg, big_text, float_int};
use super::float_text::{FloatStyle, Notation};
use super::out::{Bounded, fits};
use super::repr::escape_wide;
use super::text::{head, len};

/// What stands between `%` and the letter of a conversion.
#[derive(Default)]
pub(super) struct Item {
    pub(super) left: bool,
    pub(super) plus: bool,
    pub(super) blank: bool,
    pub(super) alternate: bool,
    pub(super) zero: bool,
    pub(super) width: usize,
    pub(super) precision: Option<usize>,
}

/// An `OverflowError`.
pub(super) fn too_large(message: &str) -> PyError {
    PyError::Overflow(message.to_owned())
}

fn text<'a>(c: char, arg: &'a Arg<'_>, room: usize) -> Result<Cow<'a, str>, PyError> {
    match c {
        's' => arg.str(room),
        'r' => arg.repr(room).map(Cow::Owned),
        _ => {
            let mut out = String::new();
            escape_wide(&mut out, &arg.repr(room)?);
            Ok(Cow::Owned(out))
        }
    }
}

fn write_text(out: &mut Bounded, item: &Item, text: &str) -> Result<(), PyError> {
    let text = item.precision.map_or(text, |precision| head(text, precision));
    item.write_padded(out, text)
}

/// The digits of `%d`, with their sign.
fn decimal(item: &Item, c: char, arg: &Arg<'_>, room: usize) -> Result<String, PyError> {
    let text = match arg {
        Arg::Int(value) => value.to_string(),
        Arg::Float(value) => big_text(&float_int(*value)?)?,
        other => match other.int() {
            Some(value) => big_text(&value)?,
            None => {
                let given = other.type_name();
                return PyError::type_error(format!("%{c} format: a real number is required, not {given}"));
            }
        },
    };
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", text.as_str()),
    };
    with_zeros(item, sign, digits, room)
}

/// The digits of `%x` and `%o`, with their sign and prefix.
fn radix(item: &Item, c: char, arg: &Arg<'_>, room: usize) -> Result<String, PyError> {
    let Some(value) = arg.int() else {
        let given = arg.type_name();
        return PyError::type_error(format!("%{c} format: an integer is required, not {given}"));
    };
    fits((value.bits() / 4) as usize, room)?;
    let digits = value.magnitude().to_str_radix(if c == 'o' { 8 } else { 16 });
    let sign = if value.sign() == Sign::Minus { "-" } else { "" };
    let prefix = match c {
        _ if !item.alternate => "",
        'o' => "0o",
        _ => "0x",
    };
    let text = with_zeros(item, &format!("{sign}{prefix}"), &digits, room)?;
    Ok(if c == 'X' { text.to_ascii_uppercase() } else { text })
}

/// The digits with as many zeros before them as the precision asks for.
fn with_zeros(item: &Item, before: &str, digits: &str, room: usize) -> Result<String, PyError> {
    let zeros = item.precision.unwrap_or(0).saturating_sub(digits.len());
    fits(zeros.saturating_add(digits.len() + before.len()), room)?;
    Ok([before, &"0".repeat(zeros), digits].concat())
}

fn float(item: &Item, c: char, arg: &Arg<'_>, room: usize) -> Result<String, PyError> {
    let notation = match c.to_ascii_lowercase() {
        'e' => Notation::Exponent,
        'f' => Notation::Fixed,
        _ => Notation::General,
    };
    let precision = item.precision.unwrap_or(6);
    let style = FloatStyle { notation, precision, alternate: item.alternate, dot_zero: false };
    let value = arg.float()?;
    if notation != Notation::General || item.alternate {
        fits(if value.is_finite() { precision } else { 0 }, room)?;
    }
    let text = style.text(value);
    Ok(if c.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text })
}

fn character(arg: &Arg<'_>) -> Result<char, PyError> {
    if let Arg::Str(text) = arg {
        let mut chars = text.chars();
        if let (Some(c), None) = (chars.next(), chars.next()) {
            return Ok(c);
        }
    }
    let Some(code) = arg.int() else { return PyError::type_error("%c requires int or char") };
    match code.to_u32() {
        Some(code) if code <= 0x10_ffff => Ok(char::from_u32(code).unwrap_or('\u{fffd}')),
        _ => Err(too_large("%c arg not in range(0x110000)")),
    }
}

impl Item {
    /// Writes a value with the conversion `c`; false if there is no such conversion.
    pub(super) fn write(&self, out: &mut Bounded, c: char, arg: &Arg<'_>) -> Result<bool, PyError> {
        let room = out.left();
        match c {
            's' | 'r' | 'a' => write_text(out, self, &text(c, arg, room)?)?,
            'd' | 'i' | 'u' => self.write_number(out, &decimal(self, c, arg, room)?, 0)?,
            'x' | 'X' | 'o' => {
                let prefix = if self.alternate { 2 } else { 0 };
                self.write_number(out, &radix(self, c, arg, room)?, prefix)?;
            }
            'e' | 'E' | 'f' | 'F' | 'g' | 'G' => self.write_number(out, &float(self, c, arg, room)?, 0)?,
            'c' => self.write_padded(out, character(arg)?.encode_utf8(&mut [0; 4]))?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Writes what has no sign, with spaces up to the width.
    fn write_padded(&self, out: &mut Bounded, text: &str) -> Result<(), PyError> {
        let missing = self.width.saturating_sub(len(text));
        fits(text.len().saturating_add(missing), out.left())?;
        out.fill(' ', if self.left { 0 } else { missing })?;
        out.push_str(text)?;
        out.fill(' ', if self.left { missing } else { 0 })
    }

    /// Writes a number; zeros up to the width stand after its sign and its prefix of so many characters.
    fn write_number(&self, out: &mut Bounded, text: &str, prefix: usize) -> Result<(), PyError> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None if self.plus => ("+", text),
            None if self.blank => (" ", text),
            None => ("", text),
        };
        let missing = self.width.saturating_sub(sign.len() + digits.len());
        fits(text.len().saturating_add(missing), out.left())?;
        let (prefix, digits) = digits.split_at_checked(prefix).unwrap_or(("", digits));
        let zeros = self.zero && !self.left;
        out.fill(' ', if zeros || self.left { 0 } else { missing })?;
        out.push_str(sign)?;
        out.push_str(prefix)?;
        out.fill('0', if zeros { missing } else { 0 })?;
        out.push_str(digits)?;
        out.fill(' ', if self.left { missing } else { 0 })
    }
}
