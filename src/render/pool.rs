//! A few threads with deep stacks for renders that are too long for a serving thread.

use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};

/// The stack of a pool thread: room for the deepest recursion that the limits allow. Only what is touched takes memory.
const STACK_BYTES: usize = 256 << 20;

type Work = Box<dyn FnOnce() + Send>;

/// The threads; they end when the pool is dropped.
pub struct Pool {
    queue: SyncSender<Work>,
}

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Full;

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

    /// Runs `work` on a thread of the pool; what it returns arrives on the receiver, which errs if the work broke off.
    ///
    /// # Errors
    /// [`Full`] when too much is waiting already.
    pub fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<tokio::sync::oneshot::Receiver<T>, Full> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let job: Work = Box::new(move || {
            // Nobody may be waiting any more: then the result is of no use to anyone.
            let _ = sender.send(work());
        });
        match self.queue.try_send(job) {
            Ok(()) => Ok(receiver),
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => Err(Full),
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
            Ok(job) => job(),
            Err(_) => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_comes_back_with_its_result() {
        let pool = Pool::start(2, 8).unwrap();
        assert_eq!(pool.run(|| 6 * 7).unwrap().await, Ok(42));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once() {
        let pool = Pool::start(1, 1).unwrap();
        let (hold, held) = sync_channel::<()>(0);
        let busy = pool.run(move || held.recv()).unwrap();
        let mut waiting = Vec::new();
        let refused = (0..3).any(|_| match pool.run(|| ()) {
            Ok(receiver) => {
                waiting.push(receiver);
                false
            }
            Err(Full) => true,
        });
        assert!(refused);
        drop(hold);
        assert!(busy.await.is_ok());
    }
}
