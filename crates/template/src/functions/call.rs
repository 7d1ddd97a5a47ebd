//! What a function is given: its arguments, and what it makes values with.

use std::borrow::Cow;
use std::cell::Cell;

use super::regex::Programs;
use crate::go::time::Moment;
use crate::go::{Context, Type, Val};
use crate::run::Random;

/// The result of a function: a value, or the message of an error.
pub type Made<'a> = Result<Val<'a>, String>;

/// Go's message for reading through a nil pointer, as `reflect.TypeOf(nil).Kind()` does.
pub const NIL_POINTER: &str = "runtime error: invalid memory address or nil pointer dereference";

/// A call: the arguments fit the signature of the function.
pub struct Call<'c, 'a> {
    /// The arguments.
    pub args: &'c [Val<'a>],
    /// Makes values, within the limits of the run.
    pub context: &'c Context<'a>,
    /// The time that the run is told it is.
    pub moment: &'c Moment,
    /// Random numbers, the same in all runs of a render.
    pub random: &'c Random,
    /// The regular expressions that the run has compiled.
    pub programs: &'c Programs,
}

impl<'a> Call<'_, 'a> {
    /// The argument at an index; nil if there is none.
    pub fn arg(&self, at: usize) -> Val<'a> {
        self.args.get(at).copied().unwrap_or_else(Val::nil)
    }

    /// A string argument.
    pub fn text(&self, at: usize) -> &'a [u8] {
        self.arg(at).as_bytes().unwrap_or_default()
    }

    /// An `int` argument.
    pub fn int(&self, at: usize) -> i64 {
        self.arg(at).as_int().unwrap_or(0)
    }

    /// The arguments from an index on.
    pub fn rest(&self, from: usize) -> &[Val<'a>] {
        self.args.get(from..).unwrap_or_default()
    }

    /// A string as the result.
    pub fn string(&self, bytes: impl Into<Box<[u8]>>) -> Made<'a> {
        Ok(self.context.bytes(bytes))
    }

    /// A list of strings (`[]string`) as the result.
    pub fn strings<'s>(&self, parts: impl Iterator<Item = &'s [u8]>) -> Made<'a> {
        let mut items = Vec::new();
        for part in parts {
            self.room((items.len() + 1) * size_of::<Val<'a>>() + part.len())?;
            items.push(self.context.bytes(part));
        }
        Ok(self.context.list_of(Type::String, items))
    }

    /// A list (`[]interface {}`) as the result.
    pub fn list(&self, items: Vec<Val<'a>>) -> Made<'a> {
        Ok(self.context.list(items))
    }

    /// The elements of a list.
    ///
    /// # Errors
    /// If there is no room for them.
    pub fn items(&self, list: &Val<'a>) -> Result<Vec<Val<'a>>, String> {
        let len = list.len().unwrap_or(0);
        self.room(len.saturating_mul(size_of::<Val<'a>>()))?;
        Ok((0..len).filter_map(|at| list.item(at)).collect())
    }

    /// Asks for memory before it is taken.
    ///
    /// # Errors
    /// If the run has not so much left: it ends when the function returns.
    pub fn room(&self, bytes: usize) -> Result<(), String> {
        self.context.work(bytes);
        match self.context.has_room(bytes) {
            true => Ok(()),
            false => Err("the result is too large".to_owned()),
        }
    }

    /// Text as Go's `fmt.Sprint` prints a value, which is how sprig turns values into strings.
    pub fn shown(&self, value: &Val<'a>) -> Cow<'a, [u8]> {
        match value.as_bytes() {
            Some(bytes) => Cow::Borrowed(bytes),
            None => Cow::Owned(self.context.printed(&[*value])),
        }
    }
}

/// Counts the steps of a function that walks values, which may share parts and contain themselves.
pub struct Walk<'w, 'a> {
    context: &'w Context<'a>,
    steps: Cell<usize>,
}

/// How deep values may nest that a function walks.
const DEEPEST: usize = 500;

/// After how many steps a walk looks at the clock.
const STEPS_PER_LOOK: usize = 4_096;

impl<'w, 'a> Walk<'w, 'a> {
    /// A walk that has not begun.
    pub fn new(context: &'w Context<'a>) -> Walk<'w, 'a> {
        Walk { context, steps: Cell::new(0) }
    }

    /// Counts a step at a depth.
    ///
    /// # Errors
    /// If the values nest too deep, or the time is over.
    pub fn step(&self, depth: usize) -> Result<(), String> {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        self.context.work(16);
        if depth > DEEPEST {
            return Err(format!("the values nest more than {DEEPEST} deep, or contain themselves"));
        }
        if steps.is_multiple_of(STEPS_PER_LOOK) && self.context.is_late() {
            return Err("the time is over".to_owned());
        }
        Ok(())
    }
}
