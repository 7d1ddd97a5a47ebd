//! Lines of a certain width, and abbreviations. Widths are counted in bytes, as in sprig.

use memchr::{memchr, memrchr};

use super::call::{Call, Made};
use crate::go::Val;

pub fn wrap<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    wrapped(call, call.text(1), b"\n", false)
}

pub fn wrap_with<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let separator = if call.text(1).is_empty() { b"\n" } else { call.text(1) };
    wrapped(call, call.text(2), separator, true)
}

/// Breaks a text at spaces into lines of at most so many bytes; `cuts` says whether longer words are cut.
fn wrapped<'a>(call: &Call<'_, 'a>, text: &[u8], separator: &[u8], cuts: bool) -> Made<'a> {
    let width = usize::try_from(call.int(0)).unwrap_or(0).max(1);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let mut out = Vec::new();
    let mut at = 0;
    while text.len() - at > width {
        call.room(out.len() + text.len())?;
        if part(at, at + 1) == b" " {
            at += 1;
            continue;
        }
        let (end, next) = if let Some(space) = memrchr(b' ', part(at, at + width + 1)) {
            (at + space, at + space + 1)
        } else if cuts {
            (at + width, at + width)
        } else if let Some(space) = memchr(b' ', part(at + width, text.len())) {
            (at + width + space, at + width + space + 1)
        } else {
            break;
        };
        out.extend_from_slice(part(at, end));
        out.extend_from_slice(separator);
        at = next;
    }
    out.extend_from_slice(part(at, text.len()));
    call.string(out)
}

pub fn abbrev<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    if call.int(0) < 4 {
        return Ok(call.arg(1));
    }
    let short = abbreviated(call.text(1), 0, size(call.int(0)));
    call.string(short)
}

/// `abbrevboth LEFT RIGHT TEXT`: at most RIGHT bytes, and what stands before LEFT is left out.
pub fn abbrevboth<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (left, right) = (call.int(0), call.int(1));
    if right < 4 || left > 0 && right < 7 {
        return Ok(Val::bytes(call.text(2)));
    }
    call.string(abbreviated(call.text(2), size(left), size(right)))
}

fn size(number: i64) -> usize {
    usize::try_from(number).unwrap_or(0)
}

/// The text from `offset` on in at most `width` bytes, with dots where something is left out.
fn abbreviated(text: &[u8], offset: usize, width: usize) -> Vec<u8> {
    if text.len() <= width {
        return text.to_vec();
    }
    let room = width.saturating_sub(3);
    let offset = offset.min(text.len());
    let offset = if text.len() - offset < room { text.len() - room } else { offset };
    let (start, after) = (text.get(..room), text.get(offset..).unwrap_or_default());
    match start {
        Some(start) if offset <= 4 => [start, b"..."].concat(),
        // Too narrow for dots at both ends.
        _ if width < 7 => Vec::new(),
        _ if offset + room < text.len() && room < 4 => b"...".to_vec(),
        _ if offset + room < text.len() => [b"...", abbreviated(after, 0, room).as_slice()].concat(),
        _ => [b"...", text.get(text.len() - room..).unwrap_or_default()].concat(),
    }
}
