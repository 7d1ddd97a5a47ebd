//! Follows the sources: reads packages and store at start, and again when they change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use notify::Watcher;
use tokio::sync::Notify;

use super::slots::{Layer, Raw};
use super::{Catalog, StoreState, packages};
use crate::store::Change;
use base::model::DocumentKind;

/// How long after a first change a folder is read again: what belongs together is often written in one go.
const SETTLE: Duration = Duration::from_millis(100);

/// How often a package folder that is absent, or cannot be watched, is looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// After a scan, the store is left alone for at least this many times as long as the scan kept processors busy, by what it
/// read: reading a large store must not become the machine's main work. What is only waiting, on a slow network, costs nothing.
const REST_AFTER_SCAN: u32 = 20;

/// But not longer than this: changes must not come late without end.
const REST_MAX: Duration = Duration::from_secs(10);

impl Catalog {
    /// Reads all packages once, which is quick.
    pub async fn load_packages(&self) {
        if self.options.builtin {
            let documents = packages::builtin(&self.options.root);
            self.state.lock().await.replace_packages(Layer::Builtin, documents);
        }
        self.load_folder().await;
        self.publish(&mut *self.state.lock().await);
    }

    /// Reads the store once; one that cannot be read is noted, and read later by [`Catalog::follow`].
    pub async fn read_store(&self) {
        self.scan_and_note().await;
    }

    /// Keeps the catalog up to date until the task is dropped; reads the store at once if nobody has.
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
                tracing::warn!(%error, "the package folder cannot be read; keeping what was read before")
            }
            Err(error) => tracing::error!(%error, "reading the package folder broke off"),
        }
    }

    async fn follow_packages(&self) {
        let dir = self.options.packages.as_path();
        let changed = Arc::new(Notify::new());
        let mut told = false;
        loop {
            let watcher = watch(dir, changed.clone());
            // Whatever changed before the watch began is read now.
            self.load_folder().await;
            let watched = identity(dir);
            if let Err(error) = &watcher {
                if watched.is_some() && !std::mem::replace(&mut told, true) {
                    tracing::warn!(%error, "the package folder cannot be watched; reading it every {} s", LOOK_AGAIN.as_secs());
                }
                tokio::time::sleep(LOOK_AGAIN).await;
                continue;
            }
            while watched.is_some() && identity(dir) == watched {
                // The folder itself may be replaced by another one, which nobody tells.
                if tokio::time::timeout(LOOK_AGAIN, changed.notified()).await.is_ok() {
                    tokio::time::sleep(SETTLE).await;
                    self.load_folder().await;
                }
            }
        }
    }

    async fn follow_store(&self) {
        let prefixes = DocumentKind::ALL.map(|kind| self.prefix(kind)).to_vec();
        let mut news = self.store.watch(prefixes);
        let mut pause = self.options.scan_every;
        self.note(|state| state.set_pushes(news.is_some()));
        if self.store_state().is_first_read() {
            self.scan_and_note().await;
        }
        loop {
            let retry = tokio::time::sleep(pause);
            match news.as_mut() {
                None => {
                    retry.await;
                    pause = self.scan_and_note().await;
                }
                Some(stream) => tokio::select! {
                    change = stream.next() => match change {
                        Some(Change::Changed(key)) => self.refresh(&key).await,
                        Some(Change::Lost) => drop(self.scan_and_note().await),
                        None => {
                            news = None;
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

    /// The kind of the document that is stored under a key, if it is one.
    pub(super) fn kind_of(&self, key: &str) -> Option<DocumentKind> {
        let rest = key.strip_prefix(&self.options.root)?;
        DocumentKind::ALL.into_iter().find(|kind| rest.starts_with(kind.key_prefix()))
    }

    fn note(&self, note: impl FnOnce(&mut StoreState)) {
        if let Ok(mut state) = self.store_state.write() {
            note(&mut state);
        }
    }

    /// Scans the store, and returns after which time to do it again.
    async fn scan_and_note(&self) -> Duration {
        let began = Instant::now();
        let result = self.scan().await;
        if let (Err(error), None) = (&result, self.store_state().error) {
            tracing::warn!(store = self.store.describe(), %error, "the store cannot be read; going on with what is known");
        }
        let rest = result.as_ref().map_or(Duration::ZERO, |work| work.cost() * REST_AFTER_SCAN);
        self.note(|state| match result {
            Ok(_) => state.was_read(began),
            Err(error) => state.failed(error.to_string()),
        });
        // Built-in packages and what was read so far must be visible, whatever became of the store.
        self.publish(&mut *self.state.lock().await);
        rest.min(REST_MAX).max(self.options.scan_every)
    }

    /// Reads one key of the store again.
    pub(super) async fn refresh(&self, key: &str) {
        let Some(kind) = self.kind_of(key) else { return };
        let _turn = self.writes.lock().await;
        match self.store.get(key).await {
            Ok(record) => self.take_one(kind, key, record.map(|record| record.bytes)).await,
            Err(error) => {
                tracing::debug!(key, %error, "a changed document cannot be read; the next scan will");
                self.note(|state| state.failed(error.to_string()));
            }
        }
    }

    /// Takes what the store now holds under one key.
    pub(super) async fn take_one(&self, kind: DocumentKind, key: &str, bytes: Option<Vec<u8>>) {
        if let Some(written) = self.written.lock().ok().as_mut().and_then(|written| written.as_mut()) {
            written.insert(key.to_owned());
        }
        let mut state = self.state.lock().await;
        match bytes {
            Some(bytes) => {
                let raw = Raw { key: key.to_owned(), guessed: false, file: None, bytes: Ok(bytes.into()) };
                state.put(kind, Layer::Store, raw);
            }
            None => {
                state.remove(kind, Layer::Store, key);
            }
        }
        self.publish(&mut state);
    }
}

/// What tells one folder from another of the same name; `None` where there is none.
fn identity(dir: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(dir).ok().filter(std::fs::Metadata::is_dir).map(|found| (found.dev(), found.ino()))
}

/// Watches a folder; an error while it is not there, or when the system cannot watch it.
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
