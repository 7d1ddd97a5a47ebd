//! One upstream: its protocol, its endpoints, its clients, and the headers and tokens that it is sent.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, Response, Url};

use super::error::UpstreamError;
use super::offer::Offer;
use super::options::UpstreamOptions;
use super::protocol::{Endpoints, Protocol, Service, Token, TokenSource};
use super::shared::Shared;
use super::structured::StructuredOffers;
use super::transport::{Clients, unreachable};
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
    headers: HeaderMap,
    /// Where it gets the tokens that its requests bear, if its protocol has some.
    tokens: Option<Arc<TokenSource>>,
    /// The HTTP clients that reach it.
    pub clients: Arc<Clients>,
    /// What is redacted in its error messages: the key, the headers of the settings, what stands in the base URL beside host and path,
    /// and the tokens of late.
    pub secrets: Arc<Secrets>,
    /// For which models it has the Responses API.
    pub responses: Offer,
    /// For which models it has the ways to make them answer by a schema.
    pub structured: StructuredOffers,
}

impl Upstream {
    /// The upstream of these options, with what it shares with others.
    ///
    /// # Errors
    /// Messages that say everything that is wrong with them, without secrets.
    pub fn new(options: &UpstreamOptions, shared: &mut Shared) -> Result<Upstream, Vec<String>> {
        let (base, headers) = (base_url(options), headers(options));
        let (clients, tokens) = (shared.clients(options.ca_file.as_deref()), shared.tokens(options));
        let lacks_responses = !options.protocol.offers(Service::Responses);
        match (base, headers, clients, tokens) {
            (Ok(base), Ok(headers), Ok(clients), Ok(tokens))
                if !lacks_responses || options.responses != Some(true) =>
            {
                Ok(Upstream {
                    protocol: options.protocol,
                    endpoints: options.protocol.endpoints(&base),
                    headers,
                    tokens,
                    clients,
                    secrets: Arc::new(secrets(options, &base)),
                    responses: Offer::new(
                        options.responses.or(lacks_responses.then_some(false)),
                        NO_RESPONSES,
                    ),
                    structured: StructuredOffers::default(),
                })
            }
            (base, headers, clients, tokens) => {
                let mut wrong: Vec<String> =
                    [base.err(), headers.err(), clients.err()].into_iter().flatten().collect();
                wrong.extend(tokens.err().unwrap_or_default());
                if lacks_responses && options.responses == Some(true) {
                    wrong.push(
                        "`responses` is true, but there is no Responses API in its protocol".to_owned(),
                    );
                }
                Err(wrong)
            }
        }
    }

    /// Sends a request with the headers of all requests, and with a token, if it has to bear one; after a refusal of the token once more,
    /// with another one.
    ///
    /// # Errors
    /// [`UpstreamError::Unreachable`], [`UpstreamError::NoToken`].
    pub async fn send(&self, client: &Client, request: RequestBuilder) -> Result<Response, UpstreamError> {
        let request = request.headers(self.headers.clone());
        let Some(tokens) = &self.tokens else { return sent(request).await };
        let again = request.try_clone();
        let token = self.token(tokens, client).await?;
        let response = sent(bearing(request, &token)?).await?;
        let Some(again) = again.filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
            return Ok(response);
        };
        tokens.refused(&token);
        let token = self.token(tokens, client).await?;
        sent(bearing(again, &token)?).await
    }

    async fn token(&self, tokens: &Arc<TokenSource>, client: &Client) -> Result<Arc<Token>, UpstreamError> {
        let token = tokens.token(client).await?;
        self.secrets.learn(token.reveal());
        Ok(token)
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

async fn sent(request: RequestBuilder) -> Result<Response, UpstreamError> {
    request.send().await.map_err(|error| unreachable(&error))
}

fn bearing(request: RequestBuilder, token: &Token) -> Result<RequestBuilder, UpstreamError> {
    let value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()));
    let mut value = value.map_err(|_| {
        UpstreamError::no_token(UpstreamError::unusable("its token cannot be sent in a header"))
    })?;
    value.set_sensitive(true);
    Ok(request.header(AUTHORIZATION, value))
}

fn base_url(options: &UpstreamOptions) -> Result<Url, String> {
    if options.base_url.is_empty() {
        return Err("it needs a `base_url`".to_owned());
    }
    let base = Url::parse(&options.base_url).map_err(|error| format!("`base_url` is not a URL: {error}"))?;
    match base.scheme() {
        "http" | "https" => Ok(base),
        scheme => Err(format!("`base_url` begins with {scheme}, not with http or https")),
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
        if name == AUTHORIZATION && options.protocol.has_tokens() {
            return Err("`headers` must not hold Authorization, where the token stands".to_owned());
        }
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
            assert!(Upstream::new(&options, &mut Shared::default()).is_err(), "{base_url}");
        }
        let options = UpstreamOptions {
            base_url: "http://h".into(),
            api_key: Some("two\nlines".into()),
            ..UpstreamOptions::default()
        };
        assert_eq!(Upstream::new(&options, &mut Shared::default()).unwrap_err(), [INVALID_KEY]);
    }
}
