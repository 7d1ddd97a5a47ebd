//! Regular expressions: Go's syntax (RE2), run by the crate `regex` in time linear in the text.
//!
//! - `syntax` reads Go's syntax, and writes that of the crate; `matcher` finds matches within the limits of the run

mod matcher;
mod syntax;

use super::call::{Call, Made};
use crate::go::{self, Type, Val};
use matcher::Matcher;

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

pub fn must_match<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1))?;
    matcher.find_at(0).map(|found| Val::bool(found.is_some()))
}

/// An invalid expression matches nothing.
pub fn matches<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    match syntax::translated(call.text(0)) {
        Ok(_) => must_match(call),
        Err(_) => Ok(Val::bool(false)),
    }
}

pub fn must_find<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1))?;
    let found = matcher.find_at(0)?;
    Ok(Val::bytes(found.map_or(b"", |found| call.text(1).get(found).unwrap_or_default())))
}

pub fn must_find_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (text, count) = (call.text(1), call.int(2));
    let matcher = Matcher::new(call, call.text(0), text)?;
    let found = matcher.find_all(count)?;
    if found.is_empty() {
        return Ok(call.context.nil_list(Type::String));
    }
    let items = found.into_iter().map(|range| Val::bytes(text.get(range).unwrap_or_default()));
    Ok(call.context.list_of(Type::String, items.collect()))
}

pub fn must_split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (text, count) = (call.text(1), call.int(2));
    let matcher = Matcher::new(call, call.text(0), text)?;
    if count == 0 {
        return Ok(call.context.nil_list(Type::String));
    }
    if text.is_empty() && !call.text(0).is_empty() {
        return Ok(call.context.list_of(Type::String, vec![Val::bytes(b"")]));
    }
    let part = |from: usize, to: usize| Val::bytes(text.get(from..to).unwrap_or_default());
    let (mut parts, mut start, mut end) = (Vec::new(), 0, 0);
    for found in matcher.find_all(count)? {
        if count > 0 && parts.len() as i64 >= count - 1 {
            break;
        }
        end = found.start;
        if found.end != 0 {
            parts.push(part(start, end));
        }
        start = found.end;
    }
    if end != text.len() {
        parts.push(part(start, text.len()));
    }
    Ok(call.context.list_of(Type::String, parts))
}

pub fn must_replace_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1))?;
    call.string(matcher.replace_all(Some(call.text(2)), call.text(2))?)
}

pub fn must_replace_all_literal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let matcher = Matcher::new(call, call.text(0), call.text(1))?;
    call.string(matcher.replace_all(None, call.text(2))?)
}

/// Calls a function that panics on an invalid expression in Go, with the message of that panic.
fn or_panic<'a>(call: &Call<'_, 'a>, function: fn(&Call<'_, 'a>) -> Made<'a>) -> Made<'a> {
    let pattern = call.text(0);
    let Err(error) = syntax::translated(pattern) else { return function(call) };
    let mut quoted = Vec::new();
    match go::can_backquote(pattern) {
        true => quoted.extend([b"`", pattern, b"`"].concat()),
        false => go::push_quoted(&mut quoted, pattern, false),
    }
    Err(format!("regexp: Compile({}): {error}", String::from_utf8_lossy(&quoted)))
}

pub fn find<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, must_find)
}

pub fn find_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, must_find_all)
}

pub fn split<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, must_split)
}

pub fn replace_all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, must_replace_all)
}

pub fn replace_all_literal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    or_panic(call, must_replace_all_literal)
}
