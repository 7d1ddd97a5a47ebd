//! The escaping of `html`, `js` and `urlquery`.

use super::unicode::{Runes, is_print};

/// Escapes the special characters of HTML.
pub(super) fn html(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            0 => out.extend_from_slice("\u{fffd}".as_bytes()),
            b'"' => out.extend_from_slice(b"&#34;"),
            b'\'' => out.extend_from_slice(b"&#39;"),
            b'&' => out.extend_from_slice(b"&amp;"),
            b'<' => out.extend_from_slice(b"&lt;"),
            b'>' => out.extend_from_slice(b"&gt;"),
            _ => out.push(byte),
        }
    }
}

/// Escapes the special characters of JavaScript strings, and characters that are not printable.
pub(super) fn js(text: &[u8], out: &mut Vec<u8>) {
    for (c, bytes) in Runes(text) {
        match c {
            Some(c @ ('\\' | '\'' | '"')) => out.extend_from_slice(&[b'\\', c as u8]),
            Some(c @ ('<' | '>' | '&' | '=')) => push_code(out, c),
            Some(c) if c < ' ' || (!c.is_ascii() && !is_print(c)) => push_code(out, c),
            _ => out.extend_from_slice(bytes),
        }
    }
}

fn push_code(out: &mut Vec<u8>, c: char) {
    out.extend_from_slice(format!("\\u{:04X}", c as u32).as_bytes());
}

/// Escapes the special characters of the query of a URL; a space becomes `+`.
pub(super) fn url_query(text: &[u8], out: &mut Vec<u8>) {
    for &byte in text {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => out.push(byte),
            b' ' => out.push(b'+'),
            _ => out.extend_from_slice(format!("%{byte:02X}").as_bytes()),
        }
    }
}
