//! Static analysis: the data, functions and undefined templates that a template may use.

use std::collections::{HashMap, HashSet};

use super::ast::{BranchKind, Expr, List, Node, Pipe, ROOT, Tree, VariableId};
use super::needs::{Need, Needs, Requirements};
use super::requires_call::CallArguments;
use super::requires_path::{PathStep, Paths};
use super::set::Set;

/// The most statements and paths that the analysis visits; beyond, a template counts as using everything.
const MAX_VISITS: usize = 1_000_000;

/// Statements that are still to be visited.
struct Job<'a> {
    list: &'a List,
    dot: Paths,
    scope: usize,
    optional: bool,
    /// The call that led here: an index into the calls, which lead to the call before them.
    call: usize,
}

/// A variable in scope, linked to the one declared before it.
struct Declaration {
    id: VariableId,
    slot: usize,
    before: usize,
}

/// A declaration: the pipeline, and which of its variables.
type Slot = (*const Pipe, usize);

pub(super) struct Analysis<'a, 'f> {
    set: &'a Set,
    pub(super) takes_missing: &'f dyn Fn(&str) -> bool,
    jobs: Vec<Job<'a>>,
    called: HashSet<(&'a str, Paths, bool)>,
    /// Calls under way: the name of the template, and the call that it is part of.
    calls: Vec<(&'a str, usize)>,
    /// Variables in the order of their declaration; the first one is no variable.
    variables: Vec<Declaration>,
    /// The paths that each declared variable, and `$` of each call, may have.
    values: Vec<Paths>,
    /// The variables that are assigned to somewhere, whose paths may not all be used.
    assigned: HashSet<usize>,
    slots: HashMap<Slot, usize>,
    /// The variable `$` of each call.
    roots: HashMap<(&'a str, Paths, bool), usize>,
    changed: bool,
    visits: usize,
    paths: Needs,
    pub(super) functions: Needs,
    templates: Needs,
}

impl Set {
    /// What a run of the template `name` may use.
    ///
    /// `takes_missing` says which functions accept a last argument that is not there (see
    /// [`Signature`](super::Signature)): what is only passed to them is optional.
    pub fn requires(&self, name: &str, takes_missing: &dyn Fn(&str) -> bool) -> Requirements {
        let mut analysis = Analysis {
            set: self,
            takes_missing,
            jobs: Vec::new(),
            called: HashSet::new(),
            calls: Vec::new(),
            variables: Vec::new(),
            values: Vec::new(),
            assigned: HashSet::new(),
            slots: HashMap::new(),
            roots: HashMap::new(),
            changed: true,
            visits: 0,
            paths: Needs::default(),
            functions: Needs::default(),
            templates: Needs::default(),
        };
        // A fixed-point iteration, since values flow backwards through loops.
        while analysis.changed && analysis.visits < MAX_VISITS {
            analysis.round(name);
        }
        if analysis.visits >= MAX_VISITS {
            analysis.give_up();
        }
        Requirements {
            paths: analysis.paths.listed(),
            functions: analysis.functions.listed(),
            templates: analysis.templates.listed(),
        }
    }
}

impl<'a> Analysis<'a, '_> {
    fn round(&mut self, name: &str) {
        self.changed = false;
        // Starts again from nothing: a need that an earlier round took for certain may now be optional.
        (self.paths, self.functions, self.templates) = Default::default();
        self.called.clear();
        self.calls.clear();
        self.variables.clear();
        self.variables.push(Declaration { id: ROOT, slot: usize::MAX, before: 0 });
        if let Some(tree) = self.set.tree(name) {
            self.start(tree, Paths::root(), false, usize::MAX);
        }
        while let Some(job) = self.jobs.pop() {
            if self.visits < MAX_VISITS {
                self.list(job);
            }
        }
    }

    /// The result if the analysis gives up: everything in the data, and every function and template that is named
    /// anywhere.
    fn give_up(&mut self) {
        self.paths.note(Need { name: String::new(), optional: true, dynamic: true, whole: true });
        for name in self.set.functions() {
            self.functions.name(name, true);
        }
        for name in self.set.undefined() {
            self.templates.name(name, true);
        }
    }

    /// Visits a template that is run with this dot.
    fn start(&mut self, tree: &'a Tree, dot: Paths, optional: bool, outer: usize) {
        let call = self.calls.len();
        self.calls.push((&tree.name, outer));
        // The same key in every round, so that what is assigned to `$` is known in the next one.
        let next = self.values.len();
        let slot = *self.roots.entry((&tree.name, dot.clone(), optional)).or_insert(next);
        if slot == next {
            self.values.push(dot.clone());
        }
        let scope = self.declare(ROOT, slot, 0);
        self.jobs.push(Job { list: &tree.root, dot, scope, optional, call });
    }

    fn declare(&mut self, id: VariableId, slot: usize, before: usize) -> usize {
        self.variables.push(Declaration { id, slot, before });
        self.variables.len() - 1
    }

    fn slot_of(&mut self, mut scope: usize, id: VariableId) -> Option<usize> {
        while scope > 0 {
            self.visits += 1;
            let variable = self.variables.get(scope)?;
            if variable.id == id {
                return Some(variable.slot);
            }
            scope = variable.before;
        }
        None
    }

    fn list(&mut self, job: Job<'a>) {
        let Job { list, dot, mut scope, optional, call } = job;
        for node in list {
            self.visits += 1 + dot.weight();
            if self.visits >= MAX_VISITS {
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
                        true => self.use_whole(&value, optional),
                        false => self.look_at(&value.below_root(), true),
                    }
                    scope = view.scope;
                }
                Node::Template(invoke) => {
                    self.look_at(&value.below_root(), true);
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
                    self.look_at(&value, optional || branch.kind != BranchKind::Range);
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
            && let Some(slot) = self.slot_of(scope, variable.id)
        {
            self.flow(slot, element);
        }
    }

    fn flow(&mut self, slot: usize, value: &Paths) {
        if let Some(known) = self.values.get_mut(slot) {
            self.changed |= known.add(value);
        }
    }

    fn call(&mut self, name: &'a str, dot: Paths, optional: bool, outer: usize) {
        let Some(tree) = self.set.tree(name) else {
            return self.templates.name(name, optional);
        };
        // A recursive template may reach any depth.
        let dot = if self.is_under_way(name, outer) { dot.frozen() } else { dot };
        if self.called.insert((name, dot.clone(), optional)) {
            self.start(tree, dot, optional, outer);
        }
    }

    fn is_under_way(&self, name: &str, mut call: usize) -> bool {
        while let Some((running, outer)) = self.calls.get(call) {
            if *running == name {
                return true;
            }
            call = *outer;
        }
        false
    }

    /// Notes that a value is tested, iterated over, or on the way to another one.
    pub(super) fn look_at(&mut self, value: &Paths, optional: bool) {
        self.touch(value, optional, false);
    }

    /// Notes that a value is used with everything in it.
    pub(super) fn use_whole(&mut self, value: &Paths, optional: bool) {
        self.touch(value, optional, true);
    }

    fn touch(&mut self, value: &Paths, optional: bool, whole: bool) {
        for path in value.iter() {
            self.visits += 1;
            let optional = optional || path.optional;
            self.paths.note(Need { name: path.to_string(), optional, dynamic: path.dynamic, whole });
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
            let slot = match pipe.assign {
                true => self.slot_of(view.scope, variable.id),
                false => {
                    let next = self.values.len();
                    let slot = *self.slots.entry((std::ptr::from_ref(pipe), at)).or_insert(next);
                    if slot == next {
                        self.values.push(Paths::default());
                    }
                    view.scope = self.declare(variable.id, slot, view.scope);
                    Some(slot)
                }
            };
            if let Some(slot) = slot {
                if pipe.assign {
                    self.changed |= self.assigned.insert(slot);
                }
                let known = self.values.get(slot).filter(|_| pipe.assign);
                let value = known.map_or_else(|| value.clone(), |known| known.walk(value));
                self.flow(slot, &value);
            }
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
        self.visits += 1 + value.weight();
        value
    }

    fn value_of(&mut self, expr: &'a Expr, view: &mut View<'_>) -> Paths {
        match expr {
            Expr::Dot(_) => view.dot.clone(),
            Expr::Field { path, .. } => view.dot.fields(path),
            Expr::Variable { variable, path, .. } => {
                let Some(slot) = self.slot_of(view.scope, variable.id) else { return Paths::default() };
                let Some(value) = self.values.get(slot) else { return Paths::default() };
                let value = value.fields(path);
                match value.are_several() || self.assigned.contains(&slot) {
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
