//! Code that waits to be run: texts, blocks, macros and recursive loops.

use std::rc::Rc;

use smol_str::SmolStr;

use super::env::{Caller, Context, Env};
use super::node::Node;
use super::value::{Object, Value};
use super::{Analysis, Cell, Final, Run};
use crate::jinja::ast::*;

/// How deep the variables of code may be kept by other code; beyond, the analysis gives up.
const DEPTH_MAX: usize = 300;

/// Code that waits to be run.
pub(super) struct Job<'a> {
    code: Code<'a>,
    env: Env<'a>,
    optional: bool,
    call: usize,
}

/// A piece of code that is run by itself.
#[derive(Clone, Copy)]
enum Code<'a> {
    Text(&'a Tree),
    Block(&'a Block),
    Macro(&'a Macro),
}

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub(super) struct Arguments<'a> {
    pub positional: Vec<Value<'a>>,
    pub named: Vec<(SmolStr, Value<'a>)>,
    /// What `*args` may add.
    pub spread: Option<Value<'a>>,
    /// What `**kwargs` may add.
    pub spread_named: Option<Value<'a>>,
}

impl<'a> Arguments<'a> {
    /// All values.
    pub fn values(&self) -> impl Iterator<Item = &Value<'a>> {
        let named = self.named.iter().map(|(_, value)| value);
        self.positional.iter().chain(named).chain(&self.spread).chain(&self.spread_named)
    }

    /// The argument of a parameter, by its place and its name.
    pub fn get(&self, at: usize, name: &str) -> Option<Value<'a>> {
        let positional = self.positional.get(at);
        let named = || self.named.iter().find(|(known, _)| known == name).map(|(_, value)| value);
        positional.or_else(named).cloned()
    }

    /// What the spread arguments may give a parameter.
    fn perhaps(&self, name: &str) -> Option<Value<'a>> {
        let spread = self.spread.as_ref().map(Value::element);
        let named = self.spread_named.as_ref().map(|named| named.member(name));
        [spread, named].into_iter().flatten().reduce(|mut either, other| {
            either.join(&other);
            either
        })
    }

    fn frozen(&self) -> Arguments<'a> {
        Arguments {
            positional: self.positional.iter().map(Value::frozen).collect(),
            named: self.named.iter().map(|(name, value)| (name.clone(), value.frozen())).collect(),
            spread: self.spread.as_ref().map(Value::frozen),
            spread_named: self.spread_named.as_ref().map(Value::frozen),
        }
    }

    /// The positional arguments behind those of the parameters.
    fn rest(&self, params: &[Param]) -> Value<'a> {
        let rest = self.positional.iter().skip(params.len()).cloned().enumerate();
        let rest = rest.map(|(at, value)| (smol_str::format_smolstr!("{at}"), value));
        Value::members(rest, self.spread.as_ref().map(Value::element).unwrap_or_default())
    }

    /// The named arguments that are not those of parameters.
    fn named_rest(&self, params: &[Param]) -> Value<'a> {
        let is_rest = |name: &SmolStr| params.iter().all(|param| param.name != *name);
        let rest = self.named.iter().filter(|(name, _)| is_rest(name)).cloned();
        let mut found = Value::members(rest, Value::default());
        found.join(self.spread_named.as_ref().unwrap_or(&Value::default()));
        found
    }
}

impl<'a> Analysis<'a> {
    fn queue(&mut self, code: Code<'a>, env: Env<'a>, optional: bool, outer: usize) {
        let weight = env.weight();
        self.facts.work(1 + weight);
        if env.depth > DEPTH_MAX {
            self.facts.work(usize::MAX);
        }
        if self.facts.is_exhausted() || self.called.contains(&(env.clone(), optional)) {
            return;
        }
        self.called.insert((env.clone(), optional));
        let call = self.calls.begin(env.code, outer);
        self.jobs.push(Job { code, env, optional, call });
    }

    /// Queues a text; its own variables at the top level are in its context.
    pub fn queue_text(&mut self, text: &'a Tree, context: Context<'a>, optional: bool, outer: usize) {
        let code = Node(text).address();
        let mut env = Env::new(code, text.slots, None, context);
        if let Some(slot) = text.self_slot {
            env.set(slot.index, Value::object(Object::Blocks));
        }
        if self.calls.is_under_way(&code, outer) && !self.called.contains(&(env.clone(), optional)) {
            env.context = env.context.frozen();
        }
        self.queue(Code::Text(text), env, optional, outer);
    }

    /// Queues the definition of a block that stands behind so many others.
    pub fn queue_block(&mut self, name: &str, passed: usize, context: Context<'a>, run: &Run<'a>) {
        let Some(block) = context.block(name, passed) else { return };
        let code = Node(block).address();
        let context = if self.calls.is_under_way(&code, run.call) { context.frozen() } else { context };
        let mut env = Env::new(code, block.slots, None, context);
        if let Some(slot) = block.self_slot {
            env.set(slot.index, Value::object(Object::Blocks));
        }
        if let Some(slot) = block.super_slot {
            env.set(slot.index, Value::object(Object::Block(name.into(), passed + 1)));
        }
        self.queue(Code::Block(block), env, run.optional, run.call);
    }

    /// Queues a call of a macro whose names are looked up in `outer`.
    pub fn queue_macro(
        &mut self,
        definition: &'a Macro,
        arguments: &Arguments<'a>,
        outer: Env<'a>,
        caller: Option<Rc<Caller<'a>>>,
        run: &Run<'a>,
    ) {
        let code = Node(definition).address();
        let is_recursive = self.calls.is_under_way(&code, run.call);
        let frozen = is_recursive.then(|| arguments.frozen());
        let arguments = frozen.as_ref().unwrap_or(arguments);
        let context = outer.context.clone();
        let mut env = Env::new(code, definition.slots, Some(Rc::new(outer)), context);
        for (at, param) in definition.params.iter().enumerate() {
            let value = match (arguments.get(at, &param.name), arguments.perhaps(&param.name)) {
                (Some(value), _) => value,
                (None, Some(perhaps)) => {
                    let mut value = Value::object(Object::Unset);
                    value.merge(&perhaps);
                    value
                }
                (None, None) => continue,
            };
            env.set(param.slot.index, value);
        }
        let mut special = |slot: Option<Slot>, value: Value<'a>| {
            slot.map(|slot| env.set(slot.index, value));
        };
        special(definition.varargs, arguments.rest(&definition.params));
        special(definition.kwargs, arguments.named_rest(&definition.params));
        special(definition.caller, Value::object(Object::Caller));
        if let Some(caller) = caller {
            let inner = Caller { body: caller.body, env: caller.env.clone().without_caller() };
            env = env.with_caller(if is_recursive { Rc::new(inner) } else { caller });
        }
        self.queue(Code::Macro(definition), env, run.optional, run.call);
    }

    /// Runs code to its end.
    pub fn run(&mut self, job: Job<'a>) {
        let Job { code, env, optional, call } = job;
        let mut run = Run { env, optional, muted: false, defines: false, call, parents: Vec::new() };
        match code {
            Code::Text(text) => {
                self.enter(&text.frame, &mut run);
                self.body(&text.body, &mut run);
                if self.modules.contains(&Node(text)) {
                    self.keep(&run.env);
                }
                self.extend(&mut run);
            }
            Code::Block(block) => {
                self.enter(&block.frame, &mut run);
                self.body(&block.body, &mut run);
            }
            Code::Macro(definition) => {
                self.enter(&definition.scope.frame, &mut run);
                self.defaults(definition, &mut run);
                self.body(&definition.scope.body, &mut run);
            }
        }
        if run.defines {
            self.keep(&run.env);
        }
    }

    /// Gives the parameters without an argument their defaults.
    fn defaults(&mut self, definition: &'a Macro, run: &mut Run<'a>) {
        for param in &definition.params {
            let given = run.env.get(param.slot);
            if !given.may_be(&Object::Unset) {
                continue;
            }
            let mut value = given.set();
            if let Some(default) = &param.default {
                let default = self.value(default, run);
                self.hand_on(&default);
                value.merge(&default);
                if given.set() == Value::default() {
                    value = default;
                }
            }
            self.set(run, param.slot.index, value);
        }
    }

    /// Keeps the variables of code for macros that are called from elsewhere.
    pub fn keep(&mut self, env: &Env<'a>) {
        self.facts.work(1 + env.weight() / 8);
        let code = env.code;
        for (at, value) in env.vars().iter().enumerate() {
            self.feed(Cell::Variable(code, at), value);
        }
        for (name, value) in env.context.exports.iter() {
            self.feed(Cell::Export(code, name.clone()), value);
        }
        for (name, value) in env.context.given.iter() {
            self.feed(Cell::Given(code, name.clone()), value);
        }
        let known: &mut Final<'a> = self.finals.entry(code).or_default();
        known.slots = env.vars().len();
        known.exports.extend(env.context.exports.keys().cloned());
        known.given.extend(env.context.given.keys().cloned());
        let data = known.context.data || env.context.data;
        known.context = Context { data, ..env.context.clone() };
        known.outer = env.outer.clone();
    }

    /// The variables that code had at its end.
    pub fn kept(&mut self, code: usize) -> Option<Env<'a>> {
        let known = self.finals.get(&code)?;
        let cell = |cell: Cell<'a>| self.cells.of(&cell).cloned().unwrap_or_default();
        let exports = known.exports.iter().map(|name| (name.clone(), cell(Cell::Export(code, name.clone()))));
        let given = known.given.iter().map(|name| (name.clone(), cell(Cell::Given(code, name.clone()))));
        let context = Context {
            exports: Rc::new(exports.collect()),
            given: Rc::new(given.collect()),
            ..known.context.clone()
        };
        let mut env = Env::new(code, known.slots, known.outer.clone(), context);
        for at in 0..known.slots {
            if let Ok(index) = u16::try_from(at) {
                env.set(index, cell(Cell::Variable(code, at)));
            }
        }
        self.facts.work(1 + env.weight() / 8);
        Some(env)
    }
}
