//! The grammar of JSON's numbers, byte by byte.

/// What the last byte of a number was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// The sign.
    Minus,
    /// A zero in front, after which no digit may come.
    Zero,
    /// A digit before the point.
    Digit,
    /// The point.
    Point,
    /// A digit after it.
    Fraction,
    /// The letter before the exponent.
    Letter,
    /// The exponent's sign.
    Sign,
    /// A digit of the exponent.
    Exponent,
}

impl Number {
    /// A number that begins with this byte.
    pub fn begun_by(byte: u8) -> Option<Number> {
        match byte {
            b'-' => Some(Number::Minus),
            b'0' => Some(Number::Zero),
            b'1'..=b'9' => Some(Number::Digit),
            _ => None,
        }
    }

    /// The number with one more byte; `None` if the byte cannot belong to it.
    pub fn with(self, byte: u8) -> Option<Number> {
        use Number::{Digit, Exponent, Fraction, Letter, Minus, Point, Sign, Zero};
        match (self, byte) {
            (Minus, _) => Number::begun_by(byte).filter(|begun| *begun != Minus),
            (Digit, b'0'..=b'9') => Some(Digit),
            (Zero | Digit, b'.') => Some(Point),
            (Point | Fraction, b'0'..=b'9') => Some(Fraction),
            (Zero | Digit | Fraction, b'e' | b'E') => Some(Letter),
            (Letter, b'+' | b'-') => Some(Sign),
            (Letter | Sign | Exponent, b'0'..=b'9') => Some(Exponent),
            _ => None,
        }
    }

    /// Whether a number may end here.
    pub fn may_end(self) -> bool {
        matches!(self, Number::Zero | Number::Digit | Number::Fraction | Number::Exponent)
    }
}
