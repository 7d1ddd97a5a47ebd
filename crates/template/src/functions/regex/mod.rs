//! Regular expressions: Go's syntax (RE2), run by the crate `regex` in time linear in the text.
//!
//! - reading: `syntax`, `group` and `escape` make a `tree` of Go's syntax, whose `sets` of characters are kept apart
//! - compiling: `alphabet` makes symbols of characters, `program` compiles trees and keeps what a run uses again
//! - searching: `matcher` finds matches within the limits of the run

mod alphabet;
mod escape;
mod group;
mod matcher;
mod program;
mod sets;
mod syntax;
#[cfg(test)]
mod tests;
mod tree;

use super::call::{Call, Made};
use crate::go::{self, Type, Val};
use matcher::Matcher;
pub use program::Programs;
use program::Refusal;

/// The result of a search: an expression may be refused.
type Found<'a> = Result<Val<'a>, Refusal>;

/// Escapes what has a meaning in a regular expression.
pub fn quote_meta<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut out = Vec::with_capacity(call.text(0).len());
    for byte in call.text(0) {
        if b"\\.+*?()|[]{}^$".contains(byte) {
            out.push(b'\\');
        }
        out.push(*byte);
    }
    call.string(out)
}

fn match_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1), false)?;
    Ok(Val::bool(matcher.first()?.is_some()))
}

fn find_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1), false)?;
    Ok(Val::bytes(matcher.first()?.unwrap_or_default()))
}

/// A list of parts of a text, which asks for memory before it grows.
struct Parts<'p, 'c, 'a> {
    call: &'p Call<'c, 'a>,
    items: Vec<Val<'a>>,
}

impl<'a> Parts<'_, '_, 'a> {
    fn push(&mut self, part: Option<&'a [u8]>) -> Result<(), String> {
        self.call.room((self.items.len() + 1) * size_of::<Val<'a>>())?;
        self.items.push(Val::bytes(part.unwrap_or_default()));
        Ok(())
    }

    fn list(self) -> Val<'a> {
        self.call.context.list_of(Type::String, self.items)
    }
}

fn find_all_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let text = call.text(1);
    let matcher = Matcher::new(call, call.text(0), text, false)?;
    let mut parts = Parts { call, items: Vec::new() };
    matcher.find_all(call.int(2), |found| parts.push(text.get(found)))?;
    match parts.items.is_empty() {
        true => Ok(call.context.nil_list(Type::String)),
        false => Ok(parts.list()),
    }
}

fn split_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let (text, count) = (call.text(1), call.int(2));
    let matcher = Matcher::new(call, call.text(0), text, false)?;
    let mut parts = Parts { call, items: Vec::new() };
    if count == 0 {
        return Ok(call.context.nil_list(Type::String));
    }
    if text.is_empty() && !call.text(0).is_empty() {
        parts.push(None)?;
        return Ok(parts.list());
    }
    let (mut start, mut end) = (0, 0);
    // The last of so many parts is the rest.
    let most = if count > 0 { count - 1 } else { -1 };
    matcher.find_all(count, |found| {
        if most >= 0 && parts.items.len() as i64 >= most {
            return Ok(());
        }
        end = found.start;
        if found.end != 0 {
            parts.push(text.get(start..end))?;
        }
        start = found.end;
        Ok(())
    })?;
    if end != text.len() {
        parts.push(text.get(start..))?;
    }
    Ok(parts.list())
}

fn replace_all_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let is_template = call.text(2).contains(&b'$');
    let matcher = Matcher::new(call, call.text(0), call.text(1), is_template)?;
    Ok(call.context.bytes(matcher.replace_all(call.text(2), is_template)?))
}

fn replace_all_literal_of<'a>(call: &Call<'_, 'a>) -> Found<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1), false)?;
    Ok(call.context.bytes(matcher.replace_all(call.text(2), false)?))
}

/// The result of a function that panics on an invalid expression in Go, with the message of that panic.
fn or_panic<'a>(call: &Call<'_, 'a>, found: Found<'a>) -> Made<'a> {
    let error = match found {
        Err(refusal @ Refusal::Invalid(_)) => String::from(refusal),
        found => return found.map_err(String::from),
    };
    let pattern = call.text(0);
    let mut quoted = Vec::new();
    match go::can_backquote(pattern) {
        true => quoted.extend([b"`", pattern, b"`"].concat()),
        false => go::push_quoted(&mut quoted, pattern, false),
    }
    Err(format!("regexp: Compile({}): {error}", String::from_utf8_lossy(&quoted)))
}

/// An invalid expression matches nothing.
pub fn matches<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    match match_of(call) {
        Err(Refusal::Invalid(_)) => Ok(Val::bool(false)),
        found => found.map_err(String::from),
    }
}

pub fn must_match<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    match_of(call).map_err(String::from)
}

pub fn find<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, find_of(call))
}

pub fn must_find<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    find_of(call).map_err(String::from)
}

pub fn find_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, find_all_of(call))
}

pub fn must_find_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    find_all_of(call).map_err(String::from)
}

pub fn split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, split_of(call))
}

pub fn must_split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    split_of(call).map_err(String::from)
}

pub fn replace_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, replace_all_of(call))
}

pub fn must_replace_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    replace_all_of(call).map_err(String::from)
}

pub fn replace_all_literal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, replace_all_literal_of(call))
}

pub fn must_replace_all_literal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    replace_all_literal_of(call).map_err(String::from)
}
