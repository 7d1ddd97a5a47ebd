//! What all upstreams have in common below their protocols: HTTP clients, and what the headers of answers say.
//!
//! Upstreams on other machines are reached through `llm.proxy`, if it is set. The proxies of the environment are not used.
//! An authority of certificates of its own is trusted for its upstream alone.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{Certificate, Client, NoProxy, Proxy};

use super::error::{LlmError, UpstreamError};
use base::encoding::media_type;
use base::outbound::{self, PerRuntime};

/// The time limit for opening a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Hosts that are never reached through the proxy: this machine itself.
const NO_PROXY: &str = "localhost,127.0.0.0/8,::1";

/// The longest file of certificates, in bytes.
const CA_BYTES: u64 = 1 << 20;

/// The clients for upstreams whose certificates the same authorities sign.
#[derive(Debug, Default)]
pub struct Clients {
    proxy: Option<String>,
    /// The authorities that are trusted beside those of the system.
    authorities: Vec<Certificate>,
    clients: PerRuntime<Client>,
}

impl Clients {
    /// Clients that reach upstreams on other machines through the proxy at this address, if there is one, and trust these authorities
    /// beside those of the system.
    pub fn new(proxy: Option<&str>, authorities: Vec<Certificate>) -> Clients {
        Clients { proxy: proxy.map(str::to_owned), authorities, clients: PerRuntime::default() }
    }

    /// The client of the current runtime.
    ///
    /// # Errors
    /// [`LlmError::NoClient`].
    pub fn get(&self) -> Result<Client, LlmError> {
        let client = self.clients.get_or_make(|| self.make());
        client.map_err(|error| LlmError::NoClient { message: error.to_string() })
    }

    /// A new client.
    ///
    /// # Errors
    /// When the address of the proxy or an authority cannot be used, or the system's part of TLS cannot be set up.
    pub fn make(&self) -> reqwest::Result<Client> {
        let mut client = outbound::client().connect_timeout(CONNECT_TIMEOUT);
        if let Some(address) = &self.proxy {
            client = client.proxy(proxy(address)?);
        }
        if !self.authorities.is_empty() {
            client = client.tls_certs_merge(self.authorities.iter().cloned());
        }
        client.build()
    }
}

/// The authorities in a file in PEM.
///
/// # Errors
/// What is wrong with the file, and which file it is.
pub fn authorities(file: &Path) -> Result<Vec<Certificate>, String> {
    let wrong = |what: &str| format!("`ca_file`: {} {what}", file.display());
    let mut pem = Vec::new();
    let read = File::open(file).and_then(|opened| opened.take(CA_BYTES + 1).read_to_end(&mut pem));
    read.map_err(|error| wrong(&format!("cannot be read: {error}")))?;
    if pem.len() as u64 > CA_BYTES {
        return Err(wrong(&format!("is longer than {CA_BYTES} bytes")));
    }
    let none = || wrong("holds no certificate in PEM (-----BEGIN CERTIFICATE-----)");
    let found = Certificate::from_pem_bundle(&pem).map_err(|_| none())?;
    if found.is_empty() {
        return Err(none());
    }
    // A certificate is read when a client is made.
    match Clients::new(None, found.clone()).make() {
        Ok(_) => Ok(found),
        Err(_) => Err(wrong("holds a certificate that cannot be used as an authority's")),
    }
}

/// The proxy at an address.
///
/// # Errors
/// When the address cannot be used.
pub fn proxy(address: &str) -> reqwest::Result<Proxy> {
    Ok(Proxy::all(address)?.no_proxy(NoProxy::from_string(NO_PROXY)))
}

/// A connection that could not be opened, or broke; neither the address nor what was sent is named.
pub fn unreachable(error: &reqwest::Error) -> UpstreamError {
    UpstreamError::Unreachable { message: outbound::in_words(error) }
}

/// The media types that are named in messages; others are the upstream's own words.
const KNOWN_TYPES: [&str; 7] = [
    "text/event-stream",
    "text/plain",
    "text/html",
    "text/xml",
    "application/json",
    "application/octet-stream",
    "application/xml",
];

/// What an answer declares to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclaredType {
    /// Nothing.
    None,
    /// This well-known type.
    Known(&'static str),
    /// Some other type.
    Unknown,
}

impl DeclaredType {
    /// Reads the header `content-type`.
    pub fn read(headers: &HeaderMap) -> DeclaredType {
        let declared = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        match declared.map(media_type).unwrap_or_default() {
            "" => DeclaredType::None,
            declared => {
                let known = KNOWN_TYPES.into_iter().find(|known| known.eq_ignore_ascii_case(declared));
                known.map_or(DeclaredType::Unknown, DeclaredType::Known)
            }
        }
    }

    /// Whether the answer may be a stream of events: some servers declare nothing in particular.
    pub fn may_be_events(self) -> bool {
        match self {
            DeclaredType::None => true,
            DeclaredType::Known(known) => {
                ["text/event-stream", "text/plain", "application/octet-stream"].contains(&known)
            }
            DeclaredType::Unknown => false,
        }
    }

    /// The type as messages name it.
    pub fn name(self) -> &'static str {
        match self {
            DeclaredType::None => "not declared",
            DeclaredType::Known(known) => known,
            DeclaredType::Unknown => "an unknown type",
        }
    }
}

/// When the upstream would like to be asked again: `retry-after-ms`, or `retry-after` in seconds or as a date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let seconds = |text: &str| {
        let seconds: f64 = text.parse().ok().filter(|seconds: &f64| *seconds >= 0.0)?;
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    };
    if let Some(after) = text("retry-after-ms").and_then(seconds) {
        return Some(after / 1000);
    }
    let after = text(RETRY_AFTER.as_str())?;
    seconds(after).or_else(|| {
        let date = httpdate::parse_http_date(after).ok()?;
        Some(date.duration_since(SystemTime::now()).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(http::HeaderName::from_static(name), value.parse().unwrap())])
    }

    #[test]
    fn retry_after_is_read_in_all_its_forms() {
        let read = |name, value: &str| retry_after(&header(name, value));
        assert_eq!(read("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(read("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(read("retry-after", "Thu, 01 Jan 1970 00:00:00 GMT"), Some(Duration::ZERO));
        let later = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        assert!(read("retry-after", &later).is_some_and(|after| after > Duration::from_secs(90)));
        assert_eq!(read("retry-after", "1e400"), Some(Duration::MAX));
        for nonsense in ["-1", "soon", "NaN", ""] {
            assert_eq!(read("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn only_well_known_types_are_named_and_some_may_be_events() {
        let declared = |value: &str| DeclaredType::read(&header("content-type", value));
        assert_eq!(declared("Text/HTML; charset=utf-8"), DeclaredType::Known("text/html"));
        assert_eq!(declared("secret/word").name(), "an unknown type");
        assert!(DeclaredType::read(&HeaderMap::new()).may_be_events());
        assert!(
            declared("text/event-stream").may_be_events() && !declared("application/json").may_be_events()
        );
    }
}
