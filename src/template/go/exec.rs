//! Runs templates: statements, with their own stack in place of the machine's.

use std::slice::Iter;
use std::time::Instant;

use crate::value::Value;

use super::ast::{At, Branch, BranchKind, Invoke, List, Node, Tree};
use super::call::Functions;
use super::context::{Context, Store};
use super::error::{ExecError, Place};
use super::fmt::{Printer, sprintf};
use super::missing::Misses;
use super::quote::quoted;
use super::set::Set;
use super::val::{Kind, V, Val};

/// What `.field` gives where a map has no such member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// Nothing, which prints as `<no value>` (Go's `default` and `invalid`).
    #[default]
    Default,
    /// The zero value of the map's elements, nil (Go's `zero`).
    Zero,
    /// The run fails (Go's `error`).
    Error,
    /// As with `Error`, but the run goes on, and reports everything that it needed and that was not there.
    Strict,
}

/// How a template is run, and what it may use up.
#[derive(Debug, Clone, Copy)]
pub struct ExecOptions {
    /// What to do about members that are not there.
    pub missing_key: MissingKey,
    /// Nodes evaluated and rounds of loops.
    pub steps: u64,
    /// Depth of templates that call templates.
    pub recursion: usize,
    /// Bytes of output.
    pub output_bytes: usize,
    /// Bytes of all values that the run makes on its way, those included that it no longer needs.
    pub scratch_bytes: usize,
    /// When the run must have ended.
    pub deadline: Option<Instant>,
}

impl Default for ExecOptions {
    fn default() -> ExecOptions {
        ExecOptions {
            missing_key: MissingKey::Default,
            steps: 10_000_000,
            recursion: 1_000,
            output_bytes: 4 << 20,
            scratch_bytes: 64 << 20,
            deadline: None,
        }
    }
}

/// The clock is read once in so many steps.
const STEPS_PER_LOOK: u32 = 256;

/// Why a run stops; big, and rare.
pub(super) type Stop = Box<ExecError>;

/// A run of a template.
pub(super) struct Machine<'a, 'o> {
    pub(super) set: &'a Set,
    pub(super) functions: &'a dyn Functions,
    pub(super) options: &'a ExecOptions,
    pub(super) context: Context<'a>,
    pub(super) misses: Misses<'a>,
    pub(super) variables: Vec<(&'a str, Val<'a>)>,
    /// Where the variables of the running template begin.
    pub(super) base: usize,
    /// Arguments of the calls under way.
    pub(super) arguments: Vec<Val<'a>>,
    pub(super) at: Option<At<'a>>,
    tree: &'a Tree,
    depth: usize,
    frames: Vec<Frame<'a>>,
    out: &'o mut Vec<u8>,
    out_limit: usize,
    steps: u64,
    until_look: u32,
    /// A function's result was printed that is not known yet.
    pending: bool,
}

/// What goes on when the statements that are running are done.
enum Frame<'a> {
    Body(Body<'a>),
    Loop(Box<Loop<'a>>),
    /// The template that called the one that is running.
    Caller {
        tree: &'a Tree,
        base: usize,
    },
}

/// Statements under way.
struct Body<'a> {
    nodes: Iter<'a, Node>,
    dot: Val<'a>,
    /// The variables that will be left.
    mark: usize,
}

struct Loop<'a> {
    branch: &'a Branch,
    items: Items<'a>,
    /// The variables that every round starts with.
    inner: usize,
    /// The variables that the loop leaves.
    outer: usize,
}

/// What a loop goes through.
enum Items<'a> {
    List { list: Val<'a>, next: usize },
    Map(std::vec::IntoIter<(&'a [u8], Val<'a>)>),
    Int { next: i64, end: i64, byte: bool },
}

impl Set {
    /// Runs the template `name` with `data` as its dot and appends what it prints to `out`.
    ///
    /// # Errors
    /// Whatever ends the run early; what was printed before that is in `out`.
    pub fn execute(
        &self,
        name: &str,
        data: &Value,
        functions: &dyn Functions,
        options: &ExecOptions,
        out: &mut Vec<u8>,
    ) -> Result<(), ExecError> {
        let Some(tree) = self.tree(name) else {
            let (name, main) = (quoted(name), quoted(self.main()));
            let message = format!("template: no template {name} associated with template {main}");
            return Err(ExecError::NoTemplate { message });
        };
        let strict = options.missing_key == MissingKey::Strict;
        let store = Store::new();
        let context = Context::new(&store, options.scratch_bytes, strict);
        let out_limit = out.len().saturating_add(options.output_bytes);
        let mut machine = Machine {
            set: self,
            functions,
            options,
            context,
            misses: Misses::default(),
            variables: Vec::with_capacity(8),
            base: 0,
            arguments: Vec::with_capacity(8),
            at: None,
            tree,
            depth: 0,
            frames: Vec::with_capacity(8),
            out,
            out_limit,
            steps: options.steps,
            until_look: STEPS_PER_LOOK,
            pending: false,
        };
        let result = machine.run(Val::data(data).unboxed());
        let misses = machine.misses;
        match result {
            Err(stop) if !hides_misses(&stop) => Err(*stop),
            _ if !misses.is_empty() => Err(ExecError::Missing(misses.finish(data))),
            Err(stop) => Err(*stop),
            Ok(()) if machine.pending => Err(ExecError::Pending),
            Ok(()) => Ok(()),
        }
    }
}

/// Whether the error may come from a value that is not there, which then is what should be reported.
fn hides_misses(error: &ExecError) -> bool {
    matches!(error, ExecError::Failed { .. } | ExecError::Recursion { .. } | ExecError::Pending)
}

impl<'a> Machine<'a, '_> {
    fn run(&mut self, dot: Val<'a>) -> Result<(), Stop> {
        self.variables.push(("$", dot));
        let mut body = Body { nodes: self.tree.root.iter(), dot, mark: 0 };
        loop {
            let Some(node) = body.nodes.next() else {
                self.variables.truncate(body.mark);
                match self.resume()? {
                    Some(outer) => body = outer,
                    None => return Ok(()),
                }
                continue;
            };
            self.step()?;
            match node {
                Node::Text { start, end } => self.text(*start, *end)?,
                Node::Action(pipe) => {
                    let value = self.pipe(body.dot, pipe)?;
                    if pipe.decl.is_empty() {
                        self.at = Some(At::Action(pipe));
                        self.print(value)?;
                    }
                }
                Node::Branch(branch) => {
                    if let Some(inner) = self.branch(branch, &mut body)? {
                        body = inner;
                    }
                }
                Node::Template(invoke) => {
                    let inner = self.invoke(invoke, body.dot)?;
                    let outer = std::mem::replace(&mut body, inner);
                    let caller = Frame::Caller { tree: self.tree, base: self.base };
                    self.enter(invoke, body.dot);
                    self.frames.push(Frame::Body(outer));
                    self.frames.push(caller);
                }
                Node::Break => match self.leave_loop(true)? {
                    Some(outer) => body = outer,
                    None => return Ok(()),
                },
                Node::Continue => match self.leave_loop(false)? {
                    Some(outer) => body = outer,
                    None => return Ok(()),
                },
            }
        }
    }

    /// Counts a step, and looks at the clock now and then.
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        self.steps = match self.steps.checked_sub(1) {
            Some(steps) => steps,
            None => return Err(Box::new(ExecError::Steps { limit: self.options.steps })),
        };
        self.spend(1)
    }

    /// Brings the next look at the clock nearer; work that a step does beyond the usual counts more.
    pub(super) fn spend(&mut self, effort: u32) -> Result<(), Stop> {
        match self.until_look.checked_sub(effort) {
            Some(left) => self.until_look = left,
            None => {
                self.until_look = STEPS_PER_LOOK;
                if self.options.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Err(Box::new(ExecError::Deadline));
                }
            }
        }
        Ok(())
    }

    /// The statements to go on with after some are done; nothing if all are.
    fn resume(&mut self) -> Result<Option<Body<'a>>, Stop> {
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Body(body) => return Ok(Some(body)),
                Frame::Loop(mut rounds) => {
                    if let Some(body) = self.round(&mut rounds)? {
                        self.frames.push(Frame::Loop(rounds));
                        return Ok(Some(body));
                    }
                    self.variables.truncate(rounds.outer);
                }
                Frame::Caller { tree, base } => {
                    self.variables.truncate(self.base);
                    (self.tree, self.base) = (tree, base);
                    self.depth -= 1;
                }
            }
        }
        Ok(None)
    }

    /// Goes on after (`leave`) or with the next round of the innermost loop.
    fn leave_loop(&mut self, leave: bool) -> Result<Option<Body<'a>>, Stop> {
        while let Some(frame) = self.frames.pop() {
            if let Frame::Loop(rounds) = frame {
                if leave {
                    self.variables.truncate(rounds.outer);
                } else {
                    self.frames.push(Frame::Loop(rounds));
                }
                break;
            }
        }
        self.resume()
    }

    /// Starts a branch: the statements to run, `body` being put aside; nothing if there are none.
    fn branch(&mut self, branch: &'a Branch, body: &mut Body<'a>) -> Result<Option<Body<'a>>, Stop> {
        let mark = self.variables.len();
        let value = self.pipe(body.dot, &branch.pipe)?;
        self.settled(value)?;
        if branch.kind == BranchKind::Range {
            return self.range(branch, value, mark, body);
        }
        let (list, dot) = match (value.is_true(), &branch.else_list) {
            (true, _) if branch.kind == BranchKind::With => (&branch.list, value),
            (true, _) => (&branch.list, body.dot),
            (false, Some(list)) => (list, body.dot),
            (false, None) => {
                self.variables.truncate(mark);
                return Ok(None);
            }
        };
        Ok(Some(self.nest(body, list, dot, mark)))
    }

    /// The statements `list`, after which `body` goes on.
    fn nest(&mut self, body: &mut Body<'a>, list: &'a List, dot: Val<'a>, mark: usize) -> Body<'a> {
        let inner = Body { nodes: list.iter(), dot, mark };
        let outer = Body { nodes: body.nodes.clone(), dot: body.dot, mark: body.mark };
        self.frames.push(Frame::Body(outer));
        inner
    }

    fn range(
        &mut self,
        branch: &'a Branch,
        value: Val<'a>,
        outer: usize,
        body: &mut Body<'a>,
    ) -> Result<Option<Body<'a>>, Stop> {
        if let V::Absent(absent) = value.v {
            self.miss(absent);
        }
        if let Some(items) = self.items(branch, value)? {
            let mut rounds = Box::new(Loop { branch, items, inner: self.variables.len(), outer });
            if let Some(first) = self.round(&mut rounds)? {
                let outer = Body { nodes: body.nodes.clone(), dot: body.dot, mark: body.mark };
                self.frames.push(Frame::Body(outer));
                self.frames.push(Frame::Loop(rounds));
                return Ok(Some(first));
            }
        }
        if let Some(list) = &branch.else_list {
            return Ok(Some(self.nest(body, list, body.dot, outer)));
        }
        self.variables.truncate(outer);
        Ok(None)
    }

    fn items(&mut self, branch: &'a Branch, value: Val<'a>) -> Result<Option<Items<'a>>, Stop> {
        let value = value.unboxed();
        match value.kind() {
            Kind::Int | Kind::Uint => {
                if branch.pipe.decl.len() > 1 {
                    let message = "can't use %v to iterate over more than one variable";
                    return Err(self.fail(message, &[value]));
                }
                let end = value.as_int().unwrap_or(0);
                Ok(Some(Items::Int { next: 0, end, byte: value.kind() == Kind::Uint }))
            }
            Kind::Slice => Ok(Some(Items::List { list: value, next: 0 })),
            Kind::Map => {
                let members = value.members();
                self.spend(members.len().min(1 << 20) as u32 / 4)?;
                Ok(Some(Items::Map(members.into_iter())))
            }
            Kind::Invalid => Ok(None),
            _ => Err(self.fail("range can't iterate over %v", &[value])),
        }
    }

    /// Starts the next round of a loop, if there is one.
    fn round(&mut self, rounds: &mut Loop<'a>) -> Result<Option<Body<'a>>, Stop> {
        let next = match &mut rounds.items {
            Items::List { list, next } => list.item(*next).map(|item| {
                *next += 1;
                (Val::int(*next as i64 - 1), item)
            }),
            Items::Map(members) => members.next().map(|(key, value)| (Val::bytes(key), value)),
            Items::Int { next, end, byte } => (*next < *end).then(|| {
                *next += 1;
                let value = *next - 1;
                (Val::NONE, if *byte { Val::of(V::Byte(value as u8)) } else { Val::int(value) })
            }),
        };
        let Some((key, value)) = next else { return Ok(None) };
        self.step()?;
        self.variables.truncate(rounds.inner);
        self.set_loop_variables(rounds, key, value)?;
        Ok(Some(Body { nodes: rounds.branch.list.iter(), dot: value, mark: rounds.inner }))
    }

    fn set_loop_variables(&mut self, rounds: &Loop<'a>, key: Val<'a>, value: Val<'a>) -> Result<(), Stop> {
        let pipe = &rounds.branch.pipe;
        let (first, second) = match pipe.decl.as_slice() {
            [] => return Ok(()),
            [only] => (None, only),
            [first, second, ..] => (Some(first), second),
        };
        if pipe.assign {
            if let Some(first) = first {
                self.assign(first, key)?;
            }
            return self.assign(second, value);
        }
        let mut top = self.variables.iter_mut().rev();
        if let Some(slot) = top.next() {
            slot.1 = value;
        }
        if first.is_some()
            && let Some(slot) = top.next()
        {
            slot.1 = key;
        }
        Ok(())
    }

    /// What `{{template}}` runs, and the dot that it gives it.
    fn invoke(&mut self, invoke: &'a Invoke, dot: Val<'a>) -> Result<Body<'a>, Stop> {
        self.at = Some(At::Invoke(invoke));
        let Some(tree) = self.set.tree(&invoke.name) else {
            return Err(self.fail("template %q not defined", &[Val::text(&invoke.name)]));
        };
        let limit = self.options.recursion;
        if self.depth == limit {
            let format = format!("exceeded maximum template depth ({limit})");
            let (message, place) = self.message(&format, &[]);
            return Err(Box::new(ExecError::Recursion { message, place, limit }));
        }
        let dot = match &invoke.pipe {
            Some(pipe) => self.pipe(dot, pipe)?,
            None => Val::NONE,
        };
        // The variables of the pipeline belong to the caller, below the new template's own.
        let mark = self.variables.len();
        Ok(Body { nodes: tree.root.iter(), dot, mark })
    }

    /// Makes the invoked template the running one, with variables of its own.
    fn enter(&mut self, invoke: &'a Invoke, dot: Val<'a>) {
        if let Some(tree) = self.set.tree(&invoke.name) {
            self.tree = tree;
        }
        self.base = self.variables.len();
        self.variables.push(("$", dot));
        self.depth += 1;
    }

    fn text(&mut self, start: u32, end: u32) -> Result<(), Stop> {
        let tree = self.tree;
        let text = tree.source.text.as_bytes().get(start as usize..end as usize).unwrap_or_default();
        self.write(text)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let room = self.out_limit.saturating_sub(self.out.len());
        if bytes.len() <= room {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        self.out.extend_from_slice(bytes.get(..room).unwrap_or_default());
        Err(self.too_long())
    }

    fn too_long(&self) -> Stop {
        Box::new(ExecError::Output { limit: self.options.output_bytes })
    }

    /// Prints the value of an action.
    fn print(&mut self, value: Val<'a>) -> Result<(), Stop> {
        match value.v {
            V::None => self.write(b"<no value>"),
            V::Str(bytes) => self.write(bytes),
            V::Gap => Ok(()),
            V::Absent(absent) => {
                self.miss(absent);
                Ok(())
            }
            V::Pending => {
                self.pending = true;
                Ok(())
            }
            _ => {
                let before = self.out.len();
                let mut printer = Printer::new(self.out, self.out_limit);
                printer.print(&[value]);
                let fitted = printer.fitted();
                self.spend(((self.out.len() - before) / 64).min(1 << 20) as u32)?;
                if fitted { Ok(()) } else { Err(self.too_long()) }
            }
        }
    }

    /// The place that is being evaluated.
    pub(super) fn place(&self) -> Place {
        let (line, column) = self.at.map_or((1, 0), |at| self.tree.source.line_and_column(at.pos()));
        Place { name: self.tree.source.name.clone(), template: self.tree.name.clone(), line, column }
    }

    fn message(&self, format: &str, args: &[Val<'_>]) -> (String, Place) {
        let place = self.place();
        let node = self.at.map(|at| at.to_string()).unwrap_or_default();
        let location = format!("{}:{}:{}", place.name, place.line, place.column);
        let executing = format!("executing {} at <{node}>", quoted(&place.template));
        // In Go the location is part of the format, so that a `%` in a name garbles the message.
        let message = if location.contains('%') {
            let executing = executing.replace('%', "%%");
            sprintf(&format!("template: {location}: {executing}: {format}"), args)
        } else {
            format!("template: {location}: {executing}: {}", sprintf(format, args))
        };
        (message, place)
    }

    /// Go's error for what is being evaluated.
    pub(super) fn fail(&self, format: &str, args: &[Val<'_>]) -> Stop {
        let (message, place) = self.message(format, args);
        Box::new(ExecError::Failed { message, place })
    }
}
