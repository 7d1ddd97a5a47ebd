//! Storage: bytes under text keys, behind one trait with two backends (embedded and Redis).
//!
//! - [`Store`]: what a store can do
//! - [`open`]: from an address to a store
//! - `embedded`: a file of our own (redb), for a single process
//! - `redis`: a server that others write to as well

mod embedded;
mod error;
mod etag;
mod redis;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream::BoxStream;

pub use error::StoreError;
pub use etag::{Etag, NotAnEtag};

/// The address of a store that lives in memory alone.
pub const MEMORY: &str = "memory:";

/// The largest value, in bytes, that is read or written.
pub const VALUE_LIMIT: usize = 16 * 1024 * 1024;

/// A page of a scan holds about this many keys at most.
const PAGE_KEYS: usize = 1000;

/// A page of a scan ends before its values exceed this many bytes, unless it is a single value.
const PAGE_BYTES: usize = 4 * 1024 * 1024;

/// Bytes under text keys.
///
/// Every call ends within a few seconds, whatever the backend does.
///
/// A write that returns an error is over: with [`StoreError::Unsure`] it may have been done, with any other one it was not,
/// and in either case it does not happen later, so that a later write cannot lose to it. (In Redis this rests on the
/// server's clock, which must not be set back meanwhile, and on the right to ask for it.) A write whose future is dropped
/// may still happen, within the time that the call would have taken.
#[async_trait]
pub trait Store: Send + Sync {
    /// Where the data lies, without secrets: `redis://host:6379/0`, `embedded:data`.
    fn describe(&self) -> &str;

    /// Why the store takes no writes just now, although it can be read, if it knows: a write has failed, as on a full disk, and
    /// none has succeeded since.
    fn read_only(&self) -> Option<String> {
        None
    }

    /// Succeeds if the store would serve a call now.
    async fn ping(&self) -> Result<(), StoreError>;

    /// One page of the keys that begin with one of `prefixes`, with what they hold, in no particular order.
    ///
    /// Start without a cursor, go on with [`Page::next`] and the same prefixes until there is none. A page may be empty and
    /// yet have a next one. A key that exists during the whole scan is seen at least once; in Redis
    /// it can be seen **twice**, with different values if it was written meanwhile (the later one is newer).
    ///
    /// All pages of a scan come from one server. When another one answers (after a fail-over or a restart), the scan ends
    /// with [`StoreError::ScanLost`], and has to begin again.
    async fn scan(&self, prefixes: &[&str], from: Option<Cursor>) -> Result<Page, StoreError>;

    /// The first page of what exactly these keys hold, in no particular order; those that do not exist are left out.
    ///
    /// Go on with [`Store::scan`] and [`Page::next`]. Each page asks the store for these keys: what it leaves out was not
    /// there at that moment. Give at most some thousands of keys at once.
    async fn read(&self, keys: Vec<String>) -> Result<Page, StoreError>;

    /// What the key holds, if anything.
    async fn get(&self, key: &str) -> Result<Option<Record>, StoreError>;

    /// Writes a value, if the expectation holds, and returns its version; done means durable in the
    /// embedded store, and as durable as the server is configured in Redis.
    ///
    /// With `ttl` the key vanishes after that time (in whole milliseconds, at least one); without, an earlier
    /// limit is lifted. [`Expect::Any`] also replaces a value of another Redis type.
    async fn put(
        &self,
        key: &str,
        bytes: &[u8],
        expect: Expect,
        ttl: Option<Duration>,
    ) -> Result<Etag, StoreError>;

    /// Removes a key, if the expectation holds, and says whether it was there.
    async fn delete(&self, key: &str, expect: Expect) -> Result<bool, StoreError>;

    /// Tells of changes to keys with one of these prefixes from now on; `None` if this backend cannot,
    /// so that the caller has to scan now and then.
    fn watch(&self, prefixes: Vec<String>) -> Option<Changes>;
}

/// A stored value and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The value.
    pub bytes: Vec<u8>,
    /// Its version.
    pub etag: Etag,
}

impl Record {
    fn new(bytes: Vec<u8>) -> Record {
        Record { etag: Etag::of(&bytes), bytes }
    }
}

/// What a write expects to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// Whatever there is, or nothing.
    Any,
    /// Nothing.
    Absent,
    /// Exactly this version.
    Etag(Etag),
}

impl Expect {
    fn check(self, key: &str, found: Option<Etag>) -> Result<(), StoreError> {
        let holds = match self {
            Expect::Any => true,
            Expect::Absent => found.is_none(),
            Expect::Etag(expected) => found == Some(expected),
        };
        holds.then_some(()).ok_or_else(|| StoreError::Expectation { key: key.to_owned(), found })
    }
}

/// A part of a scan.
#[derive(Debug, Default)]
pub struct Page {
    /// The keys of this page.
    pub items: Vec<Item>,
    /// Where to go on; `None` after the last page.
    pub next: Option<Cursor>,
    /// About how many keys the store looked at for this page, those with other prefixes included.
    pub walked: usize,
}

/// A key that a scan found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// The key; if it is not UTF-8, as much of it as can be shown.
    pub key: String,
    /// Its value, or why that cannot be read.
    pub content: Result<Vec<u8>, Unreadable>,
}

/// Why a key that exists cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It holds another Redis type.
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

/// Where a scan goes on; only good for the store and the prefixes that it came from.
#[derive(Debug, Clone)]
pub struct Cursor(Position);

#[derive(Debug, Clone)]
enum Position {
    /// After this key of the prefix in this place; at its begin if there is none.
    After(usize, Option<String>),
    /// Before these keys, the last one first.
    Keys(Vec<String>),
    /// In the middle of a Redis scan.
    Scan(redis::ScanState),
}

/// News from a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// This key was written or removed, or its time was up.
    Changed(String),
    /// Some news were lost: scan again.
    Lost,
}

/// A stream of news; it ends when the store is closed.
pub type Changes = BoxStream<'static, Change>;

/// Opens the store at an address; call it inside a tokio runtime.
///
/// - `embedded:PATH`: a folder (made if need be), or a file if it is one or its name ends in `.redb`
/// - `memory:` ([`MEMORY`]): an embedded store without a file, for trials
/// - `redis://[[user]:password@]host[:port][/db]`, `rediss://…` with TLS (`?ca=FILE` trusts the certificates of
///   this PEM file instead of the public ones). A server that is away is no error here: each call
///   says so, and the first one that reaches it connects.
///
/// # Errors
/// `BadUrl`; for the embedded store also `Locked`, `Corrupt` and `Unavailable`.
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    match url.split_once(':') {
        Some(("memory", "")) => Ok(Arc::new(embedded::Embedded::in_memory()?)),
        Some(("embedded", path)) => Ok(Arc::new(embedded::Embedded::open(path).await?)),
        Some(("redis" | "rediss", _)) => Ok(Arc::new(redis::Redis::open(url).await?)),
        _ => Err(StoreError::BadUrl {
            reason: "it must begin with embedded:, redis:// or rediss://, or be memory:".to_owned(),
        }),
    }
}

fn check_size(key: &str, bytes: usize) -> Result<(), StoreError> {
    if bytes > VALUE_LIMIT {
        return Err(StoreError::TooLarge { key: key.to_owned(), bytes, limit: VALUE_LIMIT });
    }
    Ok(())
}
