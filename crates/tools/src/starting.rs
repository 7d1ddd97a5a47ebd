//! Time limits that stand still while MCP servers start.

use std::pin::pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use futures_util::future::{BoxFuture, join_all};
use futures_util::poll;

/// How much longer than `most` a start is waited for. A start that fails by its own time limit, which is usually `most` too,
/// ends a moment later, and its error says what is wrong.
const GRACE: Duration = Duration::from_secs(1);

/// The start of an MCP server that is under way.
pub struct ServerStart {
    /// When it began.
    pub(crate) began: Instant,
    /// Its end, good or bad.
    pub(crate) ended: BoxFuture<'static, ()>,
}

/// Work whose time limit stands still while `starts` lists any, for `most` in all.
pub struct LimitedWork<W, S> {
    /// The work; it asks for the starts that it needs.
    pub work: W,
    /// The starts that it waits for, at the moment.
    pub starts: S,
    /// Its time limit, from now on.
    pub limit: Duration,
    /// The longest time for which the limit stands still; one second more for the end of the last start.
    pub most: Duration,
}

impl<W: Future, S: Fn() -> Vec<ServerStart>> LimitedWork<W, S> {
    /// Does the work. Gives its output, or `None` if the time limit passed; and for how long the limit stood still.
    pub async fn run(self) -> (Option<W::Output>, Duration) {
        let LimitedWork { work, starts, limit, most } = self;
        let (began, mut work, mut still) = (Instant::now(), pin!(work), Duration::ZERO);
        // The time up to here is known to count, or known not to.
        let mut seen = began;
        loop {
            // The work goes first: it asks for the starts that it needs.
            if let Poll::Ready(output) = poll!(&mut work) {
                return (Some(output), still);
            }
            let under_way = if still < most { starts() } else { Vec::new() };
            if let Some(first) = under_way.iter().map(|start| start.began).min() {
                let all = join_all(under_way.into_iter().map(|start| start.ended));
                let output = tokio::select! {
                    biased;
                    output = &mut work => Some(output),
                    _ = tokio::time::timeout(most.saturating_sub(still) + GRACE, all) => None,
                };
                still += first.max(seen).elapsed();
                seen = Instant::now();
                if output.is_some() {
                    return (output, still);
                }
            }
            let left = limit.saturating_add(still).saturating_sub(began.elapsed());
            tokio::select! {
                biased;
                output = &mut work => return (Some(output), still),
                () = tokio::time::sleep(left) => {}
            }
            if still >= most || starts().is_empty() {
                return (None, still);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;

    use futures_util::FutureExt;
    use tokio::time::sleep;

    use super::*;

    const LIMIT: Duration = Duration::from_millis(50);
    const START: Duration = Duration::from_millis(200);

    /// A start of `START`, which begins `after`.
    fn start(after: Duration) -> impl Fn() -> Vec<ServerStart> {
        let began = Instant::now() + after;
        move || {
            let now = Instant::now();
            let runs = began <= now && now < began + START;
            let left = (began + START).saturating_duration_since(now);
            runs.then(|| ServerStart { began, ended: sleep(left).boxed() }).into_iter().collect()
        }
    }

    #[tokio::test]
    async fn work_without_starts_has_its_limit() {
        let limited = LimitedWork { work: pending::<()>(), starts: Vec::new, limit: LIMIT, most: START };
        assert_eq!(limited.run().await, (None, Duration::ZERO));
        let work = async { 7 };
        let limited = LimitedWork { work, starts: Vec::new, limit: Duration::MAX, most: START };
        assert_eq!(limited.run().await, (Some(7), Duration::ZERO));
    }

    #[tokio::test]
    async fn the_time_of_a_start_does_not_count_whenever_it_begins() {
        for after in [Duration::ZERO, LIMIT / 2] {
            let (began, starts) = (Instant::now(), start(after));
            let limited = LimitedWork { work: pending::<()>(), starts, limit: LIMIT, most: 2 * START };
            let (output, still) = limited.run().await;
            assert_eq!(output, None);
            assert!(still >= START && began.elapsed() >= LIMIT + START, "{still:?}");
        }
        let starts = start(Duration::ZERO);
        let work = sleep(START).map(|()| 7);
        let limited = LimitedWork { work, starts, limit: LIMIT, most: 2 * START };
        assert_eq!(limited.run().await.0, Some(7));
    }

    #[tokio::test]
    async fn a_start_that_ends_a_moment_after_the_longest_time_is_heard_of() {
        // Its limit is `most`, but its process began later than the wait.
        let starts = start(Duration::ZERO);
        let work = sleep(START).map(|()| 7);
        let limited = LimitedWork { work, starts, limit: LIMIT, most: START - 2 * LIMIT };
        assert_eq!(limited.run().await.0, Some(7));
    }

    #[tokio::test]
    async fn starts_without_end_are_waited_for_so_long_only() {
        let began = Instant::now();
        let starts = || vec![ServerStart { began, ended: pending().boxed() }];
        let limited = LimitedWork { work: pending::<()>(), starts, limit: LIMIT, most: START };
        let (output, still) = limited.run().await;
        assert!(output.is_none() && still >= START + GRACE, "{still:?}");
        assert!(began.elapsed() >= LIMIT + START);
    }
}
