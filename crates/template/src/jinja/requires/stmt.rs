//! Static analysis of statements.

use std::rc::Rc;

use smol_str::SmolStr;

use super::env::{Caller, Env};
use super::node::Node;
use super::value::{Object, Value};
use super::{Analysis, Cell, Run};
use crate::jinja::ast::*;

impl<'a> Analysis<'a> {
    /// Gives the variables of a scope their first values.
    pub fn enter(&mut self, frame: &'a Frame, run: &mut Run<'a>) {
        for load in &frame.loads {
            let value = match &load.from {
                LoadFrom::Context(name) => run.env.context.find(name),
                LoadFrom::Slot(slot) => run.env.get(*slot),
                LoadFrom::Unset => Value::object(Object::Unset),
            };
            self.set(run, load.slot, value);
        }
    }

    /// Follows statements; false if they always end with `break` or `continue`.
    pub fn body(&mut self, body: &'a [Stmt], run: &mut Run<'a>) -> bool {
        body.iter().all(|stmt| !self.facts.is_exhausted() && self.stmt(stmt, run))
    }

    fn scope(&mut self, scope: &'a Scope, run: &mut Run<'a>) -> bool {
        self.enter(&scope.frame, run);
        self.body(&scope.body, run)
    }

    fn stmt(&mut self, stmt: &'a Stmt, run: &mut Run<'a>) -> bool {
        self.facts.work(1);
        match stmt {
            Stmt::Text { .. } => {}
            Stmt::Print(_) if run.muted => {}
            Stmt::Print(expr) => self.used(expr, run),
            Stmt::Do(expr) => {
                let value = self.value(expr, run);
                self.hand_on(&value);
            }
            Stmt::Set(set) => {
                let value = self.value(&set.value, run);
                self.hand_on(&value);
                self.assign(&set.target, &value, run);
                self.export(&set.exported, run);
            }
            Stmt::SetBlock(set) => {
                let muted = std::mem::take(&mut run.muted);
                self.scope(&set.scope, run);
                set.filter.iter().for_each(|filter| self.used(filter, run));
                run.muted = muted;
                self.assign(&set.target, &Value::default(), run);
                self.export(&set.exported, run);
            }
            Stmt::If(branch) => return self.condition(branch, run),
            Stmt::For(looping) => self.for_loop(looping, run),
            Stmt::With(with) => {
                let values: Vec<Value<'a>> =
                    with.targets.iter().map(|(_, expr)| self.value(expr, run)).collect();
                self.enter(&with.scope.frame, run);
                for ((target, _), value) in with.targets.iter().zip(&values) {
                    self.hand_on(value);
                    self.assign(target, value, run);
                }
                return self.body(&with.scope.body, run);
            }
            Stmt::Macro(definition) => {
                run.defines = true;
                let object = Object::Macro(Node(definition), run.env.code);
                self.set(run, definition.slot.index, Value::object(object));
                if definition.exported {
                    self.export(&[(definition.name.clone(), definition.slot)], run);
                }
            }
            Stmt::CallBlock(block) => self.call_block(block, run),
            Stmt::FilterBlock(block) => {
                let falls_through = self.scope(&block.scope, run);
                self.used(&block.filter, run);
                return falls_through;
            }
            Stmt::Autoescape(block) => {
                self.enter(&block.scope.frame, run);
                self.used(&block.value, run);
                return self.body(&block.scope.body, run);
            }
            Stmt::Scope(scope) => return self.scope(scope, run),
            Stmt::Block(call) => self.block(call, run),
            Stmt::Extends(extends) => self.extends(extends, run),
            Stmt::Include(include) => self.include(include, run),
            Stmt::Import(import) => self.import(import, run),
            Stmt::FromImport(import) => self.import_names(import, run),
            Stmt::Break | Stmt::Continue => return false,
        }
        true
    }

    /// Assigns a value to a target.
    fn assign(&mut self, target: &'a Target, value: &Value<'a>, run: &mut Run<'a>) {
        match target {
            Target::Name { slot, .. } => self.set(run, slot.index, value.set()),
            Target::Attr { slot, attr, .. } => {
                for object in run.env.get(*slot).objects() {
                    if let Object::Namespace(call) = object {
                        self.grow(Cell::Attr(*call, attr.clone()), value);
                    }
                }
            }
            Target::Tuple(items, _) => {
                for (item, at) in items.iter().zip(0..) {
                    self.assign(item, &value.at(at), run);
                }
            }
        }
    }

    /// Adds a value to a cell that the value may have been taken from.
    pub fn grow(&mut self, cell: Cell<'a>, value: &Value<'a>) {
        let known = self.cells.of(&cell).cloned().unwrap_or_default();
        self.facts.work(1 + known.weight() + value.weight());
        self.feed(cell, &known.walk(value));
    }

    /// Shows variables of the top level to other texts, and to blocks.
    pub fn export(&mut self, names: &[(SmolStr, Slot)], run: &mut Run<'a>) {
        for (name, slot) in names {
            let value = run.env.get(*slot);
            let exports = &mut run.env.context.exports;
            self.facts.work(if Rc::strong_count(exports) > 1 { 1 + exports.len() } else { 1 });
            Rc::make_mut(exports).insert(name.clone(), value);
        }
    }

    fn condition(&mut self, branch: &'a If, run: &mut Run<'a>) -> bool {
        let (optional, muted) = (run.optional, run.muted);
        let mut ends: Vec<Env<'a>> = Vec::new();
        for (test, body) in &branch.arms {
            self.tested(test, run);
            run.optional = true;
            let before = run.env.clone();
            if self.body(body, run) {
                ends.push(std::mem::replace(&mut run.env, before));
            } else {
                run.env = before;
            }
            run.muted = muted;
        }
        if self.body(&branch.otherwise, run) {
            ends.push(run.env.clone());
        }
        run.muted = muted;
        run.optional = optional || run.parents.iter().any(|(_, perhaps)| *perhaps);
        let Some(first) = ends.first() else { return false };
        let mut joined = first.clone();
        for end in ends.iter().skip(1) {
            let work = joined.merge(end);
            self.facts.work(1 + work);
        }
        run.env = joined;
        true
    }

    fn for_loop(&mut self, looping: &'a For, run: &mut Run<'a>) {
        let over = self.value(&looping.over, run);
        self.look_at(&over, run.optional);
        let optional = std::mem::replace(&mut run.optional, true);
        let outer = looping.recursive.map(|slots| {
            let env = run.env.clone();
            let inner =
                Env::new(Node(looping).address(), slots, Some(Rc::new(env.clone())), env.context.clone());
            std::mem::replace(&mut run.env, inner)
        });
        let mut element = over.element();
        if looping.recursive.is_some() {
            let cell = Cell::Elements(Node(looping));
            self.feed(cell.clone(), &element);
            element = self.cells.of(&cell).cloned().unwrap_or_default();
        }
        if let Some(test) = &looping.test {
            self.enter(&test.frame, run);
            self.assign(&test.target, &element, run);
            self.tested(&test.expr, run);
        }
        self.enter(&looping.scope.frame, run);
        if let Some(slot) = looping.loop_slot {
            self.set(run, slot.index, loop_value(looping, &element));
        }
        self.assign(&looping.target, &element, run);
        self.body(&looping.scope.body, run);
        if let Some(otherwise) = &looping.otherwise {
            self.scope(otherwise, run);
        }
        if let Some(outer) = outer {
            run.env = outer;
        }
        run.optional = optional;
    }

    fn call_block(&mut self, block: &'a CallBlock, run: &mut Run<'a>) {
        let Kind::Call(call) = &block.call.kind else { return };
        run.defines = true;
        self.facts.work(1);
        let caller = Rc::new(Caller { body: Node(&block.caller), env: run.env.clone() });
        let result = self.call(call, Some(caller), run);
        self.use_whole(&result, run.optional);
    }
}

/// The value of `loop`.
fn loop_value<'a>(looping: &'a For, element: &Value<'a>) -> Value<'a> {
    let near = ["previtem", "nextitem"].map(|name| (name.into(), element.optional()));
    let mut value = Value::members(near, Value::default());
    if looping.recursive.is_some() {
        value.join(&Value::object(Object::Loop(Node(looping))));
    }
    value
}
