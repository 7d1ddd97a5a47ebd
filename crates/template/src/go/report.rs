//! Reports errors and missing values for the part of the tree that is being evaluated.

use super::ast::{NodeRef, Pos};
use super::context::{Excess, MAX_DEPTH};
use super::error::{ExecError, Place};
use super::exec::{Machine, Stop};
use super::fmt::sprintf;
use super::quote::quoted;
use super::val::Val;
use crate::run::Absent;

impl<'a> Machine<'a, '_> {
    /// Records that a missing value was needed.
    pub(super) fn miss(&mut self, absent: &Absent<'a>) -> Result<(), Stop> {
        let mut misses = std::mem::take(&mut self.misses);
        let kept = misses.record(absent, || self.place(self.at.map(NodeRef::start)));
        self.misses = misses;
        self.context.charge(kept);
        self.check_memory()
    }

    /// Ends the run if its values take more memory than allowed, or nest too deep.
    pub(super) fn check_memory(&self) -> Result<(), Stop> {
        match self.context.excess() {
            None => Ok(()),
            Some(Excess::Memory) => Err(Box::new(ExecError::Scratch { limit: self.options.scratch_bytes })),
            Some(Excess::Depth) => Err(self.too_deep()),
        }
    }

    /// The error of values that nest too deep.
    pub(super) fn too_deep(&self) -> Stop {
        self.fail(&format!("the values nest more than {MAX_DEPTH} deep, or contain themselves"), &[])
    }

    fn place(&self, pos: Option<Pos>) -> Place {
        let (line, column) = pos.map_or((1, 0), |pos| self.tree.source.line_and_column(pos));
        Place { name: self.tree.source.name.clone(), template: self.tree.name.clone(), line, column }
    }

    pub(super) fn message(&self, format: &str, args: &[Val<'_>]) -> (String, Place) {
        let place = self.place(self.at.map(NodeRef::pos));
        let node = self.at.map(|at| at.to_string()).unwrap_or_default();
        let location = format!("{}:{}:{}", place.name, place.line, place.column);
        let executing = format!("executing {} at <{node}>", quoted(&place.template));
        // As in Go, the location is part of the format, so that a `%` in a name garbles the message.
        let message = if location.contains('%') {
            let executing = executing.replace('%', "%%");
            sprintf(&format!("template: {location}: {executing}: {format}"), args)
        } else {
            format!("template: {location}: {executing}: {}", sprintf(format, args))
        };
        (message, place)
    }

    /// Go's error for the part of the tree that is being evaluated.
    #[cold]
    pub(super) fn fail(&self, format: &str, args: &[Val<'_>]) -> Stop {
        let (message, place) = self.message(format, args);
        Box::new(ExecError::Failed { message, place })
    }
}
