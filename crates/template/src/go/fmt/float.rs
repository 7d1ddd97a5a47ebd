//! Floats and complex numbers: `%e %E %f %F %g %G %b %x %X %v`.

use super::super::val::Val;
use super::Printer;

/// No double has more digits after the point, or more significant digits, than this.
const EXACT_DIGITS: usize = 1_100;

/// A double as decimal digits `0.d1d2d3… * 10^point`, without trailing zeros; no digits for zero.
pub(super) struct Decimal {
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// The shortest digits that read back as the same double; of two such forms the nearer one, else the even one.
    pub(super) fn shortest(value: f64) -> Decimal {
        Decimal::from_text(zmij::Buffer::new().format_finite(value))
    }

    /// `significant` digits, correctly rounded.
    fn rounded(value: f64, significant: usize) -> Decimal {
        let precision = significant.saturating_sub(1).min(EXACT_DIGITS);
        Decimal::from_text(&format!("{value:.precision$e}"))
    }

    /// The digits of `123.4`, `0.0012` or `1.234e-5`.
    fn from_text(text: &str) -> Decimal {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let whole = mantissa.find('.').unwrap_or(mantissa.len());
        let written = || mantissa.bytes().filter(u8::is_ascii_digit);
        let zeros = written().take_while(|&digit| digit == b'0').count();
        let mut digits: Vec<u8> = written().skip(zeros).collect();
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        let point = whole as i32 - zeros as i32 + exponent.parse::<i32>().unwrap_or(0);
        Decimal { point: if digits.is_empty() { 0 } else { point }, digits }
    }

    fn digit(&self, at: i32) -> u8 {
        usize::try_from(at).ok().and_then(|at| self.digits.get(at)).copied().unwrap_or(b'0')
    }

    /// `d.ddde+dd`.
    fn push_exponent(&self, out: &mut Vec<u8>, precision: usize, letter: u8) {
        out.push(self.digit(0));
        if precision > 0 {
            out.push(b'.');
            let end = self.digits.len().min(precision + 1);
            let kept = self.digits.get(1..end).unwrap_or_default();
            out.extend_from_slice(kept);
            out.resize(out.len() + precision - kept.len(), b'0');
        }
        let exponent = if self.digits.is_empty() { 0 } else { self.point - 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push(letter);
        out.extend_from_slice(format!("{sign}{:02}", exponent.unsigned_abs()).as_bytes());
    }

    /// As Go's JSON encoder writes numbers: with an exponent below 1e-6 and from 1e21 on.
    pub(super) fn push_json(&self, out: &mut Vec<u8>) {
        let fraction = |digits: usize, point: i32| (digits as i32 - point).max(0) as usize;
        if self.digits.is_empty() || (-5..=21).contains(&self.point) {
            return self.push_plain(out, fraction(self.digits.len(), self.point));
        }
        self.push_exponent(out, self.digits.len().saturating_sub(1), b'e');
        if let [.., b'-', zero @ b'0', digit] = out.as_mut_slice() {
            *zero = *digit;
            out.pop();
        }
    }

    /// `ddd.ddd`.
    fn push_plain(&self, out: &mut Vec<u8>, precision: usize) {
        if self.point > 0 {
            out.extend((0..self.point).map(|at| self.digit(at)));
        } else {
            out.push(b'0');
        }
        if precision > 0 {
            out.push(b'.');
            let places = precision.min(EXACT_DIGITS);
            out.extend((0..places as i32).map(|at| self.digit(self.point + at)));
            out.resize(out.len() + precision - places, b'0');
        }
    }
}

/// The absolute value of a finite double, as `strconv` formats it; without a precision, in the shortest form.
fn format_size(size: f64, verb: char, precision: Option<usize>) -> Vec<u8> {
    let mut out = Vec::new();
    match verb {
        'e' | 'E' => {
            let decimal = match precision {
                Some(precision) => Decimal::rounded(size, precision.saturating_add(1)),
                None => Decimal::shortest(size),
            };
            let precision = precision.unwrap_or(decimal.digits.len().saturating_sub(1));
            decimal.push_exponent(&mut out, precision, verb as u8);
        }
        'f' => plain(size, precision, &mut out),
        'b' => binary(size, &mut out),
        'x' | 'X' => hexadecimal(size, verb, precision, &mut out),
        _ => general(size, verb, precision, &mut out),
    }
    out
}

fn plain(size: f64, precision: Option<usize>, out: &mut Vec<u8>) {
    let Some(precision) = precision else {
        let decimal = Decimal::shortest(size);
        let precision = (decimal.digits.len() as i32 - decimal.point).max(0);
        return decimal.push_plain(out, precision as usize);
    };
    let places = precision.min(EXACT_DIGITS);
    out.extend_from_slice(format!("{size:.places$}").as_bytes());
    out.resize(out.len() + precision - places, b'0');
}

/// `%g`: with an exponent if that is below -4 or not below the precision (6 for the shortest form).
fn general(size: f64, verb: char, precision: Option<usize>, out: &mut Vec<u8>) {
    let decimal = match precision {
        Some(precision) => Decimal::rounded(size, precision.max(1)),
        None => Decimal::shortest(size),
    };
    let count = decimal.digits.len();
    let precision_given = precision.map(|precision| precision.max(1));
    let wanted = precision_given.unwrap_or(count);
    let threshold = match precision_given {
        None => 6,
        Some(wanted) if wanted > count && count as i32 >= decimal.point => count,
        Some(wanted) => wanted,
    };
    let exponent = decimal.point - 1;
    if exponent < -4 || exponent >= threshold as i32 {
        let letter = if verb == 'G' { b'E' } else { b'e' };
        return decimal.push_exponent(out, wanted.min(count).saturating_sub(1), letter);
    }
    let digits = if wanted as i64 > i64::from(decimal.point) { count as i32 } else { wanted as i32 };
    decimal.push_plain(out, (digits - decimal.point).max(0) as usize);
}

/// The mantissa as a whole number, and the exponent of two.
fn parts(size: f64) -> (u64, i32) {
    let bits = size.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    match (bits >> 52 & 0x7ff) as i32 {
        0 => (fraction, -1074),
        exponent => (fraction | 1 << 52, exponent - 1075),
    }
}

fn binary(size: f64, out: &mut Vec<u8>) {
    let (mantissa, exponent) = parts(size);
    out.extend_from_slice(format!("{mantissa}p{exponent:+}").as_bytes());
}

/// `0x1.8p+01`.
fn hexadecimal(size: f64, verb: char, precision: Option<usize>, out: &mut Vec<u8>) {
    let (mut mantissa, mut exponent) = parts(size);
    if mantissa == 0 {
        exponent = 0;
    } else {
        // One digit (1) before the point, and 15 after it.
        let shift = mantissa.leading_zeros() as i32 - 3;
        mantissa <<= shift;
        exponent += 60 - shift;
    }
    if let Some(precision) = precision.filter(|&precision| precision < 15) {
        let dropped = 60 - 4 * precision as u32;
        let (kept, rest) = (mantissa >> dropped, mantissa & ((1 << dropped) - 1));
        let half = 1u64 << (dropped - 1);
        let up = rest > half || (rest == half && kept & 1 == 1);
        mantissa = (kept + u64::from(up)) << dropped;
        if mantissa >> 61 != 0 {
            mantissa >>= 1;
            exponent += 1;
        }
    }
    let mut digits = format!("{:015x}", mantissa & ((1 << 60) - 1)).into_bytes();
    match precision {
        None => digits.truncate(digits.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1)),
        Some(precision) => digits.resize(precision, b'0'),
    }
    let point = if digits.is_empty() { "" } else { "." };
    let digits = String::from_utf8_lossy(&digits);
    let sign = if exponent < 0 { '-' } else { '+' };
    let mut text = format!("0x{}{point}{digits}p{sign}{:02}", mantissa >> 60, exponent.unsigned_abs());
    if verb == 'X' {
        text.make_ascii_uppercase();
    }
    out.extend_from_slice(text.as_bytes());
}

impl Printer<'_> {
    /// Prints a float.
    pub(super) fn float(&mut self, value: &Val<'_>, number: f64, verb: char) {
        match verb {
            'v' => self.number(number, 'g', None),
            'b' | 'g' | 'G' | 'x' | 'X' => self.number(number, verb, None),
            'f' | 'e' | 'E' => self.number(number, verb, Some(6)),
            'F' => self.number(number, 'f', Some(6)),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    /// Prints a complex number as two floats in parentheses.
    pub(super) fn complex(&mut self, value: &Val<'_>, real: f64, imaginary: f64, verb: char) {
        if !"vbgGxXfFeE".contains(verb) {
            return self.bad_verb(Some(value), verb);
        }
        let plus = self.flags.plus;
        self.push(b"(");
        self.float(value, real, verb);
        self.flags.plus = true;
        self.float(value, imaginary, verb);
        self.push(b"i)");
        self.flags.plus = plus;
    }

    fn number(&mut self, number: f64, verb: char, default: Option<usize>) {
        let flags = self.flags;
        if verb == 'g' && flags.is_plain() && self.plain_number(number) {
            return;
        }
        let precision = flags.precision.or(default);
        let sign = match number.is_sign_negative() && !number.is_nan() {
            true => b'-',
            false if flags.plus => b'+',
            false if flags.space => b' ',
            false => 0,
        };
        if !number.is_finite() {
            return self.not_finite(number, sign);
        }
        let mut text = if sign == 0 { Vec::new() } else { vec![sign] };
        let size = format_size(number.abs(), verb, precision);
        match flags.sharp && verb != 'b' {
            true => text.extend(with_point(size, verb, precision)),
            false => text.extend(size),
        }
        let zeros = flags.zero && !flags.minus;
        let width = flags.width.unwrap_or(0);
        if sign != 0 && zeros && width > text.len() {
            self.push(&[sign]);
            self.fill(b'0', width - text.len());
            return self.push(text.get(1..).unwrap_or_default());
        }
        self.padded(&text);
    }

    /// Prints a number that `%v` shows without an exponent, by a fast path; false if it is not one.
    fn plain_number(&mut self, number: f64) -> bool {
        let plain = (1e-4..1e6).contains(&number.abs());
        if plain {
            let mut buffer = zmij::Buffer::new();
            let text = buffer.format_finite(number);
            self.push(text.strip_suffix(".0").unwrap_or(text).as_bytes());
        }
        plain
    }

    fn not_finite(&mut self, number: f64, sign: u8) {
        let name: &[u8] = if number.is_nan() { b"NaN" } else { b"Inf" };
        let mut text = match sign {
            0 if !number.is_nan() => vec![b'+'],
            0 => Vec::new(),
            sign => vec![sign],
        };
        text.extend_from_slice(name);
        self.padded_with_spaces(&text);
    }
}

/// The form for the flag `#`: always with a point, and with trailing zeros.
fn with_point(size: Vec<u8>, verb: char, precision: Option<usize>) -> Vec<u8> {
    let mut missing: i64 = match verb {
        'g' | 'G' | 'x' => precision.map_or(6, |precision| precision as i64),
        _ => 0,
    };
    let is_tail = |byte: &u8| match verb {
        'x' | 'X' => matches!(byte, b'p' | b'P'),
        _ => matches!(byte, b'e' | b'E'),
    };
    let split = size.iter().position(is_tail).unwrap_or(size.len());
    let (number, tail) = size.split_at_checked(split).unwrap_or((&size, &[]));
    let mut started = false;
    for &byte in number.iter().filter(|&&byte| byte != b'.') {
        started |= byte != b'0';
        missing -= i64::from(started);
    }
    let mut out = number.to_vec();
    if !number.contains(&b'.') {
        if number == b"0" {
            missing -= 1;
        }
        out.push(b'.');
    }
    out.resize(out.len() + usize::try_from(missing).unwrap_or(0), b'0');
    out.extend_from_slice(tail);
    out
}

#[cfg(test)]
mod tests {
    use super::super::super::val::Val;
    use super::super::sprintf;

    fn formatted(format: &str, number: f64) -> String {
        sprintf(format, &[Val::float(number)])
    }

    #[test]
    fn of_two_shortest_forms_that_are_equally_near_the_even_one_is_printed() {
        assert_eq!(formatted("%v", -78_365_065_960_460.63), "-7.836506596046062e+13");
        assert_eq!(formatted("%v", 731_402_281_392_808.3), "7.314022813928082e+14");
        assert_eq!(formatted("%v", 5e-324), "5e-324");
        assert_eq!(formatted("%v", f64::MAX), "1.7976931348623157e+308");
    }

    #[test]
    fn precisions_beyond_what_a_double_holds_are_filled_with_zeros() {
        assert_eq!(formatted("%.2000f", 0.5).len(), 2002);
        assert_eq!(formatted("%.3000e", 1.5).len(), 3006);
        assert_eq!(formatted("%.70000g", 0.1).len(), 57);
        assert_eq!(formatted("%.0f %.0f", 2.5), "2 %!f(MISSING)");
    }

    #[test]
    fn numbers_that_are_not_finite_are_padded_with_spaces_only() {
        assert_eq!(formatted("%08.2f", f64::INFINITY), "    +Inf");
        assert_eq!(formatted("%-6vx", f64::NAN), "NaN   x");
        assert_eq!(formatted("% v", f64::NEG_INFINITY), "-Inf");
    }
}
