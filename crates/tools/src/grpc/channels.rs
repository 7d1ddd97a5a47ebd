//! Connections to servers: made when they are needed, shared by all calls of a runtime, replaced when they break.

use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::Uri;
use hyper_util::rt::TokioIo;
use lru::LruCache;
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Id};
use tonic::transport::{Channel, ClientTlsConfig, Endpoint};

use super::failure::unusable;
use crate::error::ToolError;
use crate::gate::Gate;
use base::outbound::USER_AGENT;

/// How many channels are kept.
const CHANNELS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(511);

/// How long looking up a name and connecting may take, and then TLS.
const CONNECT_LIMIT: Duration = Duration::from_secs(2);

/// A connection that was silent for so long is asked for a sign of life when the next call uses it, and replaced if
/// there is none; idle connections are left alone, since servers end those that ping without a call.
const SILENCE: Duration = Duration::from_secs(20);
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// The channels to all servers.
///
/// A channel is driven by the runtime that made it, and useless when that one stands still or is gone; so each
/// runtime has its own.
pub(super) struct Channels {
    gate: Gate,
    open: Mutex<LruCache<(Id, String), Channel>>,
}

impl Channels {
    pub(super) fn new(gate: Gate) -> Channels {
        Channels { gate, open: Mutex::new(LruCache::new(CHANNELS)) }
    }

    /// The current runtime's channel to a server, which connects when it is used.
    pub(super) fn get(&self, server: &str) -> Result<Channel, ToolError> {
        let key = (Handle::current().id(), server.to_owned());
        if let Some(channel) = self.open().get(&key) {
            return Ok(channel.clone());
        }
        let channel = self.create(server)?;
        Ok(self.open().get_or_insert(key, || channel).clone())
    }

    /// Lets go of a channel that does not work; calls that still use it end by themselves.
    pub(super) fn forget(&self, server: &str) {
        self.open().pop(&(Handle::current().id(), server.to_owned()));
    }

    fn open(&self) -> MutexGuard<'_, LruCache<(Id, String), Channel>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn create(&self, server: &str) -> Result<Channel, ToolError> {
        let endpoint = endpoint(server)
            .map_err(|error| unusable(&format!("no channel to {server} can be made: {error}")))?;
        let gate = self.gate.clone();
        let connector = tower::service_fn(move |uri: Uri| connect(gate.clone(), uri));
        Ok(endpoint.connect_with_connector_lazy(connector))
    }
}

fn endpoint(server: &str) -> Result<Endpoint, tonic::transport::Error> {
    let endpoint = Endpoint::from_shared(server.to_owned())?
        .user_agent(USER_AGENT)?
        .http2_keep_alive_interval(SILENCE)
        .keep_alive_timeout(SIGN_OF_LIFE);
    match endpoint.uri().scheme_str() {
        Some("https") => {
            endpoint.tls_config(ClientTlsConfig::new().with_webpki_roots().timeout(CONNECT_LIMIT))
        }
        _ => Ok(endpoint),
    }
}

/// Connects to one of the addresses that the gate gives for the host of the URI, and to no other.
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
