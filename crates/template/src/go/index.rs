//! The built-in functions `index`, `slice` and `len`.

use super::call::Type;
use super::context::Context;
use super::val::{Base, Slice, V, Val, ValueKind};
use crate::run::Holder;

/// The element of `item` at the first index, its element at the second, and so on.
///
/// A missing member of a map is nil, as in Go; in strict mode it is a missing value.
pub(super) fn index<'a>(
    item: Val<'a>,
    indexes: &[Val<'a>],
    context: &Context<'a>,
) -> Result<Val<'a>, String> {
    let mut item = item.unboxed();
    if item.kind() == ValueKind::Invalid {
        return Err("index of untyped nil".into());
    }
    for index in indexes {
        let index = index.unboxed();
        item = match item.v {
            V::Nil => return Err("index of nil pointer".into()),
            V::Str(bytes) => {
                let at = position(index, bytes.len())?;
                let byte = bytes.get(at).ok_or("reflect: string index out of range")?;
                Val::of(V::Byte(*byte))
            }
            V::List(_) | V::Slice(_) => {
                let at = position(index, item.len().unwrap_or(0))?;
                item.item(at).ok_or("reflect: slice index out of range")?
            }
            V::Map(_) | V::Dict(_) => member(item, index, context)?,
            V::Absent(absent) => {
                // The path of a missing list does not name an index in it.
                match index.as_bytes() {
                    Some(key) => context.absent(Holder::Absent(absent), key),
                    None => item,
                }
            }
            _ => return Err(format!("can't index item of type {}", item.type_name())),
        };
    }
    Ok(item)
}

fn member<'a>(map: Val<'a>, index: Val<'a>, context: &Context<'a>) -> Result<Val<'a>, String> {
    if index.kind() == ValueKind::Invalid {
        return Err("value is nil; should be of type string".into());
    }
    let Some(key) = index.as_bytes() else {
        return Err(format!("value has type {}; should be string", index.type_name()));
    };
    Ok(match (map.member(key), map.v) {
        (Some(member), _) => member,
        (None, V::Dict(dict)) => match dict.base() {
            Some(base) if context.is_strict() => context.absent(Holder::Map(base), key),
            _ => dict.of.zero(),
        },
        (None, V::Map(map)) if context.is_strict() => context.absent(Holder::Map(map), key),
        (None, _) => Val::NIL,
    })
}

/// The index as a position up to `cap`; a number in an `interface {}` is not an index.
fn position(index: Val<'_>, cap: usize) -> Result<usize, String> {
    let Some(at) = index.as_int().filter(|_| !index.boxed) else {
        return Err(match index.kind() {
            ValueKind::Invalid => "cannot index slice/array with nil".into(),
            _ => format!("cannot index slice/array with type {}", index.static_type()),
        });
    };
    match usize::try_from(at) {
        Ok(at) if at <= cap => Ok(at),
        _ => Err(format!("index out of range: {at}")),
    }
}

/// The part of a string or list between two positions; a third one sets its capacity.
pub(crate) fn slice<'a>(
    item: Val<'a>,
    indexes: &[Val<'a>],
    context: &Context<'a>,
) -> Result<Val<'a>, String> {
    let item = item.unboxed();
    let cap = match item.v {
        _ if item.kind() == ValueKind::Invalid => return Err("slice of untyped nil".into()),
        _ if indexes.len() > 3 => return Err(format!("too many slice indexes: {}", indexes.len())),
        V::Str(_) if indexes.len() == 3 => return Err("cannot 3-index slice a string".into()),
        V::Str(bytes) => bytes.len(),
        V::List(list) => grown_capacity(list.len()),
        V::Slice(slice) => slice.cap,
        _ => return Err(format!("can't slice item of type {}", item.type_name())),
    };
    let mut bounds = [0, item.len().unwrap_or(0), cap];
    for (bound, index) in bounds.iter_mut().zip(indexes) {
        *bound = position(*index, cap)?;
    }
    let [low, high, max] = bounds;
    if low > high {
        return Err(format!("invalid slice index: {low} > {high}"));
    }
    if high > max {
        return Err(format!("invalid slice index: {high} > {max}"));
    }
    let part = |base, start, of| Slice { base, start, len: high - low, cap: max - low, of, nil: false };
    let mut sliced = match item.v {
        V::Str(bytes) => Val::bytes(bytes.get(low..high).unwrap_or_default()),
        V::List(list) => context.slice(part(Base::Data(list), low, Type::Any)),
        V::Slice(outer) => context.slice(part(outer.base, outer.start + low, outer.of)),
        _ => Val::NONE,
    };
    sliced.depth = item.depth;
    Ok(sliced)
}

/// The capacity of a list of this length from Go's JSON decoder, which is how far it can be sliced.
pub(super) fn grown_capacity(len: usize) -> usize {
    const STEPS: [usize; 21] = [
        0, 1, 2, 4, 8, 16, 32, 71, 143, 303, 591, 1023, 1535, 2560, 3584, 5120, 6656, 8704, 11264, 14336,
        18432,
    ];
    if let Some(cap) = STEPS.iter().find(|&&cap| cap >= len) {
        return *cap;
    }
    // Beyond the table, Go's runtime grows by a quarter and rounds up to multiples of 512 elements.
    let mut cap = 18_432usize;
    while cap < len {
        cap = (cap + (cap + 768) / 4).next_multiple_of(512);
    }
    cap
}

/// The number of elements, members or bytes of a value.
pub(super) fn length(item: Val<'_>) -> Result<usize, String> {
    match (item.len(), item.kind()) {
        (Some(len), _) => Ok(len),
        (None, ValueKind::Nil) => Err("len of nil pointer".into()),
        (None, ValueKind::Invalid) => Err("reflect: call of reflect.Value.Type on zero Value".into()),
        (None, _) => Err(format!("len of type {}", item.type_name())),
    }
}
