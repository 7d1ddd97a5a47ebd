//! Where ideas are kept: in the store, for a time. Those of requests that end at the same time are one call of the store: it would
//! put many calls together, too, but each of them costs more than the idea itself.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use lru::LruCache;
use tokio::sync::{mpsc, oneshot};

use super::error::RequestError;
use super::idea::{Idea, NewIdea, is_id};
use crate::store::{Store, StoreError, VALUE_LIMIT, Write};
use template::value::parse_json;

/// The most ideas that are written together.
const TOGETHER: usize = 64;

/// How many ideas may wait to be written.
const WAITING: usize = 1_024;

/// Of how many requests is remembered which idea was kept last.
const REMEMBERED: usize = 4_096;

/// An idea is written again when this share of its time to live is over.
const FRESH_SHARE: u32 = 1_000;

/// Keeps ideas.
pub struct Ideas {
    store: Arc<dyn Store>,
    /// What their keys begin with.
    prefix: String,
    ttl: Duration,
    writer: mpsc::Sender<Pending>,
    /// The last idea of each of the last requests, and when it was written. A store that other programs change, too, may have lost it
    /// since, or have a later one: then nothing is remembered.
    kept: Option<Mutex<LruCache<String, (String, Instant)>>>,
}

/// An idea that waits to be written.
struct Pending {
    writes: Vec<Write>,
    done: oneshot::Sender<Result<(), StoreError>>,
}

impl Ideas {
    /// Ideas below the keys that begin with `root`, which live for `ttl`. Call it inside a runtime.
    pub fn new(store: Arc<dyn Store>, root: &str, ttl: Duration) -> Ideas {
        let (writer, waiting) = mpsc::channel(WAITING);
        tokio::spawn(write(store.clone(), waiting));
        let remembered = || LruCache::new(NonZeroUsize::new(REMEMBERED).unwrap_or(NonZeroUsize::MIN));
        let kept = (!store.is_shared()).then(|| Mutex::new(remembered()));
        Ideas { store, prefix: format!("{root}ideas:"), ttl, writer, kept }
    }

    /// Keeps an idea, as the last answer to its request; gives its id. One that was kept a moment ago is not
    /// written again.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn keep(&self, idea: NewIdea<'_>) -> Result<String, StoreError> {
        if self.was_kept(&idea) {
            return Ok(idea.id);
        }
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO);
        let (bytes, request) = (idea.json(since.as_secs()), idea.request().to_owned());
        let id = idea.id;
        if bytes.len() > VALUE_LIMIT {
            return Err(StoreError::TooLarge { key: self.key(&id), bytes: bytes.len(), limit: VALUE_LIMIT });
        }
        let write = |key, bytes, keeps_old| Write { key, bytes, keeps_old, ttl: Some(self.ttl) };
        let writes = vec![
            write(self.key(&id), bytes, true),
            write(self.last_key(&request), id.clone().into_bytes(), false),
        ];
        let (done, written) = oneshot::channel();
        let stopped = || StoreError::Unavailable { message: "the program is shutting down".to_owned() };
        self.writer.send(Pending { writes, done }).await.map_err(|_| stopped())?;
        written.await.map_err(|_| stopped())??;
        if let Some(mut kept) = self.remembered() {
            kept.put(request, (id.clone(), Instant::now()));
        }
        Ok(id)
    }

    /// The idea with this id.
    ///
    /// # Errors
    /// [`RequestError::IdeaNotFound`], [`RequestError::IdeaUnreadable`]; if the store does not answer.
    pub async fn get(&self, id: &str) -> Result<Idea, RequestError> {
        let not_found = || RequestError::IdeaNotFound { id: id.chars().take(64).collect() };
        let record = match is_id(id) {
            true => self.store.get(&self.key(id)).await?.ok_or_else(not_found)?,
            false => return Err(not_found()),
        };
        parse_json(&record.bytes).map_err(|_| RequestError::IdeaUnreadable { id: id.to_owned() })
    }

    /// The id and the idea that were kept last for the request with this hash, if they are still there.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn last(&self, request: &str) -> Result<Option<(String, Idea)>, RequestError> {
        let Some(record) = self.store.get(&self.last_key(request)).await? else { return Ok(None) };
        let id = String::from_utf8_lossy(&record.bytes).into_owned();
        match self.get(&id).await {
            Ok(idea) => Ok(Some((id, idea))),
            Err(RequestError::Store(error)) => Err(error.into()),
            Err(_) => Ok(None),
        }
    }

    /// Whether an idea was written so lately, as the last answer to its request, that writing it again would change nothing but a
    /// small part of its time to live.
    fn was_kept(&self, idea: &NewIdea<'_>) -> bool {
        let fresh = self.ttl / FRESH_SHARE;
        let is_it = |(last, written): &(String, Instant)| *last == idea.id && written.elapsed() < fresh;
        self.remembered().is_some_and(|mut kept| kept.get(idea.request()).is_some_and(is_it))
    }

    fn remembered(&self) -> Option<MutexGuard<'_, LruCache<String, (String, Instant)>>> {
        Some(self.kept.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn key(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }

    fn last_key(&self, request: &str) -> String {
        format!("{}last:{request}", self.prefix)
    }
}

/// Writes what waits, many ideas at a time, until nobody can send more.
async fn write(store: Arc<dyn Store>, mut waiting: mpsc::Receiver<Pending>) {
    let mut together = Vec::with_capacity(TOGETHER);
    while waiting.recv_many(&mut together, TOGETHER).await > 0 {
        let writes = together.iter_mut().flat_map(|pending| std::mem::take(&mut pending.writes)).collect();
        let written = store.put_all(writes).await;
        for Pending { done, .. } in together.drain(..) {
            // Whoever has left does not ask.
            let _left = done.send(written.clone());
        }
    }
}
