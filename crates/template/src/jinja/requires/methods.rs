//! Static analysis of methods of dicts, lists and text.

use super::expr::literal;
use super::jobs::Arguments;
use super::value::{Object, Value};
use super::{Analysis, Cell, Run};
use crate::jinja::ast::*;

impl<'a> Analysis<'a> {
    /// A call of a method.
    pub(super) fn method(
        &mut self,
        of: &Value<'a>,
        attr: &'a Attr,
        call: &'a Call,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        let arguments = self.arguments(&call.args, run);
        match attr.name.as_str() {
            "append" | "extend" | "insert" | "update" | "setdefault" => {
                self.look_at(of, run.optional);
                arguments.values().for_each(|value| self.hand_on(value));
                let added = match attr.name.as_str() {
                    "append" | "insert" => arguments.positional.last().cloned().unwrap_or_default(),
                    "setdefault" => arguments.get(1, "").unwrap_or_default(),
                    _ => arguments.values().fold(Value::default(), |mut all, value| {
                        all.join(&value.element());
                        all
                    }),
                };
                let added = if run.optional { added.optional() } else { added };
                self.change(&attr.of, &Value::container(added.clone()), run);
                if attr.name == "setdefault" {
                    let mut value = self.found(of, call).optional();
                    value.join(&added.optional());
                    return value;
                }
                Value::default()
            }
            name => {
                arguments.values().for_each(|value| self.use_whole(value, run.optional));
                self.reading_method(name, of, call, &arguments, run)
            }
        }
    }

    fn reading_method(
        &mut self,
        name: &str,
        of: &Value<'a>,
        call: &'a Call,
        arguments: &Arguments<'a>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        match name {
            "get" | "pop" | "popitem" | "items" | "values" | "keys" | "copy" | "next" => {
                self.look_at(of, run.optional);
            }
            "cycle" if of.paths().is_empty() => {
                return Value::list(arguments.positional.iter().cloned()).any_order().element();
            }
            _ => {
                self.use_whole(of, run.optional);
                return Value::default();
            }
        }
        match name {
            "items" => of.pairs(),
            "values" => Value::container(of.element().optional()),
            "copy" => of.clone(),
            "next" => of.element(),
            "popitem" => Value::list([Value::default(), of.element()]),
            "get" | "pop" => {
                let mut value = self.found(of, call).optional();
                self.look_at(&value, true);
                value.join(&arguments.get(1, "").unwrap_or_default().optional());
                value
            }
            _ => Value::default(),
        }
    }

    /// The member that the first argument of a method names.
    fn found(&mut self, of: &Value<'a>, call: &'a Call) -> Value<'a> {
        match call.args.positional.first() {
            Some(key) => match (literal(key), &key.kind) {
                (Some(name), _) => self.member(of, name),
                (None, Kind::Int(place)) => of.at(*place),
                _ => of.any_member(),
            },
            None => of.element(),
        }
    }

    /// Adds to a container that the expression names; one that is not found by its name is not followed.
    fn change(&mut self, of: &'a Expr, added: &Value<'a>, run: &mut Run<'a>) {
        match &of.kind {
            Kind::Name { slot, .. } if slot.up == 0 => {
                let mut value = run.env.get(*slot);
                let known = value.clone();
                value.join(&known.walk(added));
                self.set(run, slot.index, value);
            }
            Kind::Attr(attr) => {
                let base = self.value(&attr.of, run);
                let mut is_found = false;
                for object in base.objects() {
                    if let Object::Namespace(call) = object {
                        let cell = Cell::Attr(*call, attr.name.clone());
                        let mut value = self.cells.of(&cell).cloned().unwrap_or_default();
                        value.join(added);
                        self.feed(cell, &value);
                        is_found = true;
                    }
                }
                if !is_found {
                    self.let_go(added);
                }
            }
            _ => self.let_go(added),
        }
    }
}
