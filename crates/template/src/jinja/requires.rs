//! What a template can touch, read off its syntax tree.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use minijinja::machinery::ast::{BinOpKind, Call, CallArg, CallType, Expr, Macro, Stmt};
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

use super::root::GLOBALS;
use super::tree::{argument, literal_text, parts};
use crate::{Need, Requirements};

/// Names that the engine gives a meaning of its own.
pub(super) const RESERVED: [&str; 4] = ["loop", "self", "super", "caller"];
/// How deep partials are followed.
const DEEPEST: usize = 30;
/// How many partials are followed in all, counted each time.
const MOST: usize = 300;

/// What a name stands for in the text.
#[derive(Clone)]
enum Meaning {
    /// A place in the data.
    Data(Place),
    /// Something that the template made.
    Local,
}

/// A place in the data: `["variables", "docs[]", "title"]`.
#[derive(Clone, Default)]
struct Place {
    steps: Vec<String>,
    /// Whether a step below was computed.
    dynamic: bool,
}

impl Place {
    fn below(&self, step: &str) -> Place {
        let mut place = self.clone();
        if !place.dynamic {
            place.steps.push(step.to_owned());
        }
        place
    }

    fn element(&self) -> Place {
        let mut place = self.clone();
        if let (Some(last), false) = (place.steps.last_mut(), place.dynamic) {
            last.push_str("[]");
        }
        place
    }
}

/// How the text depends on something.
#[derive(Clone, Copy, PartialEq)]
enum Use {
    /// It must be there.
    Needed,
    /// It is only asked whether it is there.
    Tested,
}

/// Reads what templates can touch, following partials through `sources`.
pub(super) struct Analysis<'s> {
    sources: &'s BTreeMap<String, Arc<str>>,
    scopes: Vec<HashMap<String, Meaning>>,
    /// The scope of the innermost macro around the place; 0 outside of macros.
    own: usize,
    /// How many branches, loops and definitions lie around the place.
    inner: usize,
    active: Vec<String>,
    followed: usize,
    needs: [BTreeMap<String, Need>; 4],
}

#[derive(Clone, Copy)]
enum Kind {
    Variable,
    Environ,
    Tool,
    Partial,
}

impl<'s> Analysis<'s> {
    /// An analysis that knows the texts of partials.
    pub fn new(sources: &'s BTreeMap<String, Arc<str>>) -> Analysis<'s> {
        Analysis {
            sources,
            scopes: vec![HashMap::new()],
            own: 0,
            inner: 0,
            active: Vec::new(),
            followed: 0,
            needs: Default::default(),
        }
    }

    /// What the tree can touch.
    pub fn of(mut self, tree: &Stmt<'_>) -> Requirements {
        self.stmt(tree);
        let [variables, names, tools, partials] =
            self.needs.map(|needs| needs.into_values().collect::<Vec<_>>());
        Requirements { variables, names, tools, partials }
    }

    fn need(&mut self, kind: Kind, name: &str, tested: bool, dynamic: bool) {
        let optional = tested || self.inner > 0;
        let need = Need { name: name.to_owned(), optional, dynamic };
        if let Some(needs) = self.needs.get_mut(kind as usize) {
            needs
                .entry(need.name.clone())
                .and_modify(|known| {
                    known.optional &= optional;
                    known.dynamic |= dynamic;
                })
                .or_insert(need);
        }
    }

    fn touch(&mut self, place: &Place, usage: Use) {
        let tested = usage == Use::Tested;
        match place.steps.split_first() {
            Some((root, below)) if root == "variables" || root == "args" => {
                self.need(Kind::Variable, &below.join("."), tested, place.dynamic);
            }
            Some(_) => self.need(Kind::Environ, &place.steps.join("."), tested, place.dynamic),
            None => {}
        }
    }

    fn meaning(&self, name: &str) -> Meaning {
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(name));
        match known {
            Some(meaning) => meaning.clone(),
            None if GLOBALS.contains(&name) || RESERVED.contains(&name) => Meaning::Local,
            None => Meaning::Data(Place { steps: vec![name.to_owned()], dynamic: false }),
        }
    }

    fn bind(&mut self, target: &Expr<'_>, meaning: &Meaning) {
        match target {
            Expr::Var(var) => {
                if let Some(scope) = self.scopes.last_mut() {
                    scope.insert(var.id.to_owned(), meaning.clone());
                }
            }
            Expr::List(list) => list.items.iter().for_each(|item| self.bind(item, &Meaning::Local)),
            Expr::GetAttr(field) => self.expr(&field.expr, Use::Needed),
            _ => {}
        }
    }

    /// The place in the data that an expression names, if it is a plain path.
    fn place(&self, expr: &Expr<'_>) -> Option<Place> {
        match expr {
            Expr::Var(var) => match self.meaning(var.id) {
                Meaning::Data(place) => Some(place),
                Meaning::Local => None,
            },
            Expr::GetAttr(field) => Some(self.place(&field.expr)?.below(field.name)),
            Expr::GetItem(item) => {
                let place = self.place(&item.expr)?;
                match (&item.subscript_expr, literal_text(&item.subscript_expr)) {
                    (_, Some(key)) => Some(place.below(key)),
                    (Expr::Const(_), None) => Some(place.element()),
                    _ => Some(Place { dynamic: true, ..place }),
                }
            }
            _ => None,
        }
    }

    fn body(&mut self, body: &[Stmt<'_>]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    /// A body that may not run, with names of its own.
    fn inside(&mut self, body: &[Stmt<'_>], bound: impl FnOnce(&mut Self)) {
        self.inner += 1;
        self.scopes.push(HashMap::new());
        bound(self);
        self.body(body);
        self.scopes.pop();
        self.inner -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt<'_>) {
        match stmt {
            Stmt::Template(node) => self.body(&node.children),
            Stmt::EmitExpr(node) => self.expr(&node.expr, Use::Needed),
            Stmt::ForLoop(node) => {
                self.expr(&node.iter, Use::Needed);
                let element =
                    self.place(&node.iter).map_or(Meaning::Local, |place| Meaning::Data(place.element()));
                self.inside(&node.body, |analysis| {
                    analysis.bind(&node.target, &element);
                    node.filter_expr.iter().for_each(|filter| analysis.expr(filter, Use::Tested));
                });
                self.inside(&node.else_body, |_| {});
            }
            Stmt::IfCond(node) => {
                self.expr(&node.expr, Use::Tested);
                self.branch(&node.true_body);
                self.branch(&node.false_body);
            }
            Stmt::WithBlock(node) => {
                self.scopes.push(HashMap::new());
                node.assignments.iter().for_each(|(target, value)| self.assign(target, value));
                self.body(&node.body);
                self.scopes.pop();
            }
            Stmt::Set(node) => self.assign(&node.target, &node.expr),
            Stmt::SetBlock(node) => {
                self.body(&node.body);
                node.filter.iter().for_each(|filter| self.expr(filter, Use::Needed));
                self.bind(&node.target, &Meaning::Local);
            }
            Stmt::AutoEscape(node) => self.body(&node.body),
            Stmt::FilterBlock(node) => {
                self.expr(&node.filter, Use::Needed);
                self.body(&node.body);
            }
            Stmt::Block(node) => self.inside(&node.body, |_| {}),
            Stmt::Import(node) => {
                self.module(&node.expr);
                self.bind(&node.name, &Meaning::Local);
            }
            Stmt::FromImport(node) => {
                self.module(&node.expr);
                for (name, alias) in &node.names {
                    self.bind(alias.as_ref().unwrap_or(name), &Meaning::Local);
                }
            }
            Stmt::Extends(node) => self.partial(&node.name, false),
            Stmt::Include(node) => match &node.name {
                Expr::List(list) => list.items.iter().for_each(|name| self.partial(name, true)),
                Expr::Tuple(tuple) => tuple.items.iter().for_each(|name| self.partial(name, true)),
                name => self.partial(name, node.ignore_missing),
            },
            Stmt::Macro(node) => self.declaration(node, true),
            Stmt::CallBlock(node) => {
                self.call(&node.call);
                self.declaration(&node.macro_decl, false);
            }
            Stmt::Do(node) => self.call(&node.call),
            Stmt::EmitRaw(_) | Stmt::Continue(_) | Stmt::Break(_) => {}
        }
    }

    /// A branch keeps what it sets: a name that one branch sets may mean either thing afterwards.
    fn branch(&mut self, body: &[Stmt<'_>]) {
        self.inner += 1;
        self.body(body);
        self.inner -= 1;
    }

    fn assign(&mut self, target: &Expr<'_>, value: &Expr<'_>) {
        // A macro does not see an outer name that it sets itself, not even where it sets it.
        if let Expr::Var(target) = target
            && first_name(value) == Some(target.id)
        {
            self.alone(|analysis| analysis.expr(value, Use::Tested));
        }
        let meaning = match self.place(value) {
            Some(place) => {
                self.touch(&place, Use::Tested);
                self.subscripts(value);
                if self.inner > 0 { self.either(target, place) } else { Meaning::Data(place) }
            }
            None => {
                self.expr(value, Use::Needed);
                Meaning::Local
            }
        };
        self.bind(target, &meaning);
    }

    /// Inside a branch, a name may keep its old meaning: both places are touched from now on.
    fn either(&mut self, target: &Expr<'_>, place: Place) -> Meaning {
        if let Expr::Var(var) = target
            && let Some(Meaning::Data(old)) =
                self.scopes.iter().rev().find_map(|scope| scope.get(var.id)).cloned()
        {
            self.touch(&Place { dynamic: true, ..old }, Use::Tested);
        }
        Meaning::Data(place)
    }

    fn declaration(&mut self, node: &Macro<'_>, named: bool) {
        if named && let Some(scope) = self.scopes.last_mut() {
            scope.insert(node.name.to_owned(), Meaning::Local);
        }
        node.defaults.iter().for_each(|value| self.expr(value, Use::Tested));
        let outer = std::mem::replace(&mut self.own, self.scopes.len());
        self.inside(&node.body, |analysis| {
            node.args.iter().for_each(|arg| analysis.bind(arg, &Meaning::Local));
        });
        self.own = outer;
    }

    fn module(&mut self, name: &Expr<'_>) {
        let outer = std::mem::replace(&mut self.scopes, vec![HashMap::new()]);
        let own = std::mem::take(&mut self.own);
        self.partial(name, false);
        self.scopes = outer;
        self.own = own;
    }

    fn partial(&mut self, name: &Expr<'_>, lenient: bool) {
        let Some(literal) = literal_text(name) else {
            self.expr(name, Use::Needed);
            return self.need(Kind::Partial, "*", true, true);
        };
        self.need(Kind::Partial, literal, lenient, false);
        let Some(source) = self.sources.get(literal).cloned() else { return };
        let known = self.active.iter().any(|active| active == literal);
        if known || self.active.len() >= DEEPEST || self.followed >= MOST {
            return;
        }
        self.followed += 1;
        self.active.push(literal.to_owned());
        self.inner += usize::from(lenient);
        if let Ok(tree) = parse(&source, literal, SyntaxConfig::default()) {
            self.stmt(&tree);
            self.alone(|analysis| analysis.stmt(&tree));
        }
        self.inner -= usize::from(lenient);
        self.active.pop();
    }

    /// Looks once more, inside of a macro, as if there were no names around it, so that each name also means what it means at
    /// the root. A partial sees only those outer names that the macro itself mentions.
    fn alone(&mut self, look: impl FnOnce(&mut Self)) {
        if self.own > 0 {
            let own = self.scopes.split_off(self.own);
            let outer = std::mem::replace(&mut self.scopes, own);
            let depth = std::mem::take(&mut self.own);
            look(self);
            self.own = depth;
            let own = std::mem::replace(&mut self.scopes, outer);
            self.scopes.extend(own);
        }
    }

    /// The computed parts of a path.
    fn subscripts(&mut self, expr: &Expr<'_>) {
        match expr {
            Expr::GetAttr(field) => self.subscripts(&field.expr),
            Expr::GetItem(item) => {
                self.subscripts(&item.expr);
                self.expr(&item.subscript_expr, Use::Needed);
            }
            _ => {}
        }
    }

    fn maybe(&mut self, expr: &Expr<'_>, usage: Use) {
        self.inner += 1;
        self.expr(expr, usage);
        self.inner -= 1;
    }

    fn expr(&mut self, expr: &Expr<'_>, usage: Use) {
        if let Some(place) = self.place(expr) {
            self.touch(&place, usage);
            return self.subscripts(expr);
        }
        match expr {
            Expr::BinOp(op) if matches!(op.op, BinOpKind::ScAnd | BinOpKind::ScOr) => {
                self.expr(&op.left, Use::Tested);
                self.maybe(&op.right, usage);
            }
            Expr::UnaryOp(op) => self.expr(&op.expr, usage),
            Expr::IfExpr(branch) => {
                self.expr(&branch.test_expr, Use::Tested);
                self.maybe(&branch.true_expr, usage);
                branch.false_expr.iter().for_each(|other| self.maybe(other, usage));
            }
            Expr::Test(test) => {
                self.expr(&test.expr, Use::Tested);
                test.args.iter().for_each(|arg| self.expr(argument(arg), Use::Needed));
            }
            Expr::Filter(filter) => {
                let inner = if matches!(filter.name, "default" | "d") { Use::Tested } else { Use::Needed };
                filter.expr.iter().for_each(|value| self.expr(value, inner));
                filter.args.iter().for_each(|arg| self.expr(argument(arg), Use::Needed));
            }
            Expr::Call(call) => self.call(call),
            _ => parts(expr).into_iter().for_each(|part| self.expr(part, Use::Needed)),
        }
    }

    fn call(&mut self, call: &Call<'_>) {
        match call.identify_call() {
            CallType::Function(name) => {
                if matches!(self.meaning(name), Meaning::Data(_)) {
                    self.need(Kind::Tool, name, false, false);
                }
            }
            CallType::Method(value, name) => self.method(value, name, call),
            CallType::Object(value) => self.expr(value, Use::Needed),
            CallType::Block(_) => {}
        }
        call.args.iter().for_each(|arg| self.expr(argument(arg), Use::Needed));
    }

    /// `map.get("key")` asks for a member; other methods use the value.
    fn method(&mut self, value: &Expr<'_>, name: &str, call: &Call<'_>) {
        let key = match call.args.first() {
            Some(CallArg::Pos(key)) if name == "get" => literal_text(key),
            _ => None,
        };
        if let (Some(place), Some(key)) = (self.place(value), key) {
            self.touch(&place.below(key), Use::Tested);
        }
        self.expr(value, Use::Needed);
    }
}

/// The name that a path begins with.
fn first_name<'t>(expr: &Expr<'t>) -> Option<&'t str> {
    match expr {
        Expr::Var(var) => Some(var.id),
        Expr::GetAttr(field) => first_name(&field.expr),
        Expr::GetItem(item) => first_name(&item.expr),
        _ => None,
    }
}
