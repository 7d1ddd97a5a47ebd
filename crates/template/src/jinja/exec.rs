//! Runs statements.

use super::ast::*;
use super::dict::ENTRY_BYTES;
use super::error::Stop;
use super::machine::{Captured, Machine};
use super::val::{MacroValue, Object, Val};

/// What continues after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

impl<'a> Machine<'a> {
    /// Runs statements, up to the end or to a `break` or `continue`.
    pub fn body(&mut self, body: &'a [Stmt]) -> Result<Flow, Stop> {
        for stmt in body {
            self.step()?;
            match stmt {
                Stmt::Text { start, end } if !self.silent => {
                    let text = self.text.source.get(*start as usize..*end as usize);
                    self.write(text.unwrap_or_default())?;
                }
                Stmt::Print(expr) if !self.silent => self.print(expr)?,
                Stmt::Text { .. } | Stmt::Print(_) => {}
                Stmt::If(branch) => match self.branch(branch)? {
                    Flow::Next => {}
                    flow => return Ok(flow),
                },
                Stmt::For(looping) => self.for_loop(looping)?,
                Stmt::Set(set) => {
                    let value = self.eval(&set.value)?;
                    self.assign(&set.target, value)?;
                    self.export(&set.exported)?;
                }
                Stmt::Do(expr) => {
                    self.eval(expr)?;
                }
                Stmt::Break => return Ok(Flow::Break),
                Stmt::Continue => return Ok(Flow::Continue),
                other => match self.scoped(other)? {
                    Flow::Next => {}
                    flow => return Ok(flow),
                },
            }
        }
        Ok(Flow::Next)
    }

    /// Runs a statement that is less frequent.
    fn scoped(&mut self, stmt: &'a Stmt) -> Result<Flow, Stop> {
        match stmt {
            Stmt::With(with) => return self.with(with),
            Stmt::Scope(scope) => return self.scope(scope),
            Stmt::SetBlock(set) => return self.set_block(set),
            Stmt::FilterBlock(block) => return self.filter_block(block),
            Stmt::Autoescape(block) => return self.autoescape(block),
            Stmt::Macro(definition) => self.define(definition)?,
            Stmt::CallBlock(block) => self.call_block(block)?,
            Stmt::Block(call) => self.block(call)?,
            Stmt::Extends(extends) => self.extends(extends)?,
            Stmt::Include(include) => self.include(include)?,
            Stmt::Import(import) => self.import(import)?,
            Stmt::FromImport(import) => self.import_names(import)?,
            _ => {}
        }
        Ok(Flow::Next)
    }

    /// Gives the variables of a scope their first values.
    pub fn enter(&mut self, frame: &'a Frame) -> Result<(), Stop> {
        frame.loads.iter().try_for_each(|load| self.load(load))
    }

    /// Gives those variables their first values again that a turn of a loop may have changed.
    pub fn enter_again(&mut self, frame: &'a Frame) -> Result<(), Stop> {
        frame.loads.iter().filter(|load| load.again).try_for_each(|load| self.load(load))
    }

    #[inline]
    fn load(&mut self, load: &'a Load) -> Result<(), Stop> {
        let value = match &load.from {
            LoadFrom::Context(name) => self.resolve(name)?,
            LoadFrom::Slot(slot) => self.slot(*slot),
            LoadFrom::Unset => Val::Unset,
        };
        self.set_slot(Slot { up: 0, index: load.slot }, value);
        Ok(())
    }

    /// Takes the values of a scope's variables away, as Jinja2 does for macros that still see them.
    pub fn leave(&mut self, frame: &Frame) {
        for load in &frame.loads {
            self.set_slot(Slot { up: 0, index: load.slot }, Val::Unset);
        }
    }

    fn scope(&mut self, scope: &'a Scope) -> Result<Flow, Stop> {
        self.enter(&scope.frame)?;
        let flow = self.body(&scope.body)?;
        self.leave(&scope.frame);
        Ok(flow)
    }

    fn branch(&mut self, branch: &'a If) -> Result<Flow, Stop> {
        for (test, body) in &branch.arms {
            if self.test(test)? {
                return self.body(body);
            }
        }
        self.body(&branch.otherwise)
    }

    /// The exported names get their new values.
    fn export(&mut self, exported: &'a [(smol_str::SmolStr, Slot)]) -> Result<(), Stop> {
        for (name, slot) in exported {
            self.context.set(name, self.slot(*slot), !name.starts_with('_'));
            self.work_items(self.context.vars.borrow().len() / 16)?;
        }
        Ok(())
    }

    /// Assigns a value.
    pub fn assign(&mut self, target: &'a Target, value: Val<'a>) -> Result<(), Stop> {
        match target {
            Target::Name { slot, .. } => self.set_slot(*slot, value),
            Target::Attr { slot, attr, spot, .. } => {
                let Val::Namespace(members) = self.slot(*slot) else {
                    self.at = *spot;
                    return Err(self.fail("cannot assign attribute on non-namespace object"));
                };
                self.charge(ENTRY_BYTES)?;
                members.borrow_mut().insert_str(attr, value);
            }
            Target::Tuple(items, spot) => self.unpack(items, value, *spot)?,
        }
        Ok(())
    }

    fn unpack(&mut self, targets: &'a [Target], value: Val<'a>, spot: Spot) -> Result<(), Stop> {
        let value = self.settle(value, spot)?;
        self.at = spot;
        if matches!(value, Val::Gap) {
            return targets.iter().try_for_each(|target| self.assign(target, Val::Gap));
        }
        if let Val::Tuple(tuple) = value
            && tuple.items.len() == targets.len()
        {
            let mut pairs = targets.iter().zip(tuple.items);
            return pairs.try_for_each(|(target, item)| self.assign(target, *item));
        }
        let mut source = match self.iterate(value) {
            Ok(source) => source,
            Err(_) if !self.is_iterable(value) => {
                return Err(self.fail(format!("cannot unpack non-iterable {} object", value.type_name())));
            }
            Err(stop) => return Err(stop),
        };
        let mut items = Vec::with_capacity(targets.len());
        while let Some(item) = self.advance(&mut source)? {
            if items.len() == targets.len() {
                return Err(self.fail(format!("too many values to unpack (expected {})", targets.len())));
            }
            items.push(item);
        }
        if items.len() < targets.len() {
            let (wanted, got) = (targets.len(), items.len());
            return Err(self.fail(format!("not enough values to unpack (expected {wanted}, got {got})")));
        }
        targets.iter().zip(items).try_for_each(|(target, item)| self.assign(target, item))
    }

    /// Runs `inner` and takes what it writes as a value: a text, or a pending result if one is part of it.
    pub fn captured(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Flow, Stop>,
    ) -> Result<(Flow, Val<'a>), Stop> {
        let outer = std::mem::take(&mut self.out);
        let outer_capture = self.capture.replace(Captured { pending: None });
        let result = inner(self);
        let text = std::mem::replace(&mut self.out, outer);
        let captured = std::mem::replace(&mut self.capture, outer_capture);
        let flow = result?;
        let value = match captured.and_then(|captured| captured.pending) {
            Some(call) => Val::Pending(call),
            None => self.text_or_markup(&text)?,
        };
        Ok((flow, value))
    }

    /// A text that was captured: it is not escaped again.
    fn text_or_markup(&mut self, text: &str) -> Result<Val<'a>, Stop> {
        let text = self.alloc_str(text)?;
        Ok(if self.escapes { Val::Markup(text) } else { Val::Str(text) })
    }

    /// The same, in a text whose output an `extends` does not hide.
    pub fn captured_apart(
        &mut self,
        inner: impl FnOnce(&mut Self) -> Result<Flow, Stop>,
    ) -> Result<(Flow, Val<'a>), Stop> {
        let silent = std::mem::replace(&mut self.silent, false);
        let result = self.captured(inner);
        self.silent = silent;
        result
    }

    fn with(&mut self, with: &'a With) -> Result<Flow, Stop> {
        let mut values = smallvec::SmallVec::<[Val<'a>; 4]>::new();
        for (_, value) in &with.targets {
            values.push(self.eval(value)?);
        }
        self.enter(&with.scope.frame)?;
        for ((target, _), value) in with.targets.iter().zip(values) {
            self.assign(target, value)?;
        }
        let flow = self.body(&with.scope.body)?;
        self.leave(&with.scope.frame);
        Ok(flow)
    }

    fn set_block(&mut self, set: &'a SetBlock) -> Result<Flow, Stop> {
        self.enter(&set.scope.frame)?;
        let (flow, mut value) = self.captured_apart(|machine| machine.body(&set.scope.body))?;
        if flow != Flow::Next {
            return Ok(flow);
        }
        if let Some(filter) = &set.filter {
            value = self.filtered(filter, value)?;
        }
        self.assign(&set.target, value)?;
        self.leave(&set.scope.frame);
        self.export(&set.exported)?;
        Ok(flow)
    }

    /// Evaluates a chain of filters over a captured text.
    fn filtered(&mut self, filter: &'a Expr, captured: Val<'a>) -> Result<Val<'a>, Stop> {
        let outer = std::mem::replace(&mut self.captured_value, captured);
        let value = self.eval(filter);
        self.captured_value = outer;
        value
    }

    fn filter_block(&mut self, block: &'a FilterBlock) -> Result<Flow, Stop> {
        self.enter(&block.scope.frame)?;
        let (flow, captured) = self.captured(|machine| machine.body(&block.scope.body))?;
        if flow != Flow::Next {
            return Ok(flow);
        }
        let value = self.filtered(&block.filter, captured)?;
        self.print_text(value, block.filter.spot)?;
        self.leave(&block.scope.frame);
        Ok(flow)
    }

    /// Prints the result of a filter block or a call block, which Jinja2 writes as it is: it has to be a text.
    fn print_text(&mut self, value: Val<'a>, spot: Spot) -> Result<(), Stop> {
        match self.settle(value, spot) {
            Ok(Val::Str(text) | Val::Markup(text)) => self.write(text),
            Ok(Val::Gap) | Err(_) if matches!(value, Val::Gap | Val::Pending(_)) => {
                self.print_value(value, spot)
            }
            Ok(Val::Gap) => Ok(()),
            Ok(other) => {
                self.at = spot;
                Err(self.fail(format!("expected a text, found a value of the type '{}'", other.type_name())))
            }
            Err(stop) => Err(stop),
        }
    }

    fn autoescape(&mut self, block: &'a Autoescape) -> Result<Flow, Stop> {
        self.enter(&block.scope.frame)?;
        let escapes = self.test(&block.value)?;
        let outer = std::mem::replace(&mut self.escapes, escapes);
        let result = self.body(&block.scope.body);
        self.escapes = outer;
        self.leave(&block.scope.frame);
        result
    }

    /// Makes a macro.
    fn macro_value(&mut self, definition: &'a Macro, anonymous: bool) -> Result<Val<'a>, Stop> {
        self.object(Object::Macro(MacroValue {
            definition,
            anonymous,
            outer: self.here,
            text: self.text,
            context: self.context,
            escapes: self.escapes,
        }))
    }

    fn define(&mut self, definition: &'a Macro) -> Result<(), Stop> {
        let value = self.macro_value(definition, false)?;
        self.set_slot(definition.slot, value);
        if definition.exported {
            self.context.set(&definition.name, value, !definition.name.starts_with('_'));
        }
        Ok(())
    }

    fn call_block(&mut self, block: &'a CallBlock) -> Result<(), Stop> {
        let caller = self.macro_value(&block.caller, true)?;
        let Kind::Call(call) = &block.call.kind else { return Ok(()) };
        let value = self.call_with(call, &block.call, Some(caller))?;
        self.print_text(value, block.call.spot)
    }
}
