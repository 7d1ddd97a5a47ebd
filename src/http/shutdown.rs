//! Graceful shutdown: what was accepted is answered, connections are closed in order, all within a bounded time.
//!
//! After the first SIGTERM or SIGINT:
//!
//! 1. The port is closed, before anything else. A client whose connection is closed comes back at once, and would wait in the
//!    system's accept queue.
//! 2. Every answer says `connection: close`. actix-web's own shutdown would close connections between an answer and the next
//!    request, which may be on its way. So it starts only after a second, when busy clients have been told.
//! 3. Requests under way go on until `server.stop_timeout_ms`. Then streams end with an error event (`stopping`), other requests
//!    with 503 `stopping`, and two seconds later the process ends.
//!
//! `cli::signals` has what further signals do.

use std::future::Future;
use std::os::fd::OwnedFd;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;

use tokio::sync::watch;

use super::address::Address;
use super::cancel::unless;
use super::connections::Connections;

/// How long a busy connection may take to send its next request, whose answer then says `connection: close`. After that,
/// connections without a request are closed.
const NEXT_REQUEST: Duration = Duration::from_secs(1);

/// How long the answers to cancelled requests may take to reach their clients.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// How long the accepting thread takes to notice that it is paused.
const HEARD: Duration = Duration::from_millis(5);

/// The state of a shutdown: it begins (every answer is the last of its connection), and later it is over (nothing is waited for).
pub struct Shutdown {
    has_begun: AtomicBool,
    is_over: watch::Sender<bool>,
}

impl Shutdown {
    /// No shutdown has begun.
    pub fn new() -> Arc<Shutdown> {
        Arc::new(Shutdown { has_begun: AtomicBool::new(false), is_over: watch::Sender::new(false) })
    }

    /// Whether an answer is the last one of its connection.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Whether requests that are not finished must end now.
    pub fn is_over(&self) -> bool {
        *self.is_over.borrow()
    }

    /// Waits until requests that are not finished must end.
    pub fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut is_over = self.is_over.subscribe();
        async move {
            // An error means that the sender is gone, and the server with it.
            let _gone = is_over.wait_for(|is_over| *is_over).await;
        }
    }

    /// The output of `work`; `None` if it must end before.
    pub async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        unless(work, || self.over()).await.ok()
    }
}

/// Waits until requests that are not finished must end.
pub type ShutdownEnd = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Stops a server gracefully.
pub struct ShutdownHandle {
    pub(super) shutdown: Arc<Shutdown>,
    pub(super) connections: Arc<Connections>,
    pub(super) listener: OwnedFd,
    pub(super) address: Address,
    pub(super) server: ServerHandle,
    pub(super) grace: Duration,
}

impl ShutdownHandle {
    /// Stops the server, while it is polled elsewhere, in the steps that the module describes.
    pub async fn stop(&self) {
        let deadline = Instant::now() + self.grace;
        self.close_port().await;
        self.shutdown.has_begun.store(true, Ordering::Relaxed);
        self.connections.none(Instant::now() + NEXT_REQUEST.min(self.grace / 2)).await;
        // Closes connections without a request; those with one go on.
        drop(self.server.stop(true));
        self.connections.none(deadline).await;
        let left = self.connections.count();
        if left > 0 {
            tracing::warn!(
                connections = left,
                "requests that take too long are given up (server.stop_timeout_ms)"
            );
        }
        self.shutdown.is_over.send_replace(true);
        self.connections.none(Instant::now() + LAST_BYTES).await;
        if let Address::Socket(path) = &self.address
            && let Err(error) = std::fs::remove_file(path)
        {
            tracing::debug!(%error, "the socket stays behind");
        }
    }

    /// Refuses new connections from now on.
    async fn close_port(&self) {
        self.server.pause().await;
        tokio::time::sleep(HEARD).await;
        if let Err(error) = rustix::net::shutdown(&self.listener, rustix::net::Shutdown::Read) {
            tracing::debug!(%error, "the port stays open until the end");
        }
    }
}
