//! Follows the sources: reads packages and store at the start, and again when they change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use notify::Watcher;
use tokio::sync::Notify;

use super::slots::{Layer, RawDocument};
use super::{Catalog, StoreState, packages};
use crate::store::Change;
use base::model::DocumentKind;

/// Debounces changes of the package folder: related files are often written in quick succession.
const DEBOUNCE: Duration = Duration::from_millis(100);

/// How often a package folder that does not exist, or cannot be watched, is polled.
const POLL_EVERY: Duration = Duration::from_secs(2);

/// The pause after a scan, as a multiple of the processor time of the scan, so that scans of a large store take at most 5 % of
/// a core. Waiting for a slow network does not count.
const PAUSE_FACTOR: u32 = 20;

/// The longest such pause: it bounds the delay of changes.
const PAUSE_MAX: Duration = Duration::from_secs(10);

impl Catalog {
    /// Reads all packages once.
    pub async fn load_packages(&self) {
        if self.options.builtin {
            let documents = packages::builtin(&self.options.root);
            self.state.lock().await.replace_packages(Layer::Builtin, documents);
        }
        self.load_folder().await;
        self.publish(&mut *self.state.lock().await);
    }

    /// Reads the store once. If it cannot be read, that is noted in its state, and [`Catalog::follow`] retries.
    pub async fn read_store(&self) {
        self.scan_and_note().await;
    }

    /// Keeps the catalog up to date until the future is dropped; reads the store at once if it has not been read yet.
    pub async fn follow(self: Arc<Self>) {
        tokio::join!(self.follow_packages(), self.follow_store());
    }

    async fn load_folder(&self) {
        let (dir, root) = (self.options.packages.clone(), self.options.root.clone());
        let read = tokio::task::spawn_blocking(move || packages::folder(&dir, &root)).await;
        match read {
            Ok(Ok(documents)) => {
                let mut state = self.state.lock().await;
                state.replace_packages(Layer::Package, documents);
                self.publish(&mut state);
            }
            Ok(Err(error)) => {
                tracing::warn!(%error, "the package folder cannot be read; its last known content is kept")
            }
            Err(error) => tracing::error!(%error, "reading the package folder ended in a panic"),
        }
    }

    async fn follow_packages(&self) {
        let dir = self.options.packages.as_path();
        let changed = Arc::new(Notify::new());
        let mut warned = false;
        loop {
            let watcher = watch(dir, changed.clone());
            // Changes before the watch began are read now.
            self.load_folder().await;
            let watched = identity(dir);
            if let Err(error) = &watcher {
                if watched.is_some() && !std::mem::replace(&mut warned, true) {
                    tracing::warn!(%error, "the package folder cannot be watched; it is read every {} s", POLL_EVERY.as_secs());
                }
                tokio::time::sleep(POLL_EVERY).await;
                continue;
            }
            while watched.is_some() && identity(dir) == watched {
                // There is no event when the folder itself is replaced by another one, so its identity is polled.
                if tokio::time::timeout(POLL_EVERY, changed.notified()).await.is_ok() {
                    tokio::time::sleep(DEBOUNCE).await;
                    self.load_folder().await;
                }
            }
        }
    }

    async fn follow_store(&self) {
        let prefixes = DocumentKind::ALL.map(|kind| self.prefix(kind)).to_vec();
        let mut changes = self.store.watch(prefixes);
        let mut pause = self.options.scan_every;
        self.note(|state| state.set_pushes(changes.is_some()));
        if self.store_state().is_first_read() {
            self.scan_and_note().await;
        }
        loop {
            let retry = tokio::time::sleep(pause);
            match changes.as_mut() {
                None => {
                    retry.await;
                    pause = self.scan_and_note().await;
                }
                Some(stream) => tokio::select! {
                    change = stream.next() => match change {
                        Some(Change::Changed(key)) => self.refresh(&key).await,
                        Some(Change::Lost) => drop(self.scan_and_note().await),
                        None => {
                            changes = None;
                            self.note(|state| state.set_pushes(false));
                        }
                    },
                    () = retry => {
                        if !self.store_state().loaded || self.store_state().error.is_some() {
                            self.scan_and_note().await;
                        }
                    }
                },
            }
        }
    }

    pub(super) fn prefix(&self, kind: DocumentKind) -> String {
        format!("{}{}", self.options.root, kind.key_prefix())
    }

    /// The kind of the document under a key; `None` if the key is not the key of a document.
    pub(super) fn kind_of(&self, key: &str) -> Option<DocumentKind> {
        let rest = key.strip_prefix(&self.options.root)?;
        DocumentKind::ALL.into_iter().find(|kind| rest.starts_with(kind.key_prefix()))
    }

    /// Changes the state of the store.
    fn note(&self, change: impl FnOnce(&mut StoreState)) {
        if let Ok(mut state) = self.store_state.write() {
            change(&mut state);
        }
    }

    /// Scans the store, notes the result in its state, and returns the pause before the next scan.
    async fn scan_and_note(&self) -> Duration {
        let began = Instant::now();
        let result = self.scan().await;
        if let (Err(error), None) = (&result, self.store_state().error) {
            tracing::warn!(store = self.store.describe(), %error, "the store cannot be read; the last known documents are kept");
        }
        let pause = result.as_ref().map_or(Duration::ZERO, |work| work.cost() * PAUSE_FACTOR);
        self.note(|state| match result {
            Ok(_) => state.was_read(began),
            Err(error) => state.failed(error.to_string()),
        });
        // Packages must be visible even if the store cannot be read.
        self.publish(&mut *self.state.lock().await);
        pause.min(PAUSE_MAX).max(self.options.scan_every)
    }

    /// Reads one key of the store again.
    pub(super) async fn refresh(&self, key: &str) {
        let Some(kind) = self.kind_of(key) else { return };
        let _lock = self.writes.lock().await;
        match self.store.get(key).await {
            Ok(record) => self.update(kind, key, record.map(|record| record.bytes)).await,
            Err(error) => {
                tracing::debug!(key, %error, "a changed document cannot be read; the next scan retries");
                self.note(|state| state.failed(error.to_string()));
            }
        }
    }

    /// Updates the catalog with the current content of one key; `None` if the key does not exist.
    pub(super) async fn update(&self, kind: DocumentKind, key: &str, bytes: Option<Vec<u8>>) {
        if let Some(keys) = self.recent_writes.lock().ok().as_mut().and_then(|keys| keys.as_mut()) {
            keys.insert(key.to_owned());
        }
        let mut state = self.state.lock().await;
        match bytes {
            Some(bytes) => {
                state.put(kind, Layer::Store, RawDocument::stored(key.to_owned(), Ok(bytes.into())));
            }
            None => {
                state.remove(kind, Layer::Store, key);
            }
        }
        self.publish(&mut state);
    }
}

/// The device and inode of a folder, which tell it from another folder at the same path; `None` if there is no folder.
fn identity(dir: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(dir).ok().filter(std::fs::Metadata::is_dir).map(|found| (found.dev(), found.ino()))
}

/// Watches a folder; an error if the folder does not exist or the system cannot watch it.
fn watch(dir: &Path, changed: Arc<Notify>) -> notify::Result<notify::RecommendedWatcher> {
    let tell = move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            changed.notify_one();
        }
    };
    let mut watcher = notify::recommended_watcher(tell)?;
    watcher.watch(dir, notify::RecursiveMode::Recursive)?;
    Ok(watcher)
}
