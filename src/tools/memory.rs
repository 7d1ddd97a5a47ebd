//! Answers that are good for a while: kept within bounds, and asked for once by all who want them at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;

use super::error::ToolError;
use crate::value::Value;

/// The answers of tools with `cacheSeconds`.
#[derive(Debug)]
pub(super) struct Memory {
    answers: Cache<Arc<str>, Kept>,
}

/// An answer, and how long it is good.
#[derive(Debug, Clone)]
struct Kept {
    value: Value,
    lasts: Duration,
}

struct AsLongAsItLasts;

impl Expiry<Arc<str>, Kept> for AsLongAsItLasts {
    fn expire_after_create(&self, _: &Arc<str>, kept: &Kept, _: Instant) -> Option<Duration> {
        Some(kept.lasts)
    }
}

impl Memory {
    /// A memory for answers of `bytes` bytes in all, as JSON.
    pub fn new(bytes: u64) -> Memory {
        let weight = |key: &Arc<str>, kept: &Kept| {
            let size = serde_json::to_string(&kept.value).map_or(usize::MAX, |text| text.len() + key.len());
            u32::try_from(size).unwrap_or(u32::MAX)
        };
        let answers =
            Cache::builder().max_capacity(bytes).weigher(weight).expire_after(AsLongAsItLasts).build();
        Memory { answers }
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
        key: Arc<str>,
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
