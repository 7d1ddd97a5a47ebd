//! Storage: bytes under text keys, behind one trait with two backends (embedded and Redis).
//!
//! - [`Store`]: the operations of a store
//! - [`open`]: from an address to a store
//! - `embedded`: a database file of our own (redb), for a single process
//! - `redis`: a server that other programs write to as well

mod embedded;
mod error;
mod etag;
mod redis;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::try_join_all;
use futures_util::stream::BoxStream;

pub use error::StoreError;
pub use etag::{Etag, ParseEtagError};

/// The address of a store that lives in memory alone.
pub const MEMORY: &str = "memory:";

/// The largest value, in bytes, that is read or written.
pub const VALUE_LIMIT: usize = 16 * 1024 * 1024;

/// The approximate largest number of keys in a page of a scan.
const PAGE_KEYS: usize = 1000;

/// A page of a scan ends before its values exceed this many bytes, unless it is a single value.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes under text keys.
///
/// Every call ends within a few seconds, whatever the backend does.
///
/// A write that returns an error is over. After [`StoreError::Unsure`] it may or may not have been applied; after any other
/// error it was not applied. In both cases it is not applied later, so it cannot overwrite a later write. (In Redis this
/// relies on the server's clock, which must not be set back meanwhile, and on the permission to run `TIME`.) A write whose
/// future is dropped may still be applied within the time that the call would have taken.
#[async_trait]
pub trait Store: Send + Sync {
    /// The address of the data, without secrets: `redis://host:6379/0`, `embedded:data`.
    fn describe(&self) -> &str;

    /// Whether other programs may change the data, too.
    fn is_shared(&self) -> bool;

    /// The error that keeps the store from taking writes although it can be read, if the backend knows of one: a write has
    /// failed (a full disk, for instance), and none has succeeded since.
    fn read_only(&self) -> Option<String> {
        None
    }

    /// Succeeds if the store can serve calls now.
    async fn ping(&self) -> Result<(), StoreError>;

    /// One page of the keys that begin with one of `prefixes`, with their values, in no particular order.
    ///
    /// Start without a cursor; continue with [`Page::next`] and the same prefixes until there is none. An empty page may
    /// have a next page. A key that exists during the whole scan is returned at least once. In Redis it can be returned
    /// **twice**, with different values if it was written meanwhile; the later value is the newer one.
    ///
    /// All pages of a scan come from one server. If another server answers (after a failover or a restart), the scan ends
    /// with [`StoreError::ScanLost`], and the caller has to start a new one.
    async fn scan(&self, prefixes: &[&str], from: Option<Cursor>) -> Result<Page, StoreError>;

    /// The first page of the values of exactly these keys, in no particular order; keys that do not exist are left out.
    ///
    /// Continue with [`Store::scan`] and [`Page::next`]. Each page asks the store for its keys, so a key that is left out did
    /// not exist at that moment. Pass at most a few thousand keys at once.
    async fn read(&self, keys: Vec<String>) -> Result<Page, StoreError>;

    /// The value of the key and its version; `None` if the key does not exist.
    async fn get(&self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Writes a value if the precondition holds, and returns its version. When the call returns, the write is durable in the
    /// embedded store, and in Redis as durable as the server is configured to make it.
    ///
    /// With `ttl` the key expires after that time (in whole milliseconds, at least one); without it, an earlier expiry is
    /// removed. [`Precondition::Any`] also replaces a value of another Redis type.
    async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        condition: Precondition,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError>;

    /// Does several writes: in one step where the backend can, else all at once. After an error, any of them may have been done.
    async fn put_all(&self, writes: Vec<Write>) -> Result<(), StoreError> {
        try_join_all(writes.into_iter().map(|write| write_one(self, write))).await.map(drop)
    }

    /// Removes a key if the precondition holds, and returns whether it existed.
    async fn delete(&self, key: &str, condition: Precondition) -> Result<bool, StoreError>;

    /// The changes of keys with one of these prefixes from now on; `None` if this backend cannot push changes, so that the
    /// caller has to scan periodically.
    fn watch(&self, prefixes: Vec<String>) -> Option<ChangeStream>;
}

/// One of several writes.
#[derive(Debug, Clone)]
pub struct Write {
    /// The key.
    pub key: String,
    /// The value.
    pub bytes: Vec<u8>,
    /// Whether a value that is there already stays, and only its time to live begins anew.
    pub keeps_old: bool,
    /// The time to live.
    pub ttl: Option<Duration>,
}

/// Does one of several writes.
async fn write_one<S: Store + ?Sized>(store: &S, write: Write) -> Result<(), StoreError> {
    let Write { key, bytes, keeps_old, ttl } = write;
    let condition = if keeps_old { Precondition::Absent } else { Precondition::Any };
    match store.put(&key, &bytes, condition, ttl).await {
        Err(StoreError::PreconditionFailed { .. }) => {}
        done => return done.map(drop),
    }
    let Some(Record { bytes, etag }) = store.get(&key).await? else { return Ok(()) };
    match store.put(&key, &bytes, Precondition::Etag(etag), ttl).await {
        // Somebody else has written it meanwhile.
        Err(StoreError::PreconditionFailed { .. }) => Ok(()),
        done => done.map(drop),
    }
}

/// A stored value and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The stored bytes.
    pub bytes: Vec<u8>,
    /// The hash of `bytes`.
    pub etag: Etag,
}

impl Record {
    fn new(bytes: Vec<u8>) -> Record {
        Record { etag: Etag::of(&bytes), bytes }
    }
}

/// What must be stored under the key for a write to be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precondition {
    /// Any value, or none.
    Any,
    /// No value.
    Absent,
    /// The value with this version.
    Etag(Etag),
}

impl Precondition {
    fn check(self, key: &str, found: Option<Etag>) -> Result<(), StoreError> {
        let holds = match self {
            Precondition::Any => true,
            Precondition::Absent => found.is_none(),
            Precondition::Etag(expected) => found == Some(expected),
        };
        holds.then_some(()).ok_or_else(|| StoreError::PreconditionFailed { key: key.to_owned(), found })
    }
}

/// One page of a scan.
#[derive(Debug, Default)]
pub struct Page {
    /// The keys of this page with their values.
    pub items: Vec<Item>,
    /// The cursor of the next page; `None` after the last page.
    pub next: Option<Cursor>,
    /// Approximately how many keys the store examined for this page, including those with other prefixes.
    pub walked: usize,
}

/// A key that a scan returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The key; if it is not UTF-8, the invalid parts are replaced by U+FFFD.
    pub key: String,
    /// The value, or the error of reading it.
    pub content: Result<Vec<u8>, ItemError>,
}

/// The error of a key that exists but cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ItemError {
    /// The key holds a value of another Redis type.
    #[error("it holds a {found}, not a string")]
    WrongType {
        /// The type in Redis' words: `list`, `hash`, …
        found: String,
    },
    /// The value is larger than [`VALUE_LIMIT`].
    #[error("it has {bytes} bytes; at most {VALUE_LIMIT} are allowed")]
    TooLarge {
        /// The size of the value.
        bytes: usize,
    },
    /// The key itself is not UTF-8.
    #[error("the key is not valid UTF-8")]
    KeyNotText,
}

/// The position of a scan; only valid for the store and the prefixes that it came from.
#[derive(Debug, Clone)]
pub struct Cursor(Position);

#[derive(Debug, Clone)]
enum Position {
    /// In the embedded store: at the prefix with this index, after this key, or at its first key if there is none.
    After(usize, Option<String>),
    /// In the embedded store: before these named keys, which are read from the last one on.
    Keys(Vec<String>),
    /// In Redis.
    Scan(redis::ScanState),
}

/// A change in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This key was written or removed, or it expired.
    Changed(String),
    /// The receiver fell behind and some changes were dropped: scan again.
    Lost,
}

/// A stream of changes; it ends when the store is closed.
pub type ChangeStream = BoxStream<'static, Change>;

/// Opens the store at an address; call it inside a tokio runtime.
///
/// - `embedded:PATH`: a folder (created if necessary), or a file if PATH is a file or ends in `.redb`
/// - `memory:` ([`MEMORY`]): an embedded store without a file, for tests and trials
/// - `redis://[[user]:password@]host[:port][/db]`, `rediss://…` with TLS (`?ca=FILE` trusts the certificates of
///   this PEM file instead of the public ones). An unreachable server is not an error here: the connection is made by
///   the first call that reaches the server, and calls before that return errors.
///
/// # Errors
/// `BadUrl`; for the embedded store also `Locked`, `Corrupt` and `Unavailable`.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(embedded::EmbeddedStore::in_memory()?)),
        Some(("embedded", path)) => Ok(Arc::new(embedded::EmbeddedStore::open(path).await?)),
        Some(("redis" | "rediss", _)) => Ok(Arc::new(redis::RedisStore::open(url).await?)),
        _ => Err(StoreError::BadUrl {
            message: "it must begin with embedded:, redis:// or rediss://, or be memory:".to_owned(),
        }),
    }
}

fn check_size(key: &str, bytes: usize) -> Result<(), StoreError> {
    if bytes > VALUE_LIMIT {
        return Err(StoreError::TooLarge { key: key.to_owned(), bytes, limit: VALUE_LIMIT });
    }
    Ok(())
}
