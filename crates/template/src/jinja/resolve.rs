//! Gives every name of a tree its slot, by walking over it as Jinja2's compiler does.

use std::collections::HashSet;

use smol_str::SmolStr;

use super::ast::*;
use super::error::SyntaxError;
use super::parse::Parsed;
use super::symbols::{Scopes, undeclared};

/// The most variables of the root, a block or a macro.
const SLOTS_MAX: usize = 10_000;

/// Gives every name its slot.
///
/// # Errors
/// Jinja2's message for statements at places where they cannot stand.
pub(super) fn resolve(parsed: Parsed) -> Result<Tree, SyntaxError> {
    let Parsed { mut body, mut blocks, special } = parsed;
    let root = resolve_function(&mut body, None, &special)?;
    for block in &mut blocks {
        let function = resolve_function(&mut block.body, Some(&block.name), &special)?;
        block.frame = function.frame;
        (block.slots, block.self_slot, block.super_slot) =
            (function.slots, function.self_slot, function.super_slot);
    }
    let Resolved { frame, slots, self_slot, .. } = root;
    Ok(Tree { body, frame, slots, self_slot, blocks })
}

/// The variables of the root or of a block.
struct Resolved {
    frame: Frame,
    slots: usize,
    self_slot: Option<Slot>,
    super_slot: Option<Slot>,
}

fn resolve_function(
    body: &mut [Stmt],
    block: Option<&SmolStr>,
    special: &[&'static str],
) -> Result<Resolved, SyntaxError> {
    let mut resolver = Resolver { scopes: Scopes::default(), special };
    resolver.scopes.enter_function();
    resolver.scopes.enter();
    let names = resolver.undeclared(body, if block.is_some() { &["self", "super"] } else { &["self"] });
    let mut special =
        |name: &'static str| names.contains(name).then(|| resolver.scopes.parameter(&name.into()));
    let self_slot = special("self");
    let super_slot = special("super");
    resolver.scopes.visit(body);
    let place = Place { toplevel: block.is_none(), looping: false };
    resolver.body(body, place)?;
    let frame = resolver.scopes.leave();
    let slots = resolver.leave_function()?;
    Ok(Resolved { frame, slots, self_slot, super_slot })
}

/// Where statements stand.
#[derive(Clone, Copy)]
struct Place {
    /// Outside of loops, macros and other scopes: assignments can be imported by other texts.
    toplevel: bool,
    /// Inside of a loop, where `break` and `continue` may stand.
    looping: bool,
}

impl Place {
    const INNER: Place = Place { toplevel: false, looping: false };

    /// A scope inside, in the same function.
    fn scope(self) -> Place {
        Place { looping: self.looping, ..Place::INNER }
    }
}

type Done = Result<(), SyntaxError>;

struct Resolver<'s> {
    scopes: Scopes,
    /// The special names that the text mentions anywhere.
    special: &'s [&'static str],
}

impl Resolver<'_> {
    /// Which of the special names the statements read before they assign to them.
    fn undeclared(&self, body: &[Stmt], names: &[&'static str]) -> HashSet<&'static str> {
        let mentioned: Vec<_> = names.iter().copied().filter(|name| self.special.contains(name)).collect();
        undeclared(body, &mentioned)
    }

    fn leave_function(&mut self) -> Result<usize, SyntaxError> {
        match self.scopes.leave_function() {
            slots if slots <= SLOTS_MAX => Ok(slots),
            _ => Err(SyntaxError::new(format!("the template has more than {SLOTS_MAX} variables"), 0)),
        }
    }

    fn body(&mut self, body: &mut [Stmt], place: Place) -> Done {
        body.iter_mut().try_for_each(|stmt| self.stmt(stmt, place))
    }

    fn name(&self, name: &SmolStr) -> Slot {
        self.scopes.find(name).unwrap_or_default()
    }

    fn expr(&self, expr: &mut Expr) {
        if let Kind::Name { name, slot } = &mut expr.kind {
            *slot = self.name(name);
        }
        expr.kind.parts_mut(&mut |part| self.expr(part));
    }

    fn target(&self, target: &mut Target) {
        match target {
            Target::Name { name, slot, .. } | Target::Attr { name, slot, .. } => *slot = self.name(name),
            Target::Tuple(items, _) => items.iter_mut().for_each(|item| self.target(item)),
        }
    }

    /// The names of a target, if they can be imported by other texts.
    fn exported(&self, target: &Target, place: Place) -> Vec<(SmolStr, Slot)> {
        let mut names = Vec::new();
        if place.toplevel {
            collect_names(target, &mut names);
        }
        names
    }

    /// Statements with variables of their own.
    fn scope(&mut self, scope: &mut Scope, place: Place) -> Done {
        self.scopes.enter();
        self.scopes.visit(&scope.body);
        self.body(&mut scope.body, place.scope())?;
        scope.frame = self.scopes.leave();
        Ok(())
    }

    fn stmt(&mut self, stmt: &mut Stmt, place: Place) -> Done {
        match stmt {
            Stmt::Text { .. } => {}
            Stmt::Print(expr) | Stmt::Do(expr) => self.expr(expr),
            Stmt::Set(set) => {
                self.expr(&mut set.value);
                self.target(&mut set.target);
                set.exported = self.exported(&set.target, place);
            }
            Stmt::SetBlock(set) => self.set_block(set, place)?,
            Stmt::If(branch) => {
                for (test, body) in &mut branch.arms {
                    self.expr(test);
                    self.body(body, place)?;
                }
                self.body(&mut branch.otherwise, place)?;
            }
            Stmt::For(looping) => self.for_loop(looping, place)?,
            Stmt::With(with) => self.with(with, place)?,
            Stmt::Macro(definition) => {
                definition.slot = self.name(&definition.name);
                definition.exported = place.toplevel;
                self.definition(definition)?;
            }
            Stmt::CallBlock(block) => {
                self.definition(&mut block.caller)?;
                self.expr(&mut block.call);
            }
            Stmt::FilterBlock(block) => {
                self.scopes.enter();
                self.scopes.visit_expr(&block.filter);
                self.scopes.visit(&block.scope.body);
                self.body(&mut block.scope.body, place.scope())?;
                self.expr(&mut block.filter);
                block.scope.frame = self.scopes.leave();
            }
            Stmt::Autoescape(block) => {
                self.scopes.enter();
                self.scopes.visit_expr(&block.value);
                self.scopes.visit(&block.scope.body);
                self.expr(&mut block.value);
                self.body(&mut block.scope.body, place.scope())?;
                block.scope.frame = self.scopes.leave();
            }
            Stmt::Scope(scope) => self.scope(scope, place)?,
            Stmt::Block(call) => {
                call.toplevel = place.toplevel;
                if call.scoped.is_some() {
                    call.scoped = Some(self.scopes.visible());
                }
            }
            Stmt::Extends(extends) => {
                if !place.toplevel {
                    return fail("cannot use extend from a non top-level scope", extends.spot);
                }
                self.expr(&mut extends.template);
            }
            Stmt::Include(include) => {
                self.expr(&mut include.template);
                include.visible = self.scopes.visible();
            }
            Stmt::Import(import) => {
                self.expr(&mut import.template);
                import.visible = self.scopes.visible();
                import.slot = self.name(&import.target);
                import.exported = place.toplevel;
            }
            Stmt::FromImport(import) => {
                self.expr(&mut import.template);
                import.visible = self.scopes.visible();
                for (_, alias, slot) in &mut import.names {
                    *slot = self.scopes.find(alias).unwrap_or_default();
                }
                import.exported = place.toplevel;
            }
            Stmt::Break | Stmt::Continue if !place.looping => {
                return fail("`break` and `continue` can stand only inside of a loop", 0);
            }
            Stmt::Break | Stmt::Continue => {}
        }
        Ok(())
    }

    fn set_block(&mut self, set: &mut SetBlock, place: Place) -> Done {
        self.scopes.enter();
        set.filter.iter().for_each(|filter| self.scopes.visit_expr(filter));
        self.scopes.visit(&set.scope.body);
        self.body(&mut set.scope.body, place.scope())?;
        set.filter.iter_mut().for_each(|filter| self.expr(filter));
        set.scope.frame = self.scopes.leave();
        self.target(&mut set.target);
        set.exported = self.exported(&set.target, place);
        Ok(())
    }

    fn with(&mut self, with: &mut With, place: Place) -> Done {
        with.targets.iter_mut().for_each(|(_, value)| self.expr(value));
        self.scopes.enter();
        with.targets.iter().for_each(|(target, _)| self.scopes.visit_target(target, true));
        self.scopes.visit(&with.scope.body);
        with.targets.iter_mut().for_each(|(target, _)| self.target(target));
        self.body(&mut with.scope.body, place.scope())?;
        with.scope.frame = self.scopes.leave();
        Ok(())
    }

    fn for_loop(&mut self, looping: &mut For, place: Place) -> Done {
        if let Some(spot) = assigns_loop(&looping.target) {
            return fail("Can't assign to special loop variable in for-loop target", spot);
        }
        self.expr(&mut looping.over);
        let extended = looping.recursive.is_some()
            || !self.undeclared(&looping.scope.body, &["loop"]).is_empty()
            || has_scoped_block(&looping.scope.body);
        if looping.recursive.is_some() {
            self.scopes.enter_function();
        }
        if let Some(test) = &mut looping.test {
            self.scopes.enter();
            self.scopes.visit_target(&test.target, true);
            self.scopes.visit_expr(&test.expr);
            self.target(&mut test.target);
            self.expr(&mut test.expr);
            test.frame = self.scopes.leave();
        }
        self.scopes.enter();
        looping.loop_slot = extended.then(|| self.scopes.parameter(&"loop".into()));
        self.scopes.visit_target(&looping.target, true);
        self.scopes.visit(&looping.scope.body);
        self.target(&mut looping.target);
        self.body(&mut looping.scope.body, Place { looping: true, ..Place::INNER })?;
        looping.scope.frame = self.scopes.leave();
        if let Some(otherwise) = &mut looping.otherwise {
            self.scope(otherwise, place)?;
        }
        if looping.recursive.is_some() {
            looping.recursive = Some(self.leave_function()?);
        }
        Ok(())
    }

    /// A macro, or the body of a `call` block.
    fn definition(&mut self, definition: &mut Macro) -> Done {
        self.scopes.enter_function();
        self.scopes.enter();
        for param in &mut definition.params {
            param.slot = self.scopes.parameter(&param.name);
        }
        let defaults = definition.params.iter().filter_map(|param| param.default.as_ref());
        defaults.for_each(|value| self.scopes.visit_expr(value));
        let body = &mut definition.scope.body;
        let names = self.undeclared(body, &["caller", "kwargs", "varargs"]);
        let is_param = |name: &str| definition.params.iter().any(|param| param.name == name);
        if names.contains("caller") {
            match definition.params.iter().find(|param| param.name == "caller") {
                None => definition.caller = Some(self.scopes.parameter(&"caller".into())),
                Some(param) if param.default.is_none() => {
                    let message = "When defining macros or call blocks the special \"caller\" argument must be \
                                   omitted or be given a default.";
                    return fail(message, definition.spot);
                }
                Some(_) => {}
            }
        }
        if names.contains("kwargs") && !is_param("kwargs") {
            definition.kwargs = Some(self.scopes.parameter(&"kwargs".into()));
        }
        if names.contains("varargs") && !is_param("varargs") {
            definition.varargs = Some(self.scopes.parameter(&"varargs".into()));
        }
        self.scopes.visit(body);
        self.body(body, Place::INNER)?;
        let defaults = definition.params.iter_mut().filter_map(|param| param.default.as_mut());
        defaults.for_each(|value| self.expr(value));
        definition.scope.frame = self.scopes.leave();
        definition.slots = self.leave_function()?;
        Ok(())
    }
}

fn fail(message: &str, spot: Spot) -> Done {
    Err(SyntaxError::new(message, spot as usize))
}

fn collect_names(target: &Target, names: &mut Vec<(SmolStr, Slot)>) {
    match target {
        Target::Name { name, slot, .. } => names.push((name.clone(), *slot)),
        Target::Attr { .. } => {}
        Target::Tuple(items, _) => items.iter().for_each(|item| collect_names(item, names)),
    }
}

fn assigns_loop(target: &Target) -> Option<Spot> {
    match target {
        Target::Name { name, spot, .. } => (name == "loop").then_some(*spot),
        Target::Attr { .. } => None,
        Target::Tuple(items, _) => items.iter().find_map(assigns_loop),
    }
}

/// Whether a `scoped` block stands anywhere in the statements.
fn has_scoped_block(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Block(call) => call.scoped.is_some(),
        other => bodies(other).into_iter().any(has_scoped_block),
    })
}

/// The statements inside of a statement.
pub(super) fn bodies(stmt: &Stmt) -> Vec<&[Stmt]> {
    match stmt {
        Stmt::SetBlock(set) => vec![&set.scope.body],
        Stmt::If(branch) => {
            let arms = branch.arms.iter().map(|(_, body)| body.as_slice());
            arms.chain([branch.otherwise.as_slice()]).collect()
        }
        Stmt::For(looping) => {
            let otherwise = looping.otherwise.as_ref().map(|scope| scope.body.as_slice());
            [looping.scope.body.as_slice()].into_iter().chain(otherwise).collect()
        }
        Stmt::With(with) => vec![&with.scope.body],
        Stmt::Macro(definition) => vec![&definition.scope.body],
        Stmt::CallBlock(block) => vec![&block.caller.scope.body],
        Stmt::FilterBlock(block) => vec![&block.scope.body],
        Stmt::Autoescape(block) => vec![&block.scope.body],
        Stmt::Scope(scope) => vec![&scope.body],
        _ => Vec::new(),
    }
}
