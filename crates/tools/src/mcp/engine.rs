//! The thread on which all MCP sessions live, whoever calls and however long the caller's runtime lasts.

use std::convert::Infallible;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;
use tracing::subscriber::{NoSubscriber, with_default};

/// How long the thread goes on when its end was asked for, so that sessions can say goodbye; nobody waits.
const GOODBYE: Duration = Duration::from_secs(1);

/// Ends its thread when it is dropped.
pub(super) struct Engine {
    handle: Handle,
    _alive: oneshot::Sender<Infallible>,
}

impl Engine {
    /// Starts the thread.
    pub(super) fn start() -> io::Result<Engine> {
        let (alive, ended) = oneshot::channel();
        // The thread gets its runtime from here: a runtime must not be dropped where this may be called.
        let (send, receive) = mpsc::channel();
        thread::Builder::new().name("mcp".into()).spawn(move || {
            if let Ok(runtime) = receive.recv() {
                // The SDK logs what it receives; a tool's answers do not belong in our log.
                with_default(NoSubscriber::new(), || run(runtime, ended));
            }
        })?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        send.send(runtime).map_err(|_| io::Error::other("its thread ended"))?;
        Ok(Engine { handle, _alive: alive })
    }

    pub(super) fn handle(&self) -> &Handle {
        &self.handle
    }
}

fn run(runtime: Runtime, ended: oneshot::Receiver<Infallible>) {
    runtime.block_on(async {
        let _ = ended.await;
        tokio::time::sleep(GOODBYE).await;
    });
    // Name look-ups may still be under way.
    runtime.shutdown_background();
}
