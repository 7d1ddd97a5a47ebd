//! Reads the whole store and takes what has changed, in one step and, where it can, from one moment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Catalog;
use super::slots::{Layer, Raw};
use super::state::State;
use crate::model::{DocumentKind, Reason};
use crate::store::{Item, StoreError};

/// Numbers the scans of this process.
static SCANS: AtomicU64 = AtomicU64::new(1);

/// How often a store that has changed is read again until it stands still.
const READS_MAX: usize = 4;

/// Stores with more keys than this are read once: they would hardly stand still, and reading them is dear.
const KEYS_READ_AGAIN_MAX: usize = 20_000;

/// A document as the scan read it.
type Changed = (DocumentKind, Result<Arc<[u8]>, Reason>);

/// What a scan found.
#[derive(Debug, Default)]
struct Found {
    number: u64,
    keys: usize,
    /// What is new or different, by key.
    changed: BTreeMap<String, Changed>,
    /// What is no longer there; only found out of stores that are small enough to be read again.
    gone: Vec<(DocumentKind, String)>,
}

impl Catalog {
    /// Reads the store and takes what has changed.
    ///
    /// # Errors
    /// When the store cannot be read; then nothing is taken.
    pub(super) async fn scan(&self) -> Result<(), StoreError> {
        self.note_writes(Some(BTreeSet::new()));
        let found = self.read_until_still().await;
        if found.is_err() {
            self.note_writes(None);
        }
        self.take(found?).await;
        Ok(())
    }

    /// Begins or ends the list of keys that are written during a scan; returns the list so far.
    fn note_writes(&self, list: Option<BTreeSet<String>>) -> BTreeSet<String> {
        let before = self.written.lock().map(|mut written| std::mem::replace(&mut *written, list));
        before.ok().flatten().unwrap_or_default()
    }

    /// Reads the store, again and again while it changes.
    ///
    /// A reading is no snapshot: documents that were written together may be seen from before and after that. But when two
    /// readings are equal, all of it was true at the moment between them.
    async fn read_until_still(&self) -> Result<Found, StoreError> {
        let mut found = self.read_all().await?;
        for _ in 1..READS_MAX {
            if (found.changed.is_empty() && found.gone.is_empty()) || found.keys > KEYS_READ_AGAIN_MAX {
                break;
            }
            let again = self.read_all().await?;
            let stood_still = again.changed == found.changed && again.gone == found.gone;
            found = again;
            if stood_still {
                break;
            }
        }
        Ok(found)
    }

    async fn read_all(&self) -> Result<Found, StoreError> {
        let mut found = Found { number: SCANS.fetch_add(1, Ordering::Relaxed), ..Found::default() };
        for kind in DocumentKind::ALL {
            let prefix = self.prefix(kind);
            let mut cursor = None;
            loop {
                let page = self.store.scan(&prefix, cursor).await?;
                found.add(kind, page.items, &mut *self.state.lock().await);
                cursor = page.next;
                if cursor.is_none() {
                    break;
                }
            }
        }
        if found.keys <= KEYS_READ_AGAIN_MAX {
            found.gone = self.state.lock().await.unseen(found.number);
        }
        Ok(found)
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
        state.remove_unseen(found.number, &written);
        self.publish(&mut state);
    }
}

impl Found {
    fn add(&mut self, kind: DocumentKind, items: Vec<Item>, state: &mut State) {
        self.keys += items.len();
        for Item { key, content } in items {
            let content = content.map_err(|why| Reason::new(why.to_string()));
            if state.sees(kind, self.number, &key, content.as_deref()) {
                // A scan may show a key twice; what it showed first is out of date.
                self.changed.remove(&key);
            } else {
                self.changed.insert(key, (kind, content.map(Arc::from)));
            }
        }
    }
}
