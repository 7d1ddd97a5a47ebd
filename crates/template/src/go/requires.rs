//! Static analysis: the data, functions and undefined templates that a template may use.

use std::collections::HashSet;

use super::ast::{BranchKind, Expr, List, Node, Pipe, ROOT, Tree, VariableId};
use super::call::ArgumentUse;
use super::requires_call::CallArguments;
use super::set::Set;
use crate::analysis::{Calls, Cells, Facts, PathStep, Paths, Requirements};

/// Statements that are still to be visited.
struct Job<'a> {
    list: &'a List,
    dot: Paths,
    scope: usize,
    optional: bool,
    /// The call that led here.
    call: usize,
}

/// A variable in scope, linked to the one declared before it.
struct Declaration {
    id: VariableId,
    cell: usize,
    before: usize,
}

/// A call of a template: its name, its dot, and whether it is optional.
type Invocation<'a> = (&'a str, Paths, bool);

/// A variable whose paths flow backwards.
#[derive(PartialEq, Eq, Hash)]
enum Variable<'a> {
    /// One that a pipeline declares, by its place among the pipeline's variables.
    Declared(*const Pipe, usize),
    /// The variable `$` of a call.
    Root(Invocation<'a>),
}

pub(super) struct Analysis<'a, 'f> {
    set: &'a Set,
    pub(super) use_of_arguments: &'f dyn Fn(&str) -> ArgumentUse,
    jobs: Vec<Job<'a>>,
    called: HashSet<Invocation<'a>>,
    /// Calls under way, by the name of the template.
    calls: Calls<&'a str>,
    /// Variables in the order of their declaration; the first one is no variable.
    variables: Vec<Declaration>,
    /// The paths that each variable may have.
    cells: Cells<Variable<'a>, Paths>,
    /// The variables that are assigned to somewhere, whose paths may not all be used.
    assigned: HashSet<usize>,
    pub(super) facts: Facts,
}

impl Set {
    /// What a run of the template `name` may use.
    ///
    /// `use_of_arguments` says what a function that is not built-in needs of its arguments.
    pub fn requires(&self, name: &str, use_of_arguments: &dyn Fn(&str) -> ArgumentUse) -> Requirements {
        let mut analysis = Analysis {
            set: self,
            use_of_arguments,
            jobs: Vec::new(),
            called: HashSet::new(),
            calls: Calls::new(),
            variables: Vec::new(),
            cells: Cells::new(),
            assigned: HashSet::new(),
            facts: Facts::default(),
        };
        // A fixed-point iteration, since values flow backwards through loops.
        while !analysis.facts.is_exhausted() && analysis.cells.begin_round() {
            analysis.round(name);
        }
        if analysis.facts.is_exhausted() {
            analysis.facts.give_up(self.functions(), self.undefined());
        }
        analysis.facts.requirements()
    }
}

impl<'a> Analysis<'a, '_> {
    fn round(&mut self, name: &str) {
        self.facts.begin_round();
        self.called.clear();
        self.calls.clear();
        self.variables.clear();
        self.variables.push(Declaration { id: ROOT, cell: usize::MAX, before: 0 });
        if let Some(tree) = self.set.tree(name) {
            self.start(tree, Paths::root(), false, Calls::<&str>::NONE);
        }
        while let Some(job) = self.jobs.pop() {
            if !self.facts.is_exhausted() {
                self.list(job);
            }
        }
    }

    /// Visits a template that is run with this dot.
    fn start(&mut self, tree: &'a Tree, dot: Paths, optional: bool, outer: usize) {
        let call = self.calls.begin(&tree.name, outer);
        // The same key in every round, so that what is assigned to `$` is known in the next one.
        let root = Variable::Root((&tree.name, dot.clone(), optional));
        let cell = self.cells.cell(root, || dot.clone());
        let scope = self.declare(ROOT, cell, 0);
        self.jobs.push(Job { list: &tree.root, dot, scope, optional, call });
    }

    fn declare(&mut self, id: VariableId, cell: usize, before: usize) -> usize {
        self.variables.push(Declaration { id, cell, before });
        self.variables.len() - 1
    }

    fn cell_of(&mut self, mut scope: usize, id: VariableId) -> Option<usize> {
        while scope > 0 {
            self.facts.work(1);
            let variable = self.variables.get(scope)?;
            if variable.id == id {
                return Some(variable.cell);
            }
            scope = variable.before;
        }
        None
    }

    fn list(&mut self, job: Job<'a>) {
        let Job { list, dot, mut scope, optional, call } = job;
        for node in list {
            self.facts.work(1 + dot.weight());
            if self.facts.is_exhausted() {
                return;
            }
            let Some(pipe) = super::walk::pipe_of(node) else {
                if let Node::Template(invoke) = node {
                    self.call(&invoke.name, Paths::default(), optional, call);
                }
                continue;
            };
            let mut view = View { dot: &dot, scope, optional };
            let value = self.value(pipe, &mut view);
            let declared = match node {
                // The loop's own variables have the value of the whole only in its `else`.
                Node::Branch(branch)
                    if branch.kind == BranchKind::Range && branch.else_list.is_none() && !pipe.assign =>
                {
                    &Paths::default()
                }
                _ => &value,
            };
            self.variables_of(pipe, declared, &mut view);
            match node {
                Node::Action(_) => {
                    match pipe.decl.is_empty() {
                        true => self.facts.use_whole(&value, optional),
                        false => self.facts.look_at(&value.below_root(), true),
                    }
                    scope = view.scope;
                }
                Node::Template(invoke) => {
                    self.facts.look_at(&value.below_root(), true);
                    self.call(&invoke.name, value, optional, call);
                    scope = view.scope;
                }
                Node::Branch(branch) => {
                    let inner = view.scope;
                    let body_dot = match branch.kind {
                        BranchKind::If => dot.clone(),
                        BranchKind::With => value.clone(),
                        BranchKind::Range => value.step(&PathStep::Each),
                    };
                    self.facts.look_at(&value, optional || branch.kind != BranchKind::Range);
                    if branch.kind == BranchKind::Range {
                        self.loop_variables(pipe, inner, &body_dot);
                    }
                    let body = Job { list: &branch.list, dot: body_dot, scope: inner, optional: true, call };
                    self.jobs.push(body);
                    if let Some(list) = &branch.else_list {
                        self.jobs.push(Job { list, dot: dot.clone(), scope: inner, optional: true, call });
                    }
                }
                Node::Text { .. } | Node::Break | Node::Continue => {}
            }
        }
    }

    /// Gives the variables of a `range` the paths of its elements.
    fn loop_variables(&mut self, pipe: &'a Pipe, scope: usize, element: &Paths) {
        if let Some(variable) = pipe.decl.last()
            && let Some(cell) = self.cell_of(scope, variable.id)
        {
            self.cells.flow(cell, element);
        }
    }

    fn call(&mut self, name: &'a str, dot: Paths, optional: bool, outer: usize) {
        let Some(tree) = self.set.tree(name) else {
            return self.facts.template(name, optional);
        };
        // A recursive template may reach any depth.
        let dot = if self.calls.is_under_way(&name, outer) { dot.frozen() } else { dot };
        if self.called.insert((name, dot.clone(), optional)) {
            self.start(tree, dot, optional, outer);
        }
    }

    fn pipe(&mut self, pipe: &'a Pipe, view: &mut View<'_>) -> Paths {
        let value = self.value(pipe, view);
        self.variables_of(pipe, &value, view);
        value
    }

    fn value(&mut self, pipe: &'a Pipe, view: &mut View<'_>) -> Paths {
        let mut piped: Option<Paths> = None;
        for command in &pipe.cmds {
            piped = Some(self.command(&command.args, piped, view));
        }
        piped.unwrap_or_default()
    }

    /// Gives the value of a pipeline to the variables that it declares or assigns to.
    fn variables_of(&mut self, pipe: &'a Pipe, value: &Paths, view: &mut View<'_>) {
        for (at, variable) in pipe.decl.iter().enumerate() {
            let cell = match pipe.assign {
                true => self.cell_of(view.scope, variable.id),
                false => {
                    let key = Variable::Declared(std::ptr::from_ref(pipe), at);
                    let cell = self.cells.cell(key, Paths::default);
                    view.scope = self.declare(variable.id, cell, view.scope);
                    Some(cell)
                }
            };
            let Some(cell) = cell else { continue };
            if pipe.assign && self.assigned.insert(cell) {
                self.cells.ask_for_round();
            }
            let known = self.cells.get(cell).filter(|_| pipe.assign);
            let value = known.map_or_else(|| value.clone(), |known| known.walk(value));
            self.cells.flow(cell, &value);
        }
    }

    fn command(&mut self, args: &'a [Expr], piped: Option<Paths>, view: &mut View<'_>) -> Paths {
        match args {
            [Expr::Ident { name, builtin, .. }, args @ ..] => {
                self.function(name, *builtin, CallArguments { args, piped }, view)
            }
            [first, ..] => self.operand(first, view),
            [] => Paths::default(),
        }
    }

    pub(super) fn operand(&mut self, expr: &'a Expr, view: &mut View<'_>) -> Paths {
        let value = self.value_of(expr, view);
        self.facts.work(1 + value.weight());
        value
    }

    fn value_of(&mut self, expr: &'a Expr, view: &mut View<'_>) -> Paths {
        match expr {
            Expr::Dot(_) => view.dot.clone(),
            Expr::Field { path, .. } => view.dot.fields(path),
            Expr::Variable { variable, path, .. } => {
                let Some(cell) = self.cell_of(view.scope, variable.id) else { return Paths::default() };
                let Some(value) = self.cells.get(cell) else { return Paths::default() };
                let value = value.fields(path);
                match value.are_several() || self.assigned.contains(&cell) {
                    true => value.optional(),
                    false => value,
                }
            }
            Expr::Chain { base, path, .. } => self.operand(base, view).fields(path),
            Expr::Pipe(pipe) => self.pipe(pipe, view),
            Expr::Ident { name, builtin, .. } => {
                self.function(name, *builtin, CallArguments { args: &[], piped: None }, view)
            }
            Expr::Nil(_) | Expr::Bool(..) | Expr::Number(..) | Expr::Str { .. } => Paths::default(),
        }
    }
}

/// The dot and the variables in scope of an operand.
pub(super) struct View<'d> {
    dot: &'d Paths,
    scope: usize,
    pub(super) optional: bool,
}
