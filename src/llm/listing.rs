//! The list of models: ours, and those that the upstreams list, whose lists are cached.
//!
//! A list is cached for a minute. An upstream that does not answer is not asked again for ten seconds; until then its last list
//! is used.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::capabilities::Capabilities;
use super::client_format::model_entry;
use super::error::UpstreamError;
use super::routes::{ECHO, PROMPT, Routes};
use super::transport::unreachable;
use super::upstream::Upstream;
use base::outbound::{BodyError, whole_body};
use template::value::RawObject;

/// How long a list is cached.
const CACHE_TIME: Duration = Duration::from_secs(60);
/// How long an upstream is left alone after an error.
const ERROR_CACHE_TIME: Duration = Duration::from_secs(10);
/// The time limit for a list.
const LIST_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest list, in bytes.
const LIST_BYTES: usize = 8 << 20;

/// The models of all upstreams.
#[derive(Debug)]
pub struct Listings {
    /// One for each of [`Routes::open`].
    lists: Vec<Listing>,
}

impl Listings {
    /// Empty lists, for the upstreams that may offer more models than the settings name.
    pub fn new(routes: &Routes) -> Listings {
        Listings { lists: routes.open().iter().map(|_| Listing::default()).collect() }
    }

    /// All models that can be asked, without duplicates: those of the settings, the built-in one, and those that the upstreams
    /// list.
    pub async fn models(&self, routes: &Routes) -> Vec<RawObject> {
        let open = routes.open();
        let lists = open.iter().zip(&self.lists).map(|((_, upstream), list)| list.models(upstream));
        let lists = join_all(lists).await;
        let listed = open.iter().zip(&lists).flat_map(|((prefix, _), list)| {
            let named = list.iter().filter_map(|model| Some((model.read("id").ok()??, model)));
            named
                .filter(move |(id, _): &(String, _)| is_listed(id, prefix))
                .map(|(id, model)| (id, model.clone()))
        });
        let ours = routes
            .named()
            .into_iter()
            .filter_map(|(name, can)| Some((name.to_owned(), model_entry(name, can)?)));
        let echo = model_entry(ECHO, Capabilities::default()).map(|model| (ECHO.to_owned(), model));
        let mut known = HashSet::new();
        let all = ours.chain(echo).chain(listed).filter(|(id, _)| known.insert(id.clone()));
        all.map(|(_, model)| model).collect()
    }
}

/// Whether a model that an upstream lists can be asked for over a route with this prefix. Prompts cannot, which an upstream
/// lists if it is a service like this one: their names mean our own.
fn is_listed(id: &str, prefix: &str) -> bool {
    !id.is_empty() && id.starts_with(prefix) && !id.starts_with(PROMPT)
}

/// The models of one upstream.
#[derive(Debug, Default)]
struct Listing {
    cache: Mutex<CachedList>,
}

#[derive(Debug, Default)]
struct CachedList {
    models: Arc<Vec<RawObject>>,
    valid_until: Option<Instant>,
}

impl Listing {
    /// The models, as the upstream describes them. When it does not answer, those that it listed last.
    async fn models(&self, upstream: &Upstream) -> Arc<Vec<RawObject>> {
        // Other requests wait here meanwhile, and then find the list.
        let mut cache = self.cache.lock().await;
        if cache.valid_until.is_some_and(|until| Instant::now() < until) {
            return cache.models.clone();
        }
        let list = timeout(LIST_TIMEOUT, fetch(upstream)).await;
        match list.unwrap_or_else(|_| Err(UpstreamError::timeout(LIST_TIMEOUT))) {
            Ok(list) => {
                let valid_until = Some(Instant::now() + CACHE_TIME);
                *cache = CachedList { models: Arc::new(list), valid_until };
            }
            Err(error) => {
                tracing::warn!(cause = error.for_log(), "an upstream does not list its models");
                cache.valid_until = Some(Instant::now() + ERROR_CACHE_TIME);
            }
        }
        cache.models.clone()
    }
}

async fn fetch(upstream: &Upstream) -> Result<Vec<RawObject>, UpstreamError> {
    let client =
        upstream.clients.get().map_err(|error| UpstreamError::Unreachable { message: error.to_string() })?;
    let response = upstream.send(&client, client.get(upstream.endpoints.models.clone())).await?;
    if !response.status().is_success() {
        return Err(UpstreamError::Status { status: response.status().as_u16(), message: String::new() });
    }
    let body = whole_body(response, LIST_BYTES).await.map_err(|error| match error {
        BodyError::TooLong { limit } => {
            UpstreamError::unusable(format!("the list is longer than {limit} bytes"))
        }
        BodyError::Broken(error) => unreachable(&error),
    })?;
    upstream.protocol.models(&body)
}
