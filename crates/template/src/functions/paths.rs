//! Paths with slashes, as Go's package `path` has them.

use super::call::{Call, Made};
use crate::go::Val;

/// Go's `path.Clean`: the shortest path of the same meaning.
fn cleaned(path: &[u8]) -> Vec<u8> {
    let rooted = path.first() == Some(&b'/');
    let mut out = Vec::with_capacity(path.len().min(1 << 12));
    if rooted {
        out.push(b'/');
    }
    // What `..` cannot take away: the root, or the `..` at the start.
    let mut kept = out.len();
    for part in path.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." if out.len() > kept => {
                let inner = out.get(kept..).unwrap_or_default();
                out.truncate(kept + memchr::memrchr(b'/', inner).unwrap_or(0));
            }
            b".." if rooted => {}
            _ => {
                if out.last().is_some_and(|last| *last != b'/') {
                    out.push(b'/');
                }
                out.extend_from_slice(part);
                if part == b".." {
                    kept = out.len();
                }
            }
        }
    }
    if out.is_empty() {
        out.push(b'.');
    }
    out
}

/// Where the last slash ends, or 0.
fn after_last_slash(path: &[u8]) -> usize {
    memchr::memrchr(b'/', path).map_or(0, |at| at + 1)
}

pub fn clean<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.room(call.text(0).len())?;
    call.string(cleaned(call.text(0)))
}

pub fn dir<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let path = call.text(0);
    call.room(path.len())?;
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
