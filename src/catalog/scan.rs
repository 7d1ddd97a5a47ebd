//! Reads the whole store and takes what has changed, in one step and, where it can, from one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::Catalog;
use super::health::Missing;
use super::slots::{Layer, Raw};
use super::state::State;
use crate::store::{Cursor, Item, Store, StoreError};
use base::model::{DocumentKind, ProblemDetail};

/// Numbers the scans of this process.
static SCANS: AtomicU64 = AtomicU64::new(1);

/// How often a scan begins again because another server answers.
const BEGINNINGS_MAX: usize = 5;

/// How often a store that has changed is read again until it stands still.
const READS_MAX: usize = 4;

/// Stores with more keys than this are read once: they would hardly stand still, and reading them is dear.
const KEYS_READ_AGAIN_MAX: usize = 20_000;

/// So are stores with more bytes than this.
const BYTES_READ_AGAIN_MAX: usize = 64 << 20;

/// How many keys are asked for at once.
const ASKED_AT_ONCE: usize = 5_000;

/// A document as the scan read it.
type Changed = (DocumentKind, Result<Arc<[u8]>, ProblemDetail>);

/// What one reading read, for what it costs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Work {
    /// Keys that the store looked at.
    pub walked: usize,
    /// Documents that were read.
    pub read: usize,
    /// Their bytes.
    pub bytes: usize,
}

/// What a scan found.
#[derive(Debug, Default)]
struct Found {
    number: u64,
    work: Work,
    /// What is new or different, by key.
    changed: BTreeMap<String, Changed>,
    /// What this reading did not see; only found out of stores that are small enough to be read again.
    unseen: Vec<(DocumentKind, String)>,
}

/// What the store holds under keys that are known, a page at a time.
struct Asked<'a> {
    store: &'a dyn Store,
    keys: Vec<String>,
    cursor: Option<Cursor>,
}

impl Asked<'_> {
    async fn page(&mut self) -> Result<Option<Vec<Item>>, StoreError> {
        let page = match self.cursor.take() {
            Some(cursor) => self.store.scan(&[], Some(cursor)).await?,
            None if self.keys.is_empty() => return Ok(None),
            None => {
                let some = self.keys.split_off(self.keys.len().saturating_sub(ASKED_AT_ONCE));
                self.store.read(some).await?
            }
        };
        self.cursor = page.next;
        Ok(Some(page.items))
    }
}

impl Work {
    /// About how long it keeps processors busy, here and in the store; how long it took says nothing, since much of that is
    /// waiting. Measured with Redis and small documents.
    pub fn cost(self) -> Duration {
        let nanoseconds = self.walked * 300 + self.read * 4_000 + self.bytes * 2;
        Duration::from_nanos(u64::try_from(nanoseconds).unwrap_or(u64::MAX))
    }
}

impl Catalog {
    /// Reads the store and takes what has changed; returns what its last reading read (there are more only after a change).
    ///
    /// # Errors
    /// When the store cannot be read; then nothing is taken.
    pub(super) async fn scan(&self) -> Result<Work, StoreError> {
        self.note_writes(Some(BTreeSet::new()));
        let found = self.read_from_one_server().await;
        if found.is_err() {
            self.note_writes(None);
        }
        let found = found?;
        let work = found.work;
        self.take(found).await;
        Ok(work)
    }

    /// Begins or ends the list of keys that are written during a scan; returns the list so far.
    fn note_writes(&self, list: Option<BTreeSet<String>>) -> BTreeSet<String> {
        let before = self.written.lock().map(|mut written| std::mem::replace(&mut *written, list));
        before.ok().flatten().unwrap_or_default()
    }

    /// Reads the store, and begins again when another server answers in the middle of it.
    async fn read_from_one_server(&self) -> Result<Found, StoreError> {
        let mut found = self.read_and_ask().await;
        for _ in 1..BEGINNINGS_MAX {
            if !matches!(found, Err(StoreError::ScanLost)) {
                break;
            }
            tracing::info!(
                store = self.store.describe(),
                "another server answers; reading the store from its begin"
            );
            found = self.read_and_ask().await;
        }
        found
    }

    /// Reads the store, and asks for what was known and not seen: a scan promises to see all keys, but for the truth of "it
    /// is gone", a direct answer is worth more.
    async fn read_and_ask(&self) -> Result<Found, StoreError> {
        let mut found = self.read_until_still().await?;
        let unseen = self.state.lock().await.unseen(found.number);
        let mut asked = self.asked(unseen.into_iter().map(|(_, key)| key).collect());
        while let Some(items) = asked.page().await? {
            self.add(&mut found, items).await;
        }
        Ok(found)
    }

    fn asked(&self, keys: Vec<String>) -> Asked<'_> {
        Asked { store: &*self.store, keys, cursor: None }
    }

    /// Reads the store, again and again while it changes.
    ///
    /// A reading is no snapshot: documents that were written together may be seen from before and after that. But when two
    /// readings are equal, all of it was true at the moment between them.
    async fn read_until_still(&self) -> Result<Found, StoreError> {
        let mut found = self.read_all().await?;
        for _ in 1..READS_MAX {
            if (found.changed.is_empty() && found.unseen.is_empty()) || !found.is_small() {
                break;
            }
            let again = self.read_all().await?;
            let stood_still = again.changed == found.changed && again.unseen == found.unseen;
            found = again;
            if stood_still {
                break;
            }
        }
        Ok(found)
    }

    /// Reads all kinds in one walk over the store's keys.
    async fn read_all(&self) -> Result<Found, StoreError> {
        let mut found = Found { number: SCANS.fetch_add(1, Ordering::Relaxed), ..Found::default() };
        let prefixes = DocumentKind::ALL.map(|kind| self.prefix(kind));
        let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
        let mut cursor = None;
        loop {
            let page = self.store.scan(&prefixes, cursor).await?;
            found.work.walked += page.walked;
            self.add(&mut found, page.items).await;
            cursor = page.next;
            if cursor.is_none() {
                break;
            }
        }
        if found.is_small() {
            found.unseen = self.state.lock().await.unseen(found.number);
        }
        Ok(found)
    }

    async fn add(&self, found: &mut Found, items: Vec<Item>) {
        if items.is_empty() {
            return;
        }
        let mut state = self.state.lock().await;
        for item in items {
            if let Some(kind) = self.kind_of(&item.key) {
                found.add(kind, item, &mut state);
            }
        }
    }

    async fn take(&self, found: Found) {
        let mut state = self.state.lock().await;
        let written = self.note_writes(None);
        for (key, (kind, bytes)) in found.changed {
            if !written.contains(&key) {
                state.put(kind, Layer::Store, Raw { key: key.clone(), guessed: false, file: None, bytes });
                state.mark_seen(kind, found.number, &key);
            }
        }
        let mut gone = state.unseen(found.number);
        gone.retain(|(_, key)| !written.contains(key));
        if self.believes(&state, &gone, found.number) {
            for (kind, key) in gone {
                state.remove(kind, Layer::Store, &key);
            }
        }
        self.publish(&mut state);
    }

    /// Whether that which the scan of this number missed is to be forgotten at once.
    fn believes(&self, state: &State, gone: &[(DocumentKind, String)], scan: u64) -> bool {
        let Ok(mut store) = self.store_state.write() else { return false };
        if gone.is_empty() && store.loss.is_none() {
            return true;
        }
        let missing = |kind| {
            let gone = gone.iter().filter(|(of, _)| *of == kind).count();
            Missing { kind, gone, known: state.stored(kind) }
        };
        let missing = DocumentKind::ALL.into_iter().map(missing).collect();
        store.believes(missing, scan, self.options.keep_missing)
    }

    /// Forgets what is gone from the store all at once, without waiting any longer; returns how many documents those are.
    ///
    /// # Errors
    /// When the store cannot be asked for them; then nothing has changed.
    pub async fn confirm_loss(&self) -> Result<usize, StoreError> {
        let _turn = self.turn().await?;
        let Some(loss) = self.store_state().loss else { return Ok(0) };
        let mut gone: BTreeMap<String, DocumentKind> =
            self.state.lock().await.unseen(loss.scan).into_iter().map(|(kind, key)| (key, kind)).collect();
        let mut asked = self.asked(gone.keys().cloned().collect());
        while let Some(items) = asked.page().await? {
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
            "what is gone from the store is forgotten, as it was confirmed"
        );
        Ok(gone.len())
    }
}

impl Found {
    /// Whether the store can be read again, to see it stand still.
    fn is_small(&self) -> bool {
        self.work.read <= KEYS_READ_AGAIN_MAX && self.work.bytes <= BYTES_READ_AGAIN_MAX
    }

    fn add(&mut self, kind: DocumentKind, item: Item, state: &mut State) {
        let Item { key, content } = item;
        self.work.read += 1;
        self.work.bytes += content.as_ref().map_or(0, Vec::len);
        let content = content.map_err(|why| ProblemDetail::new(why.to_string()));
        if state.sees(kind, self.number, &key, content.as_deref()) {
            // A scan may show a key twice; what it showed first is out of date.
            self.changed.remove(&key);
        } else {
            self.changed.insert(key, (kind, content.map(Arc::from)));
        }
    }
}
