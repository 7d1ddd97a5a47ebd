//! The comparison functions `eq`, `ne`, `lt`, `le`, `gt` and `ge`.

use std::cmp::Ordering;

use super::fmt::sprintf;
use super::val::{V, Val, ValueKind};

const BAD_TYPE: &str = "invalid type for comparison";

fn is_basic(kind: ValueKind) -> bool {
    !matches!(
        kind,
        ValueKind::Invalid | ValueKind::Nil | ValueKind::Slice | ValueKind::Map | ValueKind::Struct
    )
}

fn incompatible<'a>(a: Val<'a>, b: Val<'a>) -> String {
    format!("incompatible types for comparison: {} and {}", a.type_name(), b.type_name())
}

/// Whether `first` equals any of the others.
pub(super) fn eq<'a>(first: Val<'a>, others: &[Val<'a>]) -> Result<bool, String> {
    let first = first.unboxed();
    if others.is_empty() {
        return Err("missing argument for comparison".into());
    }
    for other in others {
        if equal(first, other.unboxed())? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn equal<'a>(a: Val<'a>, b: Val<'a>) -> Result<bool, String> {
    let (kind_a, kind_b) = (a.kind(), b.kind());
    if kind_a == ValueKind::Invalid || kind_b == ValueKind::Invalid {
        return Ok(kind_a == kind_b);
    }
    match (a.v, b.v) {
        (V::Bool(a), V::Bool(b)) => Ok(a == b),
        (V::Complex(a, ai), V::Complex(b, bi)) => Ok(a == b && ai == bi),
        (V::Float(a), V::Float(b)) => Ok(a == b),
        (V::Str(a), V::Str(b)) => Ok(a == b),
        (V::Time(a), V::Time(b)) => Ok(a == b),
        (V::Int(_) | V::Whole(..) | V::Byte(_), V::Int(_) | V::Whole(..) | V::Byte(_)) => {
            Ok(a.as_int() == b.as_int())
        }
        _ if is_basic(kind_a) || is_basic(kind_b) => Err(incompatible(a, b)),
        _ if kind_a == kind_b => Err(sprintf("non-comparable type %s: %v", &[b, type_of(b)])),
        _ => {
            let args = [a, type_of(a), type_of(b), b];
            Err(sprintf("non-comparable types %s: %v, %s: %v", &args))
        }
    }
}

fn type_of<'a>(value: Val<'a>) -> Val<'a> {
    Val::text(value.type_name())
}

/// Whether `a` is less than `b`.
pub(super) fn lt<'a>(a: Val<'a>, b: Val<'a>) -> Result<bool, String> {
    let (a, b) = (a.unboxed(), b.unboxed());
    if !is_basic(a.kind()) || !is_basic(b.kind()) {
        return Err(BAD_TYPE.into());
    }
    match (a.v, b.v) {
        (V::Float(a), V::Float(b)) => Ok(a < b),
        (V::Str(a), V::Str(b)) => Ok(a.cmp(b) == Ordering::Less),
        (V::Int(_) | V::Whole(..) | V::Byte(_), V::Int(_) | V::Whole(..) | V::Byte(_)) => {
            Ok(a.as_int() < b.as_int())
        }
        (V::Bool(_), V::Bool(_)) | (V::Complex(..), V::Complex(..)) => Err(BAD_TYPE.into()),
        _ => Err(incompatible(a, b)),
    }
}

/// Whether `a` is less than or equal to `b`.
pub(super) fn le<'a>(a: Val<'a>, b: Val<'a>) -> Result<bool, String> {
    Ok(lt(a, b)? || eq(a, &[b])?)
}
