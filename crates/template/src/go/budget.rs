//! What a run has left of its steps and its time.

use std::time::Instant;

use super::error::ExecError;
use super::exec::{ExecOptions, Stop};

/// The clock is read once in so many steps, or as much other work.
const STEPS_PER_LOOK: u32 = 256;

/// Counts steps down, and looks at the clock now and then.
pub(super) struct Budget {
    /// Steps until the next look.
    stretch: u32,
    /// Steps beyond them.
    left: u64,
    /// Work beyond the usual since the last look.
    effort: u32,
    limit: u64,
    deadline: Option<Instant>,
}

impl Budget {
    pub(super) fn new(options: &ExecOptions) -> Budget {
        let stretch = options.steps.min(u64::from(STEPS_PER_LOOK)) as u32;
        Budget {
            stretch,
            left: options.steps - u64::from(stretch),
            effort: 0,
            limit: options.steps,
            deadline: options.deadline,
        }
    }

    /// Counts a step.
    #[inline]
    pub(super) fn step(&mut self) -> Result<(), Stop> {
        match self.stretch.checked_sub(1) {
            Some(left) => {
                self.stretch = left;
                Ok(())
            }
            None => self.next_stretch(),
        }
    }

    #[cold]
    fn next_stretch(&mut self) -> Result<(), Stop> {
        let stretch = self.left.min(u64::from(STEPS_PER_LOOK)) as u32;
        self.left -= u64::from(stretch);
        match stretch.checked_sub(1) {
            Some(left) => self.stretch = left,
            None => return Err(Box::new(ExecError::Steps { limit: self.limit })),
        }
        self.look()
    }

    /// Counts work that a step does beyond the usual, as if it were `effort` steps, towards the next look.
    pub(super) fn spend(&mut self, effort: usize) -> Result<(), Stop> {
        self.effort = self.effort.saturating_add(u32::try_from(effort).unwrap_or(u32::MAX));
        if self.effort < STEPS_PER_LOOK {
            return Ok(());
        }
        self.effort = 0;
        self.look()
    }

    fn look(&self) -> Result<(), Stop> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Box::new(ExecError::Deadline)),
            _ => Ok(()),
        }
    }
}
