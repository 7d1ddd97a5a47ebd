//! The connection to the server: made when it is needed, shared by all calls, replaced when it breaks,
//! and never waited for longer than its time limits. A connection knows which server it leads to.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, ServerErrorKind, cmd};
use tokio::sync::{Mutex, OnceCell};
use tokio::time::timeout;

use crate::store::StoreError;

/// How long connecting may take, name lookup, TLS and login included.
const CONNECT_LIMIT: Duration = Duration::from_secs(1);

/// After a failed attempt to connect, calls fail at once for this long, so that a server in trouble
/// is not met by one attempt per call.
const REST: Duration = Duration::from_millis(100);

/// How long a command with a small request and answer may take.
const COMMAND_LIMIT: Duration = Duration::from_millis(500);

/// The slowest network that large values are given time for.
const BYTES_PER_SECOND: usize = 4 * 1024 * 1024;

/// How long a command may take that moves this many bytes: half a second, and time to move them.
pub(super) fn limit_for(bytes: usize) -> Duration {
    let milliseconds = bytes.saturating_mul(1000) / BYTES_PER_SECOND;
    COMMAND_LIMIT + Duration::from_millis(u64::try_from(milliseconds).unwrap_or(u64::MAX))
}

/// Why a request failed.
#[derive(Debug)]
pub(super) enum Fault {
    /// There is no connection.
    NotConnected(String),
    /// There was no answer in time.
    NoAnswer(Duration),
    /// The connection broke, or the server answered with an error.
    Failed(RedisError),
}

impl Fault {
    /// The key holds another type.
    pub(super) fn is_wrong_type(&self) -> bool {
        matches!(self, Fault::Failed(error) if error.code() == Some("WRONGTYPE"))
    }

    /// The server answered, with an error: what it was asked for was not done.
    pub(super) fn is_refusal(&self) -> bool {
        matches!(self, Fault::Failed(error) if error.code().is_some())
    }

    /// The user may not do this.
    pub(super) fn is_not_permitted(&self) -> bool {
        matches!(self, Fault::Failed(error) if error.code() == Some("NOPERM"))
    }

    /// The connection was closed.
    pub(super) fn is_dropped(&self) -> bool {
        matches!(self, Fault::Failed(error) if error.is_connection_dropped())
    }

    fn broke_the_connection(&self) -> bool {
        match self {
            Fault::NotConnected(_) => false,
            Fault::NoAnswer(_) => true,
            // A server that became a replica answers, but a new connection may find the new master.
            Fault::Failed(error) => {
                error.is_unrecoverable_error() || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::NotConnected(reason) => write!(f, "cannot connect: {reason}"),
            Fault::NoAnswer(limit) => write!(f, "no answer within {} ms", limit.as_millis()),
            Fault::Failed(error) => error.fmt(f),
        }
    }
}

impl From<Fault> for StoreError {
    fn from(fault: Fault) -> StoreError {
        StoreError::Unavailable { reason: fault.to_string() }
    }
}

/// The way to the server.
pub(super) struct Link {
    client: Client,
    state: Mutex<State>,
}

/// A connection; what is asked over one is asked of one server.
#[derive(Clone)]
pub(super) struct Live {
    /// Where commands go.
    pub(super) wire: MultiplexedConnection,
    /// Counts the connections, so that an old one's failure does not end the life of a newer one.
    number: u64,
    server: Arc<OnceCell<Arc<str>>>,
}

#[derive(Default)]
struct State {
    live: Option<Live>,
    connections: u64,
    last_failure: Option<(Instant, String)>,
}

impl Link {
    /// Does not connect yet.
    pub(super) fn new(client: Client) -> Link {
        Link { client, state: Mutex::default() }
    }

    /// The connection, made anew if need be.
    pub(super) async fn live(&self) -> Result<Live, Fault> {
        let waiting = timeout(CONNECT_LIMIT + REST, self.connection()).await;
        waiting.unwrap_or(Err(Fault::NoAnswer(CONNECT_LIMIT)))
    }

    /// Sends a request over this connection, and lets go of it if it turns out to be broken.
    pub(super) async fn ask<T>(
        &self,
        live: &Live,
        limit: Duration,
        request: impl Future<Output = RedisResult<T>>,
    ) -> Result<T, Fault> {
        let outcome = match timeout(limit, request).await {
            Ok(answer) => answer.map_err(Fault::Failed),
            Err(_) => Err(Fault::NoAnswer(limit)),
        };
        if outcome.as_ref().is_err_and(Fault::broke_the_connection) {
            self.forget(live.number).await;
        }
        outcome
    }

    /// Makes an attempt, and once more over a new connection if the old one turns out to be broken (a server or proxy
    /// closes idle ones): for what may happen twice.
    pub(super) async fn again_with<T, F: Future<Output = Result<T, Fault>>>(
        &self,
        attempt: impl Fn(Live) -> F,
    ) -> Result<T, Fault> {
        match attempt(self.live().await?).await {
            Err(fault) if fault.is_dropped() => attempt(self.live().await?).await,
            outcome => outcome,
        }
    }

    /// Sends a request, and once more if the connection turns out to be broken.
    pub(super) async fn again<T, F: Future<Output = RedisResult<T>>>(
        &self,
        limit: Duration,
        request: impl Fn(MultiplexedConnection) -> F,
    ) -> Result<T, Fault> {
        let request = &request;
        self.again_with(|live| async move { self.ask(&live, limit, request(live.wire.clone())).await }).await
    }

    /// Which server this connection leads to: its run id; or, if the user may not ask for it, a name for the connection
    /// alone, so that a new one counts as another server.
    pub(super) async fn server(&self, live: &Live, limit: Duration) -> Result<Arc<str>, Fault> {
        let ask = || async {
            let mut wire = live.wire.clone();
            let mut info = cmd("INFO");
            info.arg("server");
            let info = self.ask(live, limit, async { info.query_async::<String>(&mut wire).await });
            let run_id = match info.await {
                Ok(info) => run_id(&info),
                Err(fault) if fault.is_refusal() => None,
                Err(fault) => return Err(fault),
            };
            Ok(run_id.unwrap_or_else(|| format!("connection {}", live.number)).into())
        };
        live.server.get_or_try_init(ask).await.cloned()
    }

    async fn connection(&self) -> Result<Live, Fault> {
        let mut state = self.state.lock().await;
        if let Some(live) = &state.live {
            return Ok(live.clone());
        }
        match &state.last_failure {
            Some((when, reason)) if when.elapsed() < REST => return Err(Fault::NotConnected(reason.clone())),
            _ => {}
        }
        match self.connect().await {
            Ok(wire) => {
                state.connections += 1;
                let live = Live { wire, number: state.connections, server: Arc::default() };
                state.live = Some(live.clone());
                Ok(live)
            }
            Err(reason) => {
                state.last_failure = Some((Instant::now(), reason.clone()));
                Err(Fault::NotConnected(reason))
            }
        }
    }

    async fn connect(&self) -> Result<MultiplexedConnection, String> {
        // The time limits are ours: they depend on the request, and cover more than the library's.
        let config = AsyncConnectionConfig::new().set_connection_timeout(None).set_response_timeout(None);
        match timeout(CONNECT_LIMIT, self.client.get_multiplexed_async_connection_with_config(&config)).await
        {
            Ok(connected) => connected.map_err(|error| error.to_string()),
            Err(_) => Err(format!("no connection within {} ms", CONNECT_LIMIT.as_millis())),
        }
    }

    /// Lets go of a broken connection; requests that still use it end by themselves.
    async fn forget(&self, number: u64) {
        let mut state = self.state.lock().await;
        state.live.take_if(|live| live.number == number);
    }
}

fn run_id(info: &str) -> Option<String> {
    let id = info.lines().find_map(|line| line.strip_prefix("run_id:"))?.trim();
    (!id.is_empty()).then(|| id.to_owned())
}
