//! The embedded store: one redb file, used by one process.

mod creation;
mod edit;
mod feed;
mod health;
mod table;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::task::{JoinSet, spawn_blocking};

use self::edit::{Edit, Edited, Pending, Waiting};
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
    waiting: Waiting,
    /// Writers wait for this lock, so that they do not each block a thread.
    writer: Arc<Mutex<()>>,
    /// Held by the task that makes trial writes after an error.
    recovery: Arc<Mutex<()>>,
    /// The task that removes what has expired; it ends with the store.
    _sweeper: JoinSet<()>,
}

/// The pause between trial writes during an outage.
const RECOVER_EVERY: Duration = Duration::from_secs(1);

/// How often values are removed that have expired and that nobody asks for. Finding them takes a walk over all values.
const SWEEP_EVERY: Duration = Duration::from_secs(600);

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
        let (writer, recovery): (Arc<Mutex<()>>, _) = (Arc::default(), Arc::default());
        let (table, feed, waiting) = (Arc::new(table), ChangeFeed::new(), Waiting::default());
        let mut sweeper = JoinSet::new();
        sweeper.spawn(sweep(Arc::downgrade(&table), feed.clone(), writer.clone()));
        EmbeddedStore { description, path, table, feed, waiting, writer, recovery, _sweeper: sweeper }
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

    /// Does an edit, with those that wait at the same time. One that has begun continues even if the caller's future is dropped.
    async fn edit(&self, edit: Edit) -> Result<Edited, StoreError> {
        let mut told = self.waiting.add(edit);
        let result = loop {
            tokio::select! {
                biased;
                // Somebody else may write it.
                told = &mut told => break told.unwrap_or_else(|_| Err(unwritten())),
                lock = self.writer.clone().lock_owned() => {
                    if let Err(error) = self.write_waiting(lock).await {
                        break Err(error);
                    }
                }
            }
        };
        self.recover();
        result
    }

    /// Writes the edits that wait, and tells their callers and the watchers.
    async fn write_waiting(&self, lock: OwnedMutexGuard<()>) -> Result<(), StoreError> {
        let (table, feed, waiting) = (self.table.clone(), self.feed.clone(), self.waiting.take());
        blocking(&self.path, move || {
            let (edits, callers): (Vec<Edit>, Vec<_>) =
                waiting.into_iter().map(|Pending { edit, done }| (edit, done)).unzip();
            let done = match table.edit(&edits) {
                Ok(done) => done,
                Err(error) => vec![Err(error); edits.len()],
            };
            drop(lock);
            for ((edit, caller), done) in edits.iter().zip(callers).zip(done) {
                if done.as_ref().is_ok_and(|done| done.is_change()) {
                    edit.keys().for_each(|key| feed.announce(key));
                }
                // Whoever has left does not ask.
                let _left = caller.send(done);
            }
            Ok(())
        })
        .await
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
        match self.edit(Edit::Put { key, bytes, condition, ttl }).await? {
            Edited::Put(etag) => Ok(etag),
            _ => Err(unwritten()),
        }
    }

    async fn put_all(&self, writes: Vec<Write>) -> Result<(), StoreError> {
        writes.iter().try_for_each(|write| check_size(&write.key, write.bytes.len()))?;
        self.edit(Edit::PutAll(writes)).await.map(drop)
    }

    async fn delete(&self, key: &str, condition: Precondition) -> Result<bool, StoreError> {
        let edited = self.edit(Edit::Delete { key: key.to_owned(), condition }).await?;
        Ok(edited.is_change())
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

/// Removes what has expired, now and then, until the store is dropped.
async fn sweep(table: Weak<Table>, feed: ChangeFeed, writer: Arc<Mutex<()>>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let Some(table) = table.upgrade() else { return };
        if let Err(error) = sweep_once(table, feed.clone(), &writer).await {
            tracing::debug!(%error, "what has expired stays in the store for now");
        }
    }
}

async fn sweep_once(table: Arc<Table>, feed: ChangeFeed, writer: &Arc<Mutex<()>>) -> Result<(), StoreError> {
    let (path, reading) = (table.path().to_owned(), table.clone());
    let expired = blocking(&path, move || reading.expired()).await?;
    if expired.is_empty() {
        return Ok(());
    }
    let lock = writer.clone().lock_owned().await;
    blocking(&path, move || {
        let _lock = lock;
        table.sweep(expired)?.iter().for_each(|key| feed.announce(key));
        Ok(())
    })
    .await
}

/// The error of an edit that nobody has done.
fn unwritten() -> StoreError {
    StoreError::Unavailable { message: "the write was interrupted".to_owned() }
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

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use futures_util::future::join_all;

    use super::*;
    use crate::store::Change;

    #[tokio::test]
    async fn of_edits_that_are_written_together_each_has_its_own_condition() {
        let store = EmbeddedStore::in_memory().unwrap();
        let first = store.put("k", b"first", Precondition::Absent, None).await.unwrap();
        let texts: Vec<String> = (0..500).map(|n| n.to_string()).collect();
        let put = |text| store.put("k", str::as_bytes(text), Precondition::Etag(first), None);
        let done = join_all(texts.iter().map(|text| put(text))).await;
        let winners: Vec<Etag> = done.iter().filter_map(|done| done.clone().ok()).collect();
        assert_eq!(winners, [store.get("k").await.unwrap().unwrap().etag]);
        let lost = StoreError::PreconditionFailed { key: "k".to_owned(), found: Some(winners[0]) };
        assert_eq!(done.iter().filter(|done| **done == Err(lost.clone())).count(), 499);
        let others = texts.iter().map(|text| store.put(text, b"x", Precondition::Absent, None));
        assert!(join_all(others).await.iter().all(Result::is_ok));
        let gone = join_all(texts.iter().map(|text| store.delete(text, Precondition::Any))).await;
        assert!(gone.iter().all(|gone| *gone == Ok(true)));
        assert_eq!(store.delete("0", Precondition::Any).await, Ok(false));
    }

    #[tokio::test]
    async fn an_edit_whose_caller_has_left_before_it_began_is_not_written_later() {
        let store = EmbeddedStore::in_memory().unwrap();
        let busy = store.writer.clone().lock_owned().await;
        let mut left = store.put("left", b"x", Precondition::Any, None);
        assert!(futures_util::poll!(&mut left).is_pending());
        drop(left);
        drop(busy);
        store.put("k", b"x", Precondition::Any, None).await.unwrap();
        assert_eq!(store.get("left").await, Ok(None));
    }

    #[tokio::test]
    async fn what_has_expired_is_removed_although_nobody_asks_for_it() {
        let store = EmbeddedStore::in_memory().unwrap();
        let mut changes = store.watch(vec![String::new()]).unwrap();
        store.put("stays", b"x", Precondition::Any, None).await.unwrap();
        store.put("k", b"x", Precondition::Any, Some(Duration::from_millis(1))).await.unwrap();
        std::thread::sleep(Duration::from_millis(5));
        sweep_once(store.table.clone(), store.feed.clone(), &store.writer).await.unwrap();
        for key in ["stays", "k", "k"] {
            assert_eq!(changes.next().await, Some(Change::Changed(key.to_owned())));
        }
        assert_eq!(store.table.expired().unwrap(), [""; 0]);
        assert!(store.get("stays").await.unwrap().is_some());
    }
}
