//! How many connections there may be, and the few beyond that which still learn how the service is.

use std::sync::Arc;
use std::time::Instant;

use actix_web::HttpRequest;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;

/// Connections beyond the limit that are accepted: they are told how the service is, or that it is too busy, and closed.
const SPARE: usize = 512;

/// Paths that are answered on connections beyond the limit, too.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// The open connections.
pub struct Connections {
    open: watch::Sender<usize>,
    limit: usize,
}

/// An open connection, until it is dropped.
pub struct Connection {
    all: Arc<Connections>,
    beyond: bool,
}

impl Connections {
    /// At most `limit` of them, and a few beyond.
    pub fn new(limit: usize) -> Arc<Connections> {
        Arc::new(Connections { open: watch::Sender::new(0), limit })
    }

    /// How many are accepted.
    pub fn accepted(&self) -> usize {
        self.limit.saturating_add(SPARE)
    }

    /// Counts one more.
    pub fn open(self: &Arc<Connections>) -> Connection {
        let mut beyond = false;
        self.open.send_modify(|open| {
            beyond = *open >= self.limit;
            *open += 1;
        });
        Connection { all: self.clone(), beyond }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until there is none, but not beyond `deadline`.
    pub async fn none(&self, deadline: Instant) {
        let mut open = self.open.subscribe();
        let _in_time = tokio::time::timeout_at(deadline.into(), open.wait_for(|open| *open == 0)).await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.all.open.send_modify(|open| *open = open.saturating_sub(1));
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
