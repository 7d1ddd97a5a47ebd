//! Estimates how long a prompt's templates take to run, and chooses where they run: on the serving thread or in the pool.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use base::pool::Lane;

/// A run that is expected to take longer than this, in microseconds, queues for its turn, so that light runs go first.
const LIGHT_US: u64 = 250;

/// A run that is expected to take longer than this, in microseconds, goes to the pool, to avoid head-of-line blocking on the
/// serving thread.
const MEDIUM_US: u64 = 2_000;

/// A run that is expected to take longer than this, in microseconds, goes to the long lane: in the short lane it would often
/// exceed [`SHORT_TIME`] and have to be restarted.
const SHORT_US: u64 = 3_000;

/// The steps of a run on the serving thread: enough for nearly every prompt, few enough to delay other requests little.
const INLINE_STEPS: u64 = 50_000;

/// The time limit of a run on the serving thread.
const INLINE_TIME: Duration = Duration::from_millis(5);

/// The time limit of a run in the short lane.
const SHORT_TIME: Duration = Duration::from_millis(5);

/// The moving average follows a longer run by 1/16 of the difference, because it may have been preempted.
const LONGER_PART: u64 = 16;

/// A longer run counts as at most this many times the average.
const LONGER_MAX: u64 = 2;

/// The moving average follows a shorter run by 3/4 of the difference.
const SHORTER_PART: u64 = 4;

/// The stage of a render: where its templates run, and with what limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// On the serving thread.
    Inline,
    /// On the serving thread, one run at a time.
    Turn,
    /// In the pool's lane for short work.
    Short,
    /// In the pool's lane for long work, with the full limits.
    Long,
}

impl Stage {
    /// The lane of the pool; `None` on the serving thread.
    pub fn lane(self) -> Option<Lane> {
        match self {
            Stage::Inline | Stage::Turn => None,
            Stage::Short => Some(Lane::Short),
            Stage::Long => Some(Lane::Long),
        }
    }

    /// The next stage for a run that exceeded the limits of this one.
    pub fn next(self) -> Option<Stage> {
        match self {
            Stage::Inline | Stage::Turn => Some(Stage::Short),
            Stage::Short => Some(Stage::Long),
            Stage::Long => None,
        }
    }

    /// The step limit of this stage; the limit of the settings applies as well.
    pub fn steps(self) -> u64 {
        match self {
            Stage::Inline => INLINE_STEPS,
            Stage::Turn | Stage::Short | Stage::Long => u64::MAX,
        }
    }

    /// Whether a run that exceeded the time limit of this stage got less than half of that in processor time. Then it was
    /// preempted, and its duration says nothing about the stage that it needs.
    pub fn was_preempted(self, took: Duration) -> bool {
        self != Stage::Inline && self.time().is_some_and(|time| took < time / 2)
    }

    /// The time limit of this stage; `None` if only the deadline of the render applies.
    pub fn time(self) -> Option<Duration> {
        match self {
            Stage::Inline | Stage::Turn => Some(INLINE_TIME),
            Stage::Short => Some(SHORT_TIME),
            Stage::Long => None,
        }
    }
}

/// The end of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// It ended normally: with texts, with calls to make, or with an error of the templates.
    Normal,
    /// It exceeded the steps, or reached an operation that needs more time than was left.
    TooMuch,
    /// It exceeded its time limit.
    OutOfTime,
}

/// Measures the duration of a run. Light runs are measured in wall time, because reading the thread's processor time would
/// take longer than many of them.
pub enum Clock {
    Wall(Instant),
    Processor(Duration),
}

impl Clock {
    /// Starts to measure a run in a stage.
    pub fn start(stage: Stage) -> Clock {
        match stage {
            Stage::Inline => Clock::Wall(Instant::now()),
            Stage::Turn | Stage::Short | Stage::Long => Clock::Processor(processor_time()),
        }
    }

    /// The duration so far.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::Wall(began) => began.elapsed(),
            Clock::Processor(began) => processor_time().saturating_sub(*began),
        }
    }
}

/// The processor time of this thread.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// The cost of a prompt: a moving average of the duration of its recent runs, in microseconds; 0 before the first run.
#[derive(Debug, Default)]
pub struct Cost(AtomicU64);

impl Cost {
    /// The initial cost of a prompt that will run only once: just too long for a serving thread.
    pub fn for_single_use() -> Cost {
        Cost(AtomicU64::new(MEDIUM_US + 1))
    }

    /// The expected duration of the next run, in microseconds.
    pub fn expected_us(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// The stage into which the next run is expected to fit.
    pub fn stage(&self) -> Stage {
        match self.expected_us() {
            cost if cost <= LIGHT_US => Stage::Inline,
            cost if cost <= MEDIUM_US => Stage::Turn,
            cost if cost <= SHORT_US => Stage::Short,
            _ => Stage::Long,
        }
    }

    /// Updates the average after a run in a stage. Concurrent updates may overwrite each other: an estimate suffices.
    pub fn note(&self, stage: Stage, took: Duration, end: RunEnd) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let before = self.0.load(Ordering::Relaxed);
        // Wall time does not show whether the run was preempted; the next stage measures processor time. Until then the run
        // counts as a longer one, so that a prompt that the pool rejects does not use its full time here again and again.
        let may_be_preempted = stage == Stage::Inline && end == RunEnd::OutOfTime;
        let after = match stage.time() {
            // It would have taken longer than this; the next stage measures how long.
            Some(time) if end != RunEnd::Normal && !may_be_preempted => {
                before.max(2 * u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
            }
            _ if before == 0 && may_be_preempted => MEDIUM_US + 1,
            _ if before == 0 => took,
            _ if took > before => {
                let counted = took.min(before.saturating_mul(LONGER_MAX));
                before + (counted - before).div_ceil(LONGER_PART)
            }
            _ => took + (before - took) / SHORTER_PART,
        };
        self.0.store(after.max(1), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_move_between_stages_as_they_become_longer_and_shorter() {
        let cost = Cost::default();
        assert_eq!(cost.stage(), Stage::Inline);
        cost.note(Stage::Inline, Duration::from_micros(40), RunEnd::Normal);
        assert_eq!(cost.stage(), Stage::Inline);
        cost.note(Stage::Inline, Duration::from_millis(4), RunEnd::Normal);
        assert_eq!(cost.stage(), Stage::Inline, "a single long run may have been preempted");
        for _ in 0..100 {
            cost.note(Stage::Inline, Duration::from_millis(1), RunEnd::Normal);
        }
        assert_eq!(cost.stage(), Stage::Turn);
        cost.note(Stage::Turn, INLINE_TIME, RunEnd::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long);
        cost.note(Stage::Long, Duration::from_micros(1_500), RunEnd::Normal);
        cost.note(Stage::Long, Duration::from_micros(1_500), RunEnd::Normal);
        assert_eq!(cost.stage(), Stage::Short);
        cost.note(Stage::Short, SHORT_TIME, RunEnd::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long);
        for _ in 0..10 {
            cost.note(Stage::Long, Duration::from_micros(100), RunEnd::Normal);
        }
        assert_eq!(cost.stage(), Stage::Inline);
    }

    #[test]
    fn a_preempted_run_does_not_move_its_prompt_to_another_stage() {
        let cost = Cost::default();
        cost.note(Stage::Inline, Duration::from_micros(40), RunEnd::Normal);
        for _ in 0..10 {
            cost.note(Stage::Inline, INLINE_TIME * 4, RunEnd::OutOfTime);
        }
        assert_eq!(cost.stage(), Stage::Inline);
        for _ in 0..90 {
            cost.note(Stage::Inline, INLINE_TIME * 4, RunEnd::OutOfTime);
        }
        assert_ne!(cost.stage(), Stage::Inline, "so many cannot all be due to preemption");
        cost.note(Stage::Short, SHORT_TIME, RunEnd::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long, "it had its time");

        let new = Cost::default();
        new.note(Stage::Inline, INLINE_TIME, RunEnd::OutOfTime);
        assert_eq!(new.stage(), Stage::Short, "there is no earlier run to compare with");

        let heavy = Cost::default();
        heavy.note(Stage::Inline, Duration::from_micros(40), RunEnd::TooMuch);
        assert_eq!(heavy.stage(), Stage::Long, "this does not depend on other threads");
    }

    #[test]
    fn a_preempted_run_does_not_look_long() {
        let (wall, processor) = (Clock::start(Stage::Inline), Clock::start(Stage::Turn));
        std::thread::sleep(INLINE_TIME * 4);
        assert!(wall.elapsed() >= INLINE_TIME * 4);
        for stage in [Stage::Turn, Stage::Short] {
            assert!(stage.was_preempted(processor.elapsed()));
            assert!(!stage.was_preempted(INLINE_TIME), "it had its time");
        }
    }
}
