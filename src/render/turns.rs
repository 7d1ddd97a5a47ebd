//! Turns of middling renders on a serving thread: one after the other, with a look in between at what else has come, and no
//! more of them waiting than can be answered soon.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::RenderFailure;
use base::outbound::PerRuntime;

/// The most work, in microseconds, that may wait for its turn on one thread: a little more than one of two threads gets from a
/// client that keeps 64 connections busy with renders of 1 ms, so that it is not refused.
const MOST_US: u64 = 40_000;

/// The most after that was reached, and how long so little may wait then: more comes than can be done, and a longer queue would
/// only delay what is accepted.
const MOST_AFTER_FULL_US: u64 = 8_000;
const AFTER_FULL: Duration = Duration::from_secs(10);

/// The turns of all serving threads: each has a runtime of its own.
#[derive(Default)]
pub struct Turns(PerRuntime<Arc<Queue>>);

/// The turns on one thread.
struct Queue {
    turn: Arc<Semaphore>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// The time that those who wait are expected to take, in microseconds.
    waiting_us: u64,
    /// When the queue was full last.
    full: Option<Instant>,
}

/// A turn, until it is dropped.
pub struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

/// What one who waits is expected to take; it no longer counts when this is dropped.
struct Waiting<'q> {
    queue: &'q Queue,
    expected_us: u64,
}

impl Turns {
    /// Waits for a turn on this thread for work that is expected to take so many microseconds.
    ///
    /// # Errors
    /// [`RenderFailure::Overloaded`] at once when too much waits already.
    pub fn take(&self, expected_us: u64) -> BoxFuture<'_, Result<Turn, RenderFailure>> {
        // Boxed, so that light renders do not carry the room for it about.
        Box::pin(self.wait(expected_us))
    }

    async fn wait(&self, expected_us: u64) -> Result<Turn, RenderFailure> {
        let new = || Queue { turn: Arc::new(Semaphore::new(1)), state: Mutex::default() };
        let Ok(queue) = self.0.get_or_make(|| Ok::<_, Infallible>(Arc::new(new())));
        let waiting = queue.enter(expected_us)?;
        let permit = queue.turn.clone().acquire_owned().await.ok();
        others_first().await;
        drop(waiting);
        Ok(Turn { _permit: permit })
    }
}

/// Lets whatever else is ready on this thread go first: light requests, and others who then wait for a turn.
async fn others_first() {
    // In a set, the yield is looked at only after its own wake-up. Alone, it would end with any: a connection is one task, and
    // is woken for its request's body as well, before the thread has looked for what else has come.
    let mut yielded = FuturesUnordered::from_iter([tokio::task::yield_now()]);
    yielded.next().await;
}

impl Queue {
    /// Lets one more wait, if what waits already can be done soon.
    fn enter(&self, expected_us: u64) -> Result<Waiting<'_>, RenderFailure> {
        let mut state = self.state();
        if !state.has_room(Instant::now()) {
            return Err(RenderFailure::Overloaded);
        }
        state.waiting_us += expected_us;
        Ok(Waiting { queue: self, expected_us })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether one more may wait.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.waiting_us > MOST_US {
            self.full = Some(now);
        }
        let was_full = self.full.is_some_and(|full| now.duration_since(full) < AFTER_FULL);
        self.waiting_us <= if was_full { MOST_AFTER_FULL_US } else { MOST_US }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.queue.state().waiting_us -= self.expected_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of these are more than may wait.
    const HALF: u64 = MOST_US / 2 + 1;

    #[tokio::test]
    async fn turns_come_in_order_and_what_would_wait_too_long_is_refused() {
        let turns = Turns::default();
        let first = turns.take(HALF).await.unwrap();
        let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(turns.take(HALF))).collect();
        for turn in &mut waiting {
            assert!(futures_util::poll!(turn).is_pending());
        }
        assert!(matches!(turns.take(HALF).await, Err(RenderFailure::Overloaded)));
        drop(first);
        let second = waiting.remove(0).await.unwrap();
        assert!(futures_util::poll!(&mut waiting[0]).is_pending());
        drop(second);
        waiting.remove(0).await.unwrap();
        turns.take(HALF).await.unwrap();
    }

    #[tokio::test]
    async fn a_wake_up_for_another_reason_does_not_end_the_look_at_what_else_has_come() {
        let turns = Turns::default();
        let mut turn = Box::pin(turns.take(1));
        for _ in 0..3 {
            assert!(futures_util::poll!(&mut turn).is_pending());
        }
        turn.await.unwrap();
    }

    #[tokio::test]
    async fn one_who_leaves_does_not_count() {
        let turns = Turns::default();
        let first = turns.take(1).await.unwrap();
        for _ in 0..5 {
            let mut left = Box::pin(turns.take(HALF));
            assert!(futures_util::poll!(&mut left).is_pending());
        }
        drop(first);
        turns.take(1).await.unwrap();
    }

    #[test]
    fn after_the_queue_was_full_less_may_wait_for_a_while() {
        let (mut state, now) = (State::default(), Instant::now());
        let mut has_room = |waiting_us, later| {
            state.waiting_us = waiting_us;
            state.has_room(now + later)
        };
        let moment = Duration::from_millis(1);
        assert!(has_room(MOST_US, moment));
        assert!(!has_room(MOST_US + 1, moment * 2), "it is full");
        assert!(!has_room(MOST_AFTER_FULL_US + 1, moment * 3), "less may wait now");
        assert!(has_room(MOST_AFTER_FULL_US, moment * 4));
        assert!(!has_room(MOST_US, AFTER_FULL));
        assert!(has_room(MOST_US, moment * 2 + AFTER_FULL), "the while is over");
    }
}
