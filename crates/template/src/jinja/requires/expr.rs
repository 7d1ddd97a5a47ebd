//! Static analysis of expressions.

use smol_str::SmolStr;

use super::value::{Object, Value};
use super::{Analysis, Run};
use crate::jinja::ast::*;
use crate::jinja::builtin::TestName;

impl<'a> Analysis<'a> {
    /// Notes what an expression uses if its value is printed, or used in another way with everything in it.
    pub(super) fn used(&mut self, expr: &'a Expr, run: &mut Run<'a>) {
        let value = self.value(expr, run);
        self.use_whole(&value, run.optional);
    }

    /// Notes what an expression uses if its value is only tested.
    pub(super) fn tested(&mut self, expr: &'a Expr, run: &mut Run<'a>) {
        let value = self.value(expr, run);
        self.look_at(&value, true);
    }

    /// Notes what an expression uses that may not be evaluated; its value, which is optional.
    pub(super) fn perhaps(&mut self, expr: &'a Expr, run: &mut Run<'a>) -> Value<'a> {
        let optional = std::mem::replace(&mut run.optional, true);
        let value = self.value(expr, run);
        run.optional = optional;
        self.look_at(&value, true);
        value.optional()
    }

    /// What an expression may give. Notes what it uses itself; how its value is used is for the caller to note.
    pub(super) fn value(&mut self, expr: &'a Expr, run: &mut Run<'a>) -> Value<'a> {
        let value = self.value_of(expr, run);
        self.facts.work(1 + value.weight());
        value
    }

    fn value_of(&mut self, expr: &'a Expr, run: &mut Run<'a>) -> Value<'a> {
        if self.facts.is_exhausted() {
            return Value::default();
        }
        match &expr.kind {
            Kind::None | Kind::Bool(_) | Kind::Int(_) | Kind::Big(_) | Kind::Float(_) | Kind::Str(_) => {}
            Kind::Captured => {}
            Kind::Name { slot, .. } => return self.name(*slot, run),
            Kind::Tuple(items) | Kind::List(items) => {
                let items: Vec<Value<'a>> = items.iter().map(|item| self.value(item, run)).collect();
                items.iter().for_each(|item| self.hand_on(item));
                return Value::list(items);
            }
            Kind::Dict(items) => return self.dict(items, run),
            Kind::Cond(cond) => {
                self.tested(&cond.test, run);
                let mut value = self.perhaps(&cond.then, run);
                if let Some(otherwise) = &cond.otherwise {
                    value.join(&self.perhaps(otherwise, run));
                }
                return value;
            }
            Kind::And(pair) => {
                let mut value = self.value(&pair.0, run);
                self.look_at(&value, true);
                value.join(&self.perhaps(&pair.1, run));
                return value;
            }
            Kind::Or(pair) => {
                let mut value = self.value(&pair.0, run).optional();
                self.look_at(&value, true);
                value.join(&self.perhaps(&pair.1, run));
                return value;
            }
            Kind::Not(inner) => self.tested(inner, run),
            Kind::Neg(inner) | Kind::Pos(inner) => self.used(inner, run),
            Kind::Compare(compare) => {
                self.used(&compare.first, run);
                compare.rest.iter().for_each(|(_, operand)| self.used(operand, run));
            }
            Kind::Binary(binary) => return self.binary(binary, run),
            Kind::Concat(parts) => parts.iter().for_each(|part| self.used(part, run)),
            Kind::Attr(attr) => {
                let of = self.value(&attr.of, run);
                return self.member(&of, &attr.name);
            }
            Kind::Item(pair) => return self.item(&pair.0, &pair.1, run),
            Kind::Slice(slice) => {
                let of = self.value(&slice.of, run);
                self.look_at(&of, run.optional);
                let bounds = slice.start.iter().chain(&slice.stop).chain(&slice.step);
                bounds.for_each(|bound| self.used(bound, run));
                return of.any_order();
            }
            Kind::Call(call) => return self.call(call, None, run),
            Kind::Filter(filter) => return self.filter(filter, run),
            Kind::Test(test) => self.test(test, run),
        }
        Value::default()
    }

    fn name(&mut self, slot: Slot, run: &mut Run<'a>) -> Value<'a> {
        let value = run.env.get(slot);
        if value.may_be(&Object::Caller) {
            // It may be called from wherever it is handed to.
            let optional = std::mem::replace(&mut run.optional, true);
            self.call_caller(slot, &super::jobs::Arguments::default(), run);
            run.optional = optional;
        }
        match value.may_be(&Object::Unset) {
            true => value.set().optional(),
            false => value,
        }
    }

    fn dict(&mut self, items: &'a [(Expr, Expr)], run: &mut Run<'a>) -> Value<'a> {
        let mut members: Vec<(SmolStr, Value<'a>)> = Vec::new();
        let mut others = Value::default();
        for (key, value) in items {
            let name = literal(key);
            if name.is_none() {
                self.used(key, run);
            }
            let value = self.value(value, run);
            self.hand_on(&value);
            match name {
                Some(name) => members.push((name.into(), value)),
                None => others.join(&value),
            }
        }
        Value::members(members, others)
    }

    /// Lists can be added to one another.
    fn binary(&mut self, binary: &'a Binary, run: &mut Run<'a>) -> Value<'a> {
        let mut value = self.value(&binary.left, run);
        self.use_whole(&value, run.optional);
        let right = self.value(&binary.right, run);
        self.use_whole(&right, run.optional);
        match binary.op {
            BinaryOp::Add => {
                value.join(&right);
                value.any_order()
            }
            _ => Value::default(),
        }
    }

    fn item(&mut self, of: &'a Expr, index: &'a Expr, run: &mut Run<'a>) -> Value<'a> {
        let of = self.value(of, run);
        if let Some(name) = literal(index) {
            return self.member(&of, name);
        }
        match literal_number(index) {
            Some(place) => of.at(place),
            None => {
                self.used(index, run);
                of.any_member()
            }
        }
    }

    fn test(&mut self, test: &'a Test, run: &mut Run<'a>) {
        match test.test {
            // These compare or compute, which needs a value.
            Some(
                TestName::Divisibleby
                | TestName::Eq
                | TestName::Even
                | TestName::Ge
                | TestName::Gt
                | TestName::In
                | TestName::Le
                | TestName::Lt
                | TestName::Ne
                | TestName::Odd,
            ) => self.used(&test.base, run),
            _ => self.tested(&test.base, run),
        }
        test.args.exprs().for_each(|arg| self.used(arg, run));
    }
}

/// The text of a literal.
pub(super) fn literal(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        Kind::Str(text) => Some(text),
        _ => None,
    }
}

/// The number of a literal, or −1 for one that counts from the end.
fn literal_number(expr: &Expr) -> Option<i64> {
    match &expr.kind {
        Kind::Int(number) => Some(*number),
        Kind::Neg(inner) => matches!(inner.kind, Kind::Int(_)).then_some(-1),
        _ => None,
    }
}
