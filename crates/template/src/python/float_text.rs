//! Doubles as text: the conversions `e`, `f`, `g` and `r` of Python's `PyOS_double_to_string`.

/// No double has more digits after the point, or more significant digits, than this.
const EXACT_DIGITS: usize = 1_100;

/// How a double is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `1.500000e+00`
    Exponent,
    /// `1.500000`
    Fixed,
    /// The shorter of both, with so many significant digits.
    General,
    /// The shortest digits that read back as the same double.
    Shortest,
}

/// A way to write doubles; `alternate` keeps the point and trailing zeros, `dot_zero` writes `1.0` and not `1`.
#[derive(Clone, Copy, Debug)]
pub(super) struct FloatStyle {
    pub(super) notation: Notation,
    pub(super) precision: usize,
    pub(super) alternate: bool,
    pub(super) dot_zero: bool,
}

impl FloatStyle {
    /// The number, `inf` or `nan`, with a `-` before it where it is negative.
    pub(super) fn text(&self, value: f64) -> String {
        if value.is_nan() {
            return "nan".to_owned();
        }
        if value.is_infinite() {
            return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
        }
        match self.notation {
            Notation::Fixed => fixed(value, self.precision, self.alternate),
            Notation::Exponent => self.scientific(value),
            Notation::General => self.general(value),
            Notation::Shortest => self.layout(&Digits::shortest(value), 16, 0),
        }
    }

    fn scientific(&self, value: f64) -> String {
        let digits = Digits::rounded(value, self.precision.saturating_add(1));
        let mut out = String::new();
        digits.push_exponent(&mut out, self.precision.saturating_add(1), self.alternate);
        out
    }

    fn general(&self, value: f64) -> String {
        let precision = self.precision.max(1);
        let digits = Digits::rounded(value, precision).trimmed();
        let shown = if self.alternate { precision } else { 0 };
        self.layout(&digits, precision - usize::from(self.dot_zero), shown)
    }

    /// The digits with an exponent if more than `widest` would stand before the point, or many zeros after it.
    fn layout(&self, digits: &Digits, widest: usize, shown: usize) -> String {
        let mut out = String::new();
        let widest = i32::try_from(widest).unwrap_or(i32::MAX);
        if digits.point <= -4 || digits.point > widest {
            digits.push_exponent(&mut out, shown.max(digits.digits.len()), self.alternate);
        } else {
            digits.push_plain(&mut out, shown, self);
        }
        out
    }
}

fn fixed(value: f64, precision: usize, alternate: bool) -> String {
    let exact = precision.min(EXACT_DIGITS);
    let mut out = format!("{value:.exact$}");
    if alternate && precision == 0 {
        out.push('.');
    }
    out.extend(std::iter::repeat_n('0', precision - exact));
    out
}

/// A double as decimal digits `0.d1d2d3… * 10^point`.
struct Digits {
    negative: bool,
    digits: Vec<u8>,
    point: i32,
}

impl Digits {
    fn shortest(value: f64) -> Digits {
        Digits::from_text(zmij::Buffer::new().format_finite(value)).trimmed()
    }

    /// `significant` digits, correctly rounded; zeros that no double has are left out.
    fn rounded(value: f64, significant: usize) -> Digits {
        let precision = significant.saturating_sub(1).min(EXACT_DIGITS);
        Digits::from_text(&format!("{value:.precision$e}"))
    }

    /// The digits of `123.4`, `0.0012` or `1.234e-5`; zero has one digit.
    fn from_text(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let whole = mantissa.find('.').unwrap_or(mantissa.len());
        let written = || mantissa.bytes().filter(u8::is_ascii_digit);
        let zeros = written().take_while(|&digit| digit == b'0').count();
        if zeros == written().count() {
            return Digits { negative, digits: written().collect(), point: 1 };
        }
        let point = whole as i32 - zeros as i32 + exponent.parse::<i32>().unwrap_or(0);
        Digits { negative, digits: written().skip(zeros).collect(), point }
    }

    /// Without trailing zeros, but with one digit at least.
    fn trimmed(mut self) -> Digits {
        while self.digits.len() > 1 && self.digits.last() == Some(&b'0') {
            self.digits.pop();
        }
        self
    }

    /// So many digits from `from` on, with zeros where there are none.
    fn push_digits(&self, out: &mut String, from: usize, count: usize) {
        let known = self.digits.get(from..).unwrap_or_default();
        let known = known.get(..count).unwrap_or(known);
        out.extend(known.iter().map(|&digit| char::from(digit)));
        out.extend(std::iter::repeat_n('0', count - known.len()));
    }

    fn push_sign(&self, out: &mut String) {
        if self.negative {
            out.push('-');
        }
    }

    /// `d.ddde+dd` with so many digits in all.
    fn push_exponent(&self, out: &mut String, count: usize, alternate: bool) {
        self.push_sign(out);
        self.push_digits(out, 0, 1);
        if count > 1 || alternate {
            out.push('.');
        }
        self.push_digits(out, 1, count.saturating_sub(1));
        let exponent = self.point - 1;
        let sign = if exponent < 0 { '-' } else { '+' };
        out.push_str(&format!("e{sign}{:02}", exponent.unsigned_abs()));
    }

    /// `ddd.ddd` with at least `shown` significant digits.
    fn push_plain(&self, out: &mut String, shown: usize, style: &FloatStyle) {
        self.push_sign(out);
        let whole = usize::try_from(self.point).unwrap_or(0);
        if whole == 0 {
            out.push('0');
        }
        self.push_digits(out, 0, whole);
        let count = self.digits.len().max(shown);
        let zeros = if whole == 0 { self.point.unsigned_abs() as usize } else { 0 };
        if count > whole {
            out.push('.');
            out.extend(std::iter::repeat_n('0', zeros));
            self.push_digits(out, whole, count - whole);
        } else if style.dot_zero {
            out.push_str(".0");
        } else if style.alternate {
            out.push('.');
        }
    }
}
