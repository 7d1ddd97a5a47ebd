//! Texts: parts, tests, joining and splitting. Positions are counted in bytes, as in Go.

use memchr::memmem;

use super::call::{Call, Made};
use super::convert::strings_of;
use super::unicode::chars;
use crate::go::{self, Type, Val};

/// The texts before, between and after a separator; without one, the characters.
fn parts<'t>(text: &'t [u8], separator: &'t [u8]) -> Box<dyn Iterator<Item = &'t [u8]> + 't> {
    if separator.is_empty() {
        return Box::new(go::Runes(text).map(|(_, bytes)| bytes));
    }
    let mut start = 0;
    let ends = memmem::find_iter(text, separator).chain([text.len()]);
    Box::new(ends.map(move |end| {
        let part = text.get(start..end).unwrap_or_default();
        start = end + separator.len();
        part
    }))
}

/// The parts as values, for which there is room.
fn listed<'a>(call: &Call<'_, 'a>) -> Result<Vec<Val<'a>>, String> {
    let (separator, text) = (call.text(0), call.text(1));
    call.room(parts(text, separator).count().saturating_mul(size_of::<Val<'a>>()))?;
    Ok(parts(text, separator).map(Val::bytes).collect())
}

pub fn split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.list(listed(call)?)
}

pub fn split_list<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.context.list_of(Type::String, listed(call)?))
}

/// `splitn SEP N TEXT`: at most N parts, by the names `_0`, `_1`, …
pub fn splitn<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (separator, text) = (call.text(0), call.text(2));
    let count = usize::try_from(call.int(1)).unwrap_or(usize::MAX);
    let (mut entries, mut taken) = (Vec::new(), 0);
    for (at, part) in parts(text, separator).take(count).enumerate() {
        // The last of so many parts is the rest.
        let part = if at + 1 == count { text.get(taken..).unwrap_or_default() } else { part };
        taken += part.len() + separator.len();
        entries.push((format!("_{at}").into_bytes(), Val::bytes(part)));
        // A name is a text of its own.
        call.room(entries.len() * (size_of::<(Vec<u8>, Val<'a>)>() + 64))?;
    }
    Ok(call.context.map_of(Type::String, entries))
}

/// So many parts with a text between them, for which there is room: their bytes, and how many they are.
fn joined<'t>(
    call: &Call<'_, '_>,
    (bytes, count): (usize, usize),
    parts: impl Iterator<Item = &'t [u8]>,
    between: &[u8],
) -> Result<Vec<u8>, String> {
    let length = bytes.saturating_add(between.len().saturating_mul(count.saturating_sub(1)));
    call.room(length)?;
    let mut out = Vec::with_capacity(length);
    for (at, part) in parts.enumerate() {
        if at > 0 {
            out.extend_from_slice(between);
        }
        out.extend_from_slice(part);
    }
    Ok(out)
}

pub fn join<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let strings = strings_of(call, &call.arg(1))?;
    let parts = || strings.iter().filter_map(Val::as_bytes);
    let bytes = parts().map(<[u8]>::len).fold(0, usize::saturating_add);
    call.string(joined(call, (bytes, strings.len()), parts(), call.text(0))?)
}

pub fn replace<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (old, new, text) = (call.text(0), call.text(1), call.text(2));
    let count = parts(text, old).count();
    if old.is_empty() {
        // Around each character.
        let around = [b"" as &[u8]].into_iter().chain(parts(text, b"")).chain([b"" as &[u8]]);
        return call.string(joined(call, (text.len(), count + 2), around, new)?);
    }
    let bytes = text.len() - (count - 1) * old.len();
    call.string(joined(call, (bytes, count), parts(text, old), new)?)
}

pub fn contains<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(memmem::find(call.text(1), call.text(0)).is_some()))
}

pub fn has_prefix<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.text(1).starts_with(call.text(0))))
}

pub fn has_suffix<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.text(1).ends_with(call.text(0))))
}

/// The text without characters at both ends for which `is_cut` is true.
fn trimmed(text: &[u8], is_cut: impl Fn(char) -> bool) -> &[u8] {
    let (mut start, mut end, mut at) = (None, 0, 0);
    for (c, bytes) in go::Runes(text) {
        if !is_cut(c.unwrap_or(char::REPLACEMENT_CHARACTER)) {
            start = start.or(Some(at));
            end = at + bytes.len();
        }
        at += bytes.len();
    }
    text.get(start.unwrap_or(end)..end).unwrap_or_default()
}

pub fn trim<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bytes(trimmed(call.text(0), char::is_whitespace)))
}

pub fn trim_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let set: std::collections::HashSet<char> = chars(call.text(0)).collect();
    Ok(Val::bytes(trimmed(call.text(1), |c| set.contains(&c))))
}

pub fn trim_prefix<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let text = call.text(1);
    Ok(Val::bytes(text.strip_prefix(call.text(0)).unwrap_or(text)))
}

pub fn trim_suffix<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let text = call.text(1);
    Ok(Val::bytes(text.strip_suffix(call.text(0)).unwrap_or(text)))
}

/// `trunc N TEXT`: the first N bytes, or the last ones if N is negative.
pub fn trunc<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (count, text) = (call.int(0), call.text(1));
    let size = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
    let kept = match count < 0 {
        true => text.len().checked_sub(size).and_then(|start| text.get(start..)),
        false => text.get(..size),
    };
    Ok(Val::bytes(kept.unwrap_or(text)))
}

/// `substr START END TEXT`.
pub fn substr<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (start, end, text) = (call.int(0), call.int(1), call.text(2));
    let length = text.len() as i64;
    let out_of_range = |range: String| Err(format!("runtime error: slice bounds out of range {range}"));
    let (from, to) = match (start, end) {
        (..0, ..0) => return out_of_range(format!("[:{end}]")),
        (..0, _) if end > length => return out_of_range(format!("[:{end}] with length {length}")),
        (..0, _) => (0, end),
        (_, _) if end < 0 || end > length => (start, length),
        _ => (start, end),
    };
    match usize::try_from(from).ok().zip(usize::try_from(to).ok()).and_then(|(from, to)| text.get(from..to)) {
        Some(part) => Ok(Val::bytes(part)),
        None => out_of_range(format!("[{from}:{to}]")),
    }
}

/// A text so many times.
fn repeated(call: &Call<'_, '_>, text: &[u8], count: i64) -> Result<Vec<u8>, String> {
    let Ok(count) = usize::try_from(count) else {
        return Err("strings: negative Repeat count".to_owned());
    };
    call.room(text.len().saturating_mul(count))?;
    Ok(if text.is_empty() { Vec::new() } else { text.repeat(count) })
}

pub fn repeat<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let repeated = repeated(call, call.text(1), call.int(0))?;
    call.string(repeated)
}

/// The lines of a text, each after so many spaces.
fn indented(call: &Call<'_, '_>, first: &[u8]) -> Result<Vec<u8>, String> {
    let padding = repeated(call, b" ", call.int(0))?;
    let text = call.text(1);
    let lines = memchr::memchr_iter(b'\n', text).count() + 1;
    let length = padding.len().saturating_mul(lines).saturating_add(text.len() + first.len());
    call.room(length)?;
    let mut out = Vec::with_capacity(length);
    out.extend_from_slice(first);
    for (at, line) in parts(text, b"\n").enumerate() {
        if at > 0 {
            out.push(b'\n');
        }
        out.extend_from_slice(&padding);
        out.extend_from_slice(line);
    }
    Ok(out)
}

pub fn indent<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(indented(call, b"")?)
}

pub fn nindent<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(indented(call, b"\n")?)
}

/// The arguments that are not nil, each as `push` writes it, with spaces between them.
fn spaced<'a>(call: &Call<'_, 'a>, push: impl Fn(&mut Vec<u8>, &[u8])) -> Made<'a> {
    let mut out = Vec::new();
    for (at, arg) in call.args.iter().filter(|arg| !arg.is_nil()).enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        let shown = call.shown(arg);
        call.room(out.len() + shown.len())?;
        push(&mut out, &shown);
        call.room(out.len())?;
    }
    call.string(out)
}

pub fn quote<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, |out, text| go::push_quoted(out, text, false))
}

pub fn squote<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, |out, text| {
        out.push(b'\'');
        out.extend_from_slice(text);
        out.push(b'\'');
    })
}

pub fn cat<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, |out, text| out.extend_from_slice(text))
}

pub fn plural<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.arg(if call.int(2) == 1 { 0 } else { 1 }))
}

pub fn sort_alpha<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let value = call.arg(0);
    let mut strings = match value.is_list() {
        true => strings_of(call, &value)?,
        false => vec![call.context.bytes(call.shown(&value).into_owned())],
    };
    strings.sort_by(|a, b| a.as_bytes().cmp(&b.as_bytes()));
    Ok(call.context.list_of(Type::String, strings))
}
