//! Evaluates expressions.

use smol_str::SmolStr;

use super::ast::*;
use super::error::Stop;
use super::machine::Machine;
use super::val::{Global, Object, Tuple, Undefined, Val};
use crate::run::{Holder, Step};
use crate::value::Value;

impl<'a> Machine<'a> {
    /// The value of an expression, which may be undefined or pending.
    pub fn eval(&mut self, expr: &'a Expr) -> Result<Val<'a>, Stop> {
        match &expr.kind {
            Kind::Name { name, slot } => match self.slot(*slot) {
                Val::Unset => self.unknown_name(name),
                value => Ok(value),
            },
            Kind::Attr(attr) => {
                if let Some(value) = self.glance(attr) {
                    return self.data(value);
                }
                let of = self.eval(&attr.of)?;
                self.at = expr.spot;
                self.attr(of, &attr.name, expr.spot)
            }
            Kind::Str(text) => Ok(Val::Str(text)),
            Kind::Int(value) => Ok(Val::Int(*value)),
            Kind::Bool(value) => Ok(Val::Bool(*value)),
            Kind::None => Ok(Val::None),
            Kind::Float(value) => Ok(Val::Float(*value)),
            Kind::Big(value) => Ok(Val::Big(value)),
            Kind::Captured => Ok(self.captured_value),
            _ => {
                self.step()?;
                self.compound(expr)
            }
        }
    }

    fn compound(&mut self, expr: &'a Expr) -> Result<Val<'a>, Stop> {
        match &expr.kind {
            Kind::Call(call) => self.call_with(call, expr, None),
            Kind::Filter(filter) => self.filter(filter, expr.spot),
            Kind::Test(test) => self.apply_test(test, expr.spot).map(Val::Bool),
            Kind::Compare(compare) => self.compare(compare, expr.spot),
            Kind::Binary(binary) => {
                let left = self.value(&binary.left)?;
                let right = self.eval(&binary.right)?;
                // A format needs only what it shows.
                let right = match (binary.op, left) {
                    (BinaryOp::Mod, Val::Str(_) | Val::Markup(_)) => right,
                    _ => self.settle(right, binary.right.spot)?,
                };
                self.at = expr.spot;
                if let (BinaryOp::ConstPow, true) = (binary.op, self.is_negative(left)) {
                    let left = self.negate(left)?;
                    let power = self.binary(BinaryOp::Pow, left, right)?;
                    return self.negate(power);
                }
                self.binary(binary.op, left, right)
            }
            Kind::Concat(parts) => self.concat(parts, expr.spot),
            Kind::And(pair) => {
                let left = self.eval(&pair.0)?;
                if self.truth(left)? { self.eval(&pair.1) } else { Ok(left) }
            }
            Kind::Or(pair) => {
                let left = self.eval(&pair.0)?;
                if self.truth(left)? { Ok(left) } else { self.eval(&pair.1) }
            }
            Kind::Not(inner) => Ok(Val::Bool(!self.test(inner)?)),
            Kind::Cond(cond) => match (self.test(&cond.test)?, &cond.otherwise) {
                (true, _) => self.eval(&cond.then),
                (false, Some(otherwise)) => self.eval(otherwise),
                (false, None) => self.undefined(Undefined::Blank),
            },
            Kind::Item(pair) => {
                let of = self.eval(&pair.0)?;
                let key = self.eval(&pair.1)?;
                self.at = expr.spot;
                self.item(of, key, expr.spot)
            }
            Kind::Slice(slice) => self.slice(slice, expr.spot),
            Kind::Tuple(items) => {
                let items = self.eval_all(items)?;
                self.tuple(&items)
            }
            Kind::List(items) => {
                let items = self.eval_all(items)?;
                self.list(items)
            }
            Kind::Dict(items) => self.dict_of(items),
            Kind::Neg(inner) => {
                let value = self.value(inner)?;
                self.at = expr.spot;
                self.negate(value)
            }
            Kind::Pos(inner) => {
                let value = self.value(inner)?;
                self.at = expr.spot;
                self.positive(value)
            }
            _ => Ok(Val::None),
        }
    }

    /// The value of an expression for a use that needs one.
    #[inline]
    pub fn value(&mut self, expr: &'a Expr) -> Result<Val<'a>, Stop> {
        let value = self.eval(expr)?;
        self.settle(value, expr.spot)
    }

    /// Whether the value of an expression is true.
    pub fn test(&mut self, expr: &'a Expr) -> Result<bool, Stop> {
        match &expr.kind {
            Kind::Test(test) => {
                self.step()?;
                self.apply_test(test, expr.spot)
            }
            _ => {
                let value = self.eval(expr)?;
                self.truth(value)
            }
        }
    }

    pub fn eval_all(&mut self, exprs: &'a [Expr]) -> Result<Vec<Val<'a>>, Stop> {
        let mut values = Vec::with_capacity(exprs.len());
        for expr in exprs {
            values.push(self.eval(expr)?);
        }
        Ok(values)
    }

    fn dict_of(&mut self, items: &'a [(Expr, Expr)]) -> Result<Val<'a>, Stop> {
        let dict = self.new_dict()?;
        for (name, value) in items {
            let key = self.value(name)?;
            let value = self.eval(value)?;
            self.at = name.spot;
            self.dict_insert(dict, key, value)?;
        }
        Ok(Val::Dict(dict))
    }

    /// The value of a name in the context: the text's own, the data, or a function.
    pub fn resolve(&mut self, name: &'a SmolStr) -> Result<Val<'a>, Stop> {
        if let Some(value) = self.context.own(name) {
            return Ok(value);
        }
        if self.functions.contains(name) {
            return self.object(Object::Tool(name));
        }
        // A text without context sees what all renders share: the environs and `variables`.
        let value = if self.context.sees_data { self.root.get(name) } else { self.root.get_shared(name) };
        if let Some(value) = value {
            return self.data(value);
        }
        self.function(name)
    }

    /// The function of a name: one from outside of the template, or Jinja's own.
    pub fn function(&mut self, name: &'a str) -> Result<Val<'a>, Stop> {
        if self.functions.contains(name) {
            return self.object(Object::Tool(name));
        }
        match Global::find(name) {
            Some(global) => self.object(Object::Global(global)),
            None => Ok(Val::Unset),
        }
    }

    #[cold]
    fn unknown_name(&mut self, name: &'a str) -> Result<Val<'a>, Stop> {
        self.absent(Holder::Map(self.root), Step::Key(name.as_bytes()))
    }

    /// `a ~ b`: the texts of all parts, or a pending result if one is among them.
    fn concat(&mut self, parts: &'a [Expr], spot: Spot) -> Result<Val<'a>, Stop> {
        let mut text = String::new();
        let mut pending = None;
        let mut values = smallvec::SmallVec::<[(Val<'a>, Spot); 4]>::new();
        for part in parts {
            values.push((self.eval(part)?, part.spot));
        }
        let markup = self.escapes && values.iter().any(|(value, _)| matches!(value, Val::Markup(_)));
        for (value, at) in values {
            if let Val::Pending(call) = value {
                pending.get_or_insert(call);
                continue;
            }
            let value = self.settle(value, at)?;
            self.at = spot;
            let before = text.len();
            match value {
                Val::Markup(part) => text.push_str(part),
                value if markup => {
                    let part = self.text_of(value)?;
                    text.push_str(&crate::python::html::escape(part));
                }
                Val::Str(part) => {
                    self.check_text(text.len() + part.len())?;
                    text.push_str(part);
                }
                value => self.write_str(&mut text, value)?,
            }
            self.work(text.len() - before)?;
        }
        if let Some(call) = pending {
            return Ok(Val::Pending(call));
        }
        let text = self.alloc_str(&text)?;
        Ok(if markup { Val::Markup(text) } else { Val::Str(text) })
    }

    /// Prints the value of an expression.
    pub fn print(&mut self, expr: &'a Expr) -> Result<(), Stop> {
        // The parts of `a ~ b` need no text of their own.
        if let Kind::Concat(parts) = &expr.kind
            && !self.escapes
        {
            self.step()?;
            return self.print_parts(parts);
        }
        if let Kind::Attr(attr) = &expr.kind
            && let (Some(Value::Str(text)), false) = (self.glance(attr), self.escapes)
        {
            return self.write(text);
        }
        let value = self.eval(expr)?;
        match value {
            Val::Str(text) if !self.escapes => self.write(text),
            value => self.print_value(value, expr.spot),
        }
    }

    /// The member of the data that a chain of attributes names, if it is there: found without making values of what
    /// lies between.
    #[inline]
    fn glance(&self, attr: &'a Attr) -> Option<&'a Value> {
        if attr.is_method || !self.changed.is_empty() {
            return None;
        }
        let map = match &attr.of.kind {
            Kind::Name { slot, .. } => match self.slot(*slot) {
                Val::DataMap(map) => map,
                _ => return None,
            },
            Kind::Attr(outer) => self.glance(outer)?.as_map()?,
            _ => return None,
        };
        map.get(&attr.name)
    }

    /// Prints the parts of `a ~ b`, once all of them have been evaluated.
    fn print_parts(&mut self, parts: &'a [Expr]) -> Result<(), Stop> {
        let mut values = smallvec::SmallVec::<[Val<'a>; 4]>::new();
        for part in parts {
            values.push(self.eval(part)?);
        }
        let mut pairs = parts.iter().zip(values);
        pairs.try_for_each(|(part, value)| self.print_value(value, part.spot))
    }

    /// Prints a value.
    pub fn print_value(&mut self, value: Val<'a>, spot: Spot) -> Result<(), Stop> {
        self.at = spot;
        match value {
            Val::Str(text) if !self.escapes => self.write(text),
            Val::Markup(text) => self.write(text),
            Val::Pending(call) => {
                if let Some(captured) = &mut self.capture {
                    captured.pending.get_or_insert(call);
                }
                Ok(())
            }
            Val::Gap => Ok(()),
            Val::Int(value) => self.write(itoa::Buffer::new().format(value)),
            value => {
                let value = self.settle(value, spot)?;
                if matches!(value, Val::Gap | Val::Undefined(_)) {
                    return Ok(());
                }
                self.print_other(value)
            }
        }
    }

    fn print_other(&mut self, value: Val<'a>) -> Result<(), Stop> {
        if self.escapes && !value.is_number() {
            let text = self.text_of(value)?;
            let mut escaped = String::new();
            escaped.push_str(&crate::python::html::escape(text));
            return self.write(&escaped);
        }
        let mut out = std::mem::take(&mut self.out);
        let before = out.len();
        let result = self.write_str(&mut out, value);
        let written = out.len() - before;
        self.out = out;
        result?;
        self.written(written)
    }

    /// Makes a tuple.
    pub fn tuple(&mut self, items: &[Val<'a>]) -> Result<Val<'a>, Stop> {
        self.charge(size_of_val(items) + size_of::<Tuple<'a>>())?;
        let items = self.store.bump.alloc_slice_copy(items);
        Ok(Val::Tuple(self.store.bump.alloc(Tuple { items, is_group: false })))
    }
}
