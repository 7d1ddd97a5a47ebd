//! Texts: parts, tests, joining and splitting. Positions are counted in bytes, as in Go.

use memchr::memmem;

use super::call::{Call, Made};
use super::convert::strings_of;
use super::unicode::chars;
use crate::go::{self, Type, Val};

/// The texts before, between and after a separator; without one, the characters.
fn parts<'t>(text: &'t [u8], separator: &[u8]) -> Vec<&'t [u8]> {
    if separator.is_empty() {
        return go::Runes(text).map(|(_, bytes)| bytes).collect();
    }
    let mut parts = Vec::new();
    let mut start = 0;
    for at in memmem::find_iter(text, separator) {
        parts.push(text.get(start..at).unwrap_or_default());
        start = at + separator.len();
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

fn joined(parts: &[&[u8]], separator: &[u8]) -> Vec<u8> {
    parts.join(separator)
}

/// The bytes that [`joined`] would make.
fn length_joined(parts: &[&[u8]], separator: &[u8]) -> usize {
    let bytes: usize = parts.iter().map(|part| part.len()).sum();
    bytes.saturating_add(separator.len().saturating_mul(parts.len().saturating_sub(1)))
}

pub fn split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let parts = parts(call.text(1), call.text(0));
    call.list(parts.into_iter().map(Val::bytes).collect())
}

pub fn split_list<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let parts = parts(call.text(1), call.text(0));
    Ok(call.context.list_of(Type::String, parts.into_iter().map(Val::bytes).collect()))
}

/// `splitn SEP N TEXT`: at most N parts, by the names `_0`, `_1`, …
pub fn splitn<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (separator, text) = (call.text(0), call.text(2));
    let all = parts(text, separator);
    let count = usize::try_from(call.int(1)).unwrap_or(usize::MAX).min(all.len());
    let first = all.get(..count.saturating_sub(1)).unwrap_or_default();
    let mut members: Vec<_> = first.to_vec();
    if count > 0 {
        let taken: usize = first.iter().map(|part| part.len() + separator.len()).sum();
        members.push(text.get(taken..).unwrap_or_default());
    }
    let named = members.into_iter().enumerate();
    let entries = named.map(|(at, part)| (format!("_{at}").into_bytes(), Val::bytes(part))).collect();
    Ok(call.context.map_of(Type::String, entries))
}

pub fn join<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let strings = strings_of(call, &call.arg(1))?;
    let parts: Vec<&[u8]> = strings.iter().filter_map(Val::as_bytes).collect();
    call.room(length_joined(&parts, call.text(0)))?;
    call.string(joined(&parts, call.text(0)))
}

pub fn replace<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (old, new, text) = (call.text(0), call.text(1), call.text(2));
    if old.is_empty() {
        // Around each character.
        let characters = [&[b"" as &[u8]][..], &parts(text, b""), &[b""]].concat();
        call.room(length_joined(&characters, new))?;
        return call.string(joined(&characters, new));
    }
    let parts = parts(text, old);
    call.room(length_joined(&parts, new))?;
    call.string(joined(&parts, new))
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

fn indented(call: &Call<'_, '_>, first: &[u8]) -> Result<Vec<u8>, String> {
    let padding = repeated(call, b" ", call.int(0))?;
    let lines = parts(call.text(1), b"\n");
    let separator = [b"\n", padding.as_slice()].concat();
    call.room(length_joined(&lines, &separator).saturating_add(padding.len()))?;
    Ok([first, &padding, &joined(&lines, &separator)].concat())
}

pub fn indent<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(indented(call, b"")?)
}

pub fn nindent<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(indented(call, b"\n")?)
}

/// The arguments that are not nil, each as `show` writes it, with spaces between them.
fn spaced<'a>(call: &Call<'_, 'a>, show: impl Fn(&[u8]) -> Vec<u8>) -> Made<'a> {
    let mut out = Vec::new();
    for (at, arg) in call.args.iter().filter(|arg| !arg.is_nil()).enumerate() {
        if at > 0 {
            out.push(b' ');
        }
        out.extend(show(&call.shown(arg)));
        call.room(out.len())?;
    }
    call.string(out)
}

pub fn quote<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, |text| {
        let mut quoted = Vec::with_capacity(text.len() + 2);
        go::push_quoted(&mut quoted, text, false);
        quoted
    })
}

pub fn squote<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, |text| [b"'", text, b"'"].concat())
}

pub fn cat<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    spaced(call, <[u8]>::to_vec)
}

pub fn plural<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.arg(if call.int(2) == 1 { 0 } else { 1 }))
}

pub fn sort_alpha<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let value = call.arg(0);
    let mut strings = match value.is_list() {
        true => strings_of(call, &value)?,
        false => vec![call.context.bytes(call.shown(&value))],
    };
    strings.sort_by(|a, b| a.as_bytes().cmp(&b.as_bytes()));
    Ok(call.context.list_of(Type::String, strings))
}
