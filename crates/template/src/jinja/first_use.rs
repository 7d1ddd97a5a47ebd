//! Where a text first names a path: missing values are found as objects, which know no places.

use minijinja::machinery::ast::{Expr, Stmt};
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

use super::library::Text;
use super::source::position;
use super::tree::{bodies, exprs, literal_text, parts, start};
use crate::Position;

/// Where `text` first names `path`, in which elements of arrays are written `[7]`.
///
/// Names that stand for data are followed through `for` and `set`.
pub(super) fn first_use(text: &Text, path: &str) -> Option<Position> {
    let tree = parse(&text.original, &text.name, SyntaxConfig::default()).ok()?;
    let wanted = pattern(path);
    // A variable is also found by its own name.
    let bare = wanted.strip_prefix("variables.").map(str::to_owned);
    let found = std::iter::once(wanted).chain(bare).find_map(|wanted| {
        let mut search = Search { text: &text.original, names: Vec::new(), wanted, found: None };
        search.stmt(&tree);
        search.found
    });
    found.map(|offset| position(&text.name, &text.original, offset))
}

/// A path in which every index is `[]`, and `args` is `variables`.
fn pattern(path: &str) -> String {
    let mut pattern = String::new();
    for part in path.split('[') {
        match part.split_once(']') {
            Some((_, rest)) => pattern.extend(["[]", rest]),
            None => pattern.push_str(part),
        }
    }
    match pattern.strip_prefix("args") {
        Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => format!("variables{rest}"),
        _ => pattern,
    }
}

struct Search<'a> {
    text: &'a str,
    /// What names stand for, the newest last.
    names: Vec<(String, String)>,
    wanted: String,
    found: Option<usize>,
}

impl Search<'_> {
    fn path(&self, expr: &Expr<'_>) -> Option<String> {
        match expr {
            Expr::Var(var) => {
                let known = self.names.iter().rev().find(|(name, _)| name == var.id);
                Some(known.map_or_else(|| pattern(var.id), |(_, path)| path.clone()))
            }
            Expr::GetAttr(field) => Some(format!("{}.{}", self.path(&field.expr)?, field.name)),
            Expr::GetItem(item) => {
                let path = self.path(&item.expr)?;
                Some(match literal_text(&item.subscript_expr) {
                    Some(key) => format!("{path}.{key}"),
                    None => format!("{path}[]"),
                })
            }
            _ => None,
        }
    }

    fn bind(&mut self, target: &Expr<'_>, value: &Expr<'_>, suffix: &str) {
        if let (Expr::Var(var), Some(path)) = (target, self.path(value)) {
            self.names.push((var.id.to_owned(), format!("{path}{suffix}")));
        }
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        if self.found.is_some() {
            return;
        }
        exprs(stmt).into_iter().for_each(|expr| self.expr(expr));
        let outer = self.names.len();
        match stmt {
            Stmt::ForLoop(node) => self.bind(&node.target, &node.iter, "[]"),
            Stmt::WithBlock(node) => {
                node.assignments.iter().for_each(|(name, value)| self.bind(name, value, ""))
            }
            Stmt::Set(node) => return self.bind(&node.target, &node.expr, ""),
            _ => {}
        }
        bodies(stmt).into_iter().flatten().for_each(|stmt| self.stmt(stmt));
        if !matches!(stmt, Stmt::IfCond(_)) {
            self.names.truncate(outer);
        }
    }

    fn expr(&mut self, expr: &Expr<'_>) {
        if self.found.is_some() {
            return;
        }
        if self.path(expr).as_deref() == Some(&self.wanted) {
            self.found = Some(start(self.text, expr));
            return;
        }
        parts(expr).into_iter().for_each(|part| self.expr(part));
    }
}
