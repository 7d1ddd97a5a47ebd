//! A thread pool with deep stacks for work that is too long for a serving thread: renders, large JSON, large schemas.
//!
//! There is a *lane* for short work and one for long work, against head-of-line blocking: long work never occupies all
//! threads. Each lane has back-pressure after the idea of CoDel (RFC 8289): how much work may wait depends on how long the
//! lane's work takes, and on how long its queue has not been empty. A burst may wait; a standing queue is kept short, so
//! that accepted work finishes soon; everything else is refused at once.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;

use crate::error::{Kind, Kinded};

/// Longer JSON texts, in bytes, are parsed in the pool: parsing takes about as long as a render may take on a serving thread.
pub const INLINE_JSON_BYTES: usize = 64 << 10;

/// How long JSON may wait for the pool and be read or checked there.
const JSON_TIME: Duration = Duration::from_secs(30);

/// The stack size of a pool thread: enough for the deepest recursion that the limits allow. Untouched pages take no memory.
const STACK_BYTES: usize = 256 << 20;

/// How long after its deadline to wait for work, so that an error of its own is preferred to a plain timeout.
const GRACE: Duration = Duration::from_millis(10);

/// Work that runs for this long after its deadline overruns: it keeps its thread, and the pool starts another one.
const OVERRUN: Duration = Duration::from_millis(50);

/// The most additional threads that replace those whose work overruns.
const STAND_INS_MAX: usize = 8;

/// A lane whose queue has not been empty for this long is crowded.
const CROWDED_AFTER: Duration = Duration::from_millis(50);

/// The longest expected wait in a lane that is not crowded.
const BURST_WAIT: Duration = Duration::from_millis(100);

/// The longest expected wait in a crowded lane, as a multiple of the average running time.
const CROWDED_WAIT: u32 = 3;
/// The least value of that wait.
const CROWDED_WAIT_MIN: Duration = Duration::from_millis(40);

/// The deadline for freeing memory, from the time it is queued.
const FREE_TIME: Duration = Duration::from_secs(10);

/// The average of running times is exponential: the newest counts for one part in this many.
const NEWEST_PART: u32 = 8;

/// By how much the priority of pool threads is lower than that of serving threads (`nice`), so that light requests go first.
const NICE: i32 = 5;

/// The lane of a piece of work, by how long it is expected to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// A few milliseconds.
    Short,
    /// Longer, or unknown.
    Long,
}

/// The error of work that has no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// Too much work is waiting already.
    #[error("too much work is waiting; try again in a moment")]
    Overloaded,
    /// The deadline passed before the work began.
    #[error("the work could not begin within the time limit: too much long work is running")]
    NoTurn,
    /// The deadline passed while the work was running.
    #[error("the work did not end within the time limit")]
    Timeout,
    /// The work panicked.
    #[error("the work ended unexpectedly")]
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

/// The pool; dropping it ends its threads.
pub struct Pool {
    queue: Arc<Queue>,
}

/// The work that waits, and what the threads share.
struct Queue {
    /// How many threads there are, without those that replace others.
    threads: usize,
    /// The most work that may wait, in both lanes together.
    places: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    short: LaneQueue,
    long: LaneQueue,
    /// What each thread is doing, by the thread's number.
    running: HashMap<u64, RunningJob>,
    /// How many threads have not ended.
    alive: usize,
    /// The number of the next thread.
    started: u64,
    closed: bool,
}

/// The queue of one lane.
#[derive(Default)]
struct LaneQueue {
    jobs: VecDeque<Job>,
    /// The average running time of the lane's work; zero before the first.
    average: Duration,
    /// Since when the queue has not been empty.
    since: Option<Instant>,
}

struct Job {
    lane: Lane,
    deadline: Instant,
    work: Box<dyn FnOnce() + Send>,
}

struct RunningJob {
    lane: Lane,
    since: Instant,
    deadline: Instant,
}

impl RunningJob {
    fn overruns(&self, now: Instant) -> bool {
        now > self.deadline + OVERRUN
    }
}

impl Pool {
    /// Starts `threads` threads, at least two; at most `waiting` pieces of work may wait for one.
    ///
    /// # Errors
    /// If a thread cannot be started.
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

    /// Runs `work` on a thread of the pool, and waits for its result until `deadline`.
    ///
    /// Work does not begin after its deadline, or after this future was dropped. Work that is running then goes on, and its
    /// result is dropped.
    ///
    /// # Errors
    /// [`PoolError::Overloaded`] at once, without waiting; the others at the deadline or when the work panics.
    pub fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        deadline: Instant,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> BoxFuture<'_, Result<T, PoolError>> {
        // Boxed, so that the futures of requests that do not use the pool stay small.
        Box::pin(self.wait(lane, deadline, work))
    }

    /// As [`Pool::run`], for work that reads or checks JSON: its deadline is 30 seconds from now.
    ///
    /// # Errors
    /// As [`Pool::run`].
    pub fn run_on_json<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> BoxFuture<'_, Result<T, PoolError>> {
        self.run(lane, Instant::now() + JSON_TIME, work)
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
                // An error means that the caller has left.
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
    /// Wraps a value so that the pool frees it when it is dropped: dropping a large tree takes long.
    pub fn defer_drop<T: Send + 'static>(&self, value: T) -> DeferredDrop<T> {
        DeferredDrop { value: Some(value), queue: Arc::downgrade(&self.queue) }
    }
}

/// A value that a thread of the pool frees.
pub struct DeferredDrop<T: Send + 'static> {
    value: Option<T>,
    queue: Weak<Queue>,
}

impl<T: Send + 'static> Drop for DeferredDrop<T> {
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

    /// How many threads may work for this lane at the same time.
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
        self.add_stand_ins(&mut state, now);
        let expired = state.expired_if(now, |waiting| waiting >= self.places);
        let admitted = state.waiting() < self.places && self.admits(&state, &job, now);
        if admitted {
            let lane = state.lane(job.lane);
            lane.since = lane.since.or(Some(now));
            lane.jobs.push_back(job);
        }
        drop(state);
        // Dropped after the lock is released, as what the closures own may be large.
        drop(expired);
        self.changed.notify_one();
        admitted.then_some(()).ok_or(PoolError::Overloaded)
    }

    /// Queues work that frees memory. If the queue is very long already, the caller does it instead.
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

    /// Whether a job may wait now: its expected wait is acceptable, and it can end before its deadline.
    fn admits(&self, state: &State, job: &Job, now: Instant) -> bool {
        let lane = if job.lane == Lane::Short { &state.short } else { &state.long };
        let threads = self.threads_of(job.lane);
        let running = state.running.values().filter(|running| running.lane == job.lane);
        let busy: Vec<&RunningJob> = running.filter(|running| !running.overruns(now)).collect();
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

    /// Starts threads to replace those whose work overruns.
    fn add_stand_ins(self: &Arc<Self>, state: &mut State, now: Instant) {
        let overrun = state.overrun(now).min(STAND_INS_MAX);
        while state.alive < self.threads + overrun {
            if let Err(error) = self.add_thread(state) {
                tracing::warn!(%error, "a pool thread whose work overruns cannot be replaced");
                return;
            }
            tracing::warn!(
                overrun,
                "work on a pool thread overruns its deadline; another thread replaces it"
            );
        }
    }

    /// Waits for the next job of a thread; `None` if the thread is to end.
    fn next(&self, number: u64) -> Option<Job> {
        let mut state = self.state();
        loop {
            let now = Instant::now();
            if state.closed || state.alive > self.threads + state.overrun(now).min(STAND_INS_MAX) {
                state.alive -= 1;
                return None;
            }
            if let Some(job) = state.take(self.threads_of(Lane::Long), now) {
                state
                    .running
                    .insert(number, RunningJob { lane: job.lane, since: now, deadline: job.deadline });
                return Some(job);
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn serve(&self, number: u64) {
        lower_priority();
        while let Some(job) = self.next(number) {
            let in_time = Instant::now() < job.deadline;
            // A panic must not end the thread; the waiting caller sees that its channel is closed.
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
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(Some(rustix::thread::gettid()), NICE) {
        tracing::debug!(%error, "the priority of a pool thread cannot be lowered");
    }
}

impl State {
    fn lane(&mut self, lane: Lane) -> &mut LaneQueue {
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

    /// Removes the jobs whose deadline has passed, if `too_much` says so of the number of waiting jobs.
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

    /// The next job: short work first; long work only if fewer than `long_max` threads are busy with such.
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

impl LaneQueue {
    /// Adds a running time to the average.
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

    /// Blocks a thread of the pool until the sender is dropped.
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
