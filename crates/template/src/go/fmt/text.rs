//! Strings: `%s %v %q %x %X`.

use super::super::quote::{can_backquote, push_quoted};
use super::super::unicode::Runes;
use super::Printer;

impl Printer<'_> {
    /// Prints a string; false if the verb is not one for strings.
    pub(super) fn string(&mut self, bytes: &[u8], verb: char) -> bool {
        match verb {
            'v' if self.flags.sharp_v => self.quoted(bytes),
            'v' | 's' => self.padded(self.truncated(bytes)),
            'x' => self.hex(bytes, b"0123456789abcdefx"),
            'X' => self.hex(bytes, b"0123456789ABCDEFX"),
            'q' => self.quoted(bytes),
            _ => return false,
        }
        true
    }

    /// As many characters as the precision allows.
    fn truncated<'b>(&self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(precision) = self.flags.precision else { return bytes };
        let length = Runes(bytes).take(precision).map(|(_, rune)| rune.len()).sum();
        bytes.get(..length).unwrap_or(bytes)
    }

    fn quoted(&mut self, bytes: &[u8]) {
        let bytes = self.truncated(bytes);
        let mut out = Vec::with_capacity(bytes.len() + 2);
        if self.flags.sharp && can_backquote(bytes) {
            out.push(b'`');
            out.extend_from_slice(bytes);
            out.push(b'`');
        } else {
            push_quoted(&mut out, bytes, self.flags.plus);
        }
        self.padded(&out);
    }

    /// Two digits for each byte; the precision counts bytes.
    fn hex(&mut self, bytes: &[u8], digits: &[u8; 17]) {
        let bytes = bytes.get(..self.flags.precision.unwrap_or(bytes.len())).unwrap_or(bytes);
        if bytes.is_empty() {
            return self.pad_for(0);
        }
        let [.., x] = *digits;
        let digit = |nibble: u8| digits.get(usize::from(nibble)).copied().unwrap_or(b'0');
        let mut out = Vec::with_capacity(bytes.len() * 2 + 2);
        for (at, byte) in bytes.iter().enumerate() {
            if at > 0 && self.flags.space {
                out.push(b' ');
            }
            if self.flags.sharp && (at == 0 || self.flags.space) {
                out.extend_from_slice(&[b'0', x]);
            }
            out.extend_from_slice(&[digit(byte >> 4), digit(byte & 0xf)]);
        }
        self.padded(&out);
    }
}
