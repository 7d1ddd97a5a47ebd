//! Comparisons, as Python does them. They count inside of large values.

use std::cmp::Ordering;

use num_bigint::BigInt;
use num_traits::{FromPrimitive, ToPrimitive};

use super::ast::{Compare, CompareOp, Spot};
use super::error::Stop;
use super::machine::Machine;
use super::make::NESTING_MAX;
use super::val::{Range, Val, ViewKind};

impl<'a> Machine<'a> {
    /// `a < b <= c`: true if all of it is.
    pub fn compare(&mut self, compare: &'a Compare, spot: Spot) -> Result<Val<'a>, Stop> {
        let mut left = self.value(&compare.first)?;
        for (op, operand) in &compare.rest {
            let right = self.value(operand)?;
            self.at = spot;
            if !self.holds(*op, left, right)? {
                return Ok(Val::Bool(false));
            }
            left = right;
        }
        Ok(Val::Bool(true))
    }

    /// Whether a comparison holds. With a gap, none but `!=` and `not in` does.
    pub fn holds(&mut self, op: CompareOp, left: Val<'a>, right: Val<'a>) -> Result<bool, Stop> {
        Ok(match op {
            CompareOp::Eq => self.equal(left, right)?,
            CompareOp::Ne => !self.equal(left, right)?,
            CompareOp::In => self.contains(right, left)?,
            CompareOp::NotIn => !self.contains(right, left)?,
            CompareOp::Lt => self.order(left, right, "<")? == Some(Ordering::Less),
            CompareOp::Gt => self.order(left, right, ">")? == Some(Ordering::Greater),
            CompareOp::Le => matches!(self.order(left, right, "<=")?, Some(Ordering::Less | Ordering::Equal)),
            CompareOp::Ge => {
                matches!(self.order(left, right, ">=")?, Some(Ordering::Greater | Ordering::Equal))
            }
        })
    }

    /// Python's `==`.
    pub fn equal(&mut self, a: Val<'a>, b: Val<'a>) -> Result<bool, Stop> {
        self.equal_at(a, b, 0)
    }

    /// Whether two lists have equal items.
    pub fn equal_items(&mut self, a: &[Val<'a>], b: &[Val<'a>]) -> Result<bool, Stop> {
        if a.len() != b.len() {
            return Ok(false);
        }
        for (a, b) in a.iter().zip(b) {
            if !self.equal(*a, *b)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn equal_at(&mut self, a: Val<'a>, b: Val<'a>, depth: usize) -> Result<bool, Stop> {
        match (a, b) {
            (Val::Str(a) | Val::Markup(a), Val::Str(b) | Val::Markup(b)) => {
                if a.len() != b.len() {
                    return Ok(false);
                }
                self.work(a.len())?;
                return Ok(a == b);
            }
            (Val::Int(a), Val::Int(b)) => return Ok(a == b),
            (Val::None, Val::None) => return Ok(true),
            (Val::Undefined(_) | Val::Pending(_), _) | (_, Val::Undefined(_) | Val::Pending(_)) => {
                return self.equal_undefined(a, b);
            }
            _ => {}
        }
        if a.is_number() && b.is_number() {
            return Ok(numbers_order(&a, &b) == Some(Ordering::Equal));
        }
        let (a, b) = (self.live(a), self.live(b));
        if a.is_same(&b) {
            return Ok(true);
        }
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        match (a, b) {
            (Val::Bytes(a), Val::Bytes(b)) => Ok(a == b),
            (Val::DataList(_) | Val::List(_), Val::DataList(_) | Val::List(_))
            | (Val::Tuple(_), Val::Tuple(_)) => self.equal_parts(a, b, depth),
            (Val::DataMap(_) | Val::Dict(_), Val::DataMap(_) | Val::Dict(_)) => self.equal_maps(a, b, depth),
            (Val::Range(a), Val::Range(b)) => Ok(equal_ranges(a, b)),
            (Val::View(a), Val::View(b)) if a.kind == b.kind && a.kind == ViewKind::Keys => {
                let (left, right) = (self.known_len(a.of), self.known_len(b.of));
                if left != right {
                    return Ok(false);
                }
                for at in 0..left.unwrap_or(0) {
                    self.step()?;
                    let Some((name, _)) = self.map_entry(a.of, at)? else { break };
                    if self.find_item(b.of, name)?.is_none() {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    fn equal_undefined(&mut self, a: Val<'a>, b: Val<'a>) -> Result<bool, Stop> {
        let (a, b) = (self.settle(a, self.at)?, self.settle(b, self.at)?);
        Ok(matches!((a, b), (Val::Undefined(_), Val::Undefined(_))))
    }

    fn equal_parts(&mut self, a: Val<'a>, b: Val<'a>, depth: usize) -> Result<bool, Stop> {
        if self.known_len(a) != self.known_len(b) {
            return Ok(false);
        }
        let mut at = 0;
        while let (Some(a), Some(b)) = (self.part(a, at)?, self.part(b, at)?) {
            self.step()?;
            if !a.is_same(&b) && !self.with_stack(|machine| machine.equal_at(a, b, depth + 1))? {
                return Ok(false);
            }
            at += 1;
        }
        Ok(true)
    }

    fn equal_maps(&mut self, a: Val<'a>, b: Val<'a>, depth: usize) -> Result<bool, Stop> {
        if self.known_len(a) != self.known_len(b) {
            return Ok(false);
        }
        let mut at = 0;
        while let Some((name, left)) = self.map_entry(a, at)? {
            self.step()?;
            let Some(right) = self.find_item(b, name)? else { return Ok(false) };
            if !left.is_same(&right) && !self.with_stack(|machine| machine.equal_at(left, right, depth + 1))? {
                return Ok(false);
            }
            at += 1;
        }
        Ok(true)
    }

    /// How two values are ordered; `op` is for the message. `None` for floats that have no order, and for gaps.
    pub fn order(&mut self, a: Val<'a>, b: Val<'a>, op: &str) -> Result<Option<Ordering>, Stop> {
        self.order_at(a, b, op, 0)
    }

    fn order_at(&mut self, a: Val<'a>, b: Val<'a>, op: &str, depth: usize) -> Result<Option<Ordering>, Stop> {
        match (a, b) {
            (Val::Str(a) | Val::Markup(a), Val::Str(b) | Val::Markup(b)) => {
                self.work(a.len().min(b.len()))?;
                return Ok(Some(a.cmp(b)));
            }
            (Val::Int(a), Val::Int(b)) => return Ok(Some(a.cmp(&b))),
            _ => {}
        }
        if a.is_number() && b.is_number() {
            return Ok(numbers_order(&a, &b));
        }
        let (a, b) = (self.demand(a)?, self.demand(b)?);
        let (a, b) = (self.live(a), self.live(b));
        if depth > NESTING_MAX {
            return Err(self.too_deep());
        }
        match (a, b) {
            (Val::Gap, _) | (_, Val::Gap) => Ok(None),
            (Val::Bytes(a), Val::Bytes(b)) => Ok(Some(a.cmp(b))),
            (Val::DataList(_) | Val::List(_), Val::DataList(_) | Val::List(_))
            | (Val::Tuple(_), Val::Tuple(_)) => self.order_parts(a, b, op, depth),
            _ => Err(self.fail(format!(
                "'{op}' not supported between instances of '{}' and '{}'",
                a.type_name(),
                b.type_name()
            ))),
        }
    }

    fn order_parts(
        &mut self,
        a: Val<'a>,
        b: Val<'a>,
        op: &str,
        depth: usize,
    ) -> Result<Option<Ordering>, Stop> {
        let mut at = 0;
        loop {
            self.step()?;
            match (self.part(a, at)?, self.part(b, at)?) {
                (None, None) => return Ok(Some(Ordering::Equal)),
                (None, Some(_)) => return Ok(Some(Ordering::Less)),
                (Some(_), None) => return Ok(Some(Ordering::Greater)),
                (Some(a), Some(b)) => {
                    if !a.is_same(&b) && !self.with_stack(|machine| machine.equal_at(a, b, depth + 1))? {
                        return self.with_stack(|machine| machine.order_at(a, b, op, depth + 1));
                    }
                }
            }
            at += 1;
        }
    }

    /// Python's `item in whole`.
    pub fn contains(&mut self, whole: Val<'a>, item: Val<'a>) -> Result<bool, Stop> {
        let whole = self.live(whole);
        match whole {
            Val::Gap => Ok(false),
            Val::Str(text) | Val::Markup(text) => match self.settle(item, self.at)? {
                Val::Str(part) | Val::Markup(part) => {
                    self.work(text.len())?;
                    Ok(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some())
                }
                Val::Gap => Ok(false),
                other => Err(self.fail(format!(
                    "'in <string>' requires string as left operand, not {}",
                    other.type_name()
                ))),
            },
            Val::Bytes(bytes) => match self.settle(item, self.at)? {
                Val::Bytes(part) => {
                    self.work(bytes.len())?;
                    Ok(memchr::memmem::find(bytes, part).is_some())
                }
                item => match (item, item.as_int().map(u8::try_from)) {
                    (Val::Gap, _) => Ok(false),
                    (_, Some(Ok(byte))) => Ok(bytes.contains(&byte)),
                    (_, Some(Err(_))) => Err(self.fail("byte must be in range(0, 256)")),
                    _ => {
                        Err(self.fail(format!("a bytes-like object is required, not '{}'", item.type_name())))
                    }
                },
            },
            Val::DataMap(_) | Val::Dict(_) => {
                let item = self.settle(item, self.at)?;
                if !self.hashable(item) {
                    return Err(self.fail(format!("unhashable type: '{}'", item.type_name())));
                }
                Ok(self.find_item(whole, item)?.is_some())
            }
            Val::View(view) if view.kind == ViewKind::Keys => self.contains(view.of, item),
            Val::Range(range) if item.is_number() => Ok(range_contains(range, &item)),
            Val::Undefined(_) if self.lenient => Ok(false),
            _ => {
                if !self.is_iterable(whole) {
                    let whole = self.demand(whole)?;
                    return Err(
                        self.fail(format!("argument of type '{}' is not iterable", whole.type_name()))
                    );
                }
                let mut source = self.iterate(whole)?;
                while let Some(part) = self.advance(&mut source)? {
                    self.step()?;
                    if part.is_same(&item) || self.equal(part, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// How two numbers are ordered, exactly.
pub(super) fn numbers_order(a: &Val<'_>, b: &Val<'_>) -> Option<Ordering> {
    match (a.as_int(), b.as_int(), a, b) {
        (Some(a), Some(b), ..) => Some(a.cmp(&b)),
        (_, _, Val::Float(a), Val::Float(b)) => a.partial_cmp(b),
        (_, _, Val::Float(a), b) => float_order(*a, b),
        (_, _, a, Val::Float(b)) => float_order(*b, a).map(Ordering::reverse),
        (_, _, a, b) => Some(to_big(a)?.cmp(&to_big(b)?)),
    }
}

fn to_big(value: &Val<'_>) -> Option<BigInt> {
    match value {
        Val::Big(value) => Some((*value).clone()),
        value => value.as_int().map(BigInt::from),
    }
}

/// A float beside an integer, of which neither may lose digits.
fn float_order(a: f64, b: &Val<'_>) -> Option<Ordering> {
    const EXACT: i64 = 1 << 53;
    match b.as_int() {
        Some(b) if (-EXACT..=EXACT).contains(&b) => a.partial_cmp(&(b as f64)),
        _ => {
            let b = to_big(b)?;
            if a.is_infinite() || a.is_nan() {
                return a.partial_cmp(&0.0);
            }
            let whole = BigInt::from_f64(a.trunc())?;
            match whole.cmp(&b) {
                Ordering::Equal => a.fract().partial_cmp(&0.0),
                order => Some(order),
            }
        }
    }
}

fn equal_ranges(a: &Range, b: &Range) -> bool {
    let len = a.len();
    len == b.len() && (len == 0 || a.start == b.start && (len == 1 || a.step == b.step))
}

fn range_contains(range: &Range, item: &Val<'_>) -> bool {
    let item = match item {
        Val::Float(value) if value.fract() == 0.0 => value.to_i64(),
        value => value.as_int(),
    };
    let Some(item) = item else { return false };
    let (start, step) = (i128::from(range.start), i128::from(range.step));
    let way = i128::from(item) - start;
    way % step == 0 && (0..i128::from(range.len())).contains(&(way / step))
}
