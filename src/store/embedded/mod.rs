//! The embedded store: one redb file, used by one process.

mod creation;
mod feed;
mod health;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use self::feed::ChangeFeed;
use self::table::{Table, TablePage};
use super::{
    ChangeStream, Cursor, Etag, Page, Position, Precondition, Record, Store, StoreError, Write, check_size,
};

/// The name of the file in a folder.
const FILE_NAME: &str = "store.redb";

/// A store in a database file.
pub(super) struct EmbeddedStore {
    description: String,
    path: PathBuf,
    table: Arc<Table>,
    feed: ChangeFeed,
    /// Writers wait for this lock, so that they do not each block a thread.
    writer: Arc<Mutex<()>>,
    /// Held by the task that makes trial writes after an error.
    recovery: Arc<Mutex<()>>,
}

/// The pause between trial writes during an outage.
const RECOVER_EVERY: Duration = Duration::from_secs(1);

impl EmbeddedStore {
    /// Opens the store in a folder or file, and creates it if it does not exist.
    pub(super) async fn open(location: &str) -> Result<EmbeddedStore, StoreError> {
        if location.is_empty() {
            return Err(StoreError::BadUrl {
                message: "embedded: needs a path, as in embedded:data".to_owned(),
            });
        }
        let path = file_at(Path::new(location));
        let file = path.clone();
        let table = blocking(&path, move || {
            make_folder_of(&file)?;
            Table::open(file)
        });
        Ok(EmbeddedStore::new(table.await?, format!("embedded:{location}"), path))
    }

    /// An empty store in memory, which ends with the process.
    pub(super) fn in_memory() -> Result<EmbeddedStore, StoreError> {
        Ok(EmbeddedStore::new(Table::in_memory()?, super::MEMORY.to_owned(), PathBuf::from(super::MEMORY)))
    }

    fn new(table: Table, description: String, path: PathBuf) -> EmbeddedStore {
        let (writer, recovery) = (Arc::default(), Arc::default());
        EmbeddedStore { description, table: Arc::new(table), path, feed: ChangeFeed::new(), writer, recovery }
    }

    async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Table) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let table = self.table.clone();
        let result = blocking(&self.path, move || work(&table)).await;
        self.recover();
        result
    }

    /// Runs `work` when no other write is running. Work that has begun continues even if the caller's future is dropped, so
    /// the work itself announces the change and releases the lock.
    async fn writing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Table, &ChangeFeed) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let lock = self.writer.clone().lock_owned().await;
        let (table, feed) = (self.table.clone(), self.feed.clone());
        let result = blocking(&self.path, move || {
            let result = work(&table, &feed);
            drop(lock);
            result
        })
        .await;
        self.recover();
        result
    }

    /// During an outage, makes a trial write every second until one succeeds or the store is dropped.
    fn recover(&self) {
        if self.table.read_only().is_none() {
            return;
        }
        // One such task is enough.
        let Ok(only_one) = self.recovery.clone().try_lock_owned() else { return };
        let (table, writer) = (Arc::downgrade(&self.table), self.writer.clone());
        tokio::spawn(async move {
            let _only_one = only_one;
            loop {
                tokio::time::sleep(RECOVER_EVERY).await;
                let lock = writer.clone().lock_owned().await;
                let Some(table) = table.upgrade().filter(|table| table.read_only().is_some()) else { return };
                let path = table.path().to_owned();
                let trial = blocking(&path, move || {
                    let _lock = lock;
                    table.try_to_write()
                });
                if let Err(error) = trial.await {
                    tracing::debug!(%error, "the store still cannot be written");
                }
            }
        });
    }
}

#[async_trait]
impl Store for EmbeddedStore {
    fn describe(&self) -> &str {
        &self.description
    }

    fn is_shared(&self) -> bool {
        false
    }

    fn read_only(&self) -> Option<String> {
        self.table.read_only()
    }

    async fn ping(&self) -> Result<(), StoreError> {
        self.reading(Table::ping).await
    }

    async fn scan(&self, prefixes: &[&str], from: Option<Cursor>) -> Result<Page, StoreError> {
        let (at, after) = match from {
            Some(Cursor(Position::Keys(keys))) => return self.read(keys).await,
            Some(Cursor(Position::After(at, after))) => (at, after),
            _ => (0, None),
        };
        let Some(prefix) = prefixes.get(at) else { return Ok(Page::default()) };
        let (prefix, feed, is_last) = ((*prefix).to_owned(), self.feed.clone(), at + 1 == prefixes.len());
        self.reading(move |table| {
            let TablePage { mut page, last_key, expired } = table.page(&prefix, after.as_deref())?;
            page.walked = page.items.len() + expired.len();
            page.next = match last_key {
                Some(key) => Some(Cursor(Position::After(at, Some(key)))),
                None => (!is_last).then_some(Cursor(Position::After(at + 1, None))),
            };
            if !expired.is_empty() {
                table.sweep(expired)?.iter().for_each(|key| feed.announce(key));
            }
            Ok(page)
        })
        .await
    }

    async fn read(&self, keys: Vec<String>) -> Result<Page, StoreError> {
        self.reading(move |table| table.read_all(keys)).await
    }

    async fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let key = key.to_owned();
        self.reading(move |table| table.get(&key)).await
    }

    async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Precondition,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        check_size(key, bytes.len())?;
        let (key, bytes) = (key.to_owned(), bytes.to_vec());
        self.writing(move |table, feed| {
            let etag = table.put(&key, &bytes, condition, ttl)?;
            feed.announce(&key);
            Ok(etag)
        })
        .await
    }

    async fn put_all(&self, writes: Vec<Write>) -> Result<(), StoreError> {
        writes.iter().try_for_each(|write| check_size(&write.key, write.bytes.len()))?;
        self.writing(move |table, feed| {
            table.put_all(&writes)?;
            writes.iter().for_each(|write| feed.announce(&write.key));
            Ok(())
        })
        .await
    }

    async fn delete(&self, key: &str, condition: Precondition) -> Result<bool, StoreError> {
        let key = key.to_owned();
        self.writing(move |table, feed| {
            let was_there = table.delete(&key, condition)?;
            if was_there {
                feed.announce(&key);
            }
            Ok(was_there)
        })
        .await
    }

    fn watch(&self, prefixes: Vec<String>) -> Option<ChangeStream> {
        Some(self.feed.watch(prefixes))
    }
}

/// The database file at a location, which may name the file or its folder.
fn file_at(location: &Path) -> PathBuf {
    let is_file = location.is_file() || location.extension().is_some_and(|end| end == "redb");
    if is_file { location.to_owned() } else { location.join(FILE_NAME) }
}

fn make_folder_of(file: &Path) -> Result<(), StoreError> {
    let Some(folder) = file.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| StoreError::Unavailable { message: format!("{}: {error}", folder.display()) })
}

/// Runs blocking work on a thread for blocking work. redb panics on some kinds of damage; the panic ends here.
async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) if error.is_panic() => Err(StoreError::Corrupt {
            path: path.to_owned(),
            message: "reading it ended in a panic".to_owned(),
        }),
        Err(_) => Err(StoreError::Unavailable { message: "the program is shutting down".to_owned() }),
    }
}
