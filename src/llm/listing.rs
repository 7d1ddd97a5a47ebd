//! The models that an upstream lists, kept for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Client;
use serde::Deserialize;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::attempt::broken;
use super::error::Cause;
use super::upstream::Upstream;
use crate::value::{RawObject, parse_json};

/// How long a list is good.
const GOOD: Duration = Duration::from_secs(60);
/// How long after a failure the upstream is left alone.
const REST: Duration = Duration::from_secs(10);
/// How long a list may take.
const LIMIT: Duration = Duration::from_secs(5);
/// The longest list, in bytes.
const LIST_BYTES: usize = 8 << 20;

/// The models of one upstream.
#[derive(Debug, Default)]
pub struct Listing {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    models: Arc<Vec<RawObject>>,
    good_until: Option<Instant>,
}

#[derive(Deserialize)]
struct List {
    data: Vec<RawObject>,
}

impl Listing {
    /// The models, as the upstream describes them. When it does not answer, those that it listed last.
    pub async fn models(&self, client: &Client, upstream: &Upstream) -> Arc<Vec<RawObject>> {
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
    let mut response = request.send().await.map_err(|error| broken(&error))?;
    if !response.status().is_success() {
        return Err(Cause::Status { status: response.status().as_u16(), message: String::new() });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| broken(&error))? {
        body.extend_from_slice(&chunk);
        if body.len() > LIST_BYTES {
            return Err(Cause::unusable(format!("the list is longer than {LIST_BYTES} bytes")));
        }
    }
    let list: List = parse_json(&body).map_err(|_| Cause::unusable("it is no list of models"))?;
    Ok(list.data)
}
