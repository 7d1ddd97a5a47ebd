//! The HTTP client of a session: its connections and redirects go through the gate.

use std::time::Duration;

use reqwest::header::HeaderMap;
use reqwest::redirect::{Action, Attempt, Policy};
use reqwest::{Client, StatusCode};

use crate::client::{failure, resolver};
use crate::error::ToolError;
use crate::gate::Gate;
use base::outbound;

const CONNECT_LIMIT: Duration = Duration::from_secs(5);

const MAX_REDIRECTS: usize = 3;

/// A client for one server, whose secrets go with each request.
///
/// # Errors
/// When TLS cannot be set up.
pub(super) fn new(gate: &Gate, secrets: HeaderMap) -> Result<Client, ToolError> {
    let resolver = resolver(gate);
    let gate = gate.clone();
    let client = outbound::client()
        .default_headers(secrets)
        .dns_resolver(resolver)
        .redirect(Policy::custom(move |attempt| redirect(&gate, attempt)))
        .connect_timeout(CONNECT_LIMIT)
        .build();
    client.map_err(|error| failure(&error))
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
