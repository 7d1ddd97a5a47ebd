//! The thread that runs all MCP sessions, so that a session outlives the runtime of the call that opened it.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tracing::subscriber::{NoSubscriber, with_default};

/// How long the thread goes on after its handle was dropped, so that sessions can close in order. Nobody waits for it.
const CLOSE_TIME: Duration = Duration::from_secs(1);

/// A thread with an async runtime; dropping this ends it.
pub(super) struct SessionThread {
    handle: Handle,
    _alive: oneshot::Sender<Infallible>,
}

impl SessionThread {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<SessionThread> {
        let (alive, ended) = oneshot::channel();
        // The thread is started before the runtime is built, so that no error drops the runtime here: tokio panics if a
        // runtime is dropped in async code.
        let (send, receive) = mpsc::channel();
        thread::Builder::new().name("mcp".into()).spawn(move || {
            if let Ok(runtime) = receive.recv() {
                // The SDK logs what it receives; answers of tools must not reach the log.
                with_default(NoSubscriber::new(), || run(runtime, ended));
            }
        })?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        send.send(runtime).map_err(|_| io::Error::other("the thread ended"))?;
        Ok(SessionThread { handle, _alive: alive })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }
}

fn run(runtime: Runtime, ended: oneshot::Receiver<Infallible>) {
    runtime.block_on(async {
        let _ = ended.await;
        tokio::time::sleep(CLOSE_TIME).await;
    });
    // Does not wait for DNS look-ups, which block their threads.
    runtime.shutdown_background();
}
