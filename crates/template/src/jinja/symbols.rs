//! Finds the variables of each scope, by the rules of Jinja2's `idtracking`.

use std::collections::{BTreeSet, HashSet};

use hashbrown::HashMap;
use smol_str::SmolStr;

use super::ast::*;

/// The slots of a function: the root, a block, a macro, or a recursive loop.
#[derive(Debug, Default)]
pub(super) struct Function {
    slots: usize,
}

impl Function {
    /// The next slot. Beyond `u16`, the function is refused when it is left.
    fn slot(&mut self) -> u16 {
        let slot = u16::try_from(self.slots).unwrap_or(u16::MAX);
        self.slots += 1;
        slot
    }
}

/// Where a variable of a scope gets its first value.
#[derive(Debug, Clone)]
enum Origin {
    Context,
    Outer(Slot),
    Unset,
    Parameter,
}

/// The variables of a scope.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    /// The number of functions around the one that the scope belongs to.
    function: u16,
    variables: Variables,
    /// The names that are assigned to, in the order in which they were met.
    stored: Vec<SmolStr>,
}

/// Scopes of up to so many variables are searched one by one.
const LINEAR_MAX: usize = 12;

/// The variables of a scope, in the order in which they were met.
#[derive(Debug, Default)]
struct Variables {
    list: Vec<Variable>,
    /// The positions by name, for more than [`LINEAR_MAX`] variables.
    index: HashMap<SmolStr, usize>,
}

impl Variables {
    fn position(&self, name: &str) -> Option<usize> {
        match self.list.len() > LINEAR_MAX {
            true => self.index.get(name).copied(),
            false => self.list.iter().position(|variable| variable.name == name),
        }
    }

    fn get(&self, name: &str) -> Option<&Variable> {
        self.list.get(self.position(name)?)
    }

    fn get_mut(&mut self, name: &str) -> Option<&mut Variable> {
        let at = self.position(name)?;
        self.list.get_mut(at)
    }

    fn insert(&mut self, variable: Variable) {
        self.list.push(variable);
        let known = self.index.len();
        if self.list.len() > LINEAR_MAX {
            let names = self.list.iter().enumerate().skip(known);
            self.index.extend(names.map(|(at, variable)| (variable.name.clone(), at)));
        }
    }
}

/// A variable of a scope.
#[derive(Debug)]
struct Variable {
    name: SmolStr,
    slot: u16,
    origin: Origin,
    /// Whether the scope assigns to it.
    stored: bool,
}

/// The scopes that are open, innermost last, and the functions that they belong to.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    scopes: Vec<Symbols>,
    pub(super) functions: Vec<Function>,
}

impl Scopes {
    /// Opens a function, whose scopes are the next ones.
    pub fn enter_function(&mut self) {
        self.functions.push(Function::default());
    }

    /// Closes the innermost function; returns how many slots it needs.
    pub fn leave_function(&mut self) -> usize {
        self.functions.pop().map_or(0, |function| function.slots)
    }

    /// Opens a scope in the innermost function.
    pub fn enter(&mut self) {
        let function = self.functions.len().saturating_sub(1) as u16;
        self.scopes.push(Symbols { function, ..Symbols::default() });
    }

    /// Closes the innermost scope; returns how its variables are loaded.
    pub fn leave(&mut self) -> Frame {
        let Some(symbols) = self.scopes.pop() else { return Frame::default() };
        let load = |variable: &Variable| {
            let from = match &variable.origin {
                Origin::Context => LoadFrom::Context(variable.name.clone()),
                Origin::Outer(slot) => LoadFrom::Slot(*slot),
                Origin::Unset => LoadFrom::Unset,
                Origin::Parameter => return None,
            };
            let again = variable.stored || !matches!(from, LoadFrom::Context(_));
            Some(Load { slot: variable.slot, from, again })
        };
        Frame { loads: symbols.variables.list.iter().filter_map(load).collect() }
    }

    /// The slot of a name, seen from the innermost function.
    pub fn find(&self, name: &str) -> Option<Slot> {
        self.find_from(self.scopes.len(), name)
    }

    /// The slot of a name in the first `count` scopes, seen from the innermost function.
    fn find_from(&self, count: usize, name: &str) -> Option<Slot> {
        let here = self.functions.len().saturating_sub(1) as u16;
        let scopes = self.scopes.get(..count)?;
        scopes.iter().rev().find_map(|symbols| {
            let index = symbols.variables.get(name)?.slot;
            Some(Slot { up: here.saturating_sub(symbols.function), index })
        })
    }

    /// Gives a variable of the innermost scope its origin; a new one gets a slot.
    fn define(&mut self, name: &SmolStr, origin: Origin, stored: bool) -> Slot {
        let Some(symbols) = self.scopes.last_mut() else { return Slot::default() };
        let Some(function) = self.functions.get_mut(symbols.function as usize) else {
            return Slot::default();
        };
        let news = stored && symbols.variables.get(name).is_none_or(|variable| !variable.stored);
        if news {
            symbols.stored.push(name.clone());
        }
        let slot = match symbols.variables.get_mut(name) {
            Some(variable) => {
                variable.origin = origin;
                variable.stored |= stored;
                variable.slot
            }
            None => {
                let slot = function.slot();
                symbols.variables.insert(Variable { name: name.clone(), slot, origin, stored });
                slot
            }
        };
        Slot { up: 0, index: slot }
    }

    /// A name that is assigned to.
    fn store(&mut self, name: &SmolStr) {
        match self
            .scopes
            .last_mut()
            .and_then(|symbols| symbols.variables.get_mut(name).map(|known| (known, &mut symbols.stored)))
        {
            Some((known, stored)) => {
                if !known.stored {
                    known.stored = true;
                    stored.push(name.clone());
                }
            }
            None => {
                let outer = self.find_from(self.scopes.len().saturating_sub(1), name);
                self.define(name, outer.map_or(Origin::Unset, Origin::Outer), true);
            }
        }
    }

    /// A name that gets its value when the scope is entered: a parameter, or the variable of a loop.
    pub fn parameter(&mut self, name: &SmolStr) -> Slot {
        self.define(name, Origin::Parameter, true)
    }

    /// A name that is read.
    fn load(&mut self, name: &SmolStr) {
        if self.find(name).is_none() {
            self.define(name, Origin::Context, false);
        }
    }

    /// The names with a value in the open scopes.
    pub fn visible(&self) -> Vec<(SmolStr, Slot)> {
        let names: BTreeSet<&SmolStr> = self.scopes.iter().flat_map(|symbols| &symbols.stored).collect();
        names.into_iter().filter_map(|name| Some((name.clone(), self.find(name)?))).collect()
    }

    /// Visits statements of the innermost scope; those of scopes inside are left out.
    pub fn visit(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.visit_stmt(stmt));
    }

    pub fn visit_expr(&mut self, expr: &Expr) {
        if let Kind::Name { name, .. } = &expr.kind {
            self.load(name);
        }
        expr.kind.parts(&mut |part| self.visit_expr(part));
    }

    /// The target of an assignment; with `parameter`, that of a loop.
    pub fn visit_target(&mut self, target: &Target, parameter: bool) {
        match target {
            Target::Name { name, .. } if parameter => {
                self.parameter(name);
            }
            Target::Name { name, .. } => self.store(name),
            Target::Attr { name, .. } => self.load(name),
            Target::Tuple(items, _) => items.iter().for_each(|item| self.visit_target(item, parameter)),
        }
    }

    fn visit_stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Print(expr) | Stmt::Do(expr) => self.visit_expr(expr),
            Stmt::Set(set) => {
                self.visit_expr(&set.value);
                self.visit_target(&set.target, false);
            }
            Stmt::SetBlock(set) => self.visit_target(&set.target, false),
            Stmt::If(branch) => self.visit_if(branch),
            Stmt::For(looping) => self.visit_expr(&looping.over),
            Stmt::With(with) => with.targets.iter().for_each(|(_, value)| self.visit_expr(value)),
            Stmt::Macro(definition) => self.store(&definition.name),
            Stmt::CallBlock(block) => self.visit_expr(&block.call),
            Stmt::FilterBlock(block) => self.visit_expr(&block.filter),
            Stmt::Extends(extends) => self.visit_expr(&extends.template),
            Stmt::Include(include) => self.visit_expr(&include.template),
            Stmt::Import(import) => {
                self.visit_expr(&import.template);
                self.store(&import.target);
            }
            Stmt::FromImport(import) => {
                self.visit_expr(&import.template);
                import.names.iter().for_each(|(_, alias, _)| self.store(alias));
            }
            Stmt::Autoescape(_) | Stmt::Scope(_) | Stmt::Block(_) => {}
            Stmt::Text { .. } | Stmt::Break | Stmt::Continue => {}
        }
    }

    /// A name that is first assigned to inside of a branch has its outer value until then.
    fn visit_if(&mut self, branch: &If) {
        if let Some((test, _)) = branch.arms.first() {
            self.visit_expr(test);
        }
        let before = self.scopes.last().map_or(0, |symbols| symbols.stored.len());
        for (at, (test, body)) in branch.arms.iter().enumerate() {
            if at > 0 {
                self.visit_expr(test);
            }
            self.visit(body);
        }
        self.visit(&branch.otherwise);
        let stored =
            self.scopes.last().and_then(|symbols| symbols.stored.get(before..)).unwrap_or_default().to_vec();
        for name in stored {
            let outer = self.find_from(self.scopes.len().saturating_sub(1), &name);
            self.define(&name, outer.map_or(Origin::Context, Origin::Outer), true);
        }
    }
}

/// Which of `names` the statements read before they assign to them; blocks are left out.
pub(super) fn undeclared<'n>(body: &[Stmt], names: &[&'n str]) -> HashSet<&'n str> {
    let mut finder = Undeclared { names: names.to_vec(), found: HashSet::new() };
    finder.body(body);
    finder.found
}

struct Undeclared<'n> {
    names: Vec<&'n str>,
    found: HashSet<&'n str>,
}

impl Undeclared<'_> {
    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn declare(&mut self, name: &str) {
        self.names.retain(|known| *known != name);
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Name { name, .. } => self.declare(name),
            Target::Attr { .. } => {}
            Target::Tuple(items, _) => items.iter().for_each(|item| self.target(item)),
        }
    }

    fn expr(&mut self, expr: &Expr) {
        if let Kind::Name { name, .. } = &expr.kind
            && let Some(known) = self.names.iter().find(|known| *known == name)
        {
            self.found.insert(known);
        }
        expr.kind.parts(&mut |part| self.expr(part));
    }

    fn definition(&mut self, definition: &Macro) {
        definition.params.iter().for_each(|param| self.declare(&param.name));
        definition
            .params
            .iter()
            .filter_map(|param| param.default.as_ref())
            .for_each(|value| self.expr(value));
        self.body(&definition.scope.body);
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if self.names.is_empty() {
            return;
        }
        match stmt {
            Stmt::Print(expr) | Stmt::Do(expr) => self.expr(expr),
            Stmt::Set(set) => {
                self.target(&set.target);
                self.expr(&set.value);
            }
            Stmt::SetBlock(set) => {
                self.target(&set.target);
                set.filter.iter().for_each(|filter| self.expr(filter));
                self.body(&set.scope.body);
            }
            Stmt::If(branch) => {
                for (test, body) in &branch.arms {
                    self.expr(test);
                    self.body(body);
                }
                self.body(&branch.otherwise);
            }
            Stmt::For(looping) => {
                self.target(&looping.target);
                self.expr(&looping.over);
                self.body(&looping.scope.body);
                looping.otherwise.iter().for_each(|scope| self.body(&scope.body));
                looping.test.iter().for_each(|test| self.expr(&test.expr));
            }
            Stmt::With(with) => {
                with.targets.iter().for_each(|(target, _)| self.target(target));
                with.targets.iter().for_each(|(_, value)| self.expr(value));
                self.body(&with.scope.body);
            }
            Stmt::Macro(definition) => self.definition(definition),
            Stmt::CallBlock(block) => {
                self.expr(&block.call);
                self.definition(&block.caller);
            }
            Stmt::FilterBlock(block) => {
                self.body(&block.scope.body);
                self.expr(&block.filter);
            }
            Stmt::Autoescape(block) => {
                self.expr(&block.value);
                self.body(&block.scope.body);
            }
            Stmt::Scope(scope) => self.body(&scope.body),
            Stmt::Extends(extends) => self.expr(&extends.template),
            Stmt::Include(include) => self.expr(&include.template),
            Stmt::Import(import) => self.expr(&import.template),
            Stmt::FromImport(import) => self.expr(&import.template),
            Stmt::Block(_) | Stmt::Text { .. } | Stmt::Break | Stmt::Continue => {}
        }
    }
}
