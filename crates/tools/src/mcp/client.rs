//! The HTTP client of an MCP session: connections and redirects are checked by the gate.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, StatusCode};

use crate::client::{resolver, tool_error};
use crate::error::ToolError;
use crate::gate::Gate;
use base::outbound;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 3;

/// A client for one server; `secrets` are headers of every request.
///
/// # Errors
/// If TLS cannot be set up.
pub(super) fn new(gate: &Gate, secrets: HeaderMap) -> Result<Client, ToolError> {
    let resolver = resolver(gate);
    let gate = gate.clone();
    let client = outbound::client()
        .default_headers(secrets)
        .dns_resolver(resolver)
        .redirect(Policy::custom(move |attempt| redirect(&gate, attempt)))
        .connect_timeout(CONNECT_LIMIT)
        .build();
    client.map_err(|error| tool_error(&error))
}

/// Follows redirects that keep method and body (307, 308), within the origin, so that the secrets stay there.
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
