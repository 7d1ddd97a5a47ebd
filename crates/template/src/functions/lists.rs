//! Lists: parts, changes (which make new lists), and tests.

use std::collections::HashSet;

use super::call::{Call, Made, NIL_POINTER, Walk};
use super::convert::to_int64;
use super::equal::equal;
use super::logic::is_empty;
use crate::go::{self, Type, Val};

pub fn list<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.list(call.args.to_vec())
}

/// The elements of a list; `task` begins the error for anything else.
fn items_for<'a>(call: &Call<'_, 'a>, value: Val<'a>, task: &str) -> Result<Vec<Val<'a>>, String> {
    match value {
        _ if value.is_nil() => Err(NIL_POINTER.to_owned()),
        _ if value.is_list() => call.items(&value),
        _ => Err(format!("{task} type {}", value.kind_name())),
    }
}

/// The length of a list; the error for anything else.
fn length_for(value: Val<'_>, task: &str) -> Result<usize, String> {
    match value {
        _ if value.is_nil() => Err(NIL_POINTER.to_owned()),
        _ if value.is_list() => Ok(value.len().unwrap_or(0)),
        _ => Err(format!("{task} type {}", value.kind_name())),
    }
}

pub fn first<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    length_for(call.arg(0), "Cannot find first on")?;
    Ok(call.arg(0).item(0).unwrap_or_else(Val::nil))
}

pub fn last<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let len = length_for(call.arg(0), "Cannot find last on")?;
    Ok(len.checked_sub(1).and_then(|at| call.arg(0).item(at)).unwrap_or_else(Val::nil))
}

pub fn rest<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(match length_for(call.arg(0), "Cannot find rest on")? {
        0 => call.context.nil_list(Type::Any),
        len => call.context.part(&call.arg(0), 1, len - 1),
    })
}

pub fn initial<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(match length_for(call.arg(0), "Cannot find initial on")? {
        0 => call.context.nil_list(Type::Any),
        len => call.context.part(&call.arg(0), 0, len - 1),
    })
}

pub fn append<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    length_for(call.arg(0), "Cannot push on")?;
    Ok(call.context.extended(&call.arg(0), &[call.arg(1)]))
}

pub fn prepend<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut items = items_for(call, call.arg(0), "Cannot prepend on")?;
    items.insert(0, call.arg(1));
    call.list(items)
}

pub fn concat<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut all: Option<Val<'a>> = None;
    for value in call.args {
        if !value.is_nil() && !value.is_list() {
            return Err(format!("Cannot concat type {} as list", value.kind_name()));
        }
        if length_for(*value, "Cannot concat")? == 0 {
            continue;
        }
        all = Some(match all {
            None => call.context.extended(value, &[]),
            Some(all) => call.context.extended(&all, &call.items(value)?),
        });
    }
    Ok(all.unwrap_or_else(|| call.context.nil_list(Type::Any)))
}

pub fn reverse<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut items = items_for(call, call.arg(0), "Cannot find reverse on")?;
    items.reverse();
    call.list(items)
}

pub fn compact<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut items = items_for(call, call.arg(0), "Cannot compact on")?;
    items.retain(|item| !is_empty(item));
    call.list(items)
}

fn includes<'a>(walk: &Walk<'_, 'a>, items: &[Val<'a>], wanted: &Val<'a>) -> Result<bool, String> {
    for item in items {
        if equal(walk, wanted, item, 0)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// What tells a value from others of its kind, for the kinds of which there may be many.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Nil,
    Bool(bool),
    Text(&'a [u8]),
    /// A whole number, and its type.
    Whole(&'static str, i64),
    /// The bits of a number that equals itself.
    Float(u64),
}

/// `None` if values of that kind have to be compared.
fn key<'a>(value: &Val<'a>) -> Option<Key<'a>> {
    if value.is_nil() {
        return Some(Key::Nil);
    }
    let float = || value.as_float().filter(|number| !number.is_nan());
    let text = value.as_bytes().map(Key::Text);
    text.or_else(|| value.as_int().map(|number| Key::Whole(value.type_name(), number)))
        // The two zeros are one number.
        .or_else(|| float().map(|number| Key::Float((number + 0.0).to_bits())))
        .or_else(|| value.as_bool().map(Key::Bool))
}

pub fn uniq<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let items = items_for(call, call.arg(0), "Cannot find uniq on")?;
    call.room(items.len().saturating_mul(2 * size_of::<Val<'a>>()))?;
    let (walk, mut keys) = (Walk::new(call.context), HashSet::new());
    let (mut kept, mut compared) = (Vec::new(), Vec::new());
    for item in items {
        walk.step(0)?;
        let is_new = match key(&item) {
            Some(key) => keys.insert(key),
            None => !includes(&walk, &compared, &item)?,
        };
        if is_new {
            kept.push(item);
            if key(&item).is_none() {
                compared.push(item);
            }
        }
    }
    call.list(kept)
}

pub fn without<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let (walk, mut kept) = (Walk::new(call.context), Vec::new());
    for item in items_for(call, call.arg(0), "Cannot find without on")? {
        if !includes(&walk, call.rest(1), &item)? {
            kept.push(item);
        }
    }
    call.list(kept)
}

pub fn has<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    if call.arg(1).is_nil() {
        return Ok(Val::bool(false));
    }
    let items = items_for(call, call.arg(1), "Cannot find has on")?;
    includes(&Walk::new(call.context), &items, &call.arg(0)).map(Val::bool)
}

/// Sprig's `slice LIST [FROM [TO]]`; on a string, Go's own `slice`, which this function hides.
pub fn slice<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let value = call.arg(0);
    if value.is_nil() {
        return Err(NIL_POINTER.to_owned());
    }
    if value.as_bytes().is_some() {
        return go::slice(value, call.rest(1), call.context);
    }
    if !value.is_list() {
        return Err(format!("list should be type of slice or array but {}", value.kind_name()));
    }
    let len = value.len().unwrap_or(0);
    if len == 0 {
        return Ok(Val::nil());
    }
    let bound = |at: usize, missing: usize| call.args.get(at).map_or(missing as i64, to_int64);
    let bounds = [Val::int(bound(1, 0)), Val::int(bound(2, len))];
    let out_of_range = "reflect.Value.Slice: slice index out of bounds";
    go::slice(value, &bounds, call.context).map_err(|_| out_of_range.to_owned())
}

/// `chunk SIZE LIST`: lists of that size, the last one of what is left.
pub fn chunk<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let items = items_for(call, call.arg(1), "Cannot chunk")?;
    if call.int(0) < -1 && items.len() == 1 {
        // Sprig rounds its way to a single list.
        return Ok(call.context.list_of(Type::List, vec![call.context.list(items)]));
    }
    let groups = ((items.len() as f64 - 1.0) / call.int(0) as f64).floor() + 1.0;
    let size = usize::try_from(call.int(0)).unwrap_or(0);
    if groups != 0.0 && size == 0 {
        return Err("runtime error: makeslice: len out of range".to_owned());
    }
    let size = size.max(1);
    let items = if groups == 0.0 { Vec::new() } else { items };
    call.room(items.len() * (size_of::<Val<'a>>() + 128))?;
    let chunks = items.chunks(size).map(|chunk| call.context.list(chunk.to_vec())).collect();
    Ok(call.context.list_of(Type::List, chunks))
}
