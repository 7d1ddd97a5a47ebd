//! The HTTP client of a session: its connections and redirects go through the gate.

use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Name, Resolve, Resolving};
use reqwest::header::HeaderMap;
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, StatusCode, Url};

use super::fault::{causes, innermost, unreachable};
use crate::tools::error::ToolError;
use crate::tools::gate::Gate;

const USER_AGENT: &str = concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"));

const CONNECT_LIMIT: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 3;

/// A client for one server, whose secrets go with each request.
///
/// # Errors
/// When TLS cannot be set up.
pub(super) fn new(gate: &Gate, url: &Url, secrets: HeaderMap) -> Result<Client, ToolError> {
    let port = url.port_or_known_default().unwrap_or_default();
    let resolver = Resolver { gate: gate.clone(), port };
    let gate = gate.clone();
    let client = Client::builder()
        .user_agent(USER_AGENT)
        .default_headers(secrets)
        .dns_resolver(Arc::new(resolver))
        .redirect(Policy::custom(move |attempt| redirect(&gate, attempt)))
        .connect_timeout(CONNECT_LIMIT)
        .tcp_nodelay(true)
        .no_proxy()
        .build();
    client.map_err(|error| failed(&error))
}

/// Names are resolved by the gate.
struct Resolver {
    gate: Gate,
    /// The port of all connections: redirects stay at their origin.
    port: u16,
}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let (gate, port) = (self.gate.clone(), self.port);
        Box::pin(async move {
            let found = gate.resolve(name.as_str(), port).await?;
            Ok(Box::new(found.into_iter()) as reqwest::dns::Addrs)
        })
    }
}

/// Follows what keeps method and body, and stays where the secrets belong.
fn redirect(gate: &Gate, attempt: Attempt) -> Action {
    let keeps_body =
        matches!(attempt.status(), StatusCode::TEMPORARY_REDIRECT | StatusCode::PERMANENT_REDIRECT);
    let same_origin =
        attempt.previous().first().is_some_and(|first| first.origin() == attempt.url().origin());
    if !keeps_body || !same_origin || attempt.previous().len() > MAX_REDIRECTS {
        return attempt.stop();
    }
    match gate.check(attempt.url()) {
        Ok(()) => attempt.follow(),
        Err(error) => attempt.error(error),
    }
}

/// What a failed exchange means: the gate's own words if they are at its bottom.
pub(super) fn failed(error: &reqwest::Error) -> ToolError {
    let own = causes(error).find_map(|cause| cause.downcast_ref::<ToolError>());
    own.cloned().unwrap_or_else(|| unreachable(&innermost(error)))
}
