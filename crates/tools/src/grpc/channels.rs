//! gRPC channels: opened on demand, shared by all calls of a runtime, replaced when they break.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use lru::LruCache;
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Id};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use super::error::unusable;
use crate::error::ToolError;
use crate::gate::Gate;
use base::outbound::USER_AGENT;

/// How many channels are kept; the least recently used one is closed first.
const CHANNELS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);

/// The time limit of DNS and TCP together, and again of TLS.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// HTTP/2 keep-alive: a connection that was silent for this long gets a ping while a call uses it. Idle connections get
/// none, since servers close connections that ping without a call.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(20);
/// How long the answer to a ping may take before the connection counts as broken.
const KEEP_ALIVE_TIMEOUT: Duration = Duration::from_secs(5);

/// The channels to all servers.
///
/// A channel is driven by the runtime that opened it, and stalls when that runtime stops; so each runtime has its own.
pub(super) struct Channels {
    gate: Gate,
    open: Mutex<LruCache<(Id, String), Channel>>,
}

impl Channels {
    pub(super) fn new(gate: Gate) -> Channels {
        Channels { gate, open: Mutex::new(LruCache::new(CHANNELS)) }
    }

    /// The current runtime's channel to a server; it connects on first use.
    pub(super) fn get(&self, server: &str) -> Result<Channel, ToolError> {
        let key = (Handle::current().id(), server.to_owned());
        if let Some(channel) = self.open().get(&key) {
            return Ok(channel.clone());
        }
        let channel = self.create(server)?;
        Ok(self.open().get_or_insert(key, || channel).clone())
    }

    /// Removes a channel that does not work, so that the next call opens a new one.
    pub(super) fn forget(&self, server: &str) {
        self.open().pop(&(Handle::current().id(), server.to_owned()));
    }

    fn open(&self) -> MutexGuard<'_, LruCache<(Id, String), Channel>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(&self, server: &str) -> Result<Channel, ToolError> {
        let endpoint = endpoint(server)
            .map_err(|error| unusable(&format!("a channel to {server} cannot be opened: {error}")))?;
        let gate = self.gate.clone();
        let connector = tower::service_fn(move |uri: Uri| connect(gate.clone(), uri));
        Ok(endpoint.connect_with_connector_lazy(connector))
    }
}

fn endpoint(server: &str) -> Result<Endpoint, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(server.to_owned())?
        .user_agent(USER_AGENT)?
        .http2_keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .keep_alive_timeout(KEEP_ALIVE_TIMEOUT);
    match endpoint.uri().scheme_str() {
        Some("https") => {
            endpoint.tls_config(ClientTlsConfig::new().with_webpki_roots().timeout(CONNECT_LIMIT))
        }
        _ => Ok(endpoint),
    }
}

/// Connects to the host of the URI, at one of the addresses that the gate allows.
async fn connect(gate: Gate, uri: Uri) -> Result<TokioIo<TcpStream>, ToolError> {
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
    let unreachable = |why: String| ToolError::Unreachable { message: format!("{host}:{port}: {why}") };
    let connecting = async {
        let addresses = gate.resolve(host, port).await?;
        let stream = TcpStream::connect(&*addresses).await.and_then(|stream| {
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        stream.map(TokioIo::new).map_err(|error| unreachable(error.to_string()))
    };
    let late = |_| unreachable(format!("no connection within {} ms", CONNECT_LIMIT.as_millis()));
    tokio::time::timeout(CONNECT_LIMIT, connecting).await.unwrap_or_else(|elapsed| Err(late(elapsed)))
}
