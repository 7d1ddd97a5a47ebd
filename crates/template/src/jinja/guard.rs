//! Rewrites the operators that can build or search without bound to filters that know the limits.
//!
//! The rewriting inserts text into the source (never a line break), and remembers where, so that
//! places can be reported as the author wrote them. What is inserted before an expression is only
//! ever an opening bracket: brackets around an expression are not part of its syntax node, so the
//! insertion may land inside of them, and there one bracket is as good as another:
//! `(a) ~ (b)` becomes `((a) )|__c( (b))`.

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, CompareOpKind, Expr, Macro, Stmt, UnaryOpKind};

use super::engine;
use super::operators::{
    ADD, CONCAT, EACH, IN, INCLUDE, KEEP, LOOK, MUL, NOT_IN, NUMBER, PATIENT, READ, SPREAD, STORE, USE,
    WRITTEN,
};
use super::pending::{Patience, patient_calls};
use super::source::{check_guarded, position};
use super::tree::{argument, bodies, end, is_literal, is_number, is_scalar, parts, plain_text, start};
use crate::CompileError;

/// Macros and blocks of less plain text than this (in bytes) need no accounting of their own: a call
/// costs as much as writing it.
const TEXT_WORTH_COUNTING: usize = 256;

/// A template's text with every unbounded operator replaced.
#[derive(Debug)]
pub(super) struct Guarded {
    /// The text for the engine.
    pub text: String,
    /// The bytes of plain text that it writes each time it is included.
    pub plain: usize,
    /// For each insertion: where the text after it starts, in `text` and in the original.
    places: Vec<(usize, usize)>,
}

impl Guarded {
    /// The offset in the original text of an offset in the rewritten one.
    pub fn original(&self, offset: usize) -> usize {
        let after = self.places.partition_point(|(new, _)| *new <= offset);
        let before = after.checked_sub(1).and_then(|at| self.places.get(at));
        let limit = self.places.get(after).map_or(usize::MAX, |(_, old)| *old);
        before.map_or(offset, |(new, old)| offset - new + old).min(limit)
    }
}

/// Rewrites a template, of which `tree` is the syntax tree.
///
/// # Errors
/// If an operator cannot be bounded, or the result would nest too deep to be parsed.
pub(super) fn guard(
    name: &str,
    text: &str,
    tree: &Stmt<'_>,
    patience: &Patience<'_>,
) -> Result<Guarded, CompileError> {
    let mut guard = Guard { text, name, patience, edits: Vec::new(), recursive: Vec::new() };
    guard.stmt(tree)?;
    let edited = !guard.edits.is_empty();
    let mut guarded = guard.apply();
    guarded.plain = bodies(tree).into_iter().map(plain_text).sum();
    if edited {
        check_guarded(name, &guarded.text).map_err(|error| unguardable(error, &guarded, name, text))?;
    }
    Ok(guarded)
}

fn unguardable(error: CompileError, guarded: &Guarded, name: &str, text: &str) -> CompileError {
    let CompileError::Invalid { message, position: Some(place) } = error else { return error };
    let line_start: usize =
        guarded.text.split_inclusive('\n').take(place.line.saturating_sub(1)).map(str::len).sum();
    let line = guarded.text.get(line_start..).unwrap_or_default();
    let column = place.column.unwrap_or(1).saturating_sub(1);
    let within = line.char_indices().nth(column).map_or(0, |(at, _)| at);
    let at = guarded.original(line_start + within);
    let message = format!("the expression here is too complex; split it up ({message})");
    CompileError::Invalid { message, position: Some(position(name, text, at)) }
}

struct Edit {
    at: usize,
    remove: usize,
    insert: String,
}

struct Guard<'a> {
    text: &'a str,
    name: &'a str,
    patience: &'a Patience<'a>,
    edits: Vec<Edit>,
    /// The plain text of each turn of the recursive loops around the current place.
    recursive: Vec<usize>,
}

impl Guard<'_> {
    fn insert(&mut self, at: usize, text: impl Into<String>) {
        self.edits.push(Edit { at, remove: 0, insert: text.into() });
    }

    /// Puts a filter around an expression whose parts are guarded already.
    fn wrap(&mut self, expr: &Expr<'_>, filter: &str) {
        self.insert(start(self.text, expr), "(");
        self.insert(end(expr), format!(")|{filter}"));
    }

    fn impossible(&self, at: usize, what: &str) -> CompileError {
        let message = format!("{what}; add brackets or split the expression up");
        CompileError::Invalid { message, position: Some(position(self.name, self.text, at)) }
    }

    fn body(&mut self, body: &[Stmt<'_>]) -> Result<(), CompileError> {
        body.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) -> Result<(), CompileError> {
        match stmt {
            Stmt::EmitExpr(node) => {
                self.be_patient(&node.expr);
                return self.expr(&node.expr);
            }
            Stmt::ForLoop(node) => {
                self.expr(&node.iter)?;
                node.filter_expr.iter().try_for_each(|filter| self.expr(filter))?;
                let plain = plain_text(&node.body);
                self.wrap(&node.iter, &format!("{EACH}({plain})"));
                if node.recursive {
                    self.recursive.push(plain);
                    self.body(&node.body)?;
                    self.recursive.pop();
                    return self.body(&node.else_body);
                }
            }
            Stmt::IfCond(node) => self.expr(&node.expr)?,
            Stmt::WithBlock(node) => {
                for (target, value) in &node.assignments {
                    self.assigned(target, value, KEEP)?;
                }
            }
            Stmt::Set(node) => {
                let filter = if sets_a_member(&node.target) { STORE } else { KEEP };
                return self.assigned(&node.target, &node.expr, filter);
            }
            Stmt::SetBlock(node) => node.filter.iter().try_for_each(|filter| self.expr(filter))?,
            Stmt::AutoEscape(node) => self.expr(&node.enabled)?,
            Stmt::FilterBlock(node) => self.expr(&node.filter)?,
            Stmt::Block(node) => self.account(&node.body, node.span().end_offset as usize),
            Stmt::Import(node) => return self.included(&node.expr),
            Stmt::FromImport(node) => return self.included(&node.expr),
            Stmt::Include(node) => return self.included(&node.name),
            Stmt::Extends(node) => return self.included(&node.name),
            Stmt::Macro(node) => self.declaration(node, node.span().end_offset as usize)?,
            Stmt::CallBlock(node) => {
                self.call_by_name(&node.call)?;
                self.declaration(&node.macro_decl, node.span().end_offset as usize)?;
            }
            Stmt::Do(node) => return self.call_by_name(&node.call),
            Stmt::Template(_) | Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
        }
        bodies(stmt).into_iter().try_for_each(|body| self.body(body))
    }

    fn declaration(&mut self, node: &Macro<'_>, end: usize) -> Result<(), CompileError> {
        node.defaults.iter().try_for_each(|value| self.stored(value, KEEP))?;
        self.account(&node.body, end);
        Ok(())
    }

    /// Accounts for the plain text of a body that can be called, just before the tag that ends it
    /// (`end` is in that tag). A dash that trims the text before the tag is kept in effect.
    fn account(&mut self, body: &[Stmt<'_>], end: usize) {
        let plain = plain_text(body);
        let Some(tag) = self.text.get(..end).and_then(|before| before.rfind("{%")) else { return };
        if plain >= TEXT_WORTH_COUNTING {
            let dash = if self.text.get(tag..).is_some_and(|tag| tag.starts_with("{%-")) { "-" } else { "" };
            self.insert(tag, format!("{{{{{dash} {plain}|{WRITTEN} }}}}"));
        }
    }

    fn included(&mut self, name: &Expr<'_>) -> Result<(), CompileError> {
        self.expr(name)?;
        self.wrap(name, INCLUDE);
        Ok(())
    }

    /// Lets the calls in an expression take their time whose results go nowhere but into what the expression gives.
    fn be_patient(&mut self, expr: &Expr<'_>) {
        let mut calls = Vec::new();
        patient_calls(expr, &mut calls);
        for function in calls {
            self.insert(start(self.text, function), "(");
            self.insert(end(function), format!("|{PATIENT})"));
        }
    }

    fn assigned(&mut self, target: &Expr<'_>, value: &Expr<'_>, filter: &str) -> Result<(), CompileError> {
        if self.patience.covers(target) {
            self.be_patient(value);
        }
        self.stored(value, filter)
    }

    /// A value that gets a name.
    fn stored(&mut self, value: &Expr<'_>, filter: &str) -> Result<(), CompileError> {
        self.expr(value)?;
        let is_text = matches!(value, Expr::BinOp(op) if matches!(op.op, BinOpKind::Concat));
        let is_path = matches!(value, Expr::Var(_) | Expr::GetAttr(_)) && filter == KEEP;
        if !(is_literal(value) || is_scalar(value) || is_text || is_path) {
            self.wrap(value, filter);
        }
        Ok(())
    }

    fn expr(&mut self, expr: &Expr<'_>) -> Result<(), CompileError> {
        match expr {
            Expr::BinOp(op) => match op.op {
                BinOpKind::Concat => return self.chain(expr, op.op, CONCAT, "~"),
                BinOpKind::Add if !is_scalar(expr) => return self.chain(expr, op.op, ADD, "+"),
                BinOpKind::Mul if !is_scalar(expr) => return self.operator(&op.left, &op.right, "*", MUL),
                BinOpKind::In => return self.operator(&op.left, &op.right, "in", IN),
                BinOpKind::Eq
                | BinOpKind::Ne
                | BinOpKind::Lt
                | BinOpKind::Lte
                | BinOpKind::Gt
                | BinOpKind::Gte => {
                    self.operand(&op.left)?;
                    return self.operand(&op.right);
                }
                BinOpKind::ScAnd | BinOpKind::ScOr => {}
                _ => {
                    self.number(&op.left)?;
                    return self.number(&op.right);
                }
            },
            Expr::UnaryOp(minus) if matches!(minus.op, UnaryOpKind::Neg) => return self.number(&minus.expr),
            Expr::UnaryOp(not) if matches!(not.op, UnaryOpKind::Not) => {
                if let Expr::BinOp(op) = &not.expr
                    && matches!(op.op, BinOpKind::In)
                    && self.gap(&op.left, &op.right).contains("not")
                {
                    return self.operator(&op.left, &op.right, "not in", NOT_IN);
                }
            }
            Expr::Compare(chain) => {
                if chain.ops.iter().any(|op| matches!(op.op, CompareOpKind::In | CompareOpKind::NotIn)) {
                    return Err(self.impossible(
                        start(self.text, expr),
                        "`in` cannot be part of a chain of comparisons",
                    ));
                }
                return parts(expr).into_iter().try_for_each(|operand| self.operand(operand));
            }
            Expr::Call(call) => return self.call(call),
            Expr::Var(var) if self.patience.waits_for(var.id) => {
                self.insert(start(self.text, expr), "((");
                self.insert(end(expr), format!(")|{READ})"));
            }
            _ => {}
        }
        parts(expr).into_iter().try_for_each(|part| self.expr(part))?;
        match expr {
            Expr::Filter(filter) => {
                self.exists(filter.name, engine::has_filter, "filter", expr)?;
                self.spread(&filter.args);
            }
            Expr::Test(test) => {
                self.exists(test.name, engine::has_test, "test", expr)?;
                self.spread(&test.args);
            }
            Expr::Slice(slice) => self.base(&slice.expr),
            Expr::GetItem(item) if !is_literal(&item.subscript_expr) || is_number(&item.subscript_expr) => {
                self.base(&item.expr);
            }
            _ => {}
        }
        Ok(())
    }

    /// Sees that the engine knows a filter or test, which it does not until it runs.
    fn exists(
        &self,
        name: &str,
        known: fn(&str) -> bool,
        what: &str,
        expr: &Expr<'_>,
    ) -> Result<(), CompileError> {
        // Names of our own that the rewriting uses are not for authors.
        if known(name) && !name.starts_with("__") {
            return Ok(());
        }
        let message = format!("there is no {what} `{name}`");
        let position = Some(position(self.name, self.text, expr.span().start_offset as usize));
        Err(CompileError::Invalid { message, position })
    }

    fn call(&mut self, call: &Call<'_>) -> Result<(), CompileError> {
        self.expr(&call.expr)?;
        self.arguments(call)
    }

    /// A call where the grammar wants a plain name; one that stands for a result which is not known yet ends the run by
    /// itself when it is called.
    fn call_by_name(&mut self, call: &Call<'_>) -> Result<(), CompileError> {
        if !matches!(call.expr, Expr::Var(_)) {
            self.expr(&call.expr)?;
        }
        self.arguments(call)
    }

    fn arguments(&mut self, call: &Call<'_>) -> Result<(), CompileError> {
        let calls = |name: &str| matches!(&call.expr, Expr::Var(var) if var.id == name);
        let (recursion, range) = (calls("loop"), calls("range"));
        for arg in &call.args {
            let value = argument(arg);
            if let (true, CallArg::Pos(_)) = (range, arg) {
                self.number(value)?;
                continue;
            }
            self.expr(value)?;
            if let (true, CallArg::Pos(_), Some(plain)) = (recursion, arg, self.recursive.last().copied()) {
                self.wrap(value, &format!("{EACH}({plain})"));
            } else if matches!(arg, CallArg::PosSplat(_) | CallArg::KwargSplat(_)) {
                self.wrap(value, SPREAD);
            } else if matches!(value, Expr::List(_) | Expr::Tuple(_) | Expr::Map(_)) && !is_literal(value) {
                self.wrap(value, KEEP);
            }
        }
        Ok(())
    }

    fn spread(&mut self, args: &[CallArg<'_>]) {
        for arg in args {
            if let CallArg::PosSplat(value) | CallArg::KwargSplat(value) = arg
                && !is_literal(value)
            {
                self.insert(start(self.text, value), "((");
                self.insert(end(value), format!(")|{SPREAD})"));
            }
        }
    }

    /// An operand of a comparison, or the thing that is looked into.
    fn operand(&mut self, operand: &Expr<'_>) -> Result<(), CompileError> {
        self.expr(operand)?;
        if is_used(operand) {
            self.wrap(operand, USE);
        } else if matches!(operand, Expr::BinOp(op) if matches!(op.op, BinOpKind::Mul | BinOpKind::Add)) {
            // A list that was made just now is there, but may be long to compare.
            self.insert(start(self.text, operand), "((");
            self.insert(end(operand), format!(")|{USE})"));
        }
        Ok(())
    }

    /// An operand of arithmetic that the engine does by itself.
    fn number(&mut self, operand: &Expr<'_>) -> Result<(), CompileError> {
        self.expr(operand)?;
        if is_used(operand) {
            // A sign before it binds tighter than a filter after it.
            self.insert(start(self.text, operand), "((");
            self.insert(end(operand), format!(")|{NUMBER})"));
        }
        Ok(())
    }

    fn base(&mut self, base: &Expr<'_>) {
        if is_used(base) {
            self.insert(start(self.text, base), "((");
            self.insert(end(base), format!(")|{LOOK})"));
        }
    }

    /// A chain of one operator, which groups to the left: `a ~ b ~ c`.
    fn chain(
        &mut self,
        expr: &Expr<'_>,
        op: BinOpKind,
        filter: &str,
        sign: &str,
    ) -> Result<(), CompileError> {
        let mut operands = Vec::new();
        let mut left = expr;
        while let Expr::BinOp(node) = left
            && std::mem::discriminant(&node.op) == std::mem::discriminant(&op)
            && !is_scalar(left)
        {
            operands.push(&node.right);
            left = &node.left;
            // A chain in brackets is an operand by itself: `(a ~ b) ~ c`.
            if self.gap(left, &node.right).trim_start().starts_with(')') {
                break;
            }
        }
        operands.push(left);
        operands.reverse();
        self.apply_operator(&operands, sign, filter)
    }

    fn operator(
        &mut self,
        left: &Expr<'_>,
        right: &Expr<'_>,
        sign: &str,
        filter: &str,
    ) -> Result<(), CompileError> {
        self.apply_operator(&[left, right], sign, filter)
    }

    /// Turns `a OP b OP c` into `(a)|filter(b, c)`.
    fn apply_operator(
        &mut self,
        operands: &[&Expr<'_>],
        sign: &str,
        filter: &str,
    ) -> Result<(), CompileError> {
        let (Some(first), Some(last)) = (operands.first(), operands.last()) else { return Ok(()) };
        operands.iter().try_for_each(|operand| self.expr(operand))?;
        self.insert(start(self.text, first), "(");
        for (at, pair) in operands.windows(2).enumerate() {
            let &[left, right] = pair else { continue };
            let insert = if at == 0 { format!(")|{filter}(") } else { ",".to_owned() };
            self.replace_sign(left, right, sign, insert)?;
        }
        self.insert(end(last), ")");
        Ok(())
    }

    fn gap(&self, left: &Expr<'_>, right: &Expr<'_>) -> &str {
        self.text.get(end(left)..start(self.text, right)).unwrap_or_default()
    }

    /// Replaces the sign between two operands, where only brackets and space may be beside it.
    fn replace_sign(
        &mut self,
        left: &Expr<'_>,
        right: &Expr<'_>,
        sign: &str,
        insert: String,
    ) -> Result<(), CompileError> {
        let gap = self.gap(left, right);
        let outer = |c: char| c.is_whitespace() || c == '(' || c == ')';
        let found = gap.trim_matches(outer);
        if found.split_whitespace().collect::<Vec<_>>().join(" ") != sign {
            return Err(self.impossible(end(left), &format!("the operator {sign} cannot be bounded here")));
        }
        let at = end(left) + gap.find(found).unwrap_or(0);
        self.edits.push(Edit { at, remove: found.len(), insert });
        Ok(())
    }

    fn apply(mut self) -> Guarded {
        // Stable: of insertions at one place, that of an inner expression comes first.
        self.edits.sort_by_key(|edit| edit.at);
        let mut text = String::with_capacity(self.text.len() + self.edits.len() * 8);
        let mut places = Vec::with_capacity(self.edits.len());
        let mut done = 0;
        for edit in &self.edits {
            text.push_str(self.text.get(done..edit.at).unwrap_or_default());
            text.push_str(&edit.insert);
            done = edit.at + edit.remove;
            places.push((text.len(), done));
        }
        text.push_str(self.text.get(done..).unwrap_or_default());
        Guarded { text, plain: 0, places }
    }
}

/// Whether an assignment changes a namespace.
fn sets_a_member(target: &Expr<'_>) -> bool {
    match target {
        Expr::GetAttr(_) => true,
        Expr::List(list) => list.items.iter().any(sets_a_member),
        _ => false,
    }
}

/// Whether using an expression may cost time, or find a missing value.
fn is_used(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Var(_) | Expr::GetAttr(_) => !is_scalar(expr),
        Expr::GetItem(_) | Expr::Slice(_) | Expr::Call(_) | Expr::IfExpr(_) => true,
        Expr::BinOp(op) => matches!(op.op, BinOpKind::ScAnd | BinOpKind::ScOr),
        _ => false,
    }
}
