//! What all calls to other services share, whichever protocol they use.
//!
//! - [`PerRuntime`]: one client for each async runtime
//! - [`client`]: the common configuration of HTTP clients; [`in_words`]: their errors as text; [`body`]: bodies of bounded length
//! - [`error_body`], [`excerpt`], [`redacted`]: how much of a server's error text is read and passed on; [`Secrets`]: what is
//!   removed from it

mod per_runtime;
mod secrets;

use std::sync::Once;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};
use reqwest::{Client, ClientBuilder, Response};
use tokio::time::{Instant, timeout_at};

use crate::error::innermost;

pub use per_runtime::PerRuntime;
pub use secrets::Secrets;

/// The `User-Agent` of all requests.
pub const USER_AGENT: &str = concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"));

/// How much of a server's error text is read, in bytes: more than is passed on, so that a secret is never cut in two and
/// missed by the redaction.
pub const ERROR_BODY_BYTES: usize = 16 << 10;
/// How much of it is passed on, in bytes.
const REDACTED_BYTES: usize = 1024;

/// How long reading the body of an error may take.
const ERROR_BODY_TIME: Duration = Duration::from_secs(2);

/// How many idle connections to one host are kept open.
const IDLE_CONNECTIONS: usize = 4_096;
/// How long they are kept: shorter than the usual limits of servers, so that few are closed just as they are used.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// A builder of an HTTP client with the library's own defaults; sets up TLS for the process.
pub fn plain_client() -> ClientBuilder {
    static TLS: Once = Once::new();
    // The library's default provider would take a quarter of the build time; `ring` is small. If a provider was installed
    // before, that one stays.
    TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
}

/// A builder of an HTTP client that follows no redirects and ignores the proxies of the environment.
pub fn client() -> ClientBuilder {
    plain_client()
        .user_agent(USER_AGENT)
        .tcp_nodelay(true)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_TIME)
}

/// A client's error as text for others: it names neither the address nor what was sent.
pub fn in_words(error: &reqwest::Error) -> String {
    let cause = innermost(error);
    match cause.is::<reqwest::Error>() {
        true => "the request could not be sent, or the connection broke".to_owned(),
        false => cause.to_string(),
    }
}

/// The error of a body that cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// The body is longer than allowed.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The most bytes that are allowed.
        limit: usize,
    },
    /// The connection broke.
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

/// The chunks of a response's body, of at most `limit` bytes in all.
pub fn body(response: Response, limit: usize) -> impl Stream<Item = Result<Bytes, BodyError>> + Unpin {
    let mut left = limit;
    // A body whose declared length is over the limit is not read at all.
    let declared = response.content_length().filter(|&bytes| bytes > limit as u64);
    let too_long = declared.map(|_| Err(BodyError::TooLong { limit }));
    let chunks = response.bytes_stream().map(move |chunk| {
        let chunk = chunk?;
        left = left.checked_sub(chunk.len()).ok_or(BodyError::TooLong { limit })?;
        Ok(chunk)
    });
    stream::iter(too_long).chain(chunks)
}

/// The whole body of a response, of at most `limit` bytes.
///
/// # Errors
/// [`BodyError`] if it is longer, or the connection breaks.
pub async fn whole_body(response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut chunks = body(response, limit);
    let mut whole = Vec::new();
    while let Some(chunk) = chunks.next().await {
        whole.extend_from_slice(&chunk?);
    }
    Ok(whole)
}

/// The beginning of the body of an error response: about `bytes_max` bytes, or what comes within two seconds.
pub async fn error_body(mut response: Response, bytes_max: usize) -> Vec<u8> {
    let until = Instant::now() + ERROR_BODY_TIME;
    let mut bytes = Vec::new();
    // An error text that cannot be read is not reported: the error itself matters more.
    while bytes.len() < bytes_max
        && let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

/// The first [`ERROR_BODY_BYTES`] of a server's text, trimmed. Secrets are still in it.
pub fn excerpt(text: &str) -> String {
    beginning(text, ERROR_BODY_BYTES)
}

/// The first 1 KiB of a server's text, trimmed, with secrets replaced by `…`.
pub fn redacted(text: String, secrets: &Secrets) -> String {
    beginning(&secrets.redact(text), REDACTED_BYTES)
}

fn beginning(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text).trim().to_owned()
}
