//! Runs the statements of templates, with an explicit stack in place of native recursion.

use std::slice::Iter;
use std::time::Instant;

use crate::run::{Budget, Exhausted, Misses};
use crate::value::Value;

use super::ast::{Branch, BranchKind, List, Node, NodeRef, Pipe, ROOT, TemplateCall, Tree, VariableId};
use super::call::Functions;
use super::context::Context;
use super::error::{ExecError, MissingValue, Place};
use super::fmt::Printer;
use super::quote::quoted;
use super::range::Loop;
use super::set::Set;
use super::store::Store;
use super::val::{V, Val};

/// The treatment of `.field` if the map has no such member.
///
/// ```
/// use ai_prompt_template::go::{ExecOptions, MissingKey, NoFunctions, ParseOptions, Set};
/// use ai_prompt_template::value::from_json;
///
/// let mut set = Set::new();
/// set.parse("t", "{{.user.name}}", &ParseOptions::default())?;
/// let data = from_json(b"{}")?;
/// let run = |missing_key| {
///     let options = ExecOptions { missing_key, ..ExecOptions::default() };
///     let mut out = Vec::new();
///     let result = set.execute("t", &data, &NoFunctions, &options, &mut out);
///     result.map(|()| out).map_err(|error| error.to_string())
/// };
/// let at = r#"template: t:1:7: executing "t" at <.user.name>: "#;
/// assert_eq!(run(MissingKey::Default), Ok(b"<no value>".to_vec()));
/// assert_eq!(run(MissingKey::Zero), Err(format!("{at}nil pointer evaluating interface {{}}.name")));
/// assert_eq!(run(MissingKey::Error), Err(format!(r#"{at}map has no entry for key "user""#)));
/// assert_eq!(run(MissingKey::Strict), Err("missing: user.name".to_owned()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MissingKey {
    /// It gives nothing, which prints as `<no value>` (Go's `default` and `invalid`).
    #[default]
    Default,
    /// It gives the zero value of the map's elements, which is nil (Go's `zero`).
    Zero,
    /// It ends the run with an error (Go's `error`).
    Error,
    /// It is an error too, but the run goes on, and reports all missing values at its end.
    Strict,
}

/// The options and limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct ExecOptions {
    /// The treatment of missing members.
    pub missing_key: MissingKey,
    /// The most statements, commands, arguments and iterations of loops.
    pub steps: u64,
    /// How deep calls of templates may nest.
    pub recursion: usize,
    /// The most bytes of output.
    pub output_bytes: usize,
    /// The most bytes of all values that the run makes, those included that it no longer uses.
    pub scratch_bytes: usize,
    /// Whether functions may change maps of the data ([`Context::change`](super::Context::change)). The data itself stays as
    /// it is: the run then reads maps through stand-ins, which takes longer.
    pub live_data: bool,
    /// The time by which the run must end; the clock is read every 256 steps, and more often if they are long.
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
            live_data: false,
            deadline: None,
        }
    }
}

/// The error that stops a run; boxed, since it is large and rare.
pub(super) type Stop = Box<ExecError>;

/// A run of a template.
pub(super) struct Machine<'a, 'o> {
    set: &'a Set,
    pub(super) functions: &'a dyn Functions,
    pub(super) options: &'a ExecOptions,
    pub(super) budget: Budget,
    pub(super) context: Context<'a>,
    pub(super) misses: Misses<'a, Place>,
    pub(super) variables: Vec<(VariableId, Val<'a>)>,
    /// The index at which the variables of the running template begin.
    pub(super) base: usize,
    /// The arguments of the calls under way.
    pub(super) arguments: Vec<Val<'a>>,
    /// The part of the tree that is being evaluated.
    pub(super) at: Option<NodeRef<'a>>,
    pub(super) tree: &'a Tree,
    depth: usize,
    pub(super) frames: Vec<Frame<'a>>,
    out: &'o mut Vec<u8>,
    out_limit: usize,
    /// Whether a call was pending.
    pub(super) pending: bool,
}

/// A stack frame: what continues after the current statements.
pub(super) enum Frame<'a> {
    Body(Body<'a>),
    Loop(Box<Loop<'a>>),
    /// A loop whose `else` is running, with the number of variables to keep after it.
    Else {
        outer: usize,
    },
    /// The caller of the running template.
    Caller {
        tree: &'a Tree,
        base: usize,
    },
}

/// A list of statements that is being run.
#[derive(Clone)]
pub(super) struct Body<'a> {
    pub(super) nodes: Iter<'a, Node>,
    pub(super) dot: Val<'a>,
    /// How many variables to keep after the statements.
    pub(super) mark: usize,
}

impl Set {
    /// Runs the template `name` with `data` as its dot, and appends the output to `out`.
    ///
    /// # Errors
    /// [`ExecError`]; the output up to the error is in `out`.
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
        let store = Store::new();
        let context = Context::new(&store, options);
        let out_limit = out.len().saturating_add(options.output_bytes);
        let dot = context.data(data).unboxed();
        let mut machine = Machine {
            set: self,
            functions,
            options,
            budget: Budget::new(options.steps, options.deadline),
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
            pending: false,
        };
        let result = machine.run(dot);
        let misses = machine.misses;
        match result {
            Err(stop) if !hides_misses(&stop) => Err(*stop),
            _ if !misses.is_empty() => Err(ExecError::Missing(named(misses.finish(data)))),
            Err(stop) => Err(*stop),
            Ok(()) if machine.pending => Err(ExecError::Pending { needed: None }),
            Ok(()) => Ok(()),
        }
    }
}

fn named(misses: Vec<(String, Place)>) -> Vec<MissingValue> {
    misses.into_iter().map(|(path, place)| MissingValue { path, place }).collect()
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Box::new(match exhausted {
            Exhausted::Steps(limit) => ExecError::Steps { limit },
            Exhausted::Time => ExecError::Deadline,
        })
    }
}

/// Whether the error may be caused by a missing value, which is then reported instead.
fn hides_misses(error: &ExecError) -> bool {
    matches!(error, ExecError::Failed { .. } | ExecError::Recursion { .. } | ExecError::Pending { .. })
}

impl<'a> Machine<'a, '_> {
    fn run(&mut self, dot: Val<'a>) -> Result<(), Stop> {
        self.variables.push((ROOT, dot));
        let mut body = Body { nodes: self.tree.root.iter(), dot, mark: 0 };
        loop {
            let Some(node) = body.nodes.next() else {
                self.variables.truncate(body.mark);
                match self.resume(&mut body)? {
                    true => continue,
                    false => return Ok(()),
                }
            };
            self.budget.step()?;
            match node {
                Node::Text { start, end } => self.text(*start, *end)?,
                Node::Action(pipe) => match self.glance(&body.dot, pipe) {
                    Some((Value::Str(text), _)) => self.write(text.as_bytes())?,
                    Some((value, _)) => self.print(Val::data(value).unboxed())?,
                    None => self.action(body.dot, pipe)?,
                },
                Node::Branch(branch) => self.branch(branch, &mut body)?,
                Node::Template(invoke) => self.invoke(invoke, &mut body)?,
                Node::Break => self.leave_loop(true, &mut body),
                Node::Continue => self.leave_loop(false, &mut body),
            }
        }
    }

    /// Sets `body` to what continues after some statements; false if the run has ended.
    fn resume(&mut self, body: &mut Body<'a>) -> Result<bool, Stop> {
        while let Some(frame) = self.frames.pop() {
            match frame {
                Frame::Body(outer) => {
                    *body = outer;
                    return Ok(true);
                }
                Frame::Loop(mut rounds) => {
                    if self.round(&mut rounds, body)? {
                        self.frames.push(Frame::Loop(rounds));
                        return Ok(true);
                    }
                    self.variables.truncate(rounds.outer);
                }
                Frame::Else { .. } => {}
                Frame::Caller { tree, base } => {
                    (self.tree, self.base) = (tree, base);
                    self.depth -= 1;
                }
            }
        }
        Ok(false)
    }

    fn action(&mut self, dot: Val<'a>, pipe: &'a Pipe) -> Result<(), Stop> {
        let value = self.commands(&dot, pipe)?;
        if pipe.decl.is_empty() {
            self.at = Some(pipe.lone_operand().map_or(NodeRef::Pipe(pipe), NodeRef::Expr));
            self.print(value)?;
        }
        Ok(())
    }

    /// Starts a branch: sets `body` to the statements to run, if there are any.
    fn branch(&mut self, branch: &'a Branch, body: &mut Body<'a>) -> Result<(), Stop> {
        let mark = self.variables.len();
        let value = self.pipe(&body.dot, &branch.pipe)?;
        self.settled(value)?;
        if branch.kind == BranchKind::Range {
            return self.range(branch, value, mark, body);
        }
        match (value.is_true(), &branch.else_list) {
            (true, _) if branch.kind == BranchKind::With => self.nest(&branch.list, value, mark, body),
            (true, _) => self.nest(&branch.list, body.dot, mark, body),
            (false, Some(list)) => self.nest(list, body.dot, mark, body),
            (false, None) => self.variables.truncate(mark),
        }
        Ok(())
    }

    /// Sets `body` to the statements `list`; the current ones continue after them.
    pub(super) fn nest(&mut self, list: &'a List, dot: Val<'a>, mark: usize, body: &mut Body<'a>) {
        let inner = Body { nodes: list.iter(), dot, mark };
        self.frames.push(Frame::Body(std::mem::replace(body, inner)));
    }

    /// Calls a template (`{{template}}`), which gets its own variables.
    fn invoke(&mut self, invoke: &'a TemplateCall, body: &mut Body<'a>) -> Result<(), Stop> {
        self.at = Some(NodeRef::TemplateCall(invoke));
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
            Some(pipe) => self.pipe(&body.dot, pipe)?,
            None => Val::NONE,
        };
        // Variables of the pipeline belong to the caller, and lie below those of the template.
        let mark = self.variables.len();
        self.nest(&tree.root, dot, mark, body);
        self.frames.push(Frame::Caller { tree: self.tree, base: self.base });
        (self.tree, self.base) = (tree, mark);
        self.variables.push((ROOT, dot));
        self.depth += 1;
        Ok(())
    }

    fn text(&mut self, start: u32, end: u32) -> Result<(), Stop> {
        let tree = self.tree;
        let text = tree.source.text.as_bytes().get(start as usize..end as usize).unwrap_or_default();
        self.write(text)
    }

    #[inline]
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
            V::Gap | V::Pending(_) => Ok(()),
            V::Absent(absent) => self.miss(absent),
            _ => {
                let before = self.out.len();
                let mut printer = Printer::new(self.out, self.out_limit);
                printer.print(&[value]);
                let (fitted, too_deep) = (printer.fitted(), printer.is_too_deep());
                self.budget.spend((self.out.len() - before) / 64)?;
                match fitted {
                    true => Ok(()),
                    false if too_deep => Err(self.too_deep()),
                    false => Err(self.too_long()),
                }
            }
        }
    }
}
