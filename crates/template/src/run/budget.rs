//! The steps and the time that a run has left.

use std::time::Instant;

/// After how many steps, or as much other work, the clock is read.
const STEPS_PER_LOOK: u32 = 256;

/// What a run has used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exhausted {
    /// All its steps, of which it had so many.
    Steps(u64),
    /// Its time.
    Time,
}

/// The budget: counts steps down, and reads the clock from time to time.
pub(crate) struct Budget {
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
    /// A budget of so many steps, until `deadline`.
    pub fn new(steps: u64, deadline: Option<Instant>) -> Budget {
        let stretch = steps.min(u64::from(STEPS_PER_LOOK)) as u32;
        Budget { stretch, left: steps - u64::from(stretch), effort: 0, limit: steps, deadline }
    }

    /// Counts a step.
    #[inline]
    pub fn step(&mut self) -> Result<(), Exhausted> {
        match self.stretch.checked_sub(1) {
            Some(left) => {
                self.stretch = left;
                Ok(())
            }
            None => self.next_stretch(),
        }
    }

    #[cold]
    fn next_stretch(&mut self) -> Result<(), Exhausted> {
        let stretch = self.left.min(u64::from(STEPS_PER_LOOK)) as u32;
        self.left -= u64::from(stretch);
        match stretch.checked_sub(1) {
            Some(left) => self.stretch = left,
            None => return Err(Exhausted::Steps(self.limit)),
        }
        self.look()
    }

    /// Counts additional work of a step as `effort` steps towards the next reading of the clock.
    #[inline]
    pub fn spend(&mut self, effort: usize) -> Result<(), Exhausted> {
        self.effort = self.effort.saturating_add(u32::try_from(effort).unwrap_or(u32::MAX));
        match self.effort < STEPS_PER_LOOK {
            true => Ok(()),
            false => self.look_now(),
        }
    }

    #[cold]
    fn look_now(&mut self) -> Result<(), Exhausted> {
        self.effort = 0;
        self.look()
    }

    fn look(&self) -> Result<(), Exhausted> {
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Exhausted::Time),
            _ => Ok(()),
        }
    }
}
