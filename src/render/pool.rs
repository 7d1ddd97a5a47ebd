//! A few threads with deep stacks for renders that are too long for a serving thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::error::RenderFailure;

/// The stack of a pool thread: room for the deepest recursion that the limits allow. Only what is touched takes memory.
const STACK_BYTES: usize = 256 << 20;

type Work = Box<dyn FnOnce() + Send>;

/// The threads; they end when the pool is dropped.
pub struct Pool {
    queue: SyncSender<Work>,
}

/// How long after its deadline work is waited for, so that its own report wins over ours.
const GRACE: Duration = Duration::from_millis(10);

impl Pool {
    /// Starts `threads` threads with a queue of `waiting` places.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(threads: usize, waiting: usize) -> std::io::Result<Pool> {
        let (queue, work) = sync_channel::<Work>(waiting);
        let work = Arc::new(Mutex::new(work));
        for number in 0..threads {
            let work = work.clone();
            std::thread::Builder::new()
                .name(format!("render-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || serve(&work))?;
        }
        Ok(Pool { queue })
    }

    /// Runs `work` on a thread of the pool and waits for what it gives, no longer than until `deadline`.
    ///
    /// Work whose turn comes too late is not begun; work that is under way then goes on, and nobody sees its result.
    ///
    /// # Errors
    /// [`RenderFailure::Overloaded`] when too much is waiting already, [`RenderFailure::Timeout`] when the deadline passes,
    /// [`RenderFailure::Failed`] when the work breaks off.
    pub async fn run_until<T: Send + 'static>(
        &self,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RenderFailure> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let job: Work = Box::new(move || {
            if Instant::now() < deadline {
                // Nobody may be waiting any more: then the result is of no use to anyone.
                let _ = sender.send(Some(work()));
            } else {
                let _ = sender.send(None);
            }
        });
        self.queue.try_send(job).map_err(|_| RenderFailure::Overloaded)?;
        match tokio::time::timeout_at((deadline + GRACE).into(), receiver).await {
            Ok(Ok(Some(result))) => Ok(result),
            Ok(Ok(None)) | Err(_) => Err(RenderFailure::Timeout),
            Ok(Err(_)) => {
                Err(RenderFailure::Failed { message: "the render broke off".to_owned(), position: None })
            }
        }
    }
}

fn serve(work: &Mutex<Receiver<Work>>) {
    loop {
        let next = match work.lock() {
            Ok(work) => work.recv(),
            Err(_) => return,
        };
        match next {
            // A panic costs its own render, not the thread: whoever waits sees that the sender is gone.
            Ok(job) => drop(catch_unwind(AssertUnwindSafe(job))),
            Err(_) => return,
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
    async fn a_panic_costs_its_own_work_and_not_the_thread() {
        let pool = Pool::start(1, 8).unwrap();
        let broken = pool.run_until(soon(), || panic!("on purpose")).await;
        assert!(matches!(broken, Err::<(), _>(RenderFailure::Failed { .. })));
        assert_eq!(pool.run_until(soon(), || 1).await.unwrap(), 1);
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_a_passed_deadline_is_a_timeout() {
        let pool = Arc::new(Pool::start(1, 1).unwrap());
        let (hold, held) = sync_channel::<()>(0);
        let busy = tokio::spawn({
            let pool = pool.clone();
            async move { pool.run_until(soon(), move || held.recv().is_err()).await }
        });
        tokio::task::yield_now().await;
        let past = Instant::now();
        let late: Vec<_> = futures_util::future::join_all((0..3).map(|_| pool.run_until(past, || ()))).await;
        assert!(late.iter().any(|result| matches!(result, Err(RenderFailure::Overloaded))), "{late:?}");
        assert!(late.iter().all(|result| result.is_err()));
        drop(hold);
        assert!(busy.await.unwrap().unwrap());
    }
}
