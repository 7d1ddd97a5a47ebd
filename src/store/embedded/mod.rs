//! The embedded store: one redb file, used by one process.

mod birth;
mod failure;
mod news;
mod table;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::Mutex;
use tokio::task::spawn_blocking;

use self::news::News;
use self::table::Table;
use super::{Changes, Cursor, Etag, Expect, Page, Position, Record, Store, StoreError, check_size};

/// The name of the file in a folder.
const FILE_NAME: &str = "store.redb";

/// A store in a file.
pub(super) struct Embedded {
    description: String,
    path: PathBuf,
    table: Arc<Table>,
    news: News,
    /// Writers wait here, and not each on a thread of its own.
    writer: Arc<Mutex<()>>,
    /// Tries to write after a failure, until that works.
    recovery: Arc<Mutex<()>>,
}

/// How often it is tried whether something can be written again.
const RECOVER_EVERY: Duration = Duration::from_secs(1);

impl Embedded {
    /// Opens the store in a folder or file, and makes it if it is not there.
    pub(super) async fn open(location: &str) -> Result<Embedded, StoreError> {
        if location.is_empty() {
            return Err(StoreError::BadUrl {
                reason: "embedded: needs a path, as in embedded:data".to_owned(),
            });
        }
        let path = file_at(Path::new(location));
        let file = path.clone();
        let table = blocking(&path, move || {
            make_folder_of(&file)?;
            Table::open(file)
        });
        Ok(Embedded::over(table.await?, format!("embedded:{location}"), path))
    }

    /// An empty store in memory, gone with the process.
    pub(super) fn in_memory() -> Result<Embedded, StoreError> {
        Ok(Embedded::over(Table::in_memory()?, super::MEMORY.to_owned(), PathBuf::from(super::MEMORY)))
    }

    fn over(table: Table, description: String, path: PathBuf) -> Embedded {
        let (writer, recovery) = (Arc::default(), Arc::default());
        Embedded { description, table: Arc::new(table), path, news: News::new(), writer, recovery }
    }

    async fn reading<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Table) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let table = self.table.clone();
        let done = blocking(&self.path, move || work(&table)).await;
        self.recover();
        done
    }

    /// Runs `work` when no other write runs. Work that has begun goes on even if the caller leaves, so the turn ends
    /// and the news go out in there.
    async fn writing<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Table, &News) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let turn = self.writer.clone().lock_owned().await;
        let (table, news) = (self.table.clone(), self.news.clone());
        let done = blocking(&self.path, move || {
            let done = work(&table, &news);
            drop(turn);
            done
        })
        .await;
        self.recover();
        done
    }

    /// After a failure: tries every second whether something can be written again, until that works or the store is gone.
    fn recover(&self) {
        if self.table.read_only().is_none() {
            return;
        }
        // One task is enough.
        let Ok(only_one) = self.recovery.clone().try_lock_owned() else { return };
        let (table, writer) = (Arc::downgrade(&self.table), self.writer.clone());
        tokio::spawn(async move {
            let _only_one = only_one;
            loop {
                tokio::time::sleep(RECOVER_EVERY).await;
                let turn = writer.clone().lock_owned().await;
                let Some(table) = table.upgrade().filter(|table| table.read_only().is_some()) else { return };
                let path = table.path().to_owned();
                let tried = blocking(&path, move || {
                    let _turn = turn;
                    table.try_to_write()
                });
                if let Err(error) = tried.await {
                    tracing::debug!(%error, "the store still cannot be written");
                }
            }
        });
    }
}

#[async_trait]
impl Store for Embedded {
    fn describe(&self) -> &str {
        &self.description
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
        let (prefix, news, is_last) = ((*prefix).to_owned(), self.news.clone(), at + 1 == prefixes.len());
        self.reading(move |table| {
            let (mut page, last, expired) = table.page(&prefix, after.as_deref())?;
            page.walked = page.items.len() + expired.len();
            page.next = match last {
                Some(key) => Some(Cursor(Position::After(at, Some(key)))),
                None => (!is_last).then_some(Cursor(Position::After(at + 1, None))),
            };
            if !expired.is_empty() {
                table.sweep(expired)?.iter().for_each(|key| news.changed(key));
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
        expect: Expect,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        check_size(key, bytes.len())?;
        let (key, bytes) = (key.to_owned(), bytes.to_vec());
        self.writing(move |table, news| {
            let etag = table.put(&key, &bytes, expect, ttl)?;
            news.changed(&key);
            Ok(etag)
        })
        .await
    }

    async fn delete(&self, key: &str, expect: Expect) -> Result<bool, StoreError> {
        let key = key.to_owned();
        self.writing(move |table, news| {
            let was_there = table.delete(&key, expect)?;
            if was_there {
                news.changed(&key);
            }
            Ok(was_there)
        })
        .await
    }

    fn watch(&self, prefixes: Vec<String>) -> Option<Changes> {
        Some(self.news.watch(prefixes))
    }
}

/// The database file that a location means.
fn file_at(location: &Path) -> PathBuf {
    let is_file = location.is_file() || location.extension().is_some_and(|end| end == "redb");
    if is_file { location.to_owned() } else { location.join(FILE_NAME) }
}

fn make_folder_of(file: &Path) -> Result<(), StoreError> {
    let Some(folder) = file.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder)
        .map_err(|error| StoreError::Unavailable { reason: format!("{}: {error}", folder.display()) })
}

/// Runs blocking work on a thread for that. redb panics on some kinds of damage: that ends here too.
async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(stopped) if stopped.is_panic() => Err(StoreError::Corrupt {
            path: path.to_owned(),
            reason: "reading it ended in a panic".to_owned(),
        }),
        Err(_) => Err(StoreError::Unavailable { reason: "the program is shutting down".to_owned() }),
    }
}
