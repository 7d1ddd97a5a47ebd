//! The models that an upstream lists, kept for a while.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use reqwest::Client;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value as Json, json};
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::attempt::broken;
use super::error::Cause;
use super::routes::{ECHO, PROMPT, Routes};
use super::upstream::Upstream;
use base::outbound::{BodyError, whole_body};
use template::value::{RawObject, parse_json};

/// How long a list is good.
const GOOD: Duration = Duration::from_secs(60);
/// How long after a failure the upstream is left alone.
const REST: Duration = Duration::from_secs(10);
/// How long a list may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest list, in bytes.
const LIST_BYTES: usize = 8 << 20;

/// The models of all upstreams.
#[derive(Debug)]
pub struct Listings {
    /// One for each of [`Routes::open`].
    lists: Vec<Listing>,
}

impl Listings {
    /// Lists of the upstreams that know more models than the settings name.
    pub fn new(routes: &Routes) -> Listings {
        Listings { lists: routes.open().iter().map(|_| Listing::default()).collect() }
    }

    /// All models that can be asked: those of the settings, the built-in one, and those that the upstreams list.
    pub async fn models(&self, client: &Client, routes: &Routes) -> Vec<RawObject> {
        let open = routes.open();
        let lists = open.iter().zip(&self.lists).map(|((_, upstream), list)| list.models(client, upstream));
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
            .filter_map(|(name, can)| Some((name.to_owned(), described(name, can)?)));
        let echo = described(ECHO, &Json::Null).map(|model| (ECHO.to_owned(), model));
        let mut known = HashSet::new();
        let all = ours.chain(echo).chain(listed).filter(|(id, _)| known.insert(id.clone()));
        all.map(|(_, model)| model).collect()
    }
}

/// Whether an upstream's model of this id can be asked, by those who ask for names that begin with `prefix`. Prompts are ours
/// alone, also where the upstream is a service like this one.
fn is_listed(id: &str, prefix: &str) -> bool {
    !id.is_empty() && id.starts_with(prefix) && !id.starts_with(PROMPT)
}

/// A model of ours in the shape of OpenAI's list, with what it can do, if that is known.
fn described(name: &str, capabilities: &Json) -> Option<RawObject> {
    let mut entry = json!({"id": name, "object": "model", "created": 0, "owned_by": env!("CARGO_PKG_NAME")});
    let known = capabilities.as_object().is_some_and(|known| !known.is_empty());
    if let Some(members) = entry.as_object_mut().filter(|_| known) {
        members.insert("capabilities".to_owned(), capabilities.clone());
    }
    serde_json::from_value(entry).ok()
}

/// The models of one upstream.
#[derive(Debug, Default)]
struct Listing {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    models: Arc<Vec<RawObject>>,
    good_until: Option<Instant>,
}

#[derive(Deserialize)]
struct List {
    data: Vec<Box<RawValue>>,
}

impl Listing {
    /// The models, as the upstream describes them. When it does not answer, those that it listed last.
    async fn models(&self, client: &Client, upstream: &Upstream) -> Arc<Vec<RawObject>> {
        // Whoever comes meanwhile waits for the same list.
        let mut kept = self.kept.lock().await;
        if kept.good_until.is_some_and(|until| Instant::now() < until) {
            return kept.models.clone();
        }
        let list = timeout(LIMIT, fetch(client, upstream)).await;
        match list.unwrap_or_else(|_| Err(Cause::timeout(LIMIT))) {
            Ok(list) => *kept = Kept { models: Arc::new(list), good_until: Some(Instant::now() + GOOD) },
            Err(cause) => {
                tracing::warn!(cause = cause.for_log(), "an upstream does not list its models");
                kept.good_until = Some(Instant::now() + REST);
            }
        }
        kept.models.clone()
    }
}

async fn fetch(client: &Client, upstream: &Upstream) -> Result<Vec<RawObject>, Cause> {
    let request = client.get(upstream.models.clone()).headers(upstream.headers.clone());
    let response = request.send().await.map_err(|error| broken(&error))?;
    if !response.status().is_success() {
        return Err(Cause::Status { status: response.status().as_u16(), message: String::new() });
    }
    let body = whole_body(response, LIST_BYTES).await.map_err(|error| match error {
        BodyError::TooLong { limit } => Cause::unusable(format!("the list is longer than {limit} bytes")),
        BodyError::Broken(error) => broken(&error),
    })?;
    let list: List = parse_json(&body).map_err(|_| Cause::unusable("it is no list of models"))?;
    // What is no object is no model, and hides none.
    Ok(list.data.iter().filter_map(|model| parse_json(model.get().as_bytes()).ok()).collect())
}
