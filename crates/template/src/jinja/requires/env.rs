//! The variables that code can see: its own, those of the functions around it, and those of its text's context.

use std::collections::BTreeMap;
use std::rc::Rc;

use smol_str::SmolStr;

use super::node::Node;
use super::value::{Object, Value};
use crate::analysis::{PathStep, Paths};
use crate::jinja::ast::{Block, Macro, Slot, Tree};
use crate::jinja::builtin::SPECIAL;

/// Jinja's functions.
pub(super) const GLOBALS: [&str; 8] =
    ["range", "dict", "lipsum", "cycler", "joiner", "namespace", "raise_exception", CLOCK];

/// The function that prints the current time.
pub(super) const CLOCK: &str = "strftime_now";

/// Values by their names.
pub(super) type Names<'a> = BTreeMap<SmolStr, Value<'a>>;

/// What the names mean that no function defines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Context<'a> {
    /// The variables at the top level of the text.
    pub exports: Rc<Names<'a>>,
    /// The variables of the texts that include this one.
    pub given: Rc<Names<'a>>,
    /// Whether the data are visible.
    pub data: bool,
    /// The text and those that it extends; the first definition of a block counts.
    pub texts: Rc<Vec<Node<'a, Tree>>>,
}

impl<'a> Context<'a> {
    /// The context of a text that sees the data only.
    pub fn new(text: &'a Tree, data: bool) -> Context<'a> {
        Context { data, texts: Rc::new(vec![Node(text)]), ..Context::default() }
    }

    /// What a name means.
    pub fn find(&self, name: &SmolStr) -> Value<'a> {
        let mut found = Value::default();
        for names in [&self.exports, &self.given] {
            match names.get(name) {
                Some(value) if value.may_be(&Object::Unset) => found.join(&value.set().optional()),
                Some(value) => {
                    found.join(value);
                    return found;
                }
                None => {}
            }
        }
        found.join(&self.outside(name));
        found
    }

    fn outside(&self, name: &SmolStr) -> Value<'a> {
        match GLOBALS.iter().find(|known| *known == name) {
            Some(global) => Value::object(Object::Global(global)),
            None if SPECIAL.contains(&name.as_str()) => Value::default(),
            None if self.data => Value::data(Paths::root().step(&PathStep::Key(name.to_string()))),
            // A text without context sees functions, and of the data what all renders share.
            None => {
                let shared = Value::data(Paths::root().step(&PathStep::Key(name.to_string())));
                let mut value = Value::object(Object::Function(name.clone()));
                value.join(&shared.optional());
                value
            }
        }
    }

    /// All variables, as a text that is included sees them.
    pub fn all(&self) -> Names<'a> {
        let mut names = Names::clone(&self.given);
        overlay(&mut names, self.exports.iter().map(|(name, value)| (name, value.clone())));
        names
    }

    /// The definition of a block, after so many others of texts that extend.
    pub fn block(&self, name: &str, passed: usize) -> Option<&'a Block> {
        let found =
            self.texts.iter().filter_map(|text| text.0.blocks.iter().find(|block| block.name == name));
        found.into_iter().nth(passed)
    }

    pub fn weight(&self) -> usize {
        let names = self.exports.values().chain(self.given.values());
        names.map(|value| 1 + value.weight()).sum()
    }

    pub fn frozen(&self) -> Context<'a> {
        let frozen = |names: &Names<'a>| {
            Rc::new(names.iter().map(|(name, value)| (name.clone(), value.frozen())).collect::<Names<'a>>())
        };
        Context { exports: frozen(&self.exports), given: frozen(&self.given), ..self.clone() }
    }

    /// Adds what the names mean on another way through the template.
    pub fn merge(&mut self, other: &Context<'a>) {
        let mine = Rc::make_mut(&mut self.exports);
        let unset = Value::object(Object::Unset);
        for (name, value) in mine.iter_mut() {
            let other = other.exports.get(name).unwrap_or(&unset);
            if !value.is_same(other) {
                value.merge(other);
            }
        }
        for (name, value) in
            other.exports.iter().filter(|(name, _)| !mine.contains_key(*name)).collect::<Vec<_>>()
        {
            let mut value = value.clone();
            value.merge(&unset);
            mine.insert(name.clone(), value);
        }
    }
}

/// Puts variables over others; one that may have no value leaves the other one visible.
pub(super) fn overlay<'a, 'n>(
    names: &mut Names<'a>,
    over: impl IntoIterator<Item = (&'n SmolStr, Value<'a>)>,
) {
    let unset = Value::object(Object::Unset);
    for (name, value) in over {
        let value = match value.may_be(&Object::Unset) {
            true => {
                let mut either = names.get(name).unwrap_or(&unset).clone();
                either.merge(&value.set());
                either
            }
            false => value,
        };
        names.insert(name.clone(), value);
    }
}

/// The body of a `call` block, as the macro sees it that was called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Caller<'a> {
    pub body: Node<'a, Macro>,
    pub env: Env<'a>,
}

/// The variables that code can see.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Env<'a> {
    /// The address of the running code: a text, a block, a macro or a recursive loop.
    pub code: usize,
    /// The variables of the running code, by their slots.
    vars: Rc<Vec<Value<'a>>>,
    /// The variables of the code around it.
    pub outer: Option<Rc<Env<'a>>>,
    caller: Option<Rc<Caller<'a>>>,
    pub context: Context<'a>,
    /// How many others it keeps, one inside of the other.
    pub depth: usize,
    /// The weight of the others that it keeps.
    around: usize,
}

impl<'a> Env<'a> {
    /// The variables of code that begins to run.
    pub fn new(code: usize, slots: usize, outer: Option<Rc<Env<'a>>>, context: Context<'a>) -> Env<'a> {
        let vars = Rc::new(vec![Value::object(Object::Unset); slots]);
        let depth = outer.as_ref().map_or(0, |outer| outer.depth + 1);
        let around = outer.as_ref().map_or(0, |outer| outer.weight());
        Env { code, vars, outer, caller: None, context, depth, around }
    }

    /// The same variables, with the body of a `call` block.
    pub fn with_caller(self, caller: Rc<Caller<'a>>) -> Env<'a> {
        let depth = self.depth.max(caller.env.depth + 1);
        let around = self.around.saturating_add(caller.env.weight());
        Env { caller: Some(caller), depth, around, ..self }
    }

    /// The body of the `call` block that called the function which a slot belongs to.
    pub fn caller(&self, slot: Slot) -> Option<Rc<Caller<'a>>> {
        self.up(slot)?.caller.clone()
    }

    /// The same variables, without the body of a `call` block.
    pub fn without_caller(self) -> Env<'a> {
        Env { caller: None, ..self }
    }

    /// The variables of the function that a slot belongs to.
    pub fn up(&self, slot: Slot) -> Option<&Env<'a>> {
        (0..slot.up).try_fold(self, |env, _| env.outer.as_deref())
    }

    /// The value of a variable.
    pub fn get(&self, slot: Slot) -> Value<'a> {
        let env = self.up(slot);
        env.and_then(|env| env.vars.get(usize::from(slot.index)).cloned()).unwrap_or_default()
    }

    /// Sets a variable of the running code; returns how much work that was.
    pub fn set(&mut self, index: u16, value: Value<'a>) -> usize {
        let work = if Rc::strong_count(&self.vars) > 1 { 1 + self.vars.len() / 4 } else { 1 };
        if let Some(variable) = Rc::make_mut(&mut self.vars).get_mut(usize::from(index)) {
            *variable = value;
        }
        work
    }

    /// The variables of the running code.
    pub fn vars(&self) -> &[Value<'a>] {
        &self.vars
    }

    /// Adds the values that the variables have on another way through the template; returns how much work that was.
    pub fn merge(&mut self, other: &Env<'a>) -> usize {
        let mut work = 0;
        if !Rc::ptr_eq(&self.vars, &other.vars) {
            work += self.vars.len() / 4;
            let mine = Rc::make_mut(&mut self.vars);
            for (value, other) in mine.iter_mut().zip(other.vars.iter()).filter(|(a, b)| !a.is_same(b)) {
                work += value.weight() + other.weight();
                value.merge(other);
            }
        }
        if !Rc::ptr_eq(&self.context.exports, &other.context.exports) {
            work += self.context.exports.len();
            self.context.merge(&other.context);
        }
        work
    }

    /// The variables that the code at this address has, if it is the running code or around it.
    pub fn of(&self, code: usize) -> Option<Env<'a>> {
        let mut env = self;
        while env.code != code {
            env = env.outer.as_deref()?;
        }
        Some(env.clone())
    }

    /// The cost of comparing it.
    pub fn weight(&self) -> usize {
        let vars: usize = self.vars.iter().map(|value| 1 + value.weight()).sum();
        vars.saturating_add(self.context.weight()).saturating_add(self.around)
    }
}
