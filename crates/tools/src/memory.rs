//! Answers that are good for a while: kept within bounds, and asked for once by all who want them at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;

use super::error::ToolError;
use super::identity::Identity;
use template::value::Value;

/// The answers of tools with `cacheSeconds`.
#[derive(Debug)]
pub(super) struct Memory {
    answers: Cache<Identity, Kept>,
}

/// An answer, and how long it is good.
#[derive(Debug, Clone)]
struct Kept {
    value: Value,
    lasts: Duration,
}

struct AsLongAsItLasts;

impl Expiry<Identity, Kept> for AsLongAsItLasts {
    fn expire_after_create(&self, _: &Identity, kept: &Kept, _: Instant) -> Option<Duration> {
        Some(kept.lasts)
    }
}

impl Memory {
    /// A memory for answers that take about `bytes` bytes in all.
    pub fn new(bytes: u64) -> Memory {
        let weight = |_: &Identity, kept: &Kept| {
            u32::try_from(kept.value.bytes_up_to(u32::MAX as usize)).unwrap_or(u32::MAX)
        };
        let cache = Cache::builder().max_capacity(bytes).weigher(weight).expire_after(AsLongAsItLasts);
        Memory { answers: cache.build() }
    }

    /// The answer known under `key`, or what `ask` gives, which is asked once however many want it; a success is kept for
    /// as long as `lasts`. The second part says whether nobody had to be asked.
    ///
    /// When whoever asks is gone, the next one who waits asks.
    ///
    /// # Errors
    /// Those of `ask`, which are told to all who waited.
    pub async fn get(
        &self,
        key: Identity,
        lasts: Duration,
        ask: impl Future<Output = Result<Value, ToolError>>,
    ) -> Result<(Value, bool), ToolError> {
        let kept = async { ask.await.map(|value| Kept { value, lasts }) };
        let entry = self.answers.entry(key).or_try_insert_with(kept).await;
        let entry = entry.map_err(|error: Arc<ToolError>| error.as_ref().clone())?;
        let fresh = entry.is_fresh();
        Ok((entry.into_value().value, !fresh))
    }
}
