//! `format(value, spec)` of texts and numbers.

use num_bigint::{BigInt, Sign};
use num_traits::ToPrimitive;

use super::PyError;
use super::arg::{Arg, big_text};
use super::float_text::{FloatStyle, Notation};
use super::format_spec::Spec;
use super::out::{Bounded, fits};
use super::text::{head, len};

/// `format(value, spec)`
pub fn format_value(arg: &Arg<'_>, spec: &str, room: usize) -> Result<String, PyError> {
    if spec.is_empty() {
        let text = arg.str(room)?;
        fits(text.len(), room)?;
        return Ok(text.into_owned());
    }
    let name = arg.type_name();
    match arg {
        Arg::Str(text) => format_text(text, &Spec::read(spec, '<', name)?, room),
        Arg::Float(value) => format_float(*value, &Spec::read(spec, '>', name)?, (name, room)),
        Arg::Other(_) => {
            PyError::type_error(format!("unsupported format string passed to {name}.__format__"))
        }
        number => format_int(number, &Spec::read(spec, '>', name)?, room),
    }
}

fn format_text(text: &str, spec: &Spec, room: usize) -> Result<String, PyError> {
    Spec { kind: spec.kind.or(Some('s')), ..spec.clone() }.check_thousands()?;
    if !matches!(spec.kind, None | Some('s')) {
        return spec.unknown_kind("str");
    }
    let refused = match spec {
        Spec { sign: Some(' '), .. } => "Space",
        Spec { sign: Some(_), .. } => "Sign",
        Spec { no_negative_zero: true, .. } => "Negative zero coercion (z)",
        Spec { alternate: true, .. } => "Alternate form (#)",
        Spec { align: '=', .. } => "'=' alignment",
        _ => "",
    };
    if !refused.is_empty() {
        return PyError::value_error(format!("{refused} not allowed in string format specifier"));
    }
    let shown = spec.precision.map_or(text, |precision| head(text, precision));
    let mut out = Bounded::new(room);
    spec.pad(&mut out, len(shown), |out, _| out.push_str(shown))?;
    Ok(out.finish())
}

fn format_int(arg: &Arg<'_>, spec: &Spec, room: usize) -> Result<String, PyError> {
    let name = arg.type_name();
    Spec { kind: spec.kind.or(Some('d')), ..spec.clone() }.check_thousands()?;
    match spec.kind {
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => format_float(arg.float()?, spec, (name, room)),
        None | Some('b' | 'c' | 'd' | 'o' | 'x' | 'X' | 'n') => {
            let Some(value) = arg.int() else { return spec.unknown_kind(name) };
            format_digits(&value, spec, room)
        }
        _ => spec.unknown_kind(name),
    }
}

fn format_digits(value: &BigInt, spec: &Spec, room: usize) -> Result<String, PyError> {
    if spec.precision.is_some() {
        return PyError::value_error("Precision not allowed in integer format specifier");
    }
    if spec.no_negative_zero {
        return PyError::value_error("Negative zero coercion (z) not allowed in integer format specifier");
    }
    if spec.kind == Some('c') {
        return format_char(value, spec, room);
    }
    let (radix, prefix, group) = match spec.kind {
        Some('b') => (2_u32, "0b", 4),
        Some('o') => (8, "0o", 4),
        Some('x') => (16, "0x", 4),
        Some('X') => (16, "0X", 4),
        _ => (10, "", 3),
    };
    fits((value.bits() / u64::from(radix.ilog2() + 1)) as usize, room)?;
    let magnitude = value.magnitude();
    let mut digits =
        if radix == 10 { big_text(&magnitude.clone().into())? } else { magnitude.to_str_radix(radix) };
    if spec.kind == Some('X') {
        digits.make_ascii_uppercase();
    }
    let number = Number {
        negative: value.sign() == Sign::Minus,
        prefix: if spec.alternate { prefix } else { "" },
        digits: &digits,
        rest: "",
        group,
    };
    number.format(spec, room)
}

fn format_char(value: &BigInt, spec: &Spec, room: usize) -> Result<String, PyError> {
    let refused = if spec.sign.is_some() {
        "Sign"
    } else if spec.alternate {
        "Alternate form (#)"
    } else {
        ""
    };
    if !refused.is_empty() {
        return PyError::value_error(format!("{refused} not allowed with integer format specifier 'c'"));
    }
    if value.to_i64().is_none() {
        return Err(PyError::Overflow("Python int too large to convert to C long".to_owned()));
    }
    let code = value.to_u32().filter(|&code| code <= 0x10_ffff);
    let code = code.ok_or_else(|| PyError::Overflow("%c arg not in range(0x110000)".to_owned()))?;
    let c = char::from_u32(code).unwrap_or('\u{fffd}');
    let rest = c.encode_utf8(&mut [0; 4]).to_owned();
    Number { negative: false, prefix: "", digits: "", rest: &rest, group: 3 }.format(spec, room)
}

fn format_float(value: f64, spec: &Spec, (name, room): (&str, usize)) -> Result<String, PyError> {
    spec.check_thousands()?;
    let precision = spec.precision;
    if precision.is_some_and(|precision| precision > i32::MAX as usize) {
        return PyError::value_error("precision too big");
    }
    let style = |notation| FloatStyle {
        notation,
        precision: precision.unwrap_or(6),
        alternate: spec.alternate,
        dot_zero: spec.kind.is_none(),
    };
    let style = match spec.kind {
        None if precision.is_none() => style(Notation::Shortest),
        None | Some('g' | 'G' | 'n') => style(Notation::General),
        Some('e' | 'E') => style(Notation::Exponent),
        Some('f' | 'F' | '%') => style(Notation::Fixed),
        Some(_) => return spec.unknown_kind(name),
    };
    let shown = if spec.kind == Some('%') { value * 100.0 } else { value };
    if value.is_finite() && (spec.alternate || matches!(style.notation, Notation::Exponent | Notation::Fixed))
    {
        fits(style.precision, room)?;
    }
    let text = float_text(shown, &style, spec);
    let (negative, text) = match text.strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, text.as_str()),
    };
    let whole = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(whole);
    Number { negative, prefix: "", digits, rest, group: 3 }.format(spec, room)
}

fn float_text(value: f64, style: &FloatStyle, spec: &Spec) -> String {
    let mut text = style.text(value);
    let mantissa = text.split('e').next().unwrap_or_default();
    if spec.no_negative_zero && value.is_finite() && !mantissa.contains(|c| matches!(c, '1'..='9')) {
        text = text.trim_start_matches('-').to_owned();
    }
    match spec.kind {
        Some('E' | 'F' | 'G') => text.make_ascii_uppercase(),
        Some('%') => text.push('%'),
        _ => {}
    }
    text
}

/// The parts of a number; `rest` is what follows the digits that may be grouped.
struct Number<'n> {
    negative: bool,
    prefix: &'n str,
    digits: &'n str,
    rest: &'n str,
    group: usize,
}

impl Number<'_> {
    fn format(&self, spec: &Spec, room: usize) -> Result<String, PyError> {
        let sign = match (self.negative, spec.sign) {
            (true, _) => "-",
            (false, Some('+')) => "+",
            (false, Some(' ')) => " ",
            (false, _) => "",
        };
        let fixed = sign.len() + self.prefix.len() + len(self.rest);
        let zeros = spec.fill == '0' && spec.align == '=';
        let least = if zeros { spec.width.saturating_sub(fixed) } else { 0 };
        fits(least.max(self.digits.len()), room)?;
        let digits = if self.digits.is_empty() { String::new() } else { self.grouped(spec, least) };
        let mut out = Bounded::new(room);
        spec.pad(&mut out, fixed + digits.len(), |out, inner| {
            out.push_str(sign)?;
            out.push_str(self.prefix)?;
            out.fill(spec.fill, inner)?;
            out.push_str(&digits)?;
            out.push_str(self.rest)
        })?;
        Ok(out.finish())
    }

    /// The digits in groups, with zeros before them up to `least` characters; no group is left empty.
    fn grouped(&self, spec: &Spec, least: usize) -> String {
        let Some(separator) = spec.thousands else {
            return ["0".repeat(least.saturating_sub(self.digits.len())).as_str(), self.digits].concat();
        };
        let mut reversed = String::new();
        let mut digits = self.digits.bytes().rev().map(char::from).peekable();
        let mut in_group = 0;
        while digits.peek().is_some() || reversed.len() < least {
            if in_group == self.group {
                reversed.push(separator);
                in_group = 0;
            }
            reversed.push(digits.next().unwrap_or('0'));
            in_group += 1;
        }
        reversed.chars().rev().collect()
    }
}

impl Spec {
    /// Writes `count` characters with fill characters around them; `write` is told how many belong between sign and digits.
    fn pad(
        &self,
        out: &mut Bounded,
        count: usize,
        write: impl FnOnce(&mut Bounded, usize) -> Result<(), PyError>,
    ) -> Result<(), PyError> {
        let missing = self.width.saturating_sub(count);
        let (left, inner, right) = match self.align {
            '<' => (0, 0, missing),
            '^' => (missing / 2, 0, missing - missing / 2),
            '=' => (0, missing, 0),
            _ => (missing, 0, 0),
        };
        fits(missing.saturating_mul(self.fill.len_utf8()), out.left())?;
        out.fill(self.fill, left)?;
        write(out, inner)?;
        out.fill(self.fill, right)
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;

    #[test]
    fn values_are_formatted() {
        let text = |text| Arg::Str(Cow::Borrowed(text));
        let cases = [
            (text("é"), "*^5", "**é**"),
            (text("abc"), ".2", "ab"),
            (Arg::Int(1234567), ",", "1,234,567"),
            (Arg::Int(1234), "010,", "00,001,234"),
            (Arg::Int(-255), "#x", "-0xff"),
            (Arg::Int(-255), "#010x", "-0x00000ff"),
            (Arg::Int(65535), "_b", "1111_1111_1111_1111"),
            (Arg::Int(65), "c", "A"),
            (Arg::Int(5), "+.1f", "+5.0"),
            (Arg::Bool(true), "d", "1"),
            (Arg::Bool(true), "", "True"),
            (Arg::Float(1.0), "", "1.0"),
            (Arg::Float(1234.5678), ",.2f", "1,234.57"),
            (Arg::Float(0.256), ".1%", "25.6%"),
            (Arg::Float(1e10), ".3", "1e+10"),
            (Arg::Float(100.0), ".3", "1e+02"),
            (Arg::Float(-0.001), "z.1f", "0.0"),
            (Arg::Float(f64::NAN), "05", "00nan"),
        ];
        for (value, spec, expected) in cases {
            assert_eq!(format_value(&value, spec, 99).as_deref(), Ok(expected), "{spec}");
        }
    }

    #[test]
    fn mistakes_have_the_messages_of_python() {
        let cases = [
            ("d", "Unknown format code 'd' for object of type 'str'"),
            ("+", "Sign not allowed in string format specifier"),
            ("=5", "'=' alignment not allowed in string format specifier"),
            (",", "Cannot specify ',' with 's'."),
            ("5.", "Format specifier missing precision"),
            ("5xx", "Invalid format specifier '5xx' for object of type 'str'"),
        ];
        for (spec, message) in cases {
            assert_eq!(format_value(&Arg::Str(Cow::Borrowed("x")), spec, 99), PyError::value_error(message));
        }
        for spec in ["99999999", "0=99999999", ".99999999f", "099999999,"] {
            assert_eq!(format_value(&Arg::Int(1), spec, 1000), Err(PyError::TooLarge), "{spec}");
        }
    }
}
