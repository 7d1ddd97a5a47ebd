//! A process that runs: reading what it writes, waiting for it, and ending it.

use std::io;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::process::{Child, Command};
use tokio::time::timeout;

use crate::executor::Limits;
use crate::outcome::Outcome;
use crate::output::Kept;
use crate::supervision::{Supervision, feed};
use crate::tree;

/// How long what a program has started may go on writing after the program has ended, or was killed.
const GRACE: Duration = Duration::from_millis(500);

/// A variable of the environment by which everything is found that a command has started, also what has left its group and lost its
/// parent.
const MARK: &str = "AI_PROMPT_SHELL_COMMAND";

/// Commands that this process has started.
static COUNT: AtomicU64 = AtomicU64::new(0);

/// A process, the leader of its process group. Dropping it kills the group and all descendants, and nothing of it is left.
pub(crate) struct Running {
    child: Option<Child>,
    /// The process's id, and its group's; it stays known after the process has ended.
    id: u32,
    /// The value of [`MARK`] in its environment, and in that of all that it starts.
    mark: String,
}

impl Running {
    /// Starts a command, whose outputs are pipes.
    pub(crate) fn start(mut command: Command) -> io::Result<Running> {
        let mark = format!("{}.{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let child = command.env(MARK, &mark).spawn()?;
        let id = child.id().ok_or(io::ErrorKind::NotFound)?;
        Ok(Running { child: Some(child), id, mark })
    }

    /// Reads both outputs and waits for the end, which comes at the time limit at the latest.
    ///
    /// The program's end is what counts. What it leaves behind is killed, whether it holds the outputs or not.
    pub(crate) async fn outcome(mut self, limits: &Limits, supervision: Supervision<'_>) -> Outcome {
        let kept = || Kept::new(limits.kept_bytes, supervision.watcher);
        let (mut stdout, mut stderr) = (kept(), kept());
        let end = self.read_and_wait(limits.time, supervision, &mut stdout, &mut stderr).await;
        let mut outcome = Outcome {
            timed_out: matches!(end, End::TimeLimit),
            stopped: matches!(end, End::Stopped),
            ..Outcome::default()
        };
        let status = match end {
            End::ByItself(status) => status.ok(),
            End::TimeLimit | End::Stopped => self.wait_shortly().await,
        };
        (outcome.exit_code, outcome.signal) = status.map(parts).unwrap_or_default();
        (outcome.stdout, outcome.stderr) = (stdout.finish(), stderr.finish());
        outcome
    }

    /// Reads until the program ends, or has to, and kills what is left of it.
    async fn read_and_wait(
        &mut self,
        time: Duration,
        supervision: Supervision<'_>,
        stdout: &mut Kept<'_>,
        stderr: &mut Kept<'_>,
    ) -> End {
        let id = self.id;
        let Some(child) = self.child.as_mut() else { return End::gone() };
        let (Some(out), Some(err)) = (child.stdout.take(), child.stderr.take()) else { return End::gone() };
        let mut feeding = pin!(feed(child.stdin.take(), supervision.input));
        let mut stopped = pin!(Supervision::stopped(supervision.stop));
        let mut reading = pin!(async { tokio::join!(stdout.read_all(out), stderr.read_all(err)) });
        let mut limit = pin!(tokio::time::sleep(time));
        let mut read = false;
        let end = loop {
            tokio::select! {
                biased;
                // `wait` would close an input that it still has: it has none.
                status = child.wait() => break End::ByItself(status),
                _ = &mut reading, if !read => read = true,
                () = &mut feeding => {}
                () = &mut stopped => break End::Stopped,
                () = &mut limit => break End::TimeLimit,
            }
        };
        if !matches!(end, End::ByItself(_)) {
            tree::kill(id);
        }
        read = read || timeout(GRACE, &mut reading).await.is_ok();
        if read {
            tree::kill_group(id);
        } else {
            tree::kill(id);
            let _ = timeout(GRACE, &mut reading).await;
        }
        tree::kill_marked(MARK, &self.mark);
        end
    }

    /// The status of a program that was killed. One that hangs in the kernel is not waited for.
    async fn wait_shortly(&mut self) -> Option<ExitStatus> {
        timeout(GRACE, self.child.as_mut()?.wait()).await.ok()?.ok()
    }
}

/// How a program came to its end.
enum End {
    ByItself(io::Result<ExitStatus>),
    TimeLimit,
    Stopped,
}

impl End {
    /// The end of a program whose outputs somebody else has taken.
    fn gone() -> End {
        End::ByItself(Err(io::ErrorKind::NotFound.into()))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // No id: the process has been waited for, so its number may be another's by now.
        if child.id().is_none() {
            return;
        }
        tree::kill(self.id);
        tree::kill_marked(MARK, &self.mark);
        let _ = child.start_kill();
        // Somebody has to ask for the status, or a zombie stays.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { child.wait().await });
        }
    }
}

#[cfg(unix)]
fn parts(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    use std::os::unix::process::ExitStatusExt;
    (status.code(), status.signal())
}

#[cfg(not(unix))]
fn parts(status: ExitStatus) -> (Option<i32>, Option<i32>) {
    (status.code(), None)
}
