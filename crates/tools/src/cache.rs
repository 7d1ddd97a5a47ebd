//! A cache for the answers of tools with `cacheSeconds`, bounded in size; concurrent equal calls are coalesced into one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;

use super::error::ToolError;
use super::identity::Identity;
use template::value::Value;

/// The answers of tools with `cacheSeconds`.
#[derive(Debug)]
pub(super) struct AnswerCache {
    answers: Cache<Identity, CacheEntry>,
}

#[derive(Debug, Clone)]
struct CacheEntry {
    value: Value,
    ttl: Duration,
}

/// Gives each entry its own time to live.
struct EntryTtl;

impl Expiry<Identity, CacheEntry> for EntryTtl {
    fn expire_after_create(&self, _: &Identity, entry: &CacheEntry, _: Instant) -> Option<Duration> {
        Some(entry.ttl)
    }
}

impl AnswerCache {
    /// A cache whose answers take about `bytes` bytes of memory in all (not bytes of JSON).
    pub fn new(bytes: u64) -> AnswerCache {
        let weight = |_: &Identity, entry: &CacheEntry| {
            u32::try_from(entry.value.bytes_up_to(u32::MAX as usize)).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes).weigher(weight).expire_after(EntryTtl);
        AnswerCache { answers: cache.build() }
    }

    /// The cached answer under `key`, else the result of `ask`, which is then cached for `ttl`. The second part says
    /// whether the answer came without running `ask`.
    ///
    /// Concurrent callers with the same key share one run of `ask`; if its caller is dropped, the next in line runs its own.
    ///
    /// # Errors
    /// Those of `ask`. All callers that waited for it get the error, and it is not cached.
    pub async fn get(
        &self,
        key: Identity,
        ttl: Duration,
        ask: impl Future<Output = Result<Value, ToolError>>,
    ) -> Result<(Value, bool), ToolError> {
        let answer = async { ask.await.map(|value| CacheEntry { value, ttl }) };
        let entry = self.answers.entry(key).or_try_insert_with(answer).await;
        let entry = entry.map_err(|error: Arc<ToolError>| error.as_ref().clone())?;
        let fresh = entry.is_fresh();
        Ok((entry.into_value().value, !fresh))
    }
}
