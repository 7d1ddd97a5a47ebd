//! Reading the engine's syntax tree: where expressions stand, and what they are made of.

use minijinja::machinery::ast::{BinOpKind, CallArg, Expr, Stmt, UnaryOpKind};

/// What a loop knows about itself that is a number or a truth value.
const LOOP_SCALARS: [&str; 9] =
    ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0"];

/// Where the text of an expression starts.
///
/// The spans of the parser start in the middle for everything that continues an expression, so the
/// start is that of the leftmost part. Brackets around a part do not count; see
/// [`guard`](super::guard) on why that does no harm.
pub(super) fn start(text: &str, expr: &Expr<'_>) -> usize {
    let mut expr = expr;
    loop {
        expr = match expr {
            Expr::BinOp(op) => &op.left,
            Expr::Compare(chain) => &chain.expr,
            Expr::IfExpr(branch) => &branch.true_expr,
            Expr::GetAttr(field) => &field.expr,
            Expr::GetItem(item) => &item.expr,
            Expr::Slice(slice) => &slice.expr,
            Expr::Call(call) => &call.expr,
            Expr::Test(test) => &test.expr,
            Expr::UnaryOp(op) if matches!(op.op, UnaryOpKind::Not) && !is_prefix(text, expr, &op.expr) => {
                &op.expr
            }
            Expr::Filter(filter) => match &filter.expr {
                Some(inner) => inner,
                None => return expr.span().start_offset as usize,
            },
            Expr::Tuple(tuple) => {
                let own = tuple.span().start_offset as usize;
                return tuple.items.first().map_or(own, |first| own.min(start(text, first)));
            }
            Expr::Var(_) | Expr::Const(_) | Expr::UnaryOp(_) | Expr::List(_) | Expr::Map(_) => {
                return expr.span().start_offset as usize;
            }
        }
    }
}

/// Whether a negation is written before its operand, and not as `not in` or `is not`.
fn is_prefix(text: &str, negation: &Expr<'_>, operand: &Expr<'_>) -> bool {
    let at = negation.span().start_offset as usize;
    at < start(text, operand) && text.get(at..).is_some_and(|rest| rest.starts_with("not"))
}

/// Where the text of an expression ends.
pub(super) fn end(expr: &Expr<'_>) -> usize {
    expr.span().end_offset as usize
}

/// The parts of an expression that are expressions, in the order of the text.
pub(super) fn parts<'t, 's>(expr: &'t Expr<'s>) -> Vec<&'t Expr<'s>> {
    match expr {
        Expr::Var(_) | Expr::Const(_) => Vec::new(),
        Expr::Slice(slice) => std::iter::once(&slice.expr)
            .chain([&slice.start, &slice.stop, &slice.step].into_iter().flatten())
            .collect(),
        Expr::UnaryOp(op) => vec![&op.expr],
        Expr::BinOp(op) => vec![&op.left, &op.right],
        Expr::Compare(chain) => {
            std::iter::once(&chain.expr).chain(chain.ops.iter().map(|op| &op.expr)).collect()
        }
        Expr::IfExpr(branch) => {
            [Some(&branch.true_expr), Some(&branch.test_expr), branch.false_expr.as_ref()]
                .into_iter()
                .flatten()
                .collect()
        }
        Expr::Filter(filter) => filter.expr.iter().chain(filter.args.iter().map(argument)).collect(),
        Expr::Test(test) => std::iter::once(&test.expr).chain(test.args.iter().map(argument)).collect(),
        Expr::GetAttr(field) => vec![&field.expr],
        Expr::GetItem(item) => vec![&item.expr, &item.subscript_expr],
        Expr::Call(call) => std::iter::once(&call.expr).chain(call.args.iter().map(argument)).collect(),
        Expr::List(list) => list.items.iter().collect(),
        Expr::Tuple(tuple) => tuple.items.iter().collect(),
        Expr::Map(map) => map.keys.iter().zip(&map.values).flat_map(|(key, value)| [key, value]).collect(),
    }
}

/// The expression of an argument.
pub(super) fn argument<'t, 's>(arg: &'t CallArg<'s>) -> &'t Expr<'s> {
    match arg {
        CallArg::Pos(expr)
        | CallArg::Kwarg(_, expr)
        | CallArg::PosSplat(expr)
        | CallArg::KwargSplat(expr) => expr,
    }
}

/// Whether an expression is written out as it stands: a literal, or a container of literals.
pub(super) fn is_literal(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Const(_) => true,
        Expr::List(_) | Expr::Tuple(_) | Expr::Map(_) => parts(expr).into_iter().all(is_literal),
        _ => false,
    }
}

/// The string that an expression writes out.
pub(super) fn literal_text<'t>(expr: &'t Expr<'_>) -> Option<&'t str> {
    match expr {
        Expr::Const(constant) => constant.value.as_str(),
        _ => None,
    }
}

/// Whether an expression can only be a number or a truth value.
pub(super) fn is_scalar(expr: &Expr<'_>) -> bool {
    match expr {
        Expr::Const(constant) => constant.value.as_str().is_none(),
        Expr::UnaryOp(_) | Expr::Test(_) | Expr::Compare(_) => true,
        Expr::BinOp(op) => match op.op {
            BinOpKind::Add => is_number(&op.left) || is_number(&op.right),
            BinOpKind::Mul => is_number(&op.left) && is_number(&op.right),
            BinOpKind::ScAnd | BinOpKind::ScOr | BinOpKind::Concat => false,
            _ => true,
        },
        Expr::GetAttr(field) => {
            matches!(&field.expr, Expr::Var(var) if var.id == "loop") && LOOP_SCALARS.contains(&field.name)
        }
        _ => false,
    }
}

/// Whether an expression is a number that is written out.
pub(super) fn is_number(expr: &Expr<'_>) -> bool {
    matches!(expr, Expr::Const(constant) if constant.value.is_number())
}

/// The bodies of a statement.
pub(super) fn bodies<'t, 's>(stmt: &'t Stmt<'s>) -> Vec<&'t [Stmt<'s>]> {
    match stmt {
        Stmt::Template(node) => vec![&node.children],
        Stmt::ForLoop(node) => vec![&node.body, &node.else_body],
        Stmt::IfCond(node) => vec![&node.true_body, &node.false_body],
        Stmt::WithBlock(node) => vec![&node.body],
        Stmt::SetBlock(node) => vec![&node.body],
        Stmt::AutoEscape(node) => vec![&node.body],
        Stmt::FilterBlock(node) => vec![&node.body],
        Stmt::Block(node) => vec![&node.body],
        Stmt::Macro(node) => vec![&node.body],
        Stmt::CallBlock(node) => vec![&node.macro_decl.body],
        _ => Vec::new(),
    }
}

/// The expressions that belong to a statement itself, in the order of the text; what it assigns to is
/// left out.
pub(super) fn exprs<'t, 's>(stmt: &'t Stmt<'s>) -> Vec<&'t Expr<'s>> {
    match stmt {
        Stmt::EmitExpr(node) => vec![&node.expr],
        Stmt::ForLoop(node) => std::iter::once(&node.iter).chain(&node.filter_expr).collect(),
        Stmt::IfCond(node) => vec![&node.expr],
        Stmt::WithBlock(node) => node.assignments.iter().map(|(_, value)| value).collect(),
        Stmt::Set(node) => vec![&node.expr],
        Stmt::SetBlock(node) => node.filter.iter().collect(),
        Stmt::AutoEscape(node) => vec![&node.enabled],
        Stmt::FilterBlock(node) => vec![&node.filter],
        Stmt::Import(node) => vec![&node.expr],
        Stmt::FromImport(node) => vec![&node.expr],
        Stmt::Include(node) => vec![&node.name],
        Stmt::Extends(node) => vec![&node.name],
        Stmt::Macro(node) => node.defaults.iter().collect(),
        Stmt::CallBlock(node) => {
            std::iter::once(&node.call.expr).chain(node.call.args.iter().map(argument)).collect()
        }
        Stmt::Do(node) => {
            std::iter::once(&node.call.expr).chain(node.call.args.iter().map(argument)).collect()
        }
        _ => Vec::new(),
    }
}

/// What a macro's declaration counts for, in bytes: the engine keeps its surroundings until the end of
/// the run, each time that it runs through it.
const DECLARATION: usize = 256;

/// The bytes of plain text that one run through statements writes at most; bodies that account for
/// themselves (loops, macros, blocks) are left out.
pub(super) fn plain_text(body: &[Stmt<'_>]) -> usize {
    let bytes = body.iter().map(|stmt| match stmt {
        Stmt::EmitRaw(raw) => raw.raw.len(),
        Stmt::ForLoop(node) => plain_text(&node.else_body),
        Stmt::Macro(_) | Stmt::CallBlock(_) => DECLARATION,
        Stmt::Block(_) => 0,
        _ => bodies(stmt).into_iter().map(plain_text).sum(),
    });
    bytes.sum()
}
