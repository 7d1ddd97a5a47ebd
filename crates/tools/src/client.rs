//! HTTP clients: they ask the gate about every name, and those of REST tools follow no redirect by themselves.

use std::sync::Arc;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::error::ToolError;
use super::gate::{ANY_PORT, Gate};
use base::error::innermost;
use base::outbound::{self, PerRuntime};

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
    outbound::client().dns_resolver(resolver(gate)).build()
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
    match innermost(error).downcast_ref::<ToolError>() {
        Some(ours) => ours.clone(),
        None => ToolError::Unreachable { message: outbound::in_words(error) },
    }
}
