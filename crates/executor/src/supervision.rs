//! What whoever runs a command does with it while it runs: feeds it, watches what it writes, and stops it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;

/// Is given each piece of text that is written to either output, when it comes.
pub type Watcher<'s> = &'s (dyn Fn(&str) + Sync);

/// What is done with a command while it runs; by default nothing.
#[derive(Default)]
pub struct Supervision<'s> {
    /// Written to the command's standard input, which stays open until the command ends. Without it, the input is empty.
    pub input: Option<&'s [u8]>,
    /// Watches what the command writes: clean text, as in [`Output`](crate::Output).
    pub watcher: Option<Watcher<'s>>,
    /// Kills the command when it is done, as the time limit does.
    pub stop: Option<Pin<Box<dyn Future<Output = ()> + Send + 's>>>,
}

impl fmt::Debug for Supervision<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Supervision").finish_non_exhaustive()
    }
}

impl Supervision<'_> {
    /// Ends when the command is to be stopped.
    pub(crate) async fn stopped(stop: Option<Pin<Box<dyn Future<Output = ()> + Send + '_>>>) {
        match stop {
            Some(stop) => stop.await,
            None => std::future::pending().await,
        }
    }
}

/// Writes all of the input, and keeps it open. It never ends.
pub(crate) async fn feed(stdin: Option<ChildStdin>, input: Option<&[u8]>) {
    if let (Some(mut stdin), Some(input)) = (stdin, input) {
        // A command that does not read all of it is no error.
        let _ = stdin.write_all(input).await;
        let _ = stdin.flush().await;
        return std::future::pending().await;
    }
    std::future::pending().await
}
