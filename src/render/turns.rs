//! Turns of middling renders on a serving thread: one after the other, with a look in between at what else has come, and no
//! more of them waiting than can be answered soon.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::future::BoxFuture;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::RenderFailure;
use crate::outbound::PerRuntime;

/// The most work, in microseconds, that may wait for its turn on one thread.
const WAITING_US_MAX: u64 = 60_000;

/// The turns of all serving threads: each has a runtime of its own.
#[derive(Default)]
pub struct Turns(PerRuntime<Arc<Queue>>);

/// The turns on one thread.
struct Queue {
    turn: Arc<Semaphore>,
    /// The time that those who wait are expected to take, in microseconds.
    waiting_us: AtomicU64,
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
        let new = || Queue { turn: Arc::new(Semaphore::new(1)), waiting_us: AtomicU64::new(0) };
        let Ok(queue) = self.0.get_or_make(|| Ok::<_, Infallible>(Arc::new(new())));
        let before = queue.waiting_us.fetch_add(expected_us, Ordering::Relaxed);
        let waiting = Waiting { queue: &queue, expected_us };
        if before > WAITING_US_MAX {
            return Err(RenderFailure::Overloaded);
        }
        let permit = queue.turn.clone().acquire_owned().await.ok();
        // Whatever else is ready on this thread goes first: light requests, and others who then wait for a turn.
        tokio::task::yield_now().await;
        drop(waiting);
        Ok(Turn { _permit: permit })
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.queue.waiting_us.fetch_sub(self.expected_us, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of these are more than may wait.
    const HALF: u64 = WAITING_US_MAX / 2 + 1;

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
}
