//! What all calls of other services have in common, whichever protocol they speak.
//!
//! - [`PerRuntime`]: clients, one for each async runtime
//! - [`client`]: HTTP clients as all of them are; [`in_words`]: what their errors mean; [`body`]: answers of bounded length
//! - [`Secrets`]: what is struck out of the far end's own words; [`heard`], [`told`]: how much of them is read and passed on

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

/// What the service calls itself.
pub const USER_AGENT: &str = concat!("ai-prompt-shell/", env!("CARGO_PKG_VERSION"));

/// What is read of the far end's own words about a failure: more than is told of them, so that no secret in them is cut in
/// two.
pub const HEARD_BYTES: usize = 16 << 10;
/// What is told of them.
const TOLD_BYTES: usize = 1024;

/// How long a failure's body is listened to.
const HEARD_TIME: Duration = Duration::from_secs(2);

/// Connections that are kept open to one host while they are not used.
const IDLE_CONNECTIONS: usize = 4_096;
/// How long they are kept: shorter than the servers' own usual limits, so that few break as they are used.
const IDLE_TIME: Duration = Duration::from_secs(30);

/// An HTTP client in the making, as the library has it.
pub fn plain_client() -> ClientBuilder {
    static TLS: Once = Once::new();
    // `ring` is small; the library's own choice would take a quarter of the time of a build. Another one that is set is as good.
    TLS.call_once(|| drop(rustls::crypto::ring::default_provider().install_default()));
    Client::builder()
}

/// An HTTP client in the making: it follows no redirects, and uses no proxy that it was not told to.
pub fn client() -> ClientBuilder {
    plain_client()
        .user_agent(USER_AGENT)
        .tcp_nodelay(true)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .pool_max_idle_per_host(IDLE_CONNECTIONS)
        .pool_idle_timeout(IDLE_TIME)
}

/// What an error of a client means, in words for others.
pub fn in_words(error: &reqwest::Error) -> String {
    let cause = innermost(error);
    match cause.is::<reqwest::Error>() {
        true => "the request could not be sent, or the connection broke".to_owned(),
        false => cause.to_string(),
    }
}

/// Why the body of an answer cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum BodyError {
    /// It is longer than it may be.
    #[error("it is longer than {limit} bytes")]
    TooLong {
        /// The longest that it may be, in bytes.
        limit: usize,
    },
    /// The connection broke.
    #[error(transparent)]
    Broken(#[from] reqwest::Error),
}

/// The body of an answer as it comes, of at most `limit` bytes.
pub fn body(response: Response, limit: usize) -> impl Stream<Item = Result<Bytes, BodyError>> + Unpin {
    let mut left = limit;
    // What is declared as too long is not waited for.
    let declared = response.content_length().filter(|&bytes| bytes > limit as u64);
    let too_long = declared.map(|_| Err(BodyError::TooLong { limit }));
    let chunks = response.bytes_stream().map(move |chunk| {
        let chunk = chunk?;
        left = left.checked_sub(chunk.len()).ok_or(BodyError::TooLong { limit })?;
        Ok(chunk)
    });
    stream::iter(too_long).chain(chunks)
}

/// All of the body of an answer, of at most `limit` bytes.
///
/// # Errors
/// [`BodyError`].
pub async fn whole_body(response: Response, limit: usize) -> Result<Vec<u8>, BodyError> {
    let mut chunks = body(response, limit);
    let mut whole = Vec::new();
    while let Some(chunk) = chunks.next().await {
        whole.extend_from_slice(&chunk?);
    }
    Ok(whole)
}

/// The beginning of a failure's body, about so many bytes.
pub async fn heard(mut response: Response, bytes_max: usize) -> Vec<u8> {
    let until = Instant::now() + HEARD_TIME;
    let mut bytes = Vec::new();
    // What cannot be read of an error's text is not worth an error of its own.
    while bytes.len() < bytes_max
        && let Ok(Ok(Some(chunk))) = timeout_at(until, response.chunk()).await
    {
        bytes.extend_from_slice(&chunk);
    }
    bytes
}

/// The beginning of what the far end says, as much as is listened to.
pub fn quoted(text: &str) -> String {
    beginning(text, HEARD_BYTES)
}

/// The beginning of what the far end says, as much as is passed on, without secrets.
pub fn told(text: String, secrets: &Secrets) -> String {
    beginning(&secrets.strike(text), TOLD_BYTES)
}

fn beginning(text: &str, bytes: usize) -> String {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or(text).trim().to_owned()
}
