//! The names that a text mentions, whether they are reached or not.

use super::env::{CLOCK, GLOBALS};
use crate::jinja::ast::*;
use crate::jinja::builtin::SPECIAL;
use crate::jinja::resolve::bodies;

/// The name of another text, as a text mentions it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TemplateName<'a> {
    /// The name; `None` if it is computed.
    pub name: Option<&'a str>,
    /// Whether the text can do without the other one: `ignore missing`, a list of names, or a condition between names.
    pub lenient: bool,
    /// Where the statement stands.
    pub spot: Spot,
}

/// The names of other texts in the `include`, `import` and `extends` of a text, in their order.
pub(crate) fn template_names(text: &Tree) -> Vec<TemplateName<'_>> {
    let mut found = Vec::new();
    each_stmt(text, &mut |stmt| {
        let (expr, lenient, spot) = match stmt {
            Stmt::Extends(extends) => (&extends.template, false, extends.spot),
            Stmt::Include(include) => (&include.template, include.ignore_missing, include.spot),
            Stmt::Import(import) => (&import.template, false, import.spot),
            Stmt::FromImport(import) => (&import.template, false, import.spot),
            _ => return,
        };
        let mut waiting = vec![(expr, lenient)];
        while let Some((expr, lenient)) = waiting.pop() {
            match &expr.kind {
                Kind::Str(name) => found.push(TemplateName { name: Some(name), lenient, spot }),
                Kind::List(items) | Kind::Tuple(items) => {
                    waiting.extend(items.iter().rev().map(|item| (item, true)));
                }
                // Which one a run chooses is not known before.
                Kind::Cond(cond) => {
                    waiting.extend(cond.otherwise.iter().map(|otherwise| (otherwise, true)));
                    waiting.push((&cond.then, true));
                }
                _ => found.push(TemplateName { name: None, lenient, spot }),
            }
        }
    });
    found
}

/// The names that a text calls, except those of Jinja's functions.
pub(super) fn called(text: &Tree) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    each_stmt(text, &mut |stmt| {
        let mut waiting = exprs(stmt);
        while let Some(expr) = waiting.pop() {
            if let Kind::Call(call) = &expr.kind
                && let Kind::Name { name, .. } = &call.callee.kind
            {
                let is_known = GLOBALS.contains(&name.as_str()) || SPECIAL.contains(&name.as_str());
                found.extend((!is_known || name == CLOCK).then_some(name.as_str()));
            }
            expr.kind.parts(&mut |part| waiting.push(part));
        }
    });
    found
}

/// Calls `visit` with every statement of a text, those of its blocks included.
fn each_stmt<'t>(text: &'t Tree, visit: &mut dyn FnMut(&'t Stmt)) {
    let blocks = text.blocks.iter().map(|block| block.body.as_slice());
    let mut waiting: Vec<&'t [Stmt]> = [text.body.as_slice()].into_iter().chain(blocks).collect();
    waiting.reverse();
    while let Some(body) = waiting.pop() {
        let Some((first, rest)) = body.split_first() else { continue };
        visit(first);
        waiting.push(rest);
        waiting.extend(bodies(first).into_iter().rev());
    }
}

/// The expressions that are directly part of a statement.
fn exprs(stmt: &Stmt) -> Vec<&Expr> {
    match stmt {
        Stmt::Print(expr) | Stmt::Do(expr) => vec![expr],
        Stmt::Set(set) => vec![&set.value],
        Stmt::SetBlock(set) => set.filter.iter().collect(),
        Stmt::If(branch) => branch.arms.iter().map(|(test, _)| test).collect(),
        Stmt::For(looping) => {
            [&looping.over].into_iter().chain(looping.test.as_ref().map(|test| &test.expr)).collect()
        }
        Stmt::With(with) => with.targets.iter().map(|(_, value)| value).collect(),
        Stmt::Macro(definition) => defaults_of(definition).collect(),
        Stmt::CallBlock(block) => [&block.call].into_iter().chain(defaults_of(&block.caller)).collect(),
        Stmt::FilterBlock(block) => vec![&block.filter],
        Stmt::Autoescape(block) => vec![&block.value],
        Stmt::Extends(extends) => vec![&extends.template],
        Stmt::Include(include) => vec![&include.template],
        Stmt::Import(import) => vec![&import.template],
        Stmt::FromImport(import) => vec![&import.template],
        Stmt::Text { .. } | Stmt::Scope(_) | Stmt::Block(_) | Stmt::Break | Stmt::Continue => Vec::new(),
    }
}

fn defaults_of(definition: &Macro) -> impl Iterator<Item = &Expr> {
    definition.params.iter().filter_map(|param| param.default.as_ref())
}
