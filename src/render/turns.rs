//! Turns of middling renders on a serving thread: one after the other, with a look in between at what else has come, and no
//! more of them waiting than can be answered soon.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::RenderFailure;
use crate::outbound::PerRuntime;

/// The most work, in microseconds, that may wait for its turn on one thread when much comes at once.
const BURST_US: u64 = 60_000;

/// When somebody has been waiting for so long without a break, more comes than can be done.
const CROWDED_AFTER: Duration = Duration::from_millis(100);

/// Then so much work may wait, in microseconds: about what one of two threads gets from a client that keeps 64 connections busy
/// with renders of 1 ms, so that it is not refused.
const CROWDED_US: u64 = 30_000;

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
    /// Since when somebody has been waiting without a break.
    since: Option<Instant>,
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
        // Whatever else is ready on this thread goes first: light requests, and others who then wait for a turn.
        tokio::task::yield_now().await;
        drop(waiting);
        Ok(Turn { _permit: permit })
    }
}

impl Queue {
    /// Lets one more wait, if what waits already can be done soon.
    fn enter(&self, expected_us: u64) -> Result<Waiting<'_>, RenderFailure> {
        let mut state = self.state();
        if state.waiting_us > state.most() {
            return Err(RenderFailure::Overloaded);
        }
        state.waiting_us += expected_us;
        state.since.get_or_insert_with(Instant::now);
        Ok(Waiting { queue: self, expected_us })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How much work may wait before one more.
    fn most(&self) -> u64 {
        match self.since {
            Some(since) if since.elapsed() > CROWDED_AFTER => CROWDED_US,
            _ => BURST_US,
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.waiting_us -= self.expected_us;
        if state.waiting_us == 0 {
            state.since = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of these are more than may wait.
    const HALF: u64 = BURST_US / 2 + 1;

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

    #[tokio::test]
    async fn when_somebody_always_waits_less_may_wait() {
        let turns = Turns::default();
        let first = turns.take(1).await.unwrap();
        let mut one = Box::pin(turns.take(CROWDED_US + 1));
        assert!(futures_util::poll!(&mut one).is_pending());
        let mut other = Box::pin(turns.take(1));
        assert!(futures_util::poll!(&mut other).is_pending(), "a burst may wait");
        tokio::time::sleep(CROWDED_AFTER * 2).await;
        assert!(matches!(turns.take(1).await, Err(RenderFailure::Overloaded)));
        drop((first, one, other));
        let _first = turns.take(1).await.unwrap();
        assert!(futures_util::poll!(&mut Box::pin(turns.take(BURST_US))).is_pending(), "it is a new burst");
    }
}
