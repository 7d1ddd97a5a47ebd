//! Go's quoted strings and characters: writing them (`%q`) and reading them (literals).

use super::unicode::{Runes, decode, is_print};

/// Appends `text` between `quote`s with everything escaped that is not printable (or not ASCII, for `ascii`).
pub(crate) fn push_quoted(out: &mut Vec<u8>, text: &[u8], ascii: bool) {
    out.push(b'"');
    for (c, bytes) in Runes(text) {
        match c {
            Some(c) => push_escaped(out, c, b'"', ascii),
            None => bytes.iter().for_each(|byte| push_hex(out, b"\\x", u32::from(*byte), 2)),
        }
    }
    out.push(b'"');
}

/// Appends the character between single quotes.
pub(super) fn push_quoted_char(out: &mut Vec<u8>, c: char, ascii: bool) {
    out.push(b'\'');
    push_escaped(out, c, b'\'', ascii);
    out.push(b'\'');
}

/// `text` as a double-quoted Go string.
pub(super) fn quoted(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + 2);
    push_quoted(&mut out, text.as_bytes(), false);
    String::from_utf8_lossy(&out).into_owned()
}

fn push_escaped(out: &mut Vec<u8>, c: char, quote: u8, ascii: bool) {
    if c == char::from(quote) || c == '\\' {
        out.push(b'\\');
    } else if !is_print(c) || (ascii && !c.is_ascii()) {
        return push_escape(out, c);
    }
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_escape(out: &mut Vec<u8>, c: char) {
    match c {
        '\x07' => out.extend_from_slice(b"\\a"),
        '\x08' => out.extend_from_slice(b"\\b"),
        '\x0c' => out.extend_from_slice(b"\\f"),
        '\n' => out.extend_from_slice(b"\\n"),
        '\r' => out.extend_from_slice(b"\\r"),
        '\t' => out.extend_from_slice(b"\\t"),
        '\x0b' => out.extend_from_slice(b"\\v"),
        c if c < ' ' || c == '\x7f' => push_hex(out, b"\\x", c as u32, 2),
        c if (c as u32) < 0x1_0000 => push_hex(out, b"\\u", c as u32, 4),
        c => push_hex(out, b"\\U", c as u32, 8),
    }
}

fn push_hex(out: &mut Vec<u8>, prefix: &[u8], value: u32, digits: u32) {
    out.extend_from_slice(prefix);
    for place in (0..digits).rev() {
        let digit = char::from_digit((value >> (4 * place)) & 0xf, 16).unwrap_or('0');
        out.push(digit as u8);
    }
}

/// Whether `text` can be written between back quotes without changes.
pub(crate) fn can_backquote(text: &[u8]) -> bool {
    Runes(text).all(|(c, _)| match c {
        None | Some('\u{feff}' | '`' | '\x7f') => false,
        Some(c) => c >= ' ' || c == '\t',
    })
}

/// The bytes of a string literal (with its quotes); `None` if it is not valid in Go.
pub(super) fn unquote(literal: &str) -> Option<Vec<u8>> {
    if let Some(raw) = literal.strip_prefix('`') {
        return Some(raw.strip_suffix('`')?.bytes().filter(|&byte| byte != b'\r').collect());
    }
    let mut rest = literal.strip_prefix('"')?.strip_suffix('"')?;
    let mut out = Vec::with_capacity(rest.len());
    while !rest.is_empty() {
        if rest.starts_with('\n') {
            return None;
        }
        let (unit, tail) = unquote_unit(rest, b'"')?;
        match unit {
            Unit::Byte(byte) => out.push(byte),
            Unit::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
        rest = tail;
    }
    Some(out)
}

/// One unit of a literal: `\xff` and octal escapes are bytes, all else characters.
pub(super) enum Unit {
    /// A single byte, which may be a part of a character.
    Byte(u8),
    /// A character.
    Char(char),
}

impl Unit {
    /// The unit as a Go rune.
    pub(super) fn code(&self) -> u32 {
        match *self {
            Unit::Byte(byte) => u32::from(byte),
            Unit::Char(c) => c as u32,
        }
    }
}

/// The first unit of `text`, inside a literal with this quote, and what follows it.
pub(super) fn unquote_unit(text: &str, quote: u8) -> Option<(Unit, &str)> {
    let (first, length) = decode(text.as_bytes())?;
    let first = first?;
    let rest = text.get(length..)?;
    if first == char::from(quote) {
        return None;
    }
    if first != '\\' {
        return Some((Unit::Char(first), rest));
    }
    let escape = rest.chars().next()?;
    let rest = rest.get(escape.len_utf8()..)?;
    let simple = match escape {
        'a' => '\x07',
        'b' => '\x08',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        '\'' | '"' if escape == char::from(quote) => escape,
        'x' => return numeric(rest, 2, 16),
        'u' => return numeric(rest, 4, 16),
        'U' => return numeric(rest, 8, 16),
        '0'..='7' => return numeric(text.get(1..)?, 3, 8),
        _ => return None,
    };
    Some((Unit::Char(simple), rest))
}

/// An escape of a fixed number of digits; two hexadecimal or three octal ones make a byte.
fn numeric(text: &str, digits: usize, radix: u32) -> Option<(Unit, &str)> {
    let number = text.get(..digits)?;
    if !number.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let code = u32::from_str_radix(number, radix).ok()?;
    let unit = match digits {
        2 | 3 => Unit::Byte(u8::try_from(code).ok()?),
        _ => Unit::Char(char::from_u32(code)?),
    };
    Some((unit, text.get(digits..)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_give_their_bytes_and_broken_ones_nothing() {
        assert_eq!(unquote(r#""a\n\x41\101\u4e16\"""#).unwrap(), "a\nAA世\"".as_bytes());
        assert_eq!(unquote(r#""\xff""#).unwrap(), [0xff]);
        assert_eq!(unquote("`a\r\n\\`").unwrap(), b"a\n\\");
        for broken in [r#""\'""#, r#""\q""#, r#""\400""#, r#""\ud800""#, r#""\x1""#, "\"a"] {
            assert_eq!(unquote(broken), None, "{broken}");
        }
    }

    #[test]
    fn quoting_escapes_what_cannot_be_seen() {
        assert_eq!(quoted("a\"\\\n\u{200b}世\u{1f30d}"), "\"a\\\"\\\\\\n\\u200b世\u{1f30d}\"");
        let mut out = Vec::new();
        push_quoted(&mut out, "\u{1f30d}\u{7f}\u{fffd}".as_bytes(), true);
        assert_eq!(out, br#""\U0001f30d\x7f\ufffd""#);
    }
}
