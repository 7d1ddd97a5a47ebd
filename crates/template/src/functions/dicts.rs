//! Dicts: maps whose keys are strings. `set` and `unset` change the map itself, as in Go.

use super::call::{Call, Made};
use crate::go::Val;

/// `dict KEY VALUE …`: keys become strings; the value of a last key alone is an empty string.
pub fn dict<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let pairs = call.args.chunks(2).filter_map(|pair| {
        let key = call.shown(pair.first()?).into_owned();
        Some((key, pair.get(1).copied().unwrap_or_else(|| Val::bytes(b""))))
    });
    Ok(call.context.map(pairs.collect()))
}

pub fn get<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(call.arg(0).member(call.text(1)).unwrap_or_else(|| Val::bytes(b"")))
}

pub fn has_key<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    Ok(Val::bool(call.arg(0).member(call.text(1)).is_some()))
}

pub fn set<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.context.change(&call.arg(0), call.text(1), Some(call.arg(2)))?;
    Ok(call.arg(0))
}

pub fn unset<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let map = call.arg(0);
    if map.member(call.text(1)).is_some() {
        call.context.change(&map, call.text(1), None)?;
    }
    Ok(if map.is_nil() { call.context.map(Vec::new()) } else { map })
}

/// The members of a map, as `map` takes them.
fn members<'a>(call: &Call<'_, 'a>, map: &Val<'a>) -> Result<Vec<(&'a [u8], Val<'a>)>, String> {
    call.room(map.len().unwrap_or(0).saturating_mul(size_of::<Val<'a>>() + 64))?;
    Ok(map.members())
}

pub fn keys<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let mut keys = Vec::new();
    for map in call.args {
        keys.extend(members(call, map)?.into_iter().map(|(key, _)| key));
        call.room(keys.len() * size_of::<Val<'a>>())?;
    }
    call.strings(keys.into_iter())
}

pub fn values<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let members = members(call, &call.arg(0))?;
    call.list(members.into_iter().map(|(_, value)| value).collect())
}

pub fn pluck<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    call.list(call.rest(1).iter().filter_map(|map| map.member(call.text(0))).collect())
}

pub fn pick<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let keys = call.rest(1).iter().filter_map(Val::as_bytes);
    let picked = keys.filter_map(|key| Some((key.to_vec(), call.arg(0).member(key)?)));
    Ok(call.context.map(picked.collect()))
}

pub fn omit<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let omitted: std::collections::HashSet<&[u8]> = call.rest(1).iter().filter_map(Val::as_bytes).collect();
    let kept = members(call, &call.arg(0))?.into_iter().filter(|(key, _)| !omitted.contains(key));
    Ok(call.context.map(kept.map(|(key, value)| (key.to_vec(), value)).collect()))
}

/// `dig KEY … DEFAULT DICT`: the value at the end of the keys.
pub fn dig<'a>(call: &Call<'_, 'a>) -> Made<'a> {
    let [path @ .., default, map] = call.args else {
        return Err("dig needs at least three arguments".to_owned());
    };
    if path.is_empty() {
        return Err("dig needs at least three arguments".to_owned());
    }
    let mut value = as_dict(*map)?;
    let keys: Vec<&[u8]> = path
        .iter()
        .map(|key| key.as_bytes().ok_or_else(|| not_a(key, "string")))
        .collect::<Result<_, _>>()?;
    for (at, key) in keys.iter().enumerate() {
        match value.member(key) {
            None => return Ok(*default),
            Some(member) if at + 1 == keys.len() => return Ok(member),
            Some(member) => value = as_dict(member)?,
        }
    }
    Ok(*default)
}

const DICT: &str = "map[string]interface {}";

fn as_dict<'a>(value: Val<'a>) -> Made<'a> {
    if value.type_name() == DICT && value.is_map() { Ok(value) } else { Err(not_a(&value, DICT)) }
}

fn not_a(value: &Val<'_>, wanted: &str) -> String {
    let name = if value.is_nil() { "nil" } else { value.type_name() };
    format!("interface conversion: interface {{}} is {name}, not {wanted}")
}
