//! A few threads with deep stacks for work that is too long for a serving thread: renders, large JSON, large schemas.
//!
//! Work is short or long, each in a *lane* of its own: long work never has all threads. How much may wait in a lane depends on
//! how long its work takes, and on whether the lane has been crowded for a while: a burst may wait, a standing queue is kept so
//! short that what is accepted is answered soon, and everything else is refused at once (the idea of CoDel, RFC 8289).

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use crate::error::{Kind, Kinded};

/// The stack of a pool thread: room for the deepest recursion that the limits allow. Only what is touched takes memory.
const STACK_BYTES: usize = 256 << 20;

/// How long after its deadline work is waited for, so that its own report wins over ours.
const GRACE: Duration = Duration::from_millis(10);

/// Work that goes on for so long after its deadline keeps its thread, and the pool gets another one.
const OVERRUN: Duration = Duration::from_millis(50);

/// The most threads that stand in for others whose work overruns.
const STAND_INS_MAX: usize = 8;

/// A lane in which somebody has been waiting without a break for so long is crowded.
const CROWDED_AFTER: Duration = Duration::from_millis(50);

/// How long a burst may have to wait, in a lane that is not crowded.
const BURST_WAIT: Duration = Duration::from_millis(100);

/// In a crowded lane, work may have to wait for this many times as long as work takes there, but at least for so long.
const CROWDED_WAIT: u32 = 3;
const CROWDED_WAIT_MIN: Duration = Duration::from_millis(40);

/// How long freeing memory may take.
const FREE_TIME: Duration = Duration::from_secs(10);

/// How much the latest work counts in the average of how long work takes: an eighth.
const NEWEST_PART: u32 = 8;

/// How much lower the priority of the pool is than that of the serving threads (`nice`): light requests go first.
const NICE: i32 = 5;

/// How long work is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Milliseconds.
    Short,
    /// More, or nobody knows.
    Long,
}

/// Why work was not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Too much is waiting already.
    #[error("too much work is waiting; try again in a moment")]
    Overloaded,
    /// The deadline passed before its turn came.
    #[error("its turn did not come within the time limit: too much long work is running")]
    NoTurn,
    /// The deadline passed.
    #[error("it did not end within the time limit")]
    Timeout,
    /// It panicked.
    #[error("it broke off")]
    Broken,
}

impl Kinded for PoolError {
    fn kind(&self) -> Kind {
        match self {
            PoolError::Overloaded => Kind::Overloaded,
            PoolError::NoTurn | PoolError::Timeout => Kind::Timeout,
            PoolError::Broken => Kind::Failed,
        }
    }
}

/// The threads; they end when the pool is dropped.
pub struct Pool {
    queue: Arc<Queue>,
}

/// Work that waits for a thread.
struct Queue {
    /// Threads whose work keeps to its time.
    threads: usize,
    /// The most work that may wait, in both lanes together.
    places: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    short: Waiting,
    long: Waiting,
    running: HashMap<u64, Running>,
    /// Threads that have not ended.
    alive: usize,
    /// Numbers the threads.
    started: u64,
    closed: bool,
}

/// What waits in a lane, and what is known of it.
#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// How long work takes here, on average; nothing until some was done.
    average: Duration,
    /// Since when somebody has been waiting without a break.
    since: Option<Instant>,
}

struct Job {
    lane: Lane,
    deadline: Instant,
    work: Box<dyn FnOnce() + Send>,
}

/// What a thread is doing.
struct Running {
    lane: Lane,
    since: Instant,
    deadline: Instant,
}

impl Running {
    fn overruns(&self, now: Instant) -> bool {
        now > self.deadline + OVERRUN
    }
}

impl Pool {
    /// Starts `threads` threads (at least two, as long work never has all of them), and lets `waiting` pieces of work wait.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(threads: usize, waiting: usize) -> std::io::Result<Pool> {
        let queue = Arc::new(Queue {
            threads: threads.max(2),
            places: waiting.max(1),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        for _ in 0..queue.threads {
            queue.add_thread(&mut queue.state())?;
        }
        Ok(Pool { queue })
    }

    /// Runs `work` on a thread of the pool and waits for what it gives, no longer than until `deadline`.
    ///
    /// Work whose turn comes too late, or whose caller has left, is not begun; work that is under way then goes on, and
    /// nobody sees its result.
    ///
    /// # Errors
    /// [`PoolError`]; `Overloaded` at once.
    pub fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> BoxFuture<'_, Result<T, PoolError>> {
        // Boxed, so that requests that do without the pool do not carry the room for it about.
        Box::pin(self.wait(lane, deadline, work))
    }

    async fn wait<T: Send + 'static>(
        &self,
        lane: Lane,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let begun = Arc::new(AtomicBool::new(false));
        let begins = begun.clone();
        let work = move || {
            if !sender.is_closed() {
                begins.store(true, Ordering::Relaxed);
                // Nobody may be waiting any more: then the result is of no use to anyone.
                let _ = sender.send(work());
            }
        };
        self.queue.push(Job { lane, deadline, work: Box::new(work) })?;
        let result = tokio::time::timeout_at((deadline + GRACE).into(), receiver).await;
        match result {
            Ok(Ok(result)) => Ok(result),
            _ if !begun.load(Ordering::Relaxed) => Err(PoolError::NoTurn),
            Err(_) => Err(PoolError::Timeout),
            Ok(Err(_)) => Err(PoolError::Broken),
        }
    }
}

impl Pool {
    /// Has a value freed by the pool when it is dropped, as taking a large one apart takes long.
    pub fn aside<T: Send + 'static>(&self, value: T) -> Aside<T> {
        Aside { value: Some(value), queue: Arc::downgrade(&self.queue) }
    }
}

/// A value that is freed by the pool.
pub struct Aside<T: Send + 'static> {
    value: Option<T>,
    queue: Weak<Queue>,
}

impl<T: Send + 'static> Drop for Aside<T> {
    fn drop(&mut self) {
        if let (Some(value), Some(queue)) = (self.value.take(), self.queue.upgrade()) {
            queue.free(Box::new(move || drop(value)));
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

    /// How many threads may do work of this lane at the same time.
    fn threads_of(&self, lane: Lane) -> usize {
        match lane {
            Lane::Short => self.threads,
            Lane::Long => self.threads - 1,
        }
    }

    fn add_thread(self: &Arc<Self>, state: &mut State) -> std::io::Result<()> {
        let (queue, number) = (self.clone(), state.started);
        let thread = std::thread::Builder::new().name(format!("pool-{number}")).stack_size(STACK_BYTES);
        thread.spawn(move || queue.serve(number))?;
        state.started += 1;
        state.alive += 1;
        Ok(())
    }

    fn push(self: &Arc<Self>, job: Job) -> Result<(), PoolError> {
        let now = Instant::now();
        let mut state = self.state();
        self.stand_in(&mut state, now);
        let expired = state.expired_if(now, |waiting| waiting >= self.places);
        let admitted = state.waiting() < self.places && self.admits(&state, &job, now);
        if admitted {
            let lane = state.lane(job.lane);
            lane.since = lane.since.or(Some(now));
            lane.jobs.push_back(job);
        }
        drop(state);
        // Outside of the lock: what is dropped here may be large.
        drop(expired);
        self.changed.notify_one();
        admitted.then_some(()).ok_or(PoolError::Overloaded)
    }

    /// Has a thread do what frees memory, as soon as it can; where very much waits for that already, the caller does it.
    fn free(&self, work: Box<dyn FnOnce() + Send>) {
        let mut state = self.state();
        if state.closed || state.waiting() >= 2 * self.places {
            drop(state);
            return work();
        }
        let deadline = Instant::now() + FREE_TIME;
        state.short.jobs.push_back(Job { lane: Lane::Short, deadline, work });
        drop(state);
        self.changed.notify_one();
    }

    /// Whether work may wait here now: neither too long, nor in vain.
    fn admits(&self, state: &State, job: &Job, now: Instant) -> bool {
        let lane = if job.lane == Lane::Short { &state.short } else { &state.long };
        let threads = self.threads_of(job.lane);
        let running = state.running.values().filter(|running| running.lane == job.lane);
        let busy: Vec<&Running> = running.filter(|running| !running.overruns(now)).collect();
        if busy.len() + lane.jobs.len() < threads {
            return true;
        }
        let soonest = busy.iter().map(|running| lane.average.saturating_sub(now - running.since)).min();
        let queued = lane.average * u32::try_from(lane.jobs.len()).unwrap_or(u32::MAX);
        let wait = soonest.unwrap_or_default() + queued / u32::try_from(threads).unwrap_or(1);
        let crowded = lane.since.is_some_and(|since| now - since > CROWDED_AFTER);
        let patience = (lane.average * CROWDED_WAIT).max(if crowded { CROWDED_WAIT_MIN } else { BURST_WAIT });
        wait <= patience && wait + lane.average <= job.deadline.saturating_duration_since(now)
    }

    /// Starts threads in the place of those whose work overruns.
    fn stand_in(self: &Arc<Self>, state: &mut State, now: Instant) {
        let overrun = state.overrun(now).min(STAND_INS_MAX);
        while state.alive < self.threads + overrun {
            if let Err(error) = self.add_thread(state) {
                tracing::warn!(%error, "no thread can be started in the place of one whose work overruns");
                return;
            }
            tracing::warn!(
                overrun,
                "work on a pool thread goes on after its deadline; another thread takes its place"
            );
        }
    }

    /// The next work for a thread; none when it is to end.
    fn next(&self, number: u64) -> Option<Job> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            if state.closed || state.alive > self.threads + state.overrun(now).min(STAND_INS_MAX) {
                state.alive -= 1;
                return None;
            }
            if let Some(job) = state.take(self.threads_of(Lane::Long), now) {
                state.running.insert(number, Running { lane: job.lane, since: now, deadline: job.deadline });
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn serve(&self, number: u64) {
        give_way();
        while let Some(job) = self.next(number) {
            let in_time = Instant::now() < job.deadline;
            // A panic costs its own work, not the thread: whoever waits sees that the sender is gone.
            let _panicked =
                catch_unwind(AssertUnwindSafe(|| if in_time { (job.work)() } else { drop(job.work) }));
            let mut state = self.state();
            if let Some(done) = state.running.remove(&number).filter(|_| in_time) {
                state.lane(done.lane).note(done.since.elapsed());
            }
        }
    }
}

/// Lowers the priority of the calling thread.
fn give_way() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!(%error, "the priority of a pool thread cannot be lowered");
    }
}

impl State {
    fn lane(&mut self, lane: Lane) -> &mut Waiting {
        match lane {
            Lane::Short => &mut self.short,
            Lane::Long => &mut self.long,
        }
    }

    fn waiting(&self) -> usize {
        self.short.jobs.len() + self.long.jobs.len()
    }

    fn overrun(&self, now: Instant) -> usize {
        self.running.values().filter(|running| running.overruns(now)).count()
    }

    /// Takes work out whose deadline has passed, if so much is waiting.
    fn expired_if(&mut self, now: Instant, too_much: impl FnOnce(usize) -> bool) -> Vec<Job> {
        if !too_much(self.waiting()) {
            return Vec::new();
        }
        let mut expired = Vec::new();
        for lane in [&mut self.short, &mut self.long] {
            let jobs = std::mem::take(&mut lane.jobs);
            let (late, in_time): (Vec<Job>, Vec<Job>) = jobs.into_iter().partition(|job| job.deadline <= now);
            lane.jobs = in_time.into();
            expired.extend(late);
        }
        expired
    }

    /// The next work: short work first, and long work if fewer than `long_max` threads do such.
    fn take(&mut self, long_max: usize, now: Instant) -> Option<Job> {
        let long = self.running.values().filter(|running| running.lane == Lane::Long);
        let may_be_long = long.filter(|running| !running.overruns(now)).count() < long_max;
        let lane = match self.short.jobs.is_empty() {
            false => &mut self.short,
            true if may_be_long => &mut self.long,
            true => return None,
        };
        let job = lane.jobs.pop_front();
        if lane.jobs.is_empty() {
            lane.since = None;
        }
        job
    }
}

impl Waiting {
    /// Takes note of how long work took.
    fn note(&mut self, took: Duration) {
        self.average = match self.average.is_zero() {
            true => took,
            false => (self.average * (NEWEST_PART - 1) + took) / NEWEST_PART,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    fn pool() -> Arc<Pool> {
        Arc::new(Pool::start(2, 8).unwrap())
    }

    /// Has a thread of the pool do nothing until the sender is dropped.
    async fn hold(pool: &Arc<Pool>, lane: Lane, deadline: Instant) -> SyncSender<()> {
        let (hold, held): (SyncSender<()>, Receiver<()>) = sync_channel(0);
        let (started, begun) = tokio::sync::oneshot::channel();
        let pool = pool.clone();
        let work = move || (started.send(()).is_ok(), held.recv().is_err());
        tokio::spawn(async move { pool.run(lane, deadline, work).await });
        begun.await.unwrap();
        hold
    }

    #[tokio::test]
    async fn work_comes_back_with_its_result() {
        assert_eq!(pool().run(Lane::Short, soon(), || 6 * 7).await, Ok(42));
    }

    #[tokio::test]
    async fn long_work_never_has_all_threads_and_short_work_goes_first() {
        let pool = pool();
        let held = hold(&pool, Lane::Long, soon()).await;
        let order: Arc<Mutex<Vec<&str>>> = Arc::default();
        let run = |lane, name| {
            let (pool, order) = (pool.clone(), order.clone());
            async move { pool.run(lane, soon(), move || order.lock().unwrap().push(name)).await }
        };
        let mut long = Box::pin(run(Lane::Long, "long"));
        // The first look puts it into the queue.
        assert!(futures_util::poll!(&mut long).is_pending());
        run(Lane::Short, "short").await.unwrap();
        assert!(futures_util::poll!(&mut long).is_pending());
        drop(held);
        long.await.unwrap();
        assert_eq!(*order.lock().unwrap(), ["short", "long"]);
    }

    #[tokio::test]
    async fn work_that_could_not_be_done_in_time_is_refused_and_what_was_never_begun_is_said_to_have_waited()
    {
        let pool = pool();
        let _held = hold(&pool, Lane::Long, soon()).await;
        let late = pool.run(Lane::Long, Instant::now() + Duration::from_millis(300), || ()).await;
        assert_eq!(late, Err(PoolError::NoTurn));
        pool.queue.state().long.average = Duration::from_secs(30);
        assert_eq!(pool.run(Lane::Long, soon(), || ()).await, Err(PoolError::Overloaded));
    }

    #[tokio::test]
    async fn a_crowded_lane_lets_less_wait_than_a_burst_finds() {
        let pool = pool();
        let _held = hold(&pool, Lane::Long, soon()).await;
        let average = Duration::from_millis(20);
        pool.queue.state().long.average = average;
        let mut waiting: Vec<_> = (0..4).map(|_| Box::pin(pool.run(Lane::Long, soon(), || ()))).collect();
        for work in &mut waiting {
            assert!(futures_util::poll!(work).is_pending());
        }
        pool.queue.state().long.since = Some(Instant::now() - CROWDED_AFTER * 2);
        assert_eq!(pool.run(Lane::Long, soon(), || ()).await, Err(PoolError::Overloaded));
    }

    #[tokio::test]
    async fn a_panic_costs_its_own_work_and_not_the_thread() {
        let pool = pool();
        for _ in 0..4 {
            let broken = pool.run(Lane::Short, soon(), || panic!("on purpose")).await;
            assert_eq!(broken, Err::<(), _>(PoolError::Broken));
        }
        assert_eq!(pool.run(Lane::Short, soon(), || 1).await, Ok(1));
    }

    #[tokio::test]
    async fn a_full_queue_refuses_at_once_and_forgets_what_is_too_late() {
        let pool = Arc::new(Pool::start(2, 1).unwrap());
        let _held = hold(&pool, Lane::Long, soon()).await;
        let mut waiting = Box::pin(pool.run(Lane::Long, Instant::now() + Duration::from_secs(1), || 1));
        assert!(futures_util::poll!(&mut waiting).is_pending());
        assert_eq!(pool.run(Lane::Long, soon(), || 2).await, Err(PoolError::Overloaded));
        assert_eq!(waiting.await, Err(PoolError::NoTurn));
        let mut next = Box::pin(pool.run(Lane::Long, soon(), || 3));
        assert!(
            futures_util::poll!(&mut next).is_pending(),
            "it waits in the place of the one that was too late"
        );
    }

    #[tokio::test]
    async fn threads_whose_work_overruns_are_replaced_and_do_not_come_back() {
        let pool = pool();
        let deadline = Instant::now() + Duration::from_millis(500);
        let held = [hold(&pool, Lane::Short, deadline).await, hold(&pool, Lane::Short, deadline).await];
        tokio::time::sleep(Duration::from_millis(500) + OVERRUN * 2).await;
        assert_eq!(pool.run(Lane::Long, soon(), || 1).await, Ok(1));
        assert_eq!(pool.queue.state().alive, 4);
        drop(held);
        for _ in 0..2_000 {
            if pool.queue.state().alive == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
            pool.queue.changed.notify_all();
        }
        assert_eq!(pool.queue.state().alive, 2);
        assert_eq!(pool.run(Lane::Long, soon(), || 2).await, Ok(2));
    }

    #[tokio::test]
    async fn work_whose_caller_has_left_is_not_begun() {
        let pool = pool();
        let held = hold(&pool, Lane::Long, soon()).await;
        let begun = Arc::new(AtomicBool::new(false));
        let begins = begun.clone();
        let mut left = Box::pin(pool.run(Lane::Long, soon(), move || begins.store(true, Ordering::Relaxed)));
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        drop(held);
        pool.run(Lane::Long, soon(), || ()).await.unwrap();
        assert!(!begun.load(Ordering::Relaxed));
    }
}
