//! The limit on connections. Some more are accepted, so that health probes are answered also under overload.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::HttpRequest;
use actix_web::http::Version;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::sync::watch;

use super::error::ApiError;

/// Connections that are accepted beyond the limit: each gets one answer, to a health probe or that the service is overloaded.
const SPARE: usize = 512;

/// The most requests of HTTP/2 that may be under way on one connection.
const STREAMS_MAX: usize = 256;

/// Paths that are also answered on connections beyond the limit.
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
    /// The requests of HTTP/2 that are under way on it.
    streams: Rc<Cell<usize>>,
}

/// The place of a request of HTTP/2 among those of its connection, until it is dropped.
pub struct StreamSlot(Rc<Cell<usize>>);

impl StreamSlot {
    /// Takes a place; `None` for other versions of HTTP, whose connections have one request at a time.
    ///
    /// # Errors
    /// `overloaded` if the connection has too many requests under way.
    pub fn take(request: &HttpRequest) -> Result<Option<StreamSlot>, ApiError> {
        if request.version() != Version::HTTP_2 {
            return Ok(None);
        }
        let Some(connection) = request.conn_data::<Connection>() else { return Ok(None) };
        let streams = connection.streams.clone();
        if streams.get() >= STREAMS_MAX {
            return Err(ApiError::too_many_streams(STREAMS_MAX));
        }
        streams.set(streams.get() + 1);
        Ok(Some(StreamSlot(streams)))
    }
}

impl Drop for StreamSlot {
    fn drop(&mut self) {
        self.0.set(self.0.get().saturating_sub(1));
    }
}

impl Connections {
    /// At most `limit` connections that serve requests.
    pub fn new(limit: usize) -> Arc<Connections> {
        Arc::new(Connections { open: watch::Sender::new(0), limit })
    }

    /// How many are accepted, with those beyond the limit.
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
        Connection { all: self.clone(), beyond, streams: Rc::default() }
    }

    /// How many are open.
    pub fn count(&self) -> usize {
        *self.open.borrow()
    }

    /// Waits until none is open, or until `deadline`.
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

/// Whether a path is also answered on connections beyond the limit.
pub fn is_health(path: &str) -> bool {
    HEALTH.contains(&path)
}

/// Raises the limit on open files to the maximum that the system allows: each connection takes one.
pub fn allow_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
    {
        tracing::debug!(%error, "the limit on open files cannot be raised");
    }
}
