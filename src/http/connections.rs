//! How many connections there may be, and the few beyond that which still learn how the service is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use actix_web::HttpRequest;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Connections beyond the limit that are accepted: they are told how the service is, or that it is too busy, and closed.
const SPARE: usize = 512;

/// Paths that are answered on connections beyond the limit, too.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// Counts the open connections.
#[derive(Clone)]
pub struct Connections {
    open: Arc<AtomicUsize>,
    limit: usize,
}

/// An open connection.
pub struct Connection {
    open: Arc<AtomicUsize>,
    beyond: bool,
}

impl Connections {
    /// At most `limit` of them, and a few beyond.
    pub fn new(limit: usize) -> Connections {
        Connections { open: Arc::default(), limit }
    }

    /// How many are accepted.
    pub fn accepted(&self) -> usize {
        self.limit.saturating_add(SPARE)
    }

    /// One more is open, until it is dropped.
    pub fn open(&self) -> Connection {
        let before = self.open.fetch_add(1, Ordering::Relaxed);
        Connection { open: self.open.clone(), beyond: before >= self.limit }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a request came on a connection beyond the limit.
pub fn is_beyond(request: &HttpRequest) -> bool {
    request.conn_data::<Connection>().is_some_and(|connection| connection.beyond)
}

/// Whether a path is answered on connections beyond the limit, too.
pub fn is_health(path: &str) -> bool {
    HEALTH.contains(&path)
}

/// Each connection takes an open file: has the system allow as many as it does when asked.
pub fn allow_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::debug!(%error, "the limit on open files cannot be raised");
    }
}
