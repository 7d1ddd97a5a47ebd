//! HTTP clients: they ask the gate about every name, and those of REST tools follow no redirect by themselves.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;

use super::error::ToolError;
use super::gate::{ANY_PORT, Gate};
use crate::outbound::{PerRuntime, USER_AGENT};

/// Connections that are kept open to one host while they are not used.
const IDLE_CONNECTIONS: usize = 4_096;
/// How long they are kept: shorter than the servers' own usual limits, so that few break as they are used.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// The clients.
#[derive(Debug)]
pub struct Clients {
    gate: Gate,
    known: PerRuntime<Client>,
}

impl Clients {
    /// Clients whose connections go through `gate`.
    pub fn new(gate: Gate) -> Clients {
        Clients { gate, known: PerRuntime::default() }
    }

    /// The client of the current runtime.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] when the system's part of TLS cannot be set up.
    pub fn get(&self) -> Result<Client, ToolError> {
        let client = self.known.get_or_make(|| client(&self.gate));
        client.map_err(|error| ToolError::Unusable {
            message: format!("no HTTP client can be set up: {error}"),
        })
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
