//! How long a prompt's templates take to run, and so where they are run: on the serving thread, or in which lane of the pool.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

use base::pool::Lane;

/// A run that is expected to take longer than this, in microseconds, waits for its turn, so that light ones go first.
const LIGHT_US: u64 = 250;

/// A run that is expected to take longer than this, in microseconds, is made in the pool: no other request on the serving
/// thread should have to wait so long.
const MIDDLING_US: u64 = 2_000;

/// A run that is expected to take longer than this, in microseconds, is long: it would run out of [`SHORT_TIME`] too often, and
/// begin again after all that time.
const SHORT_US: u64 = 3_000;

/// What a run on the serving thread gets: enough for nearly every prompt, too little to delay other requests much.
const INLINE_STEPS: u64 = 50_000;
const INLINE_TIME: Duration = Duration::from_millis(5);

/// What a run in the short lane gets.
const SHORT_TIME: Duration = Duration::from_millis(5);

/// How the average follows a run: little if it was longer, and not more than twice as long counts, since others may have kept
/// the processor busy meanwhile; most of the way if it was shorter.
const LONGER_PART: u64 = 16;
const LONGER_MAX: u64 = 2;
const SHORTER_PART: u64 = 4;

/// Where templates are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// On the caller's thread.
    Inline,
    /// There, too, one after the other.
    Turn,
    /// In the pool's lane for short work.
    Short,
    /// In the pool's lane for long work, with all of the time and steps.
    Long,
}

impl Stage {
    /// The lane of the pool; none on the caller's thread.
    pub fn lane(self) -> Option<Lane> {
        match self {
            Stage::Inline | Stage::Turn => None,
            Stage::Short => Some(Lane::Short),
            Stage::Long => Some(Lane::Long),
        }
    }

    /// Where to go on when this stage was not enough.
    pub fn next(self) -> Option<Stage> {
        match self {
            Stage::Inline | Stage::Turn => Some(Stage::Short),
            Stage::Short => Some(Stage::Long),
            Stage::Long => None,
        }
    }

    /// The steps of a run; those of the settings, if they are fewer.
    pub fn steps(self) -> u64 {
        match self {
            Stage::Inline => INLINE_STEPS,
            Stage::Turn | Stage::Short | Stage::Long => u64::MAX,
        }
    }

    /// Whether a run in this stage that was out of time had little of the processor: others had it meanwhile, and where the run
    /// belongs is not known from that.
    pub fn was_interrupted(self, took: Duration) -> bool {
        self != Stage::Inline && self.time().is_some_and(|time| took < time / 2)
    }

    /// The time for a run; none where the render's deadline alone counts.
    pub fn time(self) -> Option<Duration> {
        match self {
            Stage::Inline | Stage::Turn => Some(INLINE_TIME),
            Stage::Short => Some(SHORT_TIME),
            Stage::Long => None,
        }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself: with its texts, with calls to make, or with an error of the templates.
    Itself,
    /// It had come to something that needs more steps or time than it got.
    TooMuch,
    /// Its time was over.
    OutOfTime,
}

/// How long a run takes. Reading the processor's time takes longer than many a light run, and so those are measured by the clock
/// on the wall.
pub enum Clock {
    Wall(Instant),
    Processor(Duration),
}

impl Clock {
    /// Begins to measure a run in a stage.
    pub fn start(stage: Stage) -> Clock {
        match stage {
            Stage::Inline => Clock::Wall(Instant::now()),
            Stage::Turn | Stage::Short | Stage::Long => Clock::Processor(processor_time()),
        }
    }

    /// How long it has taken on this thread.
    pub fn elapsed(&self) -> Duration {
        match self {
            Clock::Wall(began) => began.elapsed(),
            Clock::Processor(began) => processor_time().saturating_sub(*began),
        }
    }
}

/// The processor's time that this thread has had.
fn processor_time() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}

/// How long a prompt's templates took to run lately, in microseconds; 0 before the first run.
#[derive(Debug, Default)]
pub struct Cost(AtomicU64);

impl Cost {
    /// The cost of what will run only once: just too long for a serving thread.
    pub fn of_the_unknown() -> Cost {
        Cost(AtomicU64::new(MIDDLING_US + 1))
    }

    /// How long the next run is expected to take, in microseconds.
    pub fn expected_us(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Where the next run is expected to fit.
    pub fn stage(&self) -> Stage {
        match self.expected_us() {
            cost if cost <= LIGHT_US => Stage::Inline,
            cost if cost <= MIDDLING_US => Stage::Turn,
            cost if cost <= SHORT_US => Stage::Short,
            _ => Stage::Long,
        }
    }

    /// Takes note of a run in a stage, which took so long. Runs at the same time may overwrite each other's notes: an estimate
    /// suffices.
    pub fn note(&self, stage: Stage, took: Duration, end: End) {
        let took = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let before = self.0.load(Ordering::Relaxed);
        // The clock on the wall does not tell whether others had the processor; the next stage will. Until then such a run counts
        // as any longer one, so that a prompt for which the pool has no room does not use all that time again and again.
        let may_be_interrupted = stage == Stage::Inline && end == End::OutOfTime;
        let after = match stage.time() {
            // It would have taken longer than this; how much, the next stage tells.
            Some(time) if end != End::Itself && !may_be_interrupted => {
                before.max(2 * u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
            }
            _ if before == 0 && may_be_interrupted => MIDDLING_US + 1,
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
        cost.note(Stage::Inline, Duration::from_micros(40), End::Itself);
        assert_eq!(cost.stage(), Stage::Inline);
        cost.note(Stage::Inline, Duration::from_millis(4), End::Itself);
        assert_eq!(cost.stage(), Stage::Inline, "a single long run may have been interrupted");
        for _ in 0..100 {
            cost.note(Stage::Inline, Duration::from_millis(1), End::Itself);
        }
        assert_eq!(cost.stage(), Stage::Turn);
        cost.note(Stage::Turn, INLINE_TIME, End::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long);
        cost.note(Stage::Long, Duration::from_micros(1_500), End::Itself);
        cost.note(Stage::Long, Duration::from_micros(1_500), End::Itself);
        assert_eq!(cost.stage(), Stage::Short);
        cost.note(Stage::Short, SHORT_TIME, End::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long);
        for _ in 0..10 {
            cost.note(Stage::Long, Duration::from_micros(100), End::Itself);
        }
        assert_eq!(cost.stage(), Stage::Inline);
    }

    #[test]
    fn a_run_that_others_interrupt_leaves_its_prompt_where_it_is() {
        let cost = Cost::default();
        cost.note(Stage::Inline, Duration::from_micros(40), End::Itself);
        for _ in 0..10 {
            cost.note(Stage::Inline, INLINE_TIME * 4, End::OutOfTime);
        }
        assert_eq!(cost.stage(), Stage::Inline);
        for _ in 0..90 {
            cost.note(Stage::Inline, INLINE_TIME * 4, End::OutOfTime);
        }
        assert_ne!(cost.stage(), Stage::Inline, "so many are no accident");
        cost.note(Stage::Short, SHORT_TIME, End::OutOfTime);
        assert_eq!(cost.stage(), Stage::Long, "it had its time");

        let new = Cost::default();
        new.note(Stage::Inline, INLINE_TIME, End::OutOfTime);
        assert_eq!(new.stage(), Stage::Short, "nothing is known of it");

        let heavy = Cost::default();
        heavy.note(Stage::Inline, Duration::from_micros(40), End::TooMuch);
        assert_eq!(heavy.stage(), Stage::Long, "that does not depend on others");
    }

    #[test]
    fn a_run_that_others_interrupt_does_not_look_long() {
        let (wall, processor) = (Clock::start(Stage::Inline), Clock::start(Stage::Turn));
        std::thread::sleep(INLINE_TIME * 4);
        assert!(wall.elapsed() >= INLINE_TIME * 4);
        for stage in [Stage::Turn, Stage::Short] {
            assert!(stage.was_interrupted(processor.elapsed()));
            assert!(!stage.was_interrupted(INLINE_TIME), "it had its time");
        }
    }
}
