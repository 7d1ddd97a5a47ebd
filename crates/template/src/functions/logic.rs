//! Defaults and tests: which values are empty, and what stands in for them.

use super::call::{Call, Made};
use crate::go::Val;

/// Whether sprig takes a value for empty: nil, false, 0, and what has no elements.
pub fn is_empty(value: &Val<'_>) -> bool {
    !value.is_true()
}

pub fn default<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(match call.args.get(1) {
        Some(given) if !is_empty(given) => *given,
        _ => call.arg(0),
    })
}

pub fn empty<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(is_empty(&call.arg(0))))
}

pub fn coalesce<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.args.iter().find(|value| !is_empty(value)).copied().unwrap_or_else(Val::nil))
}

pub fn all<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(!call.args.iter().any(is_empty)))
}

pub fn any<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(!call.args.iter().all(is_empty)))
}

pub fn ternary<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.arg(if call.arg(2).is_true() { 0 } else { 1 }))
}

pub fn fail<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Err(String::from_utf8_lossy(call.text(0)).into_owned())
}
