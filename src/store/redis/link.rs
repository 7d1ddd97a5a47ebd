//! The link to the server: one multiplexed connection, opened on demand, shared by all calls, and replaced when it breaks.
//!
//! Every wait has a time limit. A connection knows the run id of its server, so that a scan can notice a failover.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, ServerErrorKind, cmd};
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;

use crate::store::StoreError;

/// The time limit for connecting, including name resolution, the TLS handshake and authentication.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// The backoff after a failed attempt to connect: calls fail at once for this long, so that a server that is down does not
/// get one attempt per call.
const BACKOFF: Duration = Duration::from_millis(100);

/// The time limit of a command with a small request and reply.
const COMMAND_LIMIT: Duration = Duration::from_millis(500);

/// The slowest network for which the time limits of large values suffice.
const BYTES_PER_SECOND: usize = 4 * 1024 * 1024;

/// The time limit of a command that transfers this many bytes: half a second, plus the time for the transfer.
pub(super) fn limit_for(bytes: usize) -> Duration {
    let milliseconds = bytes.saturating_mul(1000) / BYTES_PER_SECOND;
    COMMAND_LIMIT + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

/// The error of a request.
#[derive(Debug)]
pub(super) enum RequestError {
    /// There is no connection.
    NotConnected(String),
    /// The reply did not arrive within this time limit.
    Timeout(Duration),
    /// The connection broke, or the server sent an error reply.
    Failed(RedisError),
}

impl RequestError {
    /// Whether the key holds a value of another type.
    pub(super) fn is_wrong_type(&self) -> bool {
        matches!(self, RequestError::Failed(error) if error.code() == Some("WRONGTYPE"))
    }

    /// Whether the server sent an error reply, so that the command was not executed.
    pub(super) fn is_error_reply(&self) -> bool {
        matches!(self, RequestError::Failed(error) if error.code().is_some())
    }

    /// Whether the Redis user lacks the permission for the command.
    pub(super) fn is_not_permitted(&self) -> bool {
        matches!(self, RequestError::Failed(error) if error.code() == Some("NOPERM"))
    }

    /// Whether the connection was closed.
    pub(super) fn is_connection_dropped(&self) -> bool {
        matches!(self, RequestError::Failed(error) if error.is_connection_dropped())
    }

    fn broke_the_connection(&self) -> bool {
        match self {
            RequestError::NotConnected(_) => false,
            RequestError::Timeout(_) => true,
            // A server that became a replica still replies; a new connection may reach the new master.
            RequestError::Failed(error) => {
                error.is_unrecoverable_error() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
            }
        }
    }
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RequestError::NotConnected(error) => write!(f, "cannot connect: {error}"),
            RequestError::Timeout(limit) => write!(f, "no answer within {} ms", limit.as_millis()),
            RequestError::Failed(error) => error.fmt(f),
        }
    }
}

impl From<RequestError> for StoreError {
    fn from(error: RequestError) -> StoreError {
        StoreError::Unavailable { message: error.to_string() }
    }
}

/// The link to the server; it holds at most one connection.
pub(super) struct Link {
    client: Client,
    state: Mutex<LinkState>,
}

/// A connection; all requests over it reach the same server.
#[derive(Clone)]
pub(super) struct Connection {
    /// The connection of the client library.
    pub(super) wire: MultiplexedConnection,
    /// The number of this connection, so that a late error of an old connection does not discard a newer one.
    number: u64,
    server: Arc<OnceCell<Arc<str>>>,
}

#[derive(Default)]
struct LinkState {
    connection: Option<Connection>,
    /// How many connections have been opened.
    connections: u64,
    last_error: Option<ConnectError>,
}

/// The error of the last attempt to connect.
struct ConnectError {
    time: Instant,
    message: String,
}

impl Link {
    /// A link that connects on the first request.
    pub(super) fn new(client: Client) -> Link {
        Link { client, state: Mutex::default() }
    }

    /// The connection, opened if there is none.
    pub(super) async fn connection(&self) -> Result<Connection, RequestError> {
        let waiting = timeout(CONNECT_LIMIT + BACKOFF, self.open_connection()).await;
        waiting.unwrap_or(Err(RequestError::Timeout(CONNECT_LIMIT)))
    }

    /// Sends a request over this connection, and discards the connection if it turns out to be broken.
    pub(super) async fn ask<T>(
        &self,
        connection: &Connection,
        limit: Duration,
        request: impl Future<Output = RedisResult<T>>,
    ) -> Result<T, RequestError> {
        let outcome = match timeout(limit, request).await {
            Ok(answer) => answer.map_err(RequestError::Failed),
            Err(_) => Err(RequestError::Timeout(limit)),
        };
        if outcome.as_ref().is_err_and(RequestError::broke_the_connection) {
            self.discard(connection.number).await;
        }
        outcome
    }

    /// Makes an attempt, and retries it once over a new connection if the old one was closed (servers and proxies close
    /// idle connections). Only for idempotent requests.
    pub(super) async fn with_retry<T, F: Future<Output = Result<T, RequestError>>>(
        &self,
        attempt: impl Fn(Connection) -> F,
    ) -> Result<T, RequestError> {
        match attempt(self.connection().await?).await {
            Err(error) if error.is_connection_dropped() => attempt(self.connection().await?).await,
            outcome => outcome,
        }
    }

    /// Sends an idempotent request, and retries it once if the connection was closed.
    pub(super) async fn request<T, F: Future<Output = RedisResult<T>>>(
        &self,
        limit: Duration,
        request: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, RequestError> {
        let request = &request;
        self.with_retry(|connection| async move {
            self.ask(&connection, limit, request(connection.wire.clone())).await
        })
        .await
    }

    /// The identity of the server behind this connection: its run id. If the user may not run `INFO`, it is the number of
    /// the connection, so that a new connection counts as another server.
    pub(super) async fn server(
        &self,
        connection: &Connection,
        limit: Duration,
    ) -> Result<Arc<str>, RequestError> {
        let ask = || async {
            let mut wire = connection.wire.clone();
            let mut info = cmd("INFO");
            info.arg("server");
            let info = self.ask(connection, limit, async { info.query_async::<String>(&mut wire).await });
            let run_id = match info.await {
                Ok(info) => run_id(&info),
                Err(error) if error.is_error_reply() => None,
                Err(error) => return Err(error),
            };
            Ok(run_id.unwrap_or_else(|| format!("connection {}", connection.number)).into())
        };
        connection.server.get_or_try_init(ask).await.cloned()
    }

    async fn open_connection(&self) -> Result<Connection, RequestError> {
        let mut state = self.state.lock().await;
        if let Some(connection) = &state.connection {
            return Ok(connection.clone());
        }
        if let Some(last) = state.last_error.as_ref().filter(|last| last.time.elapsed() < BACKOFF) {
            return Err(RequestError::NotConnected(last.message.clone()));
        }
        match self.connect().await {
            Ok(wire) => {
                state.connections += 1;
                let connection = Connection { wire, number: state.connections, server: Arc::default() };
                state.connection = Some(connection.clone());
                Ok(connection)
            }
            Err(message) => {
                state.last_error = Some(ConnectError { time: Instant::now(), message: message.clone() });
                Err(RequestError::NotConnected(message))
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        // We use our own time limits: they depend on the request, and cover more than those of the library.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        match timeout(CONNECT_LIMIT, self.client.get_multiplexed_async_connection_with_config(&config)).await
        {
            Ok(connection) => connection.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no connection within {} ms", CONNECT_LIMIT.as_millis())),
        }
    }

    /// Discards a broken connection; requests that still use it end with their own errors.
    async fn discard(&self, number: u64) {
        let mut state = self.state.lock().await;
        state.connection.take_if(|connection| connection.number == number);
    }
}

fn run_id(info: &str) -> Option<String> {
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"))?.trim();
    (!id.is_empty()).then(|| id.to_owned())
}
