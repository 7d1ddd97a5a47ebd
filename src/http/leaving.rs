//! Leaving: what was accepted is answered, every connection is closed in order, and all of it within a bounded time.

use std::future::Future;
use std::net::TcpListener;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use rustix::net::Shutdown;
use tokio::sync::watch;

use super::connections::Connections;
use super::unless::unless;

/// How long a connection that was busy may take to send its next request, whose answer then says that it is the last one.
/// After that, connections without a request are closed.
const NEXT_REQUEST: Duration = Duration::from_secs(1);

/// How long answers that had to be given up may take to reach their clients.
const LAST_BYTES: Duration = Duration::from_secs(2);

/// How long the thread that accepts connections takes to hear that it should not.
const HEARD: Duration = Duration::from_millis(5);

/// Whether the service is leaving: first every answer is the last one of its connection, then nothing is waited for any more.
pub struct Leaving {
    has_begun: AtomicBool,
    is_over: watch::Sender<bool>,
}

impl Leaving {
    /// A service that is not leaving.
    pub fn new() -> Arc<Leaving> {
        Arc::new(Leaving { has_begun: AtomicBool::new(false), is_over: watch::Sender::new(false) })
    }

    /// Whether an answer is to be the last one of its connection.
    pub fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Relaxed)
    }

    /// Whether what has not ended yet is to end now.
    pub fn is_over(&self) -> bool {
        *self.is_over.borrow()
    }

    /// Waits until what has not ended yet is to end.
    pub fn over(&self) -> impl Future<Output = ()> + Send + 'static {
        let mut is_over = self.is_over.subscribe();
        async move {
            // With the sender, everything has ended.
            let _gone = is_over.wait_for(|is_over| *is_over).await;
        }
    }

    /// What `work` gives, unless it has to end before.
    pub async fn unless_over<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        unless(work, || self.over()).await.ok()
    }
}

/// A future that waits until what has not ended yet is to end.
pub type Over = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The way out of a server.
pub struct Exit {
    pub(super) leaving: Arc<Leaving>,
    pub(super) connections: Arc<Connections>,
    pub(super) listener: TcpListener,
    pub(super) server: ServerHandle,
    pub(super) grace: Duration,
}

impl Exit {
    /// Leaves in order, while the server is polled elsewhere: no new connections; answers say `connection: close`; connections
    /// without a request are closed; what takes longer than `server.stop_timeout_ms` is given up, which its client is told.
    pub async fn leave(&self) {
        let deadline = Instant::now() + self.grace;
        self.close_the_door().await;
        self.leaving.has_begun.store(true, Ordering::Relaxed);
        self.connections.none(Instant::now() + NEXT_REQUEST.min(self.grace / 2)).await;
        // Closes the connections without a request; those with one go on.
        drop(self.server.stop(true));
        self.connections.none(deadline).await;
        let left = self.connections.count();
        if left > 0 {
            tracing::warn!(
                connections = left,
                "requests that take too long are given up (server.stop_timeout_ms)"
            );
        }
        self.leaving.is_over.send_replace(true);
        self.connections.none(Instant::now() + LAST_BYTES).await;
    }

    /// No new connections, which are refused from now on. This comes before answers close connections: clients that come back
    /// at once would still be taken in by the system, and then be thrown out.
    async fn close_the_door(&self) {
        self.server.pause().await;
        tokio::time::sleep(HEARD).await;
        if let Err(error) = rustix::net::shutdown(&self.listener, Shutdown::Read) {
            tracing::debug!(%error, "the port stays open until the end");
        }
    }
}
