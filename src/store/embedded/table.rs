//! The database file: blocking transactions over one table of keys, expiries and bytes.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition, TableError,
    WriteTransaction,
};

use super::birth;
use super::failure::Failure;
use crate::store::{Cursor, Etag, Expect, Item, PAGE_BYTES, PAGE_KEYS, Page, Position, Record, StoreError};

/// Key to (end of life in milliseconds since 1970, or [`NEVER`]; bytes).
const DOCUMENTS: TableDefinition<&str, (u64, &[u8])> = TableDefinition::new("documents");

/// Holds a row for a moment, to see whether something can be written.
const PROBE: TableDefinition<&str, &[u8]> = TableDefinition::new("probe");

/// The size of that row.
const PROBE_BYTES: usize = 64 * 1024;

/// The expiry of a value that stays.
const NEVER: u64 = u64::MAX;

/// How much memory redb may use to keep pages of the file.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

type Row = (u64, &'static [u8]);

/// A page, its last key if there may be more, and the keys that it passed whose time is up.
type PageOfRows = (Page, Option<String>, Vec<String>);

/// The open database.
pub(super) struct Table {
    /// `None` after a failure, until the file can be opened again.
    db: RwLock<Option<Database>>,
    path: PathBuf,
    failure: Failure,
}

impl Table {
    /// Opens or makes the database in this file.
    pub(super) fn open(path: PathBuf) -> Result<Table, StoreError> {
        birth::make_if_absent(&path, make)?;
        let opened = opened(&path)?;
        Table::of(opened, path)
    }

    /// Makes an empty database in memory.
    pub(super) fn in_memory() -> Result<Table, StoreError> {
        let memory = redb::backends::InMemoryBackend::new();
        let path = PathBuf::from(crate::store::MEMORY);
        let made = builder().create_with_backend(memory).map_err(|error| cannot_open(&path, error))?;
        Table::of(made, path)
    }

    fn of(db: Database, path: PathBuf) -> Result<Table, StoreError> {
        let table = Table { db: RwLock::new(Some(db)), path, failure: Failure::default() };
        // Nothing is written if nothing has to be: what is stored can be read on a full disk, too.
        if !table.with_database(|db| table.has_documents(db))? {
            table.write(|transaction| {
                transaction.open_table(DOCUMENTS).map(drop).map_err(|e| table.failed(e))
            })?;
        }
        Ok(table)
    }

    fn has_documents(&self, db: &Database) -> Result<bool, StoreError> {
        let transaction = db.begin_read().map_err(|e| self.failed(e))?;
        match transaction.open_table(DOCUMENTS) {
            Ok(_) => Ok(true),
            Err(TableError::TableDoesNotExist(_)) => Ok(false),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why nothing can be written just now: a write has failed, and none has succeeded since.
    pub(super) fn read_only(&self) -> Option<String> {
        self.failure.reason()
    }

    /// Tries whether something can be written (again): a row that takes more than what is left in the file, and goes at once.
    pub(super) fn try_to_write(&self) -> Result<(), StoreError> {
        let row = vec![0xff; PROBE_BYTES];
        self.write(|transaction| {
            let mut table = transaction.open_table(PROBE).map_err(|e| self.failed(e))?;
            table.insert("", row.as_slice()).map(drop).map_err(|e| self.failed(e))
        })?;
        self.write(|transaction| transaction.delete_table(PROBE).map(drop).map_err(|e| self.failed(e)))
    }

    /// The database; after a failure it is opened again first, which redb needs for anything to work again.
    fn with_database<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.failure.is_time_to_reopen()? {
            self.reopen()?;
        }
        let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
        db.as_ref().map_or_else(|| Err(self.failure.error()), work)
    }

    /// Waits until nobody uses the database, lets go of the file (which redb locks), and opens it again: with everything that
    /// was ever acknowledged, because that had reached the disk.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut db = self.db.write().unwrap_or_else(PoisonError::into_inner);
        drop(db.take());
        match opened(&self.path) {
            Ok(opened) => {
                *db = Some(opened);
                self.failure.reopened();
                Ok(())
            }
            Err(error) => {
                self.failure.note(error.to_string());
                Err(error)
            }
        }
    }

    /// Succeeds if the database can be read.
    pub(super) fn ping(&self) -> Result<(), StoreError> {
        self.with_database(|db| db.begin_read().map(drop).map_err(|error| self.failed(error)))
    }

    /// What the key holds, unless its time is up.
    pub(super) fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.with_database(|db| {
            let transaction = db.begin_read().map_err(|e| self.failed(e))?;
            let table = transaction.open_table(DOCUMENTS).map_err(|e| self.failed(e))?;
            self.read(&table, key, |bytes| Record::new(bytes.to_vec()))
        })
    }

    /// Writes a value, if the expectation holds.
    pub(super) fn put(
        &self,
        key: &str,
        bytes: &[u8],
        expect: Expect,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError> {
        self.write(|transaction| {
            let mut table = transaction.open_table(DOCUMENTS).map_err(|e| self.failed(e))?;
            expect.check(key, self.read(&table, key, Etag::of)?)?;
            table.insert(key, (expiry(ttl), bytes)).map_err(|e| self.failed(e))?;
            Ok(Etag::of(bytes))
        })
    }

    /// Removes a key, if the expectation holds, and says whether it was there.
    pub(super) fn delete(&self, key: &str, expect: Expect) -> Result<bool, StoreError> {
        self.write(|transaction| {
            let mut table = transaction.open_table(DOCUMENTS).map_err(|e| self.failed(e))?;
            let found = self.read(&table, key, Etag::of)?;
            expect.check(key, found)?;
            table.remove(key).map_err(|e| self.failed(e))?;
            Ok(found.is_some())
        })
    }

    /// What these keys hold, from the last one on, until a page is full.
    pub(super) fn read_all(&self, mut keys: Vec<String>) -> Result<Page, StoreError> {
        let (mut page, mut bytes) = (Page::default(), 0);
        while bytes < PAGE_BYTES
            && let Some(key) = keys.pop()
        {
            if let Some(record) = self.get(&key)? {
                bytes += record.bytes.len();
                page.items.push(Item { key, content: Ok(record.bytes) });
            }
        }
        page.next = (!keys.is_empty()).then_some(Cursor(Position::Keys(keys)));
        Ok(page)
    }

    /// One page of the keys with this prefix, its last key if there may be more, and those keys it passed whose time is up.
    pub(super) fn page(&self, prefix: &str, after: Option<&str>) -> Result<PageOfRows, StoreError> {
        self.with_database(|db| self.page_of(db, prefix, after))
    }

    fn page_of(&self, db: &Database, prefix: &str, after: Option<&str>) -> Result<PageOfRows, StoreError> {
        let transaction = db.begin_read().map_err(|e| self.failed(e))?;
        let table = transaction.open_table(DOCUMENTS).map_err(|e| self.failed(e))?;
        let start = after.map_or(Bound::Included(prefix), Bound::Excluded);
        let rows = table.range::<&str>((start, Bound::Unbounded)).map_err(|e| self.failed(e))?;

        let (mut page, mut expired, mut bytes, now) = (Page::default(), Vec::new(), 0, now());
        for row in rows {
            let (key, value) = row.map_err(|e| self.failed(e))?;
            let (key, (expiry, content)) = (key.value(), value.value());
            if !key.starts_with(prefix) {
                return Ok((page, None, expired));
            }
            if expiry <= now {
                expired.push(key.to_owned());
            } else {
                bytes += content.len();
                page.items.push(Item { key: key.to_owned(), content: Ok(content.to_vec()) });
            }
            if page.items.len() + expired.len() >= PAGE_KEYS || bytes >= PAGE_BYTES {
                return Ok((page, Some(key.to_owned()), expired));
            }
        }
        Ok((page, None, expired))
    }

    /// Removes those of the keys whose time is (still) up, and returns them; does nothing while
    /// somebody else writes, because the next scan will find them again.
    pub(super) fn sweep(&self, keys: Vec<String>) -> Result<Vec<String>, StoreError> {
        self.with_database(|db| self.sweep_in(db, keys))
    }

    fn sweep_in(&self, db: &Database, keys: Vec<String>) -> Result<Vec<String>, StoreError> {
        let Ok(transaction) = db.try_begin_write() else { return Ok(Vec::new()) };
        let mut swept = Vec::new();
        {
            let mut table = transaction.open_table(DOCUMENTS).map_err(|e| self.failed(e))?;
            for key in keys {
                if self.read(&table, &key, |_| ())?.is_none() {
                    table.remove(key.as_str()).map_err(|e| self.failed(e))?;
                    swept.push(key);
                }
            }
        }
        transaction.commit().map_err(|e| self.failed(e))?;
        Ok(swept)
    }

    fn read<T>(
        &self,
        table: &impl ReadableTable<&'static str, Row>,
        key: &str,
        view: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let found = table.get(key).map_err(|e| self.failed(e))?;
        let Some(found) = found else { return Ok(None) };
        let (expiry, bytes) = found.value();
        Ok((expiry > now()).then(|| view(bytes)))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.with_database(|db| {
            let mut transaction = db.begin_write().map_err(|e| self.failed(e))?;
            // An acknowledged write has reached the disk: commit returns after fsync.
            transaction.set_durability(Durability::Immediate).map_err(|e| self.failed(e))?;
            let done = work(&transaction)?;
            transaction.commit().map_err(|e| self.failed(e))?;
            self.failure.over();
            Ok(done)
        })
    }

    fn failed(&self, error: impl Into<redb::Error>) -> StoreError {
        let error = error.into();
        // After either, redb refuses everything until the file is opened again.
        let is_lasting = matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo);
        let error = failure(&self.path, error);
        if is_lasting {
            self.failure.note(error.to_string());
        }
        error
    }
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn opened(path: &Path) -> Result<Database, StoreError> {
    builder().open(path).map_err(|error| cannot_open(path, error))
}

/// Makes a whole, empty database in a file, which has reached the disk then.
fn make(path: &Path) -> Result<(), StoreError> {
    let failed = |error: redb::Error| failure(path, error);
    let made = builder().create(path).map_err(|error| cannot_open(path, error))?;
    let transaction = made.begin_write().map_err(|error| failed(error.into()))?;
    transaction.open_table(DOCUMENTS).map(drop).map_err(|error| failed(error.into()))?;
    transaction.commit().map_err(|error| failed(error.into()))?;
    made.close().map_err(|error| cannot_open(path, error))
}

fn cannot_open(path: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
            StoreError::Locked { path: path.to_owned() }
        }
        other => failure(path, other.into()),
    }
}

fn failure(path: &Path, error: redb::Error) -> StoreError {
    let reason = error.to_string();
    match error {
        // redb reports a file that is not its own as invalid data.
        redb::Error::Io(io) if io.kind() != std::io::ErrorKind::InvalidData => {
            StoreError::Unavailable { reason: format!("{}: {io}", path.display()) }
        }
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => StoreError::Unavailable { reason },
        _ => StoreError::Corrupt { path: path.to_owned(), reason },
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(NEVER)
}

fn expiry(ttl: Option<Duration>) -> u64 {
    let Some(ttl) = ttl else { return NEVER };
    let milliseconds = u64::try_from(ttl.as_millis()).unwrap_or(NEVER).max(1);
    now().saturating_add(milliseconds)
}
