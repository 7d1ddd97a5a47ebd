//! The database file: blocking transactions over one table of keys, expiries and bytes.

use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use redb::{
    Database, DatabaseError, Durability, ReadableDatabase, ReadableTable, TableDefinition, TableError,
    WriteTransaction,
};

use super::creation;
use super::edit::{Edit, Edited};
use super::health::Health;
use crate::store::{Cursor, Etag, Item, PAGE_BYTES, PAGE_KEYS, Page, Position, Record, StoreError, Write};

/// Maps a key to its expiry (milliseconds since 1970, or [`NEVER`]) and its value.
const DOCUMENTS: TableDefinition<&str, (u64, &[u8])> = TableDefinition::new("documents");

/// Holds the row of a trial write.
const PROBE: TableDefinition<&str, &[u8]> = TableDefinition::new("probe");

/// The size of the row of a trial write.
const PROBE_BYTES: usize = 64 * 1024;

/// The expiry of a value without a time to live.
const NEVER: u64 = u64::MAX;

/// The most keys that are swept at once.
const SWEPT_MAX: usize = 100_000;

/// The size of redb's page cache.
const CACHE_BYTES: usize = 64 * 1024 * 1024;

type Row = (u64, &'static [u8]);

type Documents<'t> = redb::Table<'t, &'static str, Row>;

/// One page of the keys with a prefix.
pub(super) struct TablePage {
    pub(super) page: Page,
    /// The last key of the page; `None` if no more keys follow.
    pub(super) last_key: Option<String>,
    /// The keys between the first and the last one that have expired.
    pub(super) expired: Vec<String>,
}

/// The open database.
pub(super) struct Table {
    /// `None` after an error, until the file can be opened again.
    db: RwLock<Option<Database>>,
    path: PathBuf,
    health: Health,
}

impl Table {
    /// Opens or creates the database in this file.
    pub(super) fn open(path: PathBuf) -> Result<Table, StoreError> {
        creation::create_if_absent(&path, create)?;
        let db = open(&path)?;
        Table::new(db, path)
    }

    /// Creates an empty database in memory.
    pub(super) fn in_memory() -> Result<Table, StoreError> {
        let memory = redb::backends::InMemoryBackend::new();
        let path = PathBuf::from(crate::store::MEMORY);
        let db = builder().create_with_backend(memory).map_err(|error| open_error(&path, error))?;
        Table::new(db, path)
    }

    fn new(db: Database, path: PathBuf) -> Result<Table, StoreError> {
        let table = Table { db: RwLock::new(Some(db)), path, health: Health::default() };
        // Opening an existing store writes nothing, so that it can be read on a full disk.
        if !table.with_database(|db| table.has_documents(db))? {
            table.write(|transaction| {
                transaction.open_table(DOCUMENTS).map(drop).map_err(|e| table.note_error(e))
            })?;
        }
        Ok(table)
    }

    fn has_documents(&self, db: &Database) -> Result<bool, StoreError> {
        let transaction = db.begin_read().map_err(|e| self.note_error(e))?;
        match transaction.open_table(DOCUMENTS) {
            Ok(_) => Ok(true),
            Err(TableError::TableDoesNotExist(_)) => Ok(false),
            Err(error) => Err(self.note_error(error)),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The error that keeps the file from being written: a write has failed, and none has succeeded since.
    pub(super) fn read_only(&self) -> Option<String> {
        self.health.outage_message()
    }

    /// Makes a trial write: a row that does not fit into the free space of the file, which is removed at once.
    pub(super) fn try_to_write(&self) -> Result<(), StoreError> {
        let row = vec![0xff; PROBE_BYTES];
        self.write(|transaction| {
            let mut table = transaction.open_table(PROBE).map_err(|e| self.note_error(e))?;
            table.insert("", row.as_slice()).map(drop).map_err(|e| self.note_error(e))
        })?;
        self.write(|transaction| transaction.delete_table(PROBE).map(drop).map_err(|e| self.note_error(e)))
    }

    /// Runs `work` with the database. After an I/O error the file is opened again first: redb rejects every call until then.
    fn with_database<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if self.health.is_time_to_reopen()? {
            self.reopen()?;
        }
        let db = self.db.read().unwrap_or_else(PoisonError::into_inner);
        db.as_ref().map_or_else(|| Err(self.health.error()), work)
    }

    /// Waits until nobody uses the database, closes the file (which redb locks), and opens it again. No acknowledged write
    /// is lost, because each one had reached the disk.
    fn reopen(&self) -> Result<(), StoreError> {
        let mut db = self.db.write().unwrap_or_else(PoisonError::into_inner);
        drop(db.take());
        match open(&self.path) {
            Ok(reopened) => {
                *db = Some(reopened);
                self.health.reopened();
                Ok(())
            }
            Err(error) => {
                self.health.failed(error.to_string());
                Err(error)
            }
        }
    }

    /// Succeeds if the database can be read.
    pub(super) fn ping(&self) -> Result<(), StoreError> {
        self.with_database(|db| db.begin_read().map(drop).map_err(|error| self.note_error(error)))
    }

    /// The value of the key, unless it has expired.
    pub(super) fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        self.with_database(|db| {
            let transaction = db.begin_read().map_err(|e| self.note_error(e))?;
            let table = transaction.open_table(DOCUMENTS).map_err(|e| self.note_error(e))?;
            self.read(&table, key, |bytes| Record::new(bytes.to_vec()))
        })
    }

    /// Does edits in one transaction: all of them or, after an error, none. One whose precondition does not hold is left out.
    pub(super) fn edit(&self, edits: &[Edit]) -> Result<Vec<Result<Edited, StoreError>>, StoreError> {
        self.write_if(|transaction| {
            let mut table = transaction.open_table(DOCUMENTS).map_err(|e| self.note_error(e))?;
            let done = edits.iter().map(|edit| match self.edit_one(&mut table, edit) {
                Err(refused @ StoreError::PreconditionFailed { .. }) => Ok(Err(refused)),
                done => done.map(Ok),
            });
            let done = done.collect::<Result<Vec<_>, _>>()?;
            let is_changed = done.iter().any(Result::is_ok);
            Ok((done, is_changed))
        })
    }

    fn edit_one(&self, table: &mut Documents<'_>, edit: &Edit) -> Result<Edited, StoreError> {
        match edit {
            Edit::Put { key, bytes, condition, ttl } => {
                condition.check(key, self.read(table, key, Etag::of)?)?;
                table.insert(key.as_str(), (expiry(*ttl), &**bytes)).map_err(|e| self.note_error(e))?;
                Ok(Edited::Put(Etag::of(bytes)))
            }
            Edit::Delete { key, condition } => {
                let found = self.read(table, key, Etag::of)?;
                condition.check(key, found)?;
                table.remove(key.as_str()).map_err(|e| self.note_error(e))?;
                Ok(Edited::Deleted(found.is_some()))
            }
            Edit::PutAll(writes) => {
                writes.iter().try_for_each(|write| self.put_one(table, write))?;
                Ok(Edited::PutAll)
            }
        }
    }

    fn put_one(&self, table: &mut Documents<'_>, write: &Write) -> Result<(), StoreError> {
        let Write { key, bytes, keeps_old, ttl } = write;
        let old = if *keeps_old { self.read(table, key, <[u8]>::to_vec)? } else { None };
        let bytes = old.as_deref().unwrap_or(bytes);
        table.insert(key.as_str(), (expiry(*ttl), bytes)).map(drop).map_err(|e| self.note_error(e))
    }

    /// One page of the values of these keys, from the last one on.
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

    /// One page of the keys with this prefix, beginning after the key `after`.
    pub(super) fn page(&self, prefix: &str, after: Option<&str>) -> Result<TablePage, StoreError> {
        self.with_database(|db| self.page_of(db, prefix, after))
    }

    fn page_of(&self, db: &Database, prefix: &str, after: Option<&str>) -> Result<TablePage, StoreError> {
        let transaction = db.begin_read().map_err(|e| self.note_error(e))?;
        let table = transaction.open_table(DOCUMENTS).map_err(|e| self.note_error(e))?;
        let start = after.map_or(Bound::Included(prefix), Bound::Excluded);
        let rows = table.range::<&str>((start, Bound::Unbounded)).map_err(|e| self.note_error(e))?;

        let (mut page, mut expired, mut bytes, now) = (Page::default(), Vec::new(), 0, now());
        for row in rows {
            let (key, value) = row.map_err(|e| self.note_error(e))?;
            let (key, (expiry, content)) = (key.value(), value.value());
            if !key.starts_with(prefix) {
                return Ok(TablePage { page, last_key: None, expired });
            }
            if expiry <= now {
                expired.push(key.to_owned());
            } else {
                bytes += content.len();
                page.items.push(Item { key: key.to_owned(), content: Ok(content.to_vec()) });
            }
            if page.items.len() + expired.len() >= PAGE_KEYS || bytes >= PAGE_BYTES {
                return Ok(TablePage { page, last_key: Some(key.to_owned()), expired });
            }
        }
        Ok(TablePage { page, last_key: None, expired })
    }

    /// Keys that have expired, [`SWEPT_MAX`] at most.
    pub(super) fn expired(&self) -> Result<Vec<String>, StoreError> {
        self.with_database(|db| {
            let transaction = db.begin_read().map_err(|e| self.note_error(e))?;
            let table = transaction.open_table(DOCUMENTS).map_err(|e| self.note_error(e))?;
            let (mut expired, now) = (Vec::new(), now());
            for row in table.iter().map_err(|e| self.note_error(e))? {
                let (key, value) = row.map_err(|e| self.note_error(e))?;
                if value.value().0 <= now {
                    expired.push(key.value().to_owned());
                }
                if expired.len() >= SWEPT_MAX {
                    break;
                }
            }
            Ok(expired)
        })
    }

    /// Removes those of the keys that are still expired, and returns them. Does nothing while another write is running,
    /// because the next scan will find the keys again.
    pub(super) fn sweep(&self, keys: Vec<String>) -> Result<Vec<String>, StoreError> {
        self.with_database(|db| self.sweep_in(db, keys))
    }

    fn sweep_in(&self, db: &Database, keys: Vec<String>) -> Result<Vec<String>, StoreError> {
        let Ok(transaction) = db.try_begin_write() else { return Ok(Vec::new()) };
        let mut swept = Vec::new();
        {
            let mut table = transaction.open_table(DOCUMENTS).map_err(|e| self.note_error(e))?;
            for key in keys {
                if self.read(&table, &key, |_| ())?.is_none() {
                    table.remove(key.as_str()).map_err(|e| self.note_error(e))?;
                    swept.push(key);
                }
            }
        }
        transaction.commit().map_err(|e| self.note_error(e))?;
        Ok(swept)
    }

    fn read<T>(
        &self,
        table: &impl ReadableTable<&'static str, Row>,
        key: &str,
        view: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let found = table.get(key).map_err(|e| self.note_error(e))?;
        let Some(found) = found else { return Ok(None) };
        let (expiry, bytes) = found.value();
        Ok((expiry > now()).then(|| view(bytes)))
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.write_if(|transaction| Ok((work(transaction)?, true)))
    }

    /// Runs `work` in a transaction, which is committed if it says that it has changed something.
    fn write_if<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<(T, bool), StoreError>,
    ) -> Result<T, StoreError> {
        self.with_database(|db| {
            let mut transaction = db.begin_write().map_err(|e| self.note_error(e))?;
            // With this durability, commit returns after fsync: an acknowledged write has reached the disk.
            transaction.set_durability(Durability::Immediate).map_err(|e| self.note_error(e))?;
            let (result, is_changed) = work(&transaction)?;
            if is_changed {
                transaction.commit().map_err(|e| self.note_error(e))?;
                self.health.written();
            }
            Ok(result)
        })
    }

    fn note_error(&self, error: impl Into<redb::Error>) -> StoreError {
        let error = error.into();
        // After these errors redb rejects every call until the file is opened again.
        let needs_reopening = matches!(error, redb::Error::Io(_) | redb::Error::PreviousIo);
        let error = store_error(&self.path, error);
        if needs_reopening {
            self.health.failed(error.to_string());
        }
        error
    }
}

fn builder() -> redb::Builder {
    let mut builder = Database::builder();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

fn open(path: &Path) -> Result<Database, StoreError> {
    builder().open(path).map_err(|error| open_error(path, error))
}

/// Creates a complete, empty database in a file, and flushes it to the disk.
fn create(path: &Path) -> Result<(), StoreError> {
    let failed = |error: redb::Error| store_error(path, error);
    let db = builder().create(path).map_err(|error| open_error(path, error))?;
    let transaction = db.begin_write().map_err(|error| failed(error.into()))?;
    transaction.open_table(DOCUMENTS).map(drop).map_err(|error| failed(error.into()))?;
    transaction.commit().map_err(|error| failed(error.into()))?;
    db.close().map_err(|error| open_error(path, error))
}

fn open_error(path: &Path, error: DatabaseError) -> StoreError {
    match error {
        DatabaseError::DatabaseAlreadyOpen | DatabaseError::LockProtocolMismatch => {
            StoreError::Locked { path: path.to_owned() }
        }
        other => store_error(path, other.into()),
    }
}

fn store_error(path: &Path, error: redb::Error) -> StoreError {
    let message = error.to_string();
    match error {
        // redb reports a file that is not a redb database as invalid data.
        redb::Error::Io(io) if io.kind() != std::io::ErrorKind::InvalidData => {
            StoreError::Unavailable { message: format!("{}: {io}", path.display()) }
        }
        redb::Error::PreviousIo | redb::Error::DatabaseClosed => StoreError::Unavailable { message },
        _ => StoreError::Corrupt { path: path.to_owned(), message },
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
