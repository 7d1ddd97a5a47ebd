//! Integers: `%d %b %o %O %x %X %c %q %U`.

use super::super::quote::push_quoted_char;
use super::super::unicode::is_print;
use super::super::val::{V, Val};
use super::Printer;

impl Printer<'_> {
    /// Prints an integer of this absolute value and sign.
    pub(super) fn integer(&mut self, value: &Val<'_>, size: u64, negative: bool, verb: char) {
        // The verbs for characters use the bits of a negative number.
        let bits = if negative { size.wrapping_neg() } else { size };
        match verb {
            'v' | 'd' if self.flags.is_plain() && !self.flags.sharp_v => {
                self.push(if negative { b"-" } else { b"" });
                self.push(itoa::Buffer::new().format(size).as_bytes());
            }
            'v' if self.flags.sharp_v && matches!(value.v, V::Byte(_)) => {
                let sharp = std::mem::replace(&mut self.flags.sharp, true);
                self.digits(size, negative, 16, 'v');
                self.flags.sharp = sharp;
            }
            'v' | 'd' => self.digits(size, negative, 10, verb),
            'b' => self.digits(size, negative, 2, verb),
            'o' | 'O' => self.digits(size, negative, 8, verb),
            'x' | 'X' => self.digits(size, negative, 16, verb),
            'c' => self.padded(character(bits).encode_utf8(&mut [0; 4]).as_bytes()),
            'q' => {
                let mut out = Vec::new();
                push_quoted_char(&mut out, character(bits), self.flags.plus);
                self.padded(&out);
            }
            'U' => self.code_point(bits),
            _ => self.bad_verb(Some(value), verb),
        }
    }

    fn digits(&mut self, size: u64, negative: bool, radix: u32, verb: char) {
        if self.flags.precision == Some(0) && size == 0 {
            return self.padded_with_spaces(b"");
        }
        let mut digits = to_digits(size, radix, verb == 'X');
        let sign: &[u8] = match (negative, self.flags.plus, self.flags.space) {
            (true, ..) => b"-",
            (_, true, _) => b"+",
            (.., true) => b" ",
            _ => b"",
        };
        let zeros = self.flags.zero && !self.flags.minus;
        let least = match (self.flags.precision, self.flags.width) {
            (Some(precision), _) => precision,
            (None, Some(width)) if zeros => width.saturating_sub(sign.len()),
            _ => 0,
        };
        if digits.len() < least {
            let mut padded = vec![b'0'; least - digits.len()];
            padded.append(&mut digits);
            digits = padded;
        }
        let prefix: &[u8] = match radix {
            _ if verb == 'O' && self.flags.sharp && digits.first() != Some(&b'0') => b"0o0",
            _ if verb == 'O' => b"0o",
            2 if self.flags.sharp => b"0b",
            8 if self.flags.sharp && digits.first() != Some(&b'0') => b"0",
            16 if self.flags.sharp && verb == 'X' => b"0X",
            16 if self.flags.sharp => b"0x",
            _ => b"",
        };
        self.padded_with_spaces(&[sign, prefix, &digits].concat());
    }

    /// Prints `U+0078`; with `#`, the character follows.
    fn code_point(&mut self, bits: u64) {
        let least = self.flags.precision.unwrap_or(4).max(4);
        let digits = to_digits(bits, 16, true);
        let mut out = b"U+".to_vec();
        out.resize(2 + least.saturating_sub(digits.len()), b'0');
        out.extend_from_slice(&digits);
        if let Some(c) = u32::try_from(bits).ok().and_then(char::from_u32).filter(|&c| is_print(c))
            && self.flags.sharp
        {
            out.extend_from_slice(format!(" '{c}'").as_bytes());
        }
        self.padded_with_spaces(&out);
    }
}

fn character(bits: u64) -> char {
    u32::try_from(bits).ok().and_then(char::from_u32).unwrap_or('\u{fffd}')
}

fn to_digits(size: u64, radix: u32, upper: bool) -> Vec<u8> {
    match (radix, upper) {
        (2, _) => format!("{size:b}"),
        (8, _) => format!("{size:o}"),
        (16, true) => format!("{size:X}"),
        (16, false) => format!("{size:x}"),
        _ => size.to_string(),
    }
    .into_bytes()
}
