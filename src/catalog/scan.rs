//! Scans the store and applies all changes in one step, for small stores as a consistent read.
//!
//! A scan that finds changes in a store with up to 20,000 documents and 64 MiB is repeated until two readings are equal, but
//! at most four times, so that documents that were written together (`MSET`) become visible together.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Catalog;
use super::health::MissingCount;
use super::slots::{Layer, RawDocument};
use super::state::CatalogState;
use crate::store::{Cursor, Item, Store, StoreError};
use base::model::{DocumentKind, ProblemDetail};

/// Numbers the scans of this process.
static SCANS: AtomicU64 = AtomicU64::new(1);

/// How many attempts a scan has when another server answers in the middle of it.
const ATTEMPTS_MAX: usize = 5;

/// How many times a store that is changing is read until two readings are equal.
const READS_MAX: usize = 4;

/// Stores with more keys than this are read once: two readings would hardly be equal, and each is expensive.
const REREAD_KEYS_MAX: usize = 20_000;

/// Stores with more bytes than this are read once, too.
const REREAD_BYTES_MAX: usize = 64 << 20;

/// The number of keys in one request for named keys.
const KEYS_PER_REQUEST: usize = 5_000;

/// A document that differs from its slot.
#[derive(Debug, PartialEq)]
struct ChangedDocument {
    kind: DocumentKind,
    bytes: Result<Arc<[u8]>, ProblemDetail>,
}

/// The work of one reading, which determines its cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    /// The number of keys that the store examined.
    pub walked: usize,
    /// The number of documents that were read.
    pub read: usize,
    /// The size of these documents.
    pub bytes: usize,
}

/// The result of a scan.
#[derive(Debug, Default)]
struct ScanResult {
    number: u64,
    work: Work,
    /// The documents that are new or different, by key.
    changed: BTreeMap<String, ChangedDocument>,
    /// The documents that this reading did not see; only determined for stores that are small enough to be read again.
    unseen: Vec<(DocumentKind, String)>,
}

/// Reads named keys, a page at a time.
struct KeyReader<'a> {
    store: &'a dyn Store,
    keys: Vec<String>,
    cursor: Option<Cursor>,
}

impl KeyReader<'_> {
    async fn page(&mut self) -> Result<Option<Vec<Item>>, StoreError> {
        let page = match self.cursor.take() {
            Some(cursor) => self.store.scan(&[], Some(cursor)).await?,
            None if self.keys.is_empty() => return Ok(None),
            None => {
                let keys = self.keys.split_off(self.keys.len().saturating_sub(KEYS_PER_REQUEST));
                self.store.read(keys).await?
            }
        };
        self.cursor = page.next;
        Ok(Some(page.items))
    }
}

impl Work {
    /// The approximate processor time that it takes, here and in the store. The elapsed time is no measure, because most of it
    /// is waiting. The factors were measured with Redis and small documents.
    pub fn cost(self) -> Duration {
        let nanoseconds = self.walked * 300 + self.read * 4_000 + self.bytes * 2;
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

impl Catalog {
    /// Reads the store and applies what has changed; returns the work of the last reading (only changes cause more than one).
    ///
    /// # Errors
    /// If the store cannot be read; then nothing is applied.
    pub(super) async fn scan(&self) -> Result<Work, StoreError> {
        self.note_writes(Some(BTreeSet::new()));
        let result = self.read_from_one_server().await;
        if result.is_err() {
            self.note_writes(None);
        }
        let result = result?;
        let work = result.work;
        self.apply(result).await;
        Ok(work)
    }

    /// Starts (`Some`) or stops (`None`) recording the keys that are written during a scan; returns those recorded so far.
    fn note_writes(&self, list: Option<BTreeSet<String>>) -> BTreeSet<String> {
        let before = self.recent_writes.lock().map(|mut keys| std::mem::replace(&mut *keys, list));
        before.ok().flatten().unwrap_or_default()
    }

    /// Reads the store, and starts over if another server answers in the middle of it.
    async fn read_from_one_server(&self) -> Result<ScanResult, StoreError> {
        let mut result = self.read_and_verify().await;
        for _ in 1..ATTEMPTS_MAX {
            if !matches!(result, Err(StoreError::ScanLost)) {
                break;
            }
            tracing::info!(
                store = self.store.describe(),
                "another server answers; reading the store from the beginning"
            );
            result = self.read_and_verify().await;
        }
        result
    }

    /// Reads the store, and then reads by name the known keys that were not seen. A scan should see all keys, but before a
    /// document is dropped its key is asked for directly.
    async fn read_and_verify(&self) -> Result<ScanResult, StoreError> {
        let mut result = self.read_until_stable().await?;
        let unseen = self.state.lock().await.unseen(result.number);
        let mut reader = self.key_reader(unseen.into_iter().map(|(_, key)| key).collect());
        while let Some(items) = reader.page().await? {
            self.add(&mut result, items).await;
        }
        Ok(result)
    }

    fn key_reader(&self, keys: Vec<String>) -> KeyReader<'_> {
        KeyReader { store: &*self.store, keys, cursor: None }
    }

    /// Reads the store repeatedly while it changes.
    ///
    /// One reading is not atomic: of documents that were written together, it may see some before and some after the write.
    /// But if two readings are equal, their content was the store's content at the moment between them.
    async fn read_until_stable(&self) -> Result<ScanResult, StoreError> {
        let mut result = self.read_all().await?;
        for _ in 1..READS_MAX {
            if (result.changed.is_empty() && result.unseen.is_empty()) || !result.is_small() {
                break;
            }
            let again = self.read_all().await?;
            let is_stable = again.changed == result.changed && again.unseen == result.unseen;
            result = again;
            if is_stable {
                break;
            }
        }
        Ok(result)
    }

    /// Reads documents of all kinds in one pass over the store's keys.
    async fn read_all(&self) -> Result<ScanResult, StoreError> {
        let mut result =
            ScanResult { number: SCANS.fetch_add(1, Ordering::Relaxed), ..ScanResult::default() };
        let prefixes = DocumentKind::ALL.map(|kind| self.prefix(kind));
        let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let mut cursor = None;
        loop {
            let page = self.store.scan(&prefixes, cursor).await?;
            result.work.walked += page.walked;
            self.add(&mut result, page.items).await;
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        if result.is_small() {
            result.unseen = self.state.lock().await.unseen(result.number);
        }
        Ok(result)
    }

    async fn add(&self, result: &mut ScanResult, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        let mut state = self.state.lock().await;
        for item in items {
            if let Some(kind) = self.kind_of(&item.key) {
                result.add(kind, item, &mut state);
            }
        }
    }

    async fn apply(&self, result: ScanResult) {
        let mut state = self.state.lock().await;
        // The scan may have read these keys before they were written.
        let written = self.note_writes(None);
        for (key, ChangedDocument { kind, bytes }) in result.changed {
            if !written.contains(&key) {
                state.put(kind, Layer::Store, RawDocument::stored(key.clone(), bytes));
                state.mark_seen(kind, result.number, &key);
            }
        }
        let mut gone = state.unseen(result.number);
        gone.retain(|(_, key)| !written.contains(key));
        if self.accepts_missing(&state, &gone, result.number) {
            for (kind, key) in gone {
                state.remove(kind, Layer::Store, &key);
            }
        }
        self.publish(&mut state);
    }

    /// Whether the documents that the scan with this number did not see are to be dropped now.
    fn accepts_missing(&self, state: &CatalogState, gone: &[(DocumentKind, String)], scan: u64) -> bool {
        let Ok(mut store) = self.store_state.write() else { return false };
        if gone.is_empty() && store.loss.is_none() {
            return true;
        }
        let missing = |kind| {
            let gone = gone.iter().filter(|(of, _)| *of == kind).count();
            MissingCount { kind, gone, known: state.stored(kind) }
        };
        let missing = DocumentKind::ALL.into_iter().map(missing).collect();
        store.accepts_missing(missing, scan, self.options.keep_missing)
    }

    /// Drops the documents that disappeared from the store all at once, without waiting any longer; returns their number.
    ///
    /// # Errors
    /// If the store cannot be read; then nothing has changed.
    pub async fn confirm_loss(&self) -> Result<usize, StoreError> {
        let _lock = self.write_lock().await?;
        let Some(loss) = self.store_state().loss else { return Ok(0) };
        let mut gone: BTreeMap<String, DocumentKind> =
            self.state.lock().await.unseen(loss.scan).into_iter().map(|(kind, key)| (key, kind)).collect();
        let mut reader = self.key_reader(gone.keys().cloned().collect());
        while let Some(items) = reader.page().await? {
            for item in items {
                gone.remove(&item.key);
            }
        }
        let mut state = self.state.lock().await;
        for (key, kind) in &gone {
            state.remove(*kind, Layer::Store, key);
        }
        if let Ok(mut store) = self.store_state.write() {
            store.loss = None;
        }
        self.publish(&mut state);
        tracing::warn!(
            documents = gone.len(),
            "documents that had disappeared from the store are dropped, as confirmed by an operator"
        );
        Ok(gone.len())
    }
}

impl ScanResult {
    /// Whether the store is small enough to be read again.
    fn is_small(&self) -> bool {
        self.work.read <= REREAD_KEYS_MAX && self.work.bytes <= REREAD_BYTES_MAX
    }

    fn add(&mut self, kind: DocumentKind, item: Item, state: &mut CatalogState) {
        let Item { key, content } = item;
        self.work.read += 1;
        self.work.bytes += content.as_ref().map_or(0, Vec::len);
        let content = content.map_err(|error| ProblemDetail::new(error.to_string()));
        if state.sees(kind, self.number, &key, content.as_deref()) {
            // A scan may return a key twice; its first value is then out of date.
            self.changed.remove(&key);
        } else {
            self.changed.insert(key, ChangedDocument { kind, bytes: content.map(Arc::from) });
        }
    }
}
