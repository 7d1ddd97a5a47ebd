//! Paths with slashes, as Go's package `path` has them.

use super::call::{Call, Made};
use crate::go::Val;

/// Go's `path.Clean`: the shortest path of the same meaning.
fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.first() == Some(&b'/');
    let mut kept: Vec<&[u8]> = Vec::new();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if kept.last().is_some_and(|last| *last != b"..") => drop(kept.pop()),
            b".." if rooted => {}
            _ => kept.push(part),
        }
    }
    let joined = kept.join(&b'/');
    match (rooted, joined.is_empty()) {
        (true, _) => [b"/", joined.as_slice()].concat(),
        (false, true) => b".".to_vec(),
        (false, false) => joined,
    }
}

/// Where the last slash ends, or 0.
fn after_last_slash(path: &[u8]) -> usize {
    memchr::memrchr(b'/', path).map_or(0, |at| at + 1)
}

pub fn clean<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.string(cleaned(call.text(0)))
}

pub fn dir<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let path = call.text(0);
    call.string(cleaned(path.get(..after_last_slash(path)).unwrap_or_default()))
}

pub fn base<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let path = call.text(0);
    let end = path.iter().rposition(|byte| *byte != b'/').map_or(0, |at| at + 1);
    let trimmed = path.get(..end).unwrap_or_default();
    Ok(match (path.is_empty(), trimmed.is_empty()) {
        (true, _) => Val::bytes(b"."),
        (false, true) => Val::bytes(b"/"),
        _ => Val::bytes(trimmed.get(after_last_slash(trimmed)..).unwrap_or_default()),
    })
}

pub fn ext<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let path = call.text(0);
    let name = path.get(after_last_slash(path)..).unwrap_or_default();
    let start = memchr::memrchr(b'.', name).unwrap_or(name.len());
    Ok(Val::bytes(name.get(start..).unwrap_or_default()))
}

pub fn is_abs<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.text(0).starts_with(b"/")))
}
