//! A few threads with deep stacks for renders that are too long for a serving thread.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::error::RenderFailure;

/// The stack of a pool thread: room for the deepest recursion that the limits allow. Only what is touched takes memory.
const STACK_BYTES: usize = 256 << 20;

/// How long after its deadline work is waited for, so that its own report wins over ours.
const GRACE: Duration = Duration::from_millis(10);

/// The threads; they end when the pool is dropped.
pub struct Pool {
    queue: Arc<Queue>,
}

/// Work that waits for a thread. The newest goes first: with the oldest first, a pool that is asked for too much would spend
/// all of its time on work that can no longer end in time.
struct Queue {
    places: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    closed: bool,
}

struct Job {
    deadline: Instant,
    work: Box<dyn FnOnce() + Send>,
}

impl Pool {
    /// Starts `threads` threads with a queue of `waiting` places.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(threads: usize, waiting: usize) -> std::io::Result<Pool> {
        let queue =
            Arc::new(Queue { places: waiting.max(1), state: Mutex::default(), changed: Condvar::new() });
        for number in 0..threads {
            let queue = queue.clone();
            std::thread::Builder::new()
                .name(format!("render-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || queue.serve())?;
        }
        Ok(Pool { queue })
    }

    /// Runs `work` on a thread of the pool and waits for what it gives, no longer than until `deadline`.
    ///
    /// Work whose turn comes too late is not begun; work that is under way then goes on, and nobody sees its result.
    ///
    /// # Errors
    /// [`RenderFailure::Overloaded`] when too much is waiting already, [`RenderFailure::NoTurn`] when its turn does not come in
    /// time, [`RenderFailure::Timeout`] when the deadline passes, [`RenderFailure::Failed`] when the work breaks off.
    pub async fn run_until<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RenderFailure> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let begun = Arc::new(AtomicBool::new(false));
        let begins = begun.clone();
        let work = move || {
            begins.store(true, Ordering::Relaxed);
            // Nobody may be waiting any more: then the result is of no use to anyone.
            let _ = sender.send(work());
        };
        self.queue.push(Job { deadline, work: Box::new(work) })?;
        let result = tokio::time::timeout_at((deadline + GRACE).into(), receiver).await;
        match result {
            Ok(Ok(result)) => Ok(result),
            _ if !begun.load(Ordering::Relaxed) => Err(RenderFailure::NoTurn),
            Err(_) => Err(RenderFailure::Timeout),
            Ok(Err(_)) => {
                Err(RenderFailure::Failed { message: "the render broke off".to_owned(), position: None })
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.changed.notify_all();
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, job: Job) -> Result<(), RenderFailure> {
        let mut state = self.state();
        if state.waiting.len() >= self.places {
            let now = Instant::now();
            state.waiting.retain(|waiting| waiting.deadline > now);
        }
        if state.waiting.len() >= self.places {
            return Err(RenderFailure::Overloaded);
        }
        state.waiting.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// The newest work, once there is some; none when the pool is gone.
    fn next(&self) -> Option<Job> {
        let idle = |state: &mut State| state.waiting.is_empty() && !state.closed;
        let mut state = self.changed.wait_while(self.state(), idle).unwrap_or_else(PoisonError::into_inner);
        state.waiting.pop_back()
    }

    fn serve(&self) {
        while let Some(job) = self.next() {
            if Instant::now() < job.deadline {
                // A panic costs its own render, not the thread: whoever waits sees that the sender is gone.
                drop(catch_unwind(AssertUnwindSafe(job.work)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[tokio::test]
    async fn work_comes_back_with_its_result() {
        let pool = Pool::start(2, 8).unwrap();
        assert_eq!(pool.run_until(soon(), || 6 * 7).await.unwrap(), 42);
    }

    #[tokio::test]
    async fn the_newest_work_goes_first_and_what_was_never_begun_is_said_to_have_waited() {
        let pool = Arc::new(Pool::start(1, 8).unwrap());
        let (hold, held) = std::sync::mpsc::sync_channel::<()>(0);
        let order: Arc<Mutex<Vec<u32>>> = Arc::default();
        let (started, begun) = tokio::sync::oneshot::channel();
        let busy = tokio::spawn({
            let pool = pool.clone();
            let work = move || (started.send(()).is_ok(), held.recv().is_err());
            async move { pool.run_until(soon(), work).await }
        });
        begun.await.unwrap();
        let late = pool.run_until(Instant::now(), || ()).await;
        assert!(matches!(late, Err(RenderFailure::NoTurn)), "{late:?}");
        let waiting: Vec<_> = (0..3)
            .map(|number| {
                let (pool, order) = (pool.clone(), order.clone());
                async move { pool.run_until(soon(), move || order.lock().unwrap().push(number)).await }
            })
            .map(Box::pin)
            .collect();
        let mut all = Box::pin(futures_util::future::join_all(waiting));
        // The first look at each puts it into the queue.
        assert!(futures_util::poll!(&mut all).is_pending());
        drop(hold);
        assert!(all.await.iter().all(Result::is_ok));
        assert!(busy.await.unwrap().is_ok());
        assert_eq!(*order.lock().unwrap(), [2, 1, 0]);
    }

    #[tokio::test]
    async fn a_panic_costs_its_own_work_and_not_the_thread() {
        let pool = Pool::start(1, 8).unwrap();
        let broken = pool.run_until(soon(), || panic!("on purpose")).await;
        assert!(matches!(broken, Err::<(), _>(RenderFailure::Failed { .. })));
        assert_eq!(pool.run_until(soon(), || 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_deadline_that_passes_meanwhile_is_a_timeout() {
        let pool = Pool::start(1, 1).unwrap();
        let (hold, held) = std::sync::mpsc::sync_channel::<()>(0);
        let (started, begun) = tokio::sync::oneshot::channel();
        let work = move || (started.send(()).is_ok(), held.recv().is_err());
        let mut busy = Box::pin(pool.run_until(Instant::now() + Duration::from_millis(200), work));
        assert!(futures_util::poll!(&mut busy).is_pending());
        begun.await.unwrap();
        let mut waiting = Box::pin(pool.run_until(soon(), || 1));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        let refused = pool.run_until(soon(), || 2).await;
        assert!(matches!(refused, Err(RenderFailure::Overloaded)), "{refused:?}");
        let late = busy.await;
        assert!(matches!(late, Err(RenderFailure::Timeout)), "{late:?}");
        drop(hold);
        assert_eq!(waiting.await.unwrap(), 1);
    }
}
