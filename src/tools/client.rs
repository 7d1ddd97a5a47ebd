//! HTTP clients: they ask the gate about every name, and those of REST tools follow no redirect by themselves.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use reqwest::{Client, Response};
use tokio::runtime::{Handle, Id};

use super::error::{HEARD_BYTES, ToolError};
use super::gate::{ANY_PORT, Gate};

/// What the service calls itself.
pub const USER_AGENT: &str = concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"));

/// Connections that are kept open to one host while they are not used.
const IDLE_CONNECTIONS: usize = 4_096;
/// How long they are kept: shorter than the servers' own usual limits, so that few break as they are used.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Runtimes whose clients are kept.
const CLIENTS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// The clients, one for each runtime: a connection is driven by the runtime that made it, and stands still with it.
#[derive(Debug)]
pub struct Clients {
    gate: Gate,
    known: Mutex<LruCache<Id, Client>>,
}

impl Clients {
    /// Clients whose connections go through `gate`.
    pub fn new(gate: Gate) -> Clients {
        Clients { gate, known: Mutex::new(LruCache::new(CLIENTS)) }
    }

    /// The client of the current runtime.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] when the system's part of TLS cannot be set up.
    pub fn get(&self) -> Result<Client, ToolError> {
        let id = Handle::current().id();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = known.get(&id) {
            return Ok(client.clone());
        }
        let client = client(&self.gate).map_err(|error| ToolError::Unusable {
            message: format!("no HTTP client can be set up: {error}"),
        })?;
        known.put(id, client.clone());
        Ok(client)
    }
}

fn client(gate: &Gate) -> reqwest::Result<Client> {
    Client::builder()
        .user_agent(USER_AGENT)
        .no_proxy()
        .redirect(Policy::none())
        .dns_resolver(resolver(gate))
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_TIME)
        .build()
}

/// Resolves the names in URLs that the gate has checked to addresses that it lets through.
pub fn resolver(gate: &Gate) -> Arc<dyn Resolve> {
    Arc::new(Resolver { gate: gate.clone() })
}

struct Resolver {
    gate: Gate,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let gate = self.gate.clone();
        Box::pin(async move {
            // The client fills the port in by itself.
            let addresses = gate.resolve(name.as_str(), ANY_PORT).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// What an error of the client means; it names neither the address nor what was sent.
pub fn failure(error: &reqwest::Error) -> ToolError {
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        if let Some(ours) = inner.downcast_ref::<ToolError>() {
            return ours.clone();
        }
        cause = inner;
    }
    match cause.is::<reqwest::Error>() {
        true => ToolError::Unreachable { message: "the request could not be sent".into() },
        false => ToolError::Unreachable { message: cause.to_string() },
    }
}

/// As much of the body of a failure as is listened to.
pub async fn beginning(mut response: Response) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read of an error's text is not worth an error of its own.
    while bytes.len() < HEARD_BYTES
        && let Ok(Some(chunk)) = response.chunk().await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}
