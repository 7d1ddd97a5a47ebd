//! What all calls of other services have in common, whichever protocol they speak.
//!
//! - [`PerRuntime`]: clients, one for each async runtime
//! - [`client`]: HTTP clients as all of them are; [`cause`], [`in_words`]: what their errors mean
//! - [`Secrets`]: what is struck out of the far end's own words; [`heard`], [`told`]: how much of them is read and passed on

mod per_runtime;
mod secrets;

use std::error::Error;
use std::sync::Once;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Response};
use tokio::time::{Instant, timeout_at};

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

/// The innermost cause of a client's error, which names neither the address nor what was sent.
pub fn cause(error: &reqwest::Error) -> &(dyn Error + 'static) {
    let mut cause: &(dyn Error + 'static) = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause
}

/// What an error of a client means, in words for others.
pub fn in_words(error: &reqwest::Error) -> String {
    let cause = cause(error);
    match cause.is::<reqwest::Error>() {
        true => "the request could not be sent, or the connection broke".to_owned(),
        false => cause.to_string(),
    }
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
