//! What a template can touch, found without running it: data, functions, and templates that are not in its set.

use std::collections::{HashMap, HashSet};

use super::ast::{BranchKind, Expr, List, Node, Pipe, ROOT, Tree, VariableId};
use super::needs::{Need, Needs, Requires};
use super::requires_call::Given;
use super::requires_path::{Paths, Step};
use super::set::Set;

/// Statements and paths looked at, all rounds together; a template that takes more is taken to touch everything.
const MAX_VISITS: usize = 1_000_000;

/// Statements that still have to be looked at.
struct Job<'a> {
    list: &'a List,
    dot: Paths,
    scope: usize,
    optional: bool,
    /// The call that led here: an index into the calls, which lead to the call before them.
    call: usize,
}

/// A variable that can be seen, and the one declared before it.
struct Declared {
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
    variables: Vec<Declared>,
    /// What each declared variable, and `$` of each call, can stand for.
    values: Vec<Paths>,
    /// The variables that are assigned to somewhere: what they stand for may not be what is used.
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
    /// What running the template `name` can touch.
    ///
    /// `takes_missing` says which functions accept a last argument that is not there (see
    /// [`Signature`](super::Signature)): what is only passed to them is optional.
    pub fn requires(&self, name: &str, takes_missing: &dyn Fn(&str) -> bool) -> Requires {
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
        // Values flow backwards through loops, so that it takes several rounds until all is seen.
        while analysis.changed && analysis.visits < MAX_VISITS {
            analysis.round(name);
        }
        if analysis.visits >= MAX_VISITS {
            analysis.give_up();
        }
        Requires {
            paths: analysis.paths.listed(),
            functions: analysis.functions.listed(),
            templates: analysis.templates.listed(),
        }
    }
}

impl<'a> Analysis<'a, '_> {
    fn round(&mut self, name: &str) {
        self.changed = false;
        // What an earlier round found is found again, and what it took for certain may not be.
        (self.paths, self.functions, self.templates) = Default::default();
        self.called.clear();
        self.calls.clear();
        self.variables.clear();
        self.variables.push(Declared { id: ROOT, slot: usize::MAX, before: 0 });
        if let Some(tree) = self.set.tree(name) {
            self.start(tree, Paths::root(), false, usize::MAX);
        }
        while let Some(job) = self.jobs.pop() {
            if self.visits < MAX_VISITS {
                self.list(job);
            }
        }
    }

    /// Everything can be touched, and every function and template that is named anywhere.
    fn give_up(&mut self) {
        self.paths.note(Need { name: String::new(), optional: true, dynamic: true, whole: true });
        for name in self.set.functions() {
            self.functions.name(name, true);
        }
        for name in self.set.undefined() {
            self.templates.name(name, true);
        }
    }

    /// Looks at a template that is run with this dot.
    fn start(&mut self, tree: &'a Tree, dot: Paths, optional: bool, outer: usize) {
        let call = self.calls.len();
        self.calls.push((&tree.name, outer));
        // The same in every round, so that what is assigned to `$` is known in the next one.
        let next = self.values.len();
        let slot = *self.roots.entry((&tree.name, dot.clone(), optional)).or_insert(next);
        if slot == next {
            self.values.push(dot.clone());
        }
        let scope = self.declare(ROOT, slot, 0);
        self.jobs.push(Job { list: &tree.root, dot, scope, optional, call });
    }

    fn declare(&mut self, id: VariableId, slot: usize, before: usize) -> usize {
        self.variables.push(Declared { id, slot, before });
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
                // The new variables of a loop stand for the whole only where there is nothing to go through.
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
                        BranchKind::Range => value.step(&Step::Each),
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

    /// The variables of a `range` stand for its elements, too.
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
        // A template that calls itself may go on to any depth.
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

    /// The value is looked at: tested, gone through, or a way to something else.
    pub(super) fn look_at(&mut self, value: &Paths, optional: bool) {
        self.touch(value, optional, false);
    }

    /// The value is used with all that is in it.
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

    /// The variables that the pipeline declares or assigns to get its value.
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
                self.function(name, *builtin, Given { args, piped }, view)
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
                self.function(name, *builtin, Given { args: &[], piped: None }, view)
            }
            Expr::Nil(_) | Expr::Bool(..) | Expr::Number(..) | Expr::Str { .. } => Paths::default(),
        }
    }
}

/// What operands can see where they stand.
pub(super) struct View<'d> {
    dot: &'d Paths,
    scope: usize,
    pub(super) optional: bool,
}
