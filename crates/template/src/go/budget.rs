//! The steps and the time that a run has left.

use std::time::Instant;

use super::error::ExecError;
use super::exec::{ExecOptions, Stop};

/// After how many steps, or as much other work, the clock is read.
const STEPS_PER_LOOK: u32 = 256;

/// The budget: counts steps down, and reads the clock from time to time.
pub(super) struct Budget {
    /// Steps until the clock is read again.
    stretch: u32,
    /// Steps after that.
    left: u64,
    /// Additional work since the clock was read last.
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

    /// Counts additional work of a step as `effort` steps towards the next reading of the clock.
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
