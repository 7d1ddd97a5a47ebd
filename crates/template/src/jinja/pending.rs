//! Results that are not known yet: where they may go, and what ends the run.
//!
//! A run whose calls are not answered yet goes on, so that it finds more calls to make at the same time, but only for
//! as long as no answer could change anything but the text. The engine does not tell who looks at a value, so that the
//! place of a call decides, which [`guard`](super::guard) sees in the syntax tree:
//!
//! - A call that is printed as it stands (`{{ f(x) }}`, also as a part of `~` or a branch of `a if c else b`) is made
//!   patient by a filter around the function's name. Its result is a [`Pending`], which reaches nothing but the
//!   formatter; and that ends the run if what it prints is captured (by a macro, a `set` or `filter` block …).
//! - A call whose result gets a name (`{% set a = f(x) %}`, `{% with a = f(x) %}`) in the template's own text is
//!   patient too, and wherever any of its texts reads such a name, a filter ends the run. In a partial it is not: a
//!   module hands its names out unseen.
//! - Any other call whose result is not known ends the run at once.

use std::collections::BTreeSet;
use std::sync::Arc;

use minijinja::machinery::ast::{BinOpKind, Expr, Stmt};
use minijinja::value::{Object, ObjectRepr};
use minijinja::{Error, Output, State, Value as Engine};

use super::requires::RESERVED;
use super::root::GLOBALS;
use super::run;
use super::tree::bodies;
use crate::RunError;

/// The result of a call that is not known yet.
#[derive(Debug)]
pub(super) struct Pending {
    call: usize,
}

impl Pending {
    /// Stands for the result of a call, by its number.
    pub fn result_of(call: usize) -> Engine {
        run::note_pending();
        Engine::from_object(Pending { call })
    }
}

impl Object for Pending {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, _: &[Engine]) -> Result<Engine, Error> {
        Err(needed(self.call))
    }

    fn call_method(self: &Arc<Self>, _: &mut State<'_, '_>, _: &str, _: &[Engine]) -> Result<Engine, Error> {
        Err(needed(self.call))
    }
}

/// The number of the call whose result the value stands for.
pub(super) fn call_of(value: &Engine) -> Option<usize> {
    value.downcast_object_ref::<Pending>().map(|pending| pending.call)
}

/// Ends the run of this thread, because it cannot go on without the result of a call.
pub(super) fn needed(call: usize) -> Error {
    run::end(RunError::Pending { needed: Some(call) })
}

/// The value of a name that is read, if it is known.
pub(super) fn read(value: &Engine) -> Result<Engine, Error> {
    match call_of(value) {
        Some(call) => Err(needed(call)),
        None => Ok(value.clone()),
    }
}

/// Prints a result that is not known yet: nothing, if what is printed becomes a part of the text as it is.
pub(super) fn print(out: &mut Output<'_>, call: usize) -> Result<(), Error> {
    match run::reaches_text(out) {
        true => Ok(()),
        false => Err(needed(call)),
    }
}

/// What a text may do with results that are not known yet.
pub(super) struct Patience<'n> {
    /// The names that may stand for one.
    pub names: &'n BTreeSet<String>,
    /// Whether this is the template's own text.
    pub own: bool,
}

impl Patience<'_> {
    /// Whether a result may be given to `target` before it is known.
    pub fn covers(&self, target: &Expr<'_>) -> bool {
        self.own && matches!(target, Expr::Var(var) if self.names.contains(var.id))
    }

    /// Whether the name may stand for a result that is not known yet.
    pub fn waits_for(&self, name: &str) -> bool {
        self.names.contains(name)
    }
}

/// The names of functions that are called in an expression and whose results go nowhere but into what it gives.
pub(super) fn patient_calls<'t, 's>(expr: &'t Expr<'s>, found: &mut Vec<&'t Expr<'s>>) {
    match expr {
        Expr::Call(call) => match &call.expr {
            Expr::Var(var) if !GLOBALS.contains(&var.id) && !RESERVED.contains(&var.id) => {
                found.push(&call.expr);
            }
            _ => {}
        },
        Expr::IfExpr(branch) => {
            patient_calls(&branch.true_expr, found);
            branch.false_expr.iter().for_each(|other| patient_calls(other, found));
        }
        Expr::BinOp(op) if matches!(op.op, BinOpKind::Concat) => {
            patient_calls(&op.left, found);
            patient_calls(&op.right, found);
        }
        _ => {}
    }
}

/// The names that the template's own text gives to results of calls, but for those whose members it sets: that reads
/// a name where no filter can stand.
pub(super) fn pending_names(tree: &Stmt<'_>) -> BTreeSet<String> {
    let (mut names, mut changed) = (BTreeSet::new(), BTreeSet::new());
    collect(tree, &mut names, &mut changed);
    &names - &changed
}

fn collect(stmt: &Stmt<'_>, names: &mut BTreeSet<String>, changed: &mut BTreeSet<String>) {
    if let Stmt::Set(node) = stmt
        && let Expr::GetAttr(member) = &node.target
        && let Expr::Var(var) = &member.expr
    {
        changed.insert(var.id.to_owned());
    }
    let mut assigned = |target: &Expr<'_>, value: &Expr<'_>| {
        let mut calls = Vec::new();
        patient_calls(value, &mut calls);
        if let (Expr::Var(var), false) = (target, calls.is_empty()) {
            names.insert(var.id.to_owned());
        }
    };
    match stmt {
        Stmt::Set(node) => assigned(&node.target, &node.expr),
        Stmt::WithBlock(node) => {
            node.assignments.iter().for_each(|(target, value)| assigned(target, value));
        }
        _ => {}
    }
    bodies(stmt).into_iter().flatten().for_each(|stmt| collect(stmt, names, changed));
}
