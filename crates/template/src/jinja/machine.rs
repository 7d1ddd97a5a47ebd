//! A run of a template: what it has left, what it found missing, and where it is.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use super::ast::{Slot, Spot};
use super::context::Context;
use super::error::Stop;
use super::library::{Library, Text};
use super::store::Store;
use super::val::{Activation, Undefined, Val};
use crate::python::PyError;
use crate::run::{Absent, Budget, Exhausted, Holder, Misses, Random, Step};
use crate::value::{Map, Value};
use crate::{Functions, Limits, MissingValue, Position, RunBudget, RunError};

/// Bytes of work that count as one step towards the next reading of the clock.
pub(super) const WORK_BYTES: usize = 64;

/// A run of a template.
pub(super) struct Machine<'a> {
    pub store: &'a Store<'a>,
    pub library: &'a Library,
    pub root: &'a Arc<Map>,
    pub functions: &'a dyn Functions,
    /// Whether missing values are Jinja's own lenient ones.
    pub lenient: bool,
    budget: Budget,
    limits: Limits,
    /// The bytes that the run's values may still take.
    pub room: usize,
    memory: usize,
    misses: Misses<'a, Position>,
    /// The text written so far: the run's own, or what a block or macro captures.
    pub out: String,
    output_left: usize,
    output_limit: usize,
    /// What is captured at the moment: nothing at the top, else whether a pending result is part of it.
    pub capture: Option<Captured>,
    /// Whether a call was pending.
    pub pending: bool,
    /// How deep macros, blocks and included texts nest.
    pub depth: usize,
    /// The expression that is being evaluated, and its text.
    pub at: Spot,
    pub text: &'a Text,
    pub context: &'a Context<'a>,
    pub here: &'a Activation<'a>,
    /// Whether printed values are escaped.
    pub escapes: bool,
    /// Copies of lists and objects of the data that the run has changed, by the address of the original.
    pub changed: HashMap<usize, Val<'a>>,
    /// Whether an `extends` hides what the running text prints.
    pub silent: bool,
    /// The template that the running one extends.
    pub extended: Option<&'a Text>,
    /// The captured text that filters are applied to.
    pub captured_value: Val<'a>,
    /// The time that the run is told it is.
    pub moment: SystemTime,
    /// What `random` draws from.
    pub random: Random,
}

/// The state of a text that is captured.
#[derive(Clone, Copy)]
pub(super) struct Captured {
    /// A pending result whose text belongs into it.
    pub pending: Option<usize>,
}

/// The error of a run that needs a pending result.
pub(super) fn needed(call: usize) -> Stop {
    Box::new(RunError::Pending { needed: Some(call) })
}

impl From<Exhausted> for Stop {
    fn from(exhausted: Exhausted) -> Stop {
        Box::new(match exhausted {
            Exhausted::Steps(limit) => RunError::Steps { limit },
            Exhausted::Time => RunError::Deadline,
        })
    }
}

/// What a run is given.
#[derive(Clone, Copy)]
pub(super) struct Given<'a> {
    pub library: &'a Library,
    pub root: &'a Arc<Map>,
    pub functions: &'a dyn Functions,
    pub limits: &'a Limits,
    pub budget: &'a RunBudget,
    pub lenient: bool,
}

impl<'a> Machine<'a> {
    pub fn new(given: Given<'a>, store: &'a Store<'a>, out: String) -> Machine<'a> {
        let Given { library, root, functions, limits, budget, lenient } = given;
        let memory = limits.output_bytes.saturating_mul(16);
        Machine {
            store,
            library,
            root,
            functions,
            lenient,
            budget: Budget::new(budget.steps, Some(budget.deadline)),
            limits: *limits,
            room: memory,
            memory,
            misses: Misses::default(),
            out,
            output_left: budget.output_bytes,
            output_limit: budget.output_bytes,
            capture: None,
            pending: false,
            depth: 0,
            at: 0,
            text: &library.main,
            context: store.contexts.alloc(Context::new(Vec::new(), true)),
            here: store.activation(0, None),
            escapes: false,
            changed: HashMap::new(),
            silent: false,
            extended: None,
            captured_value: Val::None,
            moment: budget.moment,
            random: Random::new(budget.seed),
        }
    }

    /// The result of the run.
    pub fn finish(mut self, result: Result<(), Stop>) -> Result<String, RunError> {
        let hidden = match &result {
            Ok(()) => true,
            Err(stop) => {
                matches!(**stop, RunError::Failed { .. } | RunError::Pending { .. } | RunError::Missing(_))
            }
        };
        let misses = std::mem::take(&mut self.misses);
        if hidden && !misses.is_empty() {
            let found = misses.finish(&Value::Map(self.root.clone()));
            let missing = |(path, position)| MissingValue { path, position: Some(position) };
            return Err(RunError::Missing(found.into_iter().map(missing).collect()));
        }
        match result {
            Err(stop) => Err(*stop),
            Ok(()) if self.pending => Err(RunError::Pending { needed: None }),
            Ok(()) => Ok(self.out),
        }
    }

    /// Counts a step.
    #[inline]
    pub fn step(&mut self) -> Result<(), Stop> {
        Ok(self.budget.step()?)
    }

    /// Counts work that touches so many bytes, besides steps.
    #[inline]
    pub fn work(&mut self, bytes: usize) -> Result<(), Stop> {
        Ok(self.budget.spend(bytes / WORK_BYTES)?)
    }

    /// Counts work on so many items.
    #[inline]
    pub fn work_items(&mut self, items: usize) -> Result<(), Stop> {
        Ok(self.budget.spend(items)?)
    }

    /// Takes memory from the run.
    #[inline]
    pub fn charge(&mut self, bytes: usize) -> Result<(), Stop> {
        match self.room.checked_sub(bytes) {
            Some(room) => {
                self.room = room;
                Ok(())
            }
            None => Err(self.out_of_memory()),
        }
    }

    #[cold]
    pub fn out_of_memory(&self) -> Stop {
        Box::new(RunError::Limit { what: "memory", limit: self.memory as u64 })
    }

    /// Whether so many levels more may be entered.
    pub fn check_depth(&self, more: usize) -> Result<(), Stop> {
        let limit = self.limits.recursion;
        match self.depth + more < limit {
            true => Ok(()),
            false => Err(Box::new(RunError::Limit { what: "recursion", limit: limit as u64 })),
        }
    }

    /// The most bytes that a text may have which is made now.
    pub fn text_room(&self) -> usize {
        self.room.min(self.limits.output_bytes)
    }

    /// The error for a text that is longer than [`Machine::text_room`].
    #[cold]
    pub fn too_long_text(&self) -> Stop {
        match self.room < self.limits.output_bytes {
            true => self.out_of_memory(),
            false => Box::new(RunError::Limit { what: "string", limit: self.limits.output_bytes as u64 }),
        }
    }

    /// Runs `inner` one level deeper: a macro, a block, an included text, or a value inside of others.
    pub fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        self.check_depth(0)?;
        self.depth += 1;
        let result = self.with_stack(inner);
        self.depth -= 1;
        result
    }

    /// Runs `inner`, which may recurse, with enough stack for one more level.
    #[inline]
    pub fn with_stack<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T, Stop>) -> Result<T, Stop> {
        stacker::maybe_grow(STACK_LEFT, STACK_GROWTH, || inner(self))
    }

    /// The error of an invalid operation at the current place.
    #[cold]
    pub fn fail(&self, message: impl Into<String>) -> Stop {
        let position = Some(self.text.position(self.at));
        let mut message = message.into();
        if message.len() > MESSAGE_BYTES {
            message.truncate(message.floor_char_boundary(MESSAGE_BYTES));
            message.push('…');
        }
        Box::new(RunError::Failed { message, position })
    }

    /// An exception of Python as the error of the run.
    #[cold]
    pub fn python_error(&self, error: PyError) -> Stop {
        match error {
            PyError::TooLarge => self.too_long_text(),
            error => self.fail(error.to_string()),
        }
    }

    /// The result of a function of Python.
    #[inline]
    pub fn check<T>(&self, result: Result<T, PyError>) -> Result<T, Stop> {
        result.map_err(|error| self.python_error(error))
    }

    /// The value of a variable.
    #[inline]
    pub fn slot(&self, slot: Slot) -> Val<'a> {
        self.cell(slot).map_or(Val::Unset, |cell| cell.get())
    }

    #[inline]
    fn cell(&self, slot: Slot) -> Option<&'a std::cell::Cell<Val<'a>>> {
        let mut activation = self.here;
        for _ in 0..slot.up {
            activation = activation.outer?;
        }
        activation.slots.get(slot.index as usize)
    }

    #[inline]
    pub fn set_slot(&self, slot: Slot, value: Val<'a>) {
        if let Some(cell) = self.cell(slot) {
            cell.set(value);
        }
    }

    /// Makes the missing member of a value.
    pub fn absent(&mut self, of: Holder<'a>, step: Step<'a>) -> Result<Val<'a>, Stop> {
        let absent = Absent::new(of, step);
        self.undefined(Undefined::Absent(absent))
    }

    pub fn undefined(&mut self, undefined: Undefined<'a>) -> Result<Val<'a>, Stop> {
        self.charge(size_of::<Undefined<'a>>())?;
        Ok(Val::Undefined(self.store.undefineds.alloc(undefined)))
    }

    /// An undefined value of the template's own, with the error for its use.
    pub fn undefined_because(&mut self, message: impl Into<String>) -> Result<Val<'a>, Stop> {
        let message = message.into();
        self.charge(message.len())?;
        self.undefined(Undefined::Own(message))
    }

    /// The member of a missing value.
    pub fn below(&mut self, of: &'a Undefined<'a>, step: Step<'a>) -> Result<Val<'a>, Stop> {
        match of {
            Undefined::Absent(outer) if self.lenient => {
                self.miss(outer, self.at)?;
                Ok(Val::Gap)
            }
            Undefined::Absent(outer) if outer.is_deepest() => Ok(Val::Undefined(of)),
            Undefined::Absent(outer) => self.absent(Holder::Absent(outer), step),
            Undefined::Own(message) if self.lenient => Err(self.fail(message.clone())),
            Undefined::Own(_) => Ok(Val::Undefined(of)),
            Undefined::Blank => Err(self.fail(BLANK)),
        }
    }

    /// Records a missing value that is needed.
    fn miss(&mut self, absent: &Absent<'a>, spot: Spot) -> Result<(), Stop> {
        let text = self.text;
        let kept = self.misses.record(absent, || text.position(spot));
        self.charge(kept)
    }

    /// The value for a use that needs one: a pending result ends the run, and a missing value is recorded.
    #[inline]
    pub fn settle(&mut self, value: Val<'a>, spot: Spot) -> Result<Val<'a>, Stop> {
        match value {
            Val::Pending(call) => Err(needed(call)),
            Val::Undefined(undefined) => self.settle_undefined(undefined, spot),
            value => Ok(value),
        }
    }

    #[cold]
    fn settle_undefined(&mut self, undefined: &'a Undefined<'a>, spot: Spot) -> Result<Val<'a>, Stop> {
        match undefined {
            _ if self.lenient => Ok(Val::Undefined(undefined)),
            Undefined::Blank => Ok(Val::Undefined(undefined)),
            Undefined::Absent(absent) => {
                self.miss(absent, spot)?;
                Ok(Val::Gap)
            }
            Undefined::Own(message) => {
                self.at = spot;
                Err(self.fail(message.clone()))
            }
        }
    }

    /// The value for a use that fails for every undefined value, lenient ones included.
    #[inline]
    pub fn demand(&mut self, value: Val<'a>) -> Result<Val<'a>, Stop> {
        match value {
            Val::Pending(call) => Err(needed(call)),
            Val::Undefined(Undefined::Absent(absent)) => {
                self.miss(absent, self.at)?;
                Ok(Val::Gap)
            }
            Val::Undefined(Undefined::Own(message)) => Err(self.fail(message.clone())),
            Val::Undefined(Undefined::Blank) => Err(self.fail(BLANK)),
            value => Ok(value),
        }
    }

    /// The list or object that stands for one of the data which the run has changed.
    #[inline]
    pub fn live(&self, value: Val<'a>) -> Val<'a> {
        match value {
            Val::DataList(_) | Val::DataMap(_) if !self.changed.is_empty() => self.changed_copy(value),
            value => value,
        }
    }

    #[cold]
    fn changed_copy(&self, value: Val<'a>) -> Val<'a> {
        address(&value).and_then(|address| self.changed.get(&address)).map_or(value, |copy| *copy)
    }

    /// Writes a part of the text.
    #[inline]
    pub fn write(&mut self, text: &str) -> Result<(), Stop> {
        match self.output_left.checked_sub(text.len()) {
            Some(left) => self.output_left = left,
            None => return Err(self.too_long()),
        }
        self.out.push_str(text);
        self.work(text.len())
    }

    /// Counts text that was written to `out` directly.
    pub fn written(&mut self, bytes: usize) -> Result<(), Stop> {
        match self.output_left.checked_sub(bytes) {
            Some(left) => self.output_left = left,
            None => return Err(self.too_long()),
        }
        self.work(bytes)
    }

    #[cold]
    fn too_long(&self) -> Stop {
        Box::new(RunError::Limit { what: "output", limit: self.output_limit as u64 })
    }
}

/// The most bytes of a message, which may quote values of any length.
const MESSAGE_BYTES: usize = 4 << 10;

/// The error for the use of `x if c` when `c` is false.
const BLANK: &str = "the inline if-expression evaluated to false and no else section was defined";

/// The stack that must be left when a level is entered, in bytes, and how much more there is then.
const STACK_LEFT: usize = 256 << 10;
const STACK_GROWTH: usize = 2 << 20;

/// The address of a list or object of the data.
pub(super) fn address(value: &Val<'_>) -> Option<usize> {
    match value {
        Val::DataList(list) => Some(Arc::as_ptr(list) as usize),
        Val::DataMap(map) => Some(Arc::as_ptr(map) as usize),
        _ => None,
    }
}
