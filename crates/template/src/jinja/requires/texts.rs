//! Static analysis of what a text takes from other texts: includes, imports, and blocks of texts that it extends.

use std::rc::Rc;

use smol_str::SmolStr;

use super::env::{Context, overlay};
use super::node::Node;
use super::value::{Object, Value};
use super::{Analysis, Run};
use crate::jinja::ast::*;

/// The names of other texts that an expression may give.
#[derive(Default)]
struct Names<'a> {
    /// The names, and whether each is only one of several.
    literal: Vec<(&'a str, bool)>,
    is_computed: bool,
}

impl<'a> Names<'a> {
    fn of(expr: &'a Expr) -> Names<'a> {
        let mut names = Names::default();
        names.add(expr, false);
        names
    }

    fn add(&mut self, expr: &'a Expr, optional: bool) {
        match &expr.kind {
            Kind::Str(name) => self.literal.push((name, optional)),
            Kind::List(items) | Kind::Tuple(items) => items.iter().for_each(|item| self.add(item, true)),
            Kind::Cond(cond) => {
                self.add(&cond.then, true);
                cond.otherwise.iter().for_each(|otherwise| self.add(otherwise, true));
            }
            _ => self.is_computed = true,
        }
    }
}

impl<'a> Analysis<'a> {
    /// The texts that an expression names, and whether each is used only perhaps.
    fn texts(&mut self, template: &'a Expr, lenient: bool, run: &mut Run<'a>) -> Vec<(&'a Tree, bool)> {
        let names = Names::of(template);
        if !matches!(template.kind, Kind::Str(_)) {
            self.used(template, run);
        }
        if names.is_computed {
            self.facts.computed_template();
        }
        let mut texts = Vec::new();
        for (name, optional) in names.literal {
            self.facts.work(1);
            let optional = optional || lenient || run.optional;
            self.facts.template(name, optional);
            texts.extend((self.find)(name).map(|text| (text, optional)));
        }
        texts
    }

    /// What a text sees that is included or imported with the context.
    fn context_of(&mut self, text: &'a Tree, visible: &[(SmolStr, Slot)], run: &Run<'a>) -> Context<'a> {
        let mut given = run.env.context.all();
        overlay(&mut given, visible.iter().map(|(name, slot)| (name, run.env.get(*slot))));
        let context = Context { given: Rc::new(given), ..Context::new(text, run.env.context.data) };
        self.facts.work(1 + context.weight());
        context
    }

    pub(super) fn include(&mut self, include: &'a Include, run: &mut Run<'a>) {
        for (text, optional) in self.texts(&include.template, include.ignore_missing, run) {
            let context = match include.with_context {
                true => self.context_of(text, &include.visible, run),
                false => Context::new(text, false),
            };
            self.queue_text(text, context, optional, run.call);
        }
    }

    /// Runs a text to import names from it; the value of the module.
    fn module(
        &mut self,
        template: &'a Expr,
        visible: Option<&[(SmolStr, Slot)]>,
        run: &mut Run<'a>,
    ) -> Value<'a> {
        let mut module = Value::default();
        for (text, optional) in self.texts(template, false, run) {
            let context = match visible {
                Some(visible) => self.context_of(text, visible, run),
                None => Context::new(text, false),
            };
            self.queue_text(text, context, optional, run.call);
            self.modules.insert(Node(text));
            module.join(&Value::object(Object::Module(Node(text))));
        }
        module
    }

    pub(super) fn import(&mut self, import: &'a Import, run: &mut Run<'a>) {
        let visible = import.with_context.then_some(import.visible.as_slice());
        let module = self.module(&import.template, visible, run);
        self.set(run, import.slot.index, module);
        if import.exported {
            self.export(&[(import.target.clone(), import.slot)], run);
        }
    }

    pub(super) fn import_names(&mut self, import: &'a FromImport, run: &mut Run<'a>) {
        let visible = import.with_context.then_some(import.visible.as_slice());
        let module = self.module(&import.template, visible, run);
        for (name, alias, slot) in &import.names {
            let value = self.member(&module, name);
            self.set(run, slot.index, value);
            if import.exported {
                self.export(&[(alias.clone(), *slot)], run);
            }
        }
    }

    pub(super) fn extends(&mut self, extends: &'a Extends, run: &mut Run<'a>) {
        // Texts can extend others only at the top level, where all else that is optional is inside of a condition.
        let texts = self.texts(&extends.template, false, run);
        run.muted = true;
        run.parents.extend(texts);
    }

    /// Runs the texts that a text extends.
    pub(super) fn extend(&mut self, run: &mut Run<'a>) {
        for (text, optional) in std::mem::take(&mut run.parents) {
            let mut context = run.env.context.clone();
            if context.texts.contains(&Node(text)) {
                continue;
            }
            self.facts.work(1 + context.weight() + context.texts.len());
            Rc::make_mut(&mut context.texts).push(Node(text));
            context.given = Rc::new(context.all());
            context.exports = Rc::default();
            self.queue_text(text, context, optional, run.call);
        }
    }

    pub(super) fn block(&mut self, call: &'a BlockCall, run: &mut Run<'a>) {
        if run.muted && call.toplevel {
            return;
        }
        let mut context = run.env.context.clone();
        if let Some(visible) = &call.scoped {
            let mut given = context.all();
            overlay(&mut given, visible.iter().map(|(name, slot)| (name, run.env.get(*slot))));
            context.given = Rc::new(given);
            context.exports = Rc::default();
            self.facts.work(1 + context.weight());
        }
        self.queue_block(&call.name, 0, context, run);
    }
}
