//! How a token is asked for: OAuth with the authorization key (client credentials) and a scope.
//!
//! The token's life is reckoned by the server's own clock, where it tells the time (`date`): this machine's may be wrong.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use data_encoding::BASE64_NOPAD;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Response, Url};
use serde::Deserialize;
use tokio::time::timeout;

use crate::llm::error::UpstreamError;
use crate::llm::protocol::openai;
use crate::llm::transport::{retry_after, unreachable};
use base::outbound::{ERROR_BODY_BYTES, Secrets, error_body, whole_body};
use base::random::random;

/// Where tokens are given, where the settings name no other address.
pub const URL: &str = "https://ngw.devices.sberbank.ru:9443/api/v2/oauth";

/// For whom, where the settings do not say it: a person.
pub const SCOPE: &str = "GIGACHAT_API_PERS";

/// The time for a token.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(10);

/// The longest answer, in bytes.
const TOKEN_BYTES: usize = 64 << 10;

/// The life of a token whose answer does not say it.
const USUAL_LIFE: Duration = Duration::from_secs(1_800);

/// The least life and the longest one: a clock that is wrong must not mean a token for each request, or one for ever.
const LEAST_LIFE: Duration = Duration::from_secs(10);
const LONGEST_LIFE: Duration = Duration::from_secs(86_400);

/// Numbers below this are seconds since 1970, others milliseconds.
const MILLISECONDS: u64 = 100_000_000_000;

/// Names a request.
const REQUEST_ID: HeaderName = HeaderName::from_static("rquid");

/// A request for a token.
pub struct TokenRequest {
    url: Url,
    /// `Basic`, and the authorization key.
    credentials: HeaderValue,
    body: String,
    /// The key and what it holds, and what stands in the address beside host and path.
    secrets: Secrets,
}

/// What distinguishes requests for tokens: where, with which key, and for which scope.
#[derive(PartialEq, Eq, Hash)]
pub struct RequestKey {
    url: Url,
    credentials: HeaderValue,
    body: String,
}

/// Why no token was given.
#[derive(Debug)]
pub struct NotGiven {
    /// What the server did.
    pub cause: UpstreamError,
    /// When it would like to be asked again.
    pub after: Option<Duration>,
}

impl From<UpstreamError> for NotGiven {
    fn from(cause: UpstreamError) -> NotGiven {
        NotGiven { cause, after: None }
    }
}

impl TokenRequest {
    /// A request to the address `url`, with the authorization key `key`, for the scope `scope`.
    ///
    /// # Errors
    /// Everything that is wrong with them, a message for each thing, without secrets.
    pub fn new(url: &str, key: Option<&str>, scope: &str) -> Result<TokenRequest, Vec<String>> {
        let mut wrong = Vec::new();
        let url =
            Url::parse(url).map_err(|error| format!("`oauth_url` is not a URL: {error}")).and_then(|url| {
                let is_http = matches!(url.scheme(), "http" | "https");
                if is_http { Ok(url) } else { Err("`oauth_url` must begin with http or https".to_owned()) }
            });
        let credentials =
            key.ok_or("it needs `api_key`: the authorization key of GigaChat").and_then(|key| {
                let value = HeaderValue::from_str(&format!("Basic {key}"));
                value.map_err(|_| "`api_key` cannot be sent: a header is visible ASCII in one line")
            });
        if scope.trim().is_empty() {
            wrong.push(format!(
                "`scope` must not be empty; GigaChat's are {SCOPE}, GIGACHAT_API_B2B and GIGACHAT_API_CORP"
            ));
        }
        match (url, credentials) {
            (Ok(url), Ok(mut credentials)) if wrong.is_empty() => {
                credentials.set_sensitive(true);
                let scope: String = form_urlencoded::byte_serialize(scope.as_bytes()).collect();
                let secrets = secrets_of(&url, key.unwrap_or_default());
                Ok(TokenRequest { url, credentials, body: format!("scope={scope}"), secrets })
            }
            (url, credentials) => {
                wrong.extend(url.err());
                wrong.extend(credentials.err().map(str::to_owned));
                Err(wrong)
            }
        }
    }

    /// By what it is known that two requests are for the same token.
    pub fn key(&self) -> RequestKey {
        let TokenRequest { url, credentials, body, .. } = self;
        RequestKey { url: url.clone(), credentials: credentials.clone(), body: body.clone() }
    }

    /// Asks for a token: its text, and how long it lives.
    ///
    /// # Errors
    /// [`NotGiven`], without secrets.
    pub async fn send(&self, client: &Client) -> Result<(String, Duration), NotGiven> {
        let asked = timeout(TOKEN_TIMEOUT, self.ask(client)).await;
        asked.unwrap_or_else(|_| Err(UpstreamError::timeout(TOKEN_TIMEOUT).into()))
    }

    async fn ask(&self, client: &Client) -> Result<(String, Duration), NotGiven> {
        let request = client.post(self.url.clone()).headers(self.headers()).body(self.body.clone());
        let response = request.send().await.map_err(|error| unreachable(&error))?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let now = date(response.headers()).unwrap_or_else(SystemTime::now);
        let unusable = || UpstreamError::unusable("it holds no token");
        let body = whole_body(response, TOKEN_BYTES).await.map_err(|_| unusable())?;
        let Granted { token, ends } = serde_json::from_slice(&body).map_err(|_| unusable())?;
        match token.trim().is_empty() {
            true => Err(unusable().into()),
            false => Ok((token, life(ends, now))),
        }
    }

    fn headers(&self) -> HeaderMap {
        let json = HeaderValue::from_static("application/json");
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        let mut headers = HeaderMap::from_iter([
            (AUTHORIZATION, self.credentials.clone()),
            (CONTENT_TYPE, form),
            (ACCEPT, json),
        ]);
        // Hexadecimal digits and hyphens can always be sent.
        headers.extend(HeaderValue::from_str(&uuid(random())).ok().map(|id| (REQUEST_ID, id)));
        headers
    }

    async fn refused(&self, response: Response) -> NotGiven {
        let (status, after) = (response.status().as_u16(), retry_after(response.headers()));
        let body = error_body(response, ERROR_BODY_BYTES).await;
        let message = openai::error(&body, &self.secrets).message;
        NotGiven { cause: UpstreamError::Status { status, message }, after }
    }
}

/// The address alone.
impl fmt::Debug for TokenRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenRequest").field("host", &self.url.host_str()).finish_non_exhaustive()
    }
}

/// The answer: in GigaChat's words, or in those of some gateways.
#[derive(Deserialize)]
struct Granted {
    #[serde(alias = "tok", rename = "access_token")]
    token: String,
    /// Milliseconds or seconds since 1970.
    #[serde(alias = "exp", rename = "expires_at", default)]
    ends: Option<u64>,
}

/// The key, the client's secret, as the key is the base64 of `id:secret`, and what stands in the address beside host and path.
fn secrets_of(url: &Url, key: &str) -> Secrets {
    // Some write it without the padding.
    let decoded = BASE64_NOPAD.decode(key.trim_end_matches('=').as_bytes()).ok();
    let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
    let secret = decoded.as_deref().and_then(|decoded| decoded.split_once(':')).map(|(_, secret)| secret);
    let of_url = [Some(url.username()), url.password(), url.query()];
    Secrets::new([Some(key), secret].into_iter().chain(of_url).flatten())
}

/// How long a token lives from `now` on that `ends` then.
fn life(ends: Option<u64>, now: SystemTime) -> Duration {
    let Some(ends) = ends else { return USUAL_LIFE };
    let since_1970 =
        if ends < MILLISECONDS { Duration::from_secs(ends) } else { Duration::from_millis(ends) };
    let left = since_1970.saturating_sub(now.duration_since(UNIX_EPOCH).unwrap_or_default());
    left.clamp(LEAST_LIFE, LONGEST_LIFE)
}

/// When the server answered, by its own clock.
fn date(headers: &HeaderMap) -> Option<SystemTime> {
    httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()
}

/// A UUID of version 4 (RFC 9562) with these random bits.
fn uuid(bits: u128) -> String {
    let version_and_variant = (bits & !(0xf << 76) & !(0x3 << 62)) | (0x4 << 76) | (0x2 << 62);
    let hex = format!("{version_and_variant:032x}");
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|range| hex.get(range).unwrap_or_default());
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_named_by_a_uuid_of_version_4() {
        assert_eq!(uuid(0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u128::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
    }

    #[test]
    fn a_life_is_reckoned_in_either_unit_and_bounded() {
        let now = UNIX_EPOCH + Duration::from_secs(1_700_000_000);
        for (ends, expected) in [
            (Some(1_700_001_800), Duration::from_secs(1_800)),
            (Some(1_700_001_800_500), Duration::from_millis(1_800_500)),
            (Some(0), LEAST_LIFE),
            (Some(1_600_000_000_000), LEAST_LIFE),
            (Some(u64::MAX), LONGEST_LIFE),
            (None, USUAL_LIFE),
        ] {
            assert_eq!(life(ends, now), expected, "{ends:?}");
        }
    }

    #[test]
    fn a_token_is_read_in_the_words_of_both() {
        for text in [r#"{"access_token":"t","expires_at":5}"#, r#"{"tok":"t","exp":5}"#] {
            let Granted { token, ends } = serde_json::from_str(text).unwrap();
            assert_eq!((token.as_str(), ends), ("t", Some(5)));
        }
        assert!(serde_json::from_str::<Granted>("{}").is_err());
    }

    #[test]
    fn everything_that_is_wrong_is_named_and_no_secret() {
        let wrong = TokenRequest::new("ftp://h", Some("two\nlines"), " ").unwrap_err();
        assert_eq!(wrong.len(), 3, "{wrong:?}");
        assert!(!wrong.concat().contains("lines"));
        assert!(TokenRequest::new(URL, None, SCOPE).unwrap_err()[0].contains("api_key"));
        let request = TokenRequest::new(URL, Some("aWQ6dGhlLXNlY3JldA=="), "A B").unwrap();
        assert_eq!(request.body, "scope=A+B");
        let told = request.secrets.redact("no aWQ6dGhlLXNlY3JldA== and no the-secret".to_owned());
        assert_eq!(told, "no … and no …");
        let url = "https://name-of-user:pass-of-user@h/?tenant=the-tenant";
        let request = TokenRequest::new(url, Some("aWQ6dGhlLXNlY3JldA"), SCOPE).unwrap();
        let told = "the-secret name-of-user pass-of-user tenant=the-tenant aWQ6dGhlLXNlY3JldA".to_owned();
        assert_eq!(request.secrets.redact(told), "… … … … …");
    }
}
