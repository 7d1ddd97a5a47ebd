//! HTTP clients for tools: DNS answers pass through the [`Gate`] when a connection is made, against DNS rebinding.

use std::sync::Arc;

use reqwest::Client;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::error::ToolError;
use super::gate::{ANY_PORT, Gate};
use base::error::innermost;
use base::outbound::{self, PerRuntime};

/// The HTTP clients of REST tools, one for each async runtime; they follow no redirects by themselves.
#[derive(Debug)]
pub struct Clients {
    gate: Gate,
    clients: PerRuntime<Client>,
}

impl Clients {
    /// Clients that connect only where `gate` allows it.
    pub fn new(gate: Gate) -> Clients {
        Clients { gate, clients: PerRuntime::default() }
    }

    /// The client of the current runtime.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] if TLS cannot be set up.
    pub fn get(&self) -> Result<Client, ToolError> {
        let client = self.clients.get_or_make(|| client(&self.gate));
        client.map_err(|error| ToolError::Unusable {
            message: format!("the HTTP client cannot be set up: {error}"),
        })
    }
}

fn client(gate: &Gate) -> reqwest::Result<Client> {
    outbound::client().dns_resolver(resolver(gate)).build()
}

/// A DNS resolver that returns only the addresses that the gate allows. The gate must have checked the URL before.
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
            // A resolver is not told the port; the client fills it in afterwards.
            let addresses = gate.resolve(name.as_str(), ANY_PORT).await?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

/// The client's error as a [`ToolError`]; its message names neither the address nor what was sent.
pub fn tool_error(error: &reqwest::Error) -> ToolError {
    match innermost(error).downcast_ref::<ToolError>() {
        Some(ours) => ours.clone(),
        None => ToolError::Unreachable { message: outbound::in_words(error) },
    }
}
