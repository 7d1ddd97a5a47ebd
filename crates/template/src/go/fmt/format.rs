//! `Sprintf`: reads the directives of a format and prints an operand for each.

use super::super::unicode::decode;
use super::super::val::Val;
use super::{Flags, Printer};

/// The largest width or precision; anything above is an error in the output.
const MAX_NUMBER: i64 = 1_000_000;

/// The state of reading a format and its operands.
struct Reader<'f, 'v> {
    format: &'f [u8],
    at: usize,
    args: &'f [Val<'v>],
    arg: usize,
    /// Whether an index such as `[3]` was used anywhere.
    reordered: bool,
    /// Whether the indexes of the current directive are valid.
    good_index: bool,
    /// Whether the last thing read was an index.
    after_index: bool,
}

impl<'v> Reader<'_, 'v> {
    fn peek(&self) -> Option<u8> {
        self.format.get(self.at).copied()
    }

    fn arg(&self) -> Option<&Val<'v>> {
        self.args.get(self.arg)
    }

    /// The text up to the next `%`.
    fn literal(&mut self) -> &[u8] {
        let rest = self.format.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| byte == b'%').unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn flags(&mut self) -> Flags {
        let mut flags = Flags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'#' => flags.sharp = true,
                b'0' => flags.zero = true,
                b'+' => flags.plus = true,
                b'-' => flags.minus = true,
                b' ' => flags.space = true,
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// Reads a decimal number; one that is far too large makes the rest of the format unreadable.
    fn number(&mut self, end: usize) -> Option<i64> {
        let mut number = None;
        while let Some(digit) = self.peek().filter(|_| self.at < end).filter(u8::is_ascii_digit) {
            let so_far = number.unwrap_or(0);
            if so_far > MAX_NUMBER {
                self.at = end;
                return None;
            }
            number = Some(so_far * 10 + i64::from(digit - b'0'));
            self.at += 1;
        }
        number
    }

    /// Reads an explicit operand index, if there is one.
    fn index(&mut self) {
        self.after_index = false;
        if self.peek() != Some(b'[') {
            return;
        }
        self.reordered = true;
        let rest = self.format.get(self.at..).unwrap_or_default();
        let closing = rest.iter().position(|&byte| byte == b']').filter(|_| rest.len() >= 3);
        let Some(closing) = closing else {
            self.good_index = false;
            self.at += 1;
            return;
        };
        let end = self.at + closing;
        self.at += 1;
        let number = self.number(end);
        let whole = number.filter(|_| self.at == end);
        self.at = end + 1;
        self.after_index = whole.is_some();
        match whole.and_then(|n| usize::try_from(n - 1).ok()).filter(|&index| index < self.args.len()) {
            Some(index) => self.arg = index,
            None => self.good_index = false,
        }
    }

    /// The operand of a `*`; `None` if it is not an integer, or too large.
    fn star(&mut self) -> Option<i64> {
        self.at += 1;
        self.after_index = false;
        let number = self.arg()?.as_int();
        self.arg += 1;
        number.filter(|n| (-MAX_NUMBER..=MAX_NUMBER).contains(n))
    }
}

impl Printer<'_> {
    /// `fmt.Fprintf`.
    pub(in super::super) fn printf(&mut self, format: &[u8], args: &[Val<'_>]) {
        let mut reader =
            Reader { format, at: 0, args, arg: 0, reordered: false, good_index: true, after_index: false };
        while !self.overflow {
            self.push(reader.literal());
            if reader.peek().is_none() {
                break;
            }
            reader.at += 1;
            if !self.directive(&mut reader) {
                break;
            }
        }
        self.flags = Flags::default();
        if !reader.reordered && reader.arg < args.len() {
            self.extra(args.get(reader.arg..).unwrap_or_default());
        }
    }

    /// Reads and prints one directive; false if the format ends inside it.
    fn directive(&mut self, reader: &mut Reader<'_, '_>) -> bool {
        reader.good_index = true;
        self.flags = reader.flags();
        reader.index();
        self.width(reader);
        self.precision(reader);
        if !reader.after_index {
            reader.index();
        }
        let rest = reader.format.get(reader.at..).unwrap_or_default();
        let Some((verb, length)) = decode(rest) else {
            self.push(b"%!(NOVERB)");
            return false;
        };
        reader.at += length;
        self.verb(reader, verb.unwrap_or('\u{fffd}'));
        true
    }

    fn width(&mut self, reader: &mut Reader<'_, '_>) {
        if reader.peek() != Some(b'*') {
            let number = reader.number(reader.format.len());
            self.flags.width = number.and_then(|n| usize::try_from(n).ok());
            if reader.after_index && self.flags.width.is_some() {
                reader.good_index = false;
            }
            return;
        }
        match reader.star() {
            Some(width) => {
                if width < 0 {
                    self.flags.minus = true;
                    self.flags.zero = false;
                }
                self.flags.width = usize::try_from(width.unsigned_abs()).ok();
            }
            None => self.push(b"%!(BADWIDTH)"),
        }
    }

    fn precision(&mut self, reader: &mut Reader<'_, '_>) {
        if reader.peek() != Some(b'.') || reader.at + 1 >= reader.format.len() {
            return;
        }
        reader.at += 1;
        if reader.after_index {
            reader.good_index = false;
        }
        reader.index();
        if reader.peek() != Some(b'*') {
            let number = reader.number(reader.format.len()).unwrap_or(0);
            self.flags.precision = usize::try_from(number).ok();
            return;
        }
        self.flags.precision = reader.star().and_then(|n| usize::try_from(n).ok());
        if self.flags.precision.is_none() {
            self.push(b"%!(BADPREC)");
        }
    }

    fn verb(&mut self, reader: &mut Reader<'_, '_>, verb: char) {
        let problem: &[u8] = match reader.arg() {
            _ if verb == '%' => return self.push(b"%"),
            _ if !reader.good_index => b"(BADINDEX)",
            None => b"(MISSING)",
            Some(arg) => {
                if matches!(verb, 'v' | 'w') {
                    self.flags.sharp_v = std::mem::replace(&mut self.flags.sharp, false);
                    self.flags.plus_v = std::mem::replace(&mut self.flags.plus, false);
                }
                self.arg(arg, verb);
                reader.arg += 1;
                return;
            }
        };
        self.push(b"%!");
        self.push_char(verb);
        self.push(problem);
    }

    fn extra(&mut self, args: &[Val<'_>]) {
        self.push(b"%!(EXTRA ");
        for (at, arg) in args.iter().enumerate() {
            if at > 0 {
                self.push(b", ");
            }
            if !arg.is_nil() {
                self.push(arg.type_name().as_bytes());
                self.push(b"=");
            }
            self.arg(arg, 'v');
        }
        self.push(b")");
    }
}
