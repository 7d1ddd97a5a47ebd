//! One OpenAI-compatible server: its addresses, and the headers that it is sent.

use std::fmt;
use std::sync::Arc;

use http::header::{ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue};
use reqwest::Url;

use base::outbound::Secrets;

/// A server as the settings describe it.
#[derive(Clone, Default)]
pub struct UpstreamOptions {
    /// Its base URL.
    pub base_url: String,
    /// Its key.
    pub api_key: Option<String>,
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
}

/// A server.
pub struct Upstream {
    /// Where it answers chats.
    pub chat: Url,
    /// Where it gives embeddings.
    pub embeddings: Url,
    /// Where it lists its models.
    pub models: Url,
    /// The headers of every request.
    pub headers: HeaderMap,
    /// What is struck out of its words.
    pub secrets: Arc<Secrets>,
}

impl Upstream {
    /// The server of these options.
    ///
    /// # Errors
    /// What is wrong with them, without secrets.
    pub fn new(options: &UpstreamOptions) -> Result<Upstream, String> {
        let base = Url::parse(&options.base_url).map_err(|error| format!("`base_url` is no URL: {error}"))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(format!("`base_url` begins with {}, not with http or https", base.scheme()));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        // Compressing a stream delays it; an upstream that does so all the same is understood.
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(key) = &options.api_key {
            headers.insert(AUTHORIZATION, secret_value(&format!("Bearer {key}")).ok_or(UNFIT_KEY)?);
        }
        for (name, value) in &options.headers {
            let unfit =
                || format!("the header `{name}` cannot be sent: a header is visible ASCII in one line");
            let known = HeaderName::from_bytes(name.as_bytes()).map_err(|_| unfit())?;
            headers.insert(known, secret_value(value).ok_or_else(unfit)?);
        }
        // What an address may hold that is not for everybody.
        let own: Vec<String> = [Some(base.username()), base.password(), base.query()]
            .into_iter()
            .flatten()
            .map(str::to_owned)
            .collect();
        let words = options.headers.iter().map(|(_, value)| value.as_str());
        Ok(Upstream {
            chat: at(&base, &["chat", "completions"]),
            embeddings: at(&base, &["embeddings"]),
            models: at(&base, &["models"]),
            headers,
            secrets: Arc::new(Secrets::new(
                words.chain(options.api_key.as_deref()).chain(own.iter().map(String::as_str)),
            )),
        })
    }
}

const UNFIT_KEY: &str = "`api_key` cannot be sent: a header is visible ASCII in one line";

fn secret_value(text: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// A path below a base URL, whose query stays.
fn at(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// The address alone.
impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").field("host", &self.chat.host_str()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn upstream(base_url: &str) -> Result<Upstream, String> {
        Upstream::new(&UpstreamOptions { base_url: base_url.into(), ..UpstreamOptions::default() })
    }

    #[test]
    fn paths_continue_the_base_and_its_query_stays() {
        for base in ["http://h/v1", "http://h/v1/"] {
            assert_eq!(upstream(base).unwrap().chat.as_str(), "http://h/v1/chat/completions");
        }
        let deployment = upstream("https://h/openai/deployments/d?api-version=2").unwrap();
        assert_eq!(deployment.embeddings.as_str(), "https://h/openai/deployments/d/embeddings?api-version=2");
    }

    #[test]
    fn what_cannot_be_sent_is_told_without_the_secret() {
        for base in ["", "h/v1", "ftp://h/"] {
            assert!(upstream(base).is_err(), "{base}");
        }
        let options = UpstreamOptions {
            base_url: "http://h".into(),
            api_key: Some("two\nlines".into()),
            headers: Vec::new(),
        };
        assert_eq!(Upstream::new(&options).unwrap_err(), UNFIT_KEY);
    }
}
