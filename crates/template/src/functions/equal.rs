//! `reflect.DeepEqual`, and deep copies.

use super::call::{Call, Made, Walk};
use crate::go::{Context, Val};

/// Whether two values have the same types and the same contents.
///
/// # Errors
/// If the values nest too deep, or the time is over.
pub fn equal<'a>(walk: &Walk<'_, 'a>, a: &Val<'a>, b: &Val<'a>, depth: usize) -> Result<bool, String> {
    walk.step(depth)?;
    if a.is_nil() || b.is_nil() {
        return Ok(a.is_nil() && b.is_nil());
    }
    if a.type_name() != b.type_name() {
        return Ok(false);
    }
    if a.is_list() {
        return lists_equal(walk, a, b, depth);
    }
    if a.is_map() {
        return maps_equal(walk, a, b, depth);
    }
    Ok(match (a.as_bytes(), b.as_bytes()) {
        (Some(a), Some(b)) => a == b,
        _ => {
            let scalar = |value: &Val<'a>| (value.as_int(), value.as_float(), value.as_bool());
            scalar(a) == scalar(b) && a.as_time() == b.as_time()
        }
    })
}

fn lists_equal<'a>(walk: &Walk<'_, 'a>, a: &Val<'a>, b: &Val<'a>, depth: usize) -> Result<bool, String> {
    let len = a.len().unwrap_or(0);
    if b.len() != Some(len) || a.is_nil_list() != b.is_nil_list() {
        return Ok(false);
    }
    for at in 0..len {
        if let (Some(a), Some(b)) = (a.item(at), b.item(at))
            && !equal(walk, &a, &b, depth + 1)?
        {
            return Ok(false);
        }
    }
    Ok(true)
}

fn maps_equal<'a>(walk: &Walk<'_, 'a>, a: &Val<'a>, b: &Val<'a>, depth: usize) -> Result<bool, String> {
    if a.is_same_map(b) {
        return Ok(true);
    }
    if a.len() != b.len() {
        return Ok(false);
    }
    for (key, value) in a.members() {
        match b.member(key) {
            Some(other) if equal(walk, &value, &other, depth + 1)? => {}
            _ => return Ok(false),
        }
    }
    Ok(true)
}

pub fn deep_equal<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    equal(&Walk::new(call.context), &call.arg(0), &call.arg(1), 0).map(Val::bool)
}

pub fn deep_copy<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    if call.arg(0).is_nil() {
        return Err("reflect: call of reflect.Value.Type on zero Value".to_owned());
    }
    copy(call.context, &Walk::new(call.context), call.arg(0), 0)
}

fn copy<'a>(context: &Context<'a>, walk: &Walk<'_, 'a>, value: Val<'a>, depth: usize) -> Made<'a> {
    walk.step(depth)?;
    let inner = |value: Val<'a>| copy(context, walk, value, depth + 1);
    let room = value.len().unwrap_or(0).saturating_mul(size_of::<Val<'a>>() + 32);
    if value.is_list() || value.is_map() {
        if !context.has_room(room) {
            return Err("the copy is too large".to_owned());
        }
        context.work(room);
    }
    if value.is_list() {
        let items = (0..value.len().unwrap_or(0)).filter_map(|at| value.item(at)).map(inner);
        return Ok(context.list_like(&value, items.collect::<Result<_, _>>()?));
    }
    if value.is_map() {
        let members = value.members().into_iter().map(|(key, value)| Ok((key.to_vec(), inner(value)?)));
        return Ok(context.map_like(&value, members.collect::<Result<_, String>>()?));
    }
    Ok(value)
}
