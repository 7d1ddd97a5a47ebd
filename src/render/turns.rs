//! Turns for medium renders on a serving thread: they run one at a time, yield to other tasks in between, and wait in a
//! bounded queue (load shedding).

use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::error::RenderError;
use base::outbound::PerRuntime;

/// The largest amount of work in the queue of one thread, in microseconds: a little more than one of two threads gets from a
/// client that keeps 64 connections busy with renders of 1 ms, which should not be rejected.
const QUEUE_MAX_US: u64 = 40_000;

/// The largest amount of work in the queue for [`AFTER_FULL`] after it was full: during overload, a longer queue would only
/// delay the requests that are accepted.
const QUEUE_MAX_AFTER_FULL_US: u64 = 8_000;

/// How long the shorter queue applies after an overload.
const AFTER_FULL: Duration = Duration::from_secs(10);

/// The turns of all serving threads; each thread has its own runtime and queue.
#[derive(Default)]
pub struct Turns(PerRuntime<Arc<Queue>>);

/// The queue of one thread.
struct Queue {
    turn: Arc<Semaphore>,
    state: Mutex<QueueState>,
}

#[derive(Default)]
struct QueueState {
    /// The expected duration of all renders in the queue, in microseconds.
    waiting_us: u64,
    /// When the queue was last full.
    full: Option<Instant>,
}

/// A turn; it ends when it is dropped.
pub struct Turn {
    _permit: Option<OwnedSemaphorePermit>,
}

/// An entry of the queue; it is removed when this is dropped.
struct QueueEntry<'q> {
    queue: &'q Queue,
    expected_us: u64,
}

impl Turns {
    /// Waits for a turn on this thread for work that is expected to take this many microseconds.
    ///
    /// # Errors
    /// [`RenderError::Overloaded`], at once, if the queue is full.
    pub fn take(&self, expected_us: u64) -> BoxFuture<'_, Result<Turn, RenderError>> {
        // Boxed, so that the futures of light renders stay small.
        Box::pin(self.wait(expected_us))
    }

    async fn wait(&self, expected_us: u64) -> Result<Turn, RenderError> {
        let new = || Queue { turn: Arc::new(Semaphore::new(1)), state: Mutex::default() };
        let Ok(queue) = self.0.get_or_make(|| Ok::<_, Infallible>(Arc::new(new())));
        let waiting = queue.enter(expected_us)?;
        let permit = queue.turn.clone().acquire_owned().await.ok();
        yield_to_others().await;
        drop(waiting);
        Ok(Turn { _permit: permit })
    }
}

/// Lets the other tasks on this thread that are ready run first: light requests, and others that then queue for a turn.
async fn yield_to_others() {
    // The set polls the yield only after the yield's own wake-up. Awaited directly, it would end with any wake-up of the task:
    // a connection is one task, and is also woken for the body of its request, before the runtime has polled for new events.
    let mut yielded = FuturesUnordered::from_iter([tokio::task::yield_now()]);
    yielded.next().await;
}

impl Queue {
    /// Adds an entry, if the queue is not full.
    fn enter(&self, expected_us: u64) -> Result<QueueEntry<'_>, RenderError> {
        let mut state = self.state();
        if !state.has_room(Instant::now()) {
            return Err(RenderError::Overloaded);
        }
        state.waiting_us += expected_us;
        Ok(QueueEntry { queue: self, expected_us })
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueState {
    /// Whether the queue has room for one more entry.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.waiting_us > QUEUE_MAX_US {
            self.full = Some(now);
        }
        let was_full = self.full.is_some_and(|full| now.duration_since(full) < AFTER_FULL);
        self.waiting_us <= if was_full { QUEUE_MAX_AFTER_FULL_US } else { QUEUE_MAX_US }
    }
}

impl Drop for QueueEntry<'_> {
    fn drop(&mut self) {
        self.queue.state().waiting_us -= self.expected_us;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two of these fill the queue.
    const HALF: u64 = QUEUE_MAX_US / 2 + 1;

    #[tokio::test]
    async fn turns_come_in_order_and_a_full_queue_rejects_more() {
        let turns = Turns::default();
        let first = turns.take(HALF).await.unwrap();
        let mut waiting: Vec<_> = (0..2).map(|_| Box::pin(turns.take(HALF))).collect();
        for turn in &mut waiting {
            assert!(futures_util::poll!(turn).is_pending());
        }
        assert!(matches!(turns.take(HALF).await, Err(RenderError::Overloaded)));
        drop(first);
        let second = waiting.remove(0).await.unwrap();
        assert!(futures_util::poll!(&mut waiting[0]).is_pending());
        drop(second);
        waiting.remove(0).await.unwrap();
        turns.take(HALF).await.unwrap();
    }

    #[tokio::test]
    async fn a_wake_up_by_something_else_does_not_end_the_yield() {
        let turns = Turns::default();
        let mut turn = Box::pin(turns.take(1));
        for _ in 0..3 {
            assert!(futures_util::poll!(&mut turn).is_pending());
        }
        turn.await.unwrap();
    }

    #[tokio::test]
    async fn a_dropped_future_leaves_the_queue() {
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
    fn after_the_queue_was_full_it_is_shorter_for_a_while() {
        let (mut state, now) = (QueueState::default(), Instant::now());
        let mut has_room = |waiting_us, later| {
            state.waiting_us = waiting_us;
            state.has_room(now + later)
        };
        let moment = Duration::from_millis(1);
        assert!(has_room(QUEUE_MAX_US, moment));
        assert!(!has_room(QUEUE_MAX_US + 1, moment * 2), "it is full");
        assert!(!has_room(QUEUE_MAX_AFTER_FULL_US + 1, moment * 3), "less may wait now");
        assert!(has_room(QUEUE_MAX_AFTER_FULL_US, moment * 4));
        assert!(!has_room(QUEUE_MAX_US, AFTER_FULL));
        assert!(has_room(QUEUE_MAX_US, moment * 2 + AFTER_FULL), "the while is over");
    }
}
