//! One upstream: its protocol, its endpoints, and the headers that it is sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;

use super::offer::Offer;
use super::options::UpstreamOptions;
use super::protocol::{Endpoints, Protocol, Service};
use super::structured::StructuredOffers;
use base::outbound::Secrets;

/// How long it is believed that an upstream lacks the Responses API for a model.
const NO_RESPONSES: Duration = Duration::from_secs(600);

/// An upstream.
pub struct Upstream {
    /// What it speaks.
    pub protocol: Protocol,
    /// Where it offers its services.
    pub endpoints: Endpoints,
    /// The headers of every request.
    pub headers: HeaderMap,
    /// What is redacted in its error messages: the key, the headers of the settings, and what stands in the
    /// base URL beside host and path.
    pub secrets: Arc<Secrets>,
    /// For which models it has the Responses API.
    pub responses: Offer,
    /// For which models it has the ways to make them answer by a schema.
    pub structured: StructuredOffers,
}

impl Upstream {
    /// The upstream of these options.
    ///
    /// # Errors
    /// A message that says what is wrong with them, without secrets.
    pub fn new(options: &UpstreamOptions) -> Result<Upstream, String> {
        let base =
            Url::parse(&options.base_url).map_err(|error| format!("`base_url` is not a URL: {error}"))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(format!("`base_url` begins with {}, not with http or https", base.scheme()));
        }
        Ok(Upstream {
            protocol: options.protocol,
            endpoints: options.protocol.endpoints(&base),
            headers: headers(options)?,
            secrets: Arc::new(secrets(options, &base)),
            responses: Offer::new(options.responses, NO_RESPONSES),
            structured: StructuredOffers::default(),
        })
    }

    /// The endpoint of a service.
    pub fn endpoint(&self, service: Service) -> &Url {
        match service {
            Service::Chat => &self.endpoints.chat,
            Service::Responses => &self.endpoints.responses,
            Service::Completions => &self.endpoints.completions,
            Service::Embeddings => &self.endpoints.embeddings,
        }
    }
}

const INVALID_KEY: &str = "`api_key` cannot be sent: a header is visible ASCII in one line";

/// The headers of every request; those of the settings win over those of the protocol.
fn headers(options: &UpstreamOptions) -> Result<HeaderMap, String> {
    let mut headers = options.protocol.headers(options.api_key.as_deref()).map_err(|_| INVALID_KEY)?;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Compressing a stream delays it. An upstream that does so nevertheless is understood.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    for (name, value) in &options.headers {
        let invalid = || format!("the header `{name}` cannot be sent: a header is visible ASCII in one line");
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let mut value = HeaderValue::from_str(value).map_err(|_| invalid())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn secrets(options: &UpstreamOptions, base: &Url) -> Secrets {
    let of_headers = options.headers.iter().map(|(_, value)| value.as_str());
    let of_url = [Some(base.username()), base.password(), base.query()].into_iter().flatten();
    Secrets::new(of_headers.chain(options.api_key.as_deref()).chain(of_url))
}

/// The host alone.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("host", &self.endpoints.chat.host_str()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_sent_is_told_without_the_secret() {
        for base_url in ["", "h/v1", "ftp://h/"] {
            let options = UpstreamOptions { base_url: base_url.into(), ..UpstreamOptions::default() };
            assert!(Upstream::new(&options).is_err(), "{base_url}");
        }
        let options = UpstreamOptions {
            base_url: "http://h".into(),
            api_key: Some("two\nlines".into()),
            ..UpstreamOptions::default()
        };
        assert_eq!(Upstream::new(&options).unwrap_err(), INVALID_KEY);
    }
}
