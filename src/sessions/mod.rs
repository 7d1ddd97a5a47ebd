//! Sessions: dialogues that last longer than a request. They live in the store, so that they survive a restart, and any process
//! that shares the store can go on with them.
//!
//! - [`Sessions`]: opens, lists, cancels and removes sessions
//! - [`Work`]: the right to change a session for a while; `lease`: who has it; [`Thinking`]: what those who watch see of it
//! - `record`: what is stored; `event`: what happened, for those who watch
//! - `feed`: the last events of the sessions that are watched; [`Watcher`]: reads them

mod cancel;
mod error;
mod event;
mod feed;
mod lease;
mod list;
mod record;
mod thinking;
mod watcher;
mod work;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;

pub use error::SessionError;
pub use event::{EventKind, SessionEvent};
pub use list::{Filter, Listed};
pub use record::{Draft, Head, Record, SessionKind, SessionState, Subject};
pub use thinking::Thinking;
pub use watcher::{Seen, Watcher};
pub use work::{Teller, Work};

use crate::store::{Etag, Precondition, Store, StoreError};
use feed::Feeds;
use lease::Leases;

/// How often a store that other processes change, too, is asked for what they did to a session.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The sessions of all kinds.
pub struct Sessions {
    store: Arc<dyn Store>,
    /// What the keys of all documents begin with.
    root: String,
    options: SessionOptions,
    leases: Leases,
    feeds: Arc<Feeds>,
}

/// How long sessions live after their last event.
#[derive(Debug, Clone, Copy)]
pub struct SessionOptions {
    /// A session that nobody has to answer.
    pub ttl: Duration,
    /// A session that waits for a person or a command.
    pub ttl_waiting: Duration,
}

/// A session as it is stored.
#[derive(Debug)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// What is stored.
    pub record: Record,
    /// Its state; [`SessionState::Thinking`] while somebody works on it.
    pub state: SessionState,
    /// None of what cannot be read.
    etag: Option<Etag>,
}

impl Session {
    /// That it is a session of this kind; one that cannot be read may be of any.
    ///
    /// # Errors
    /// [`SessionError::OtherKind`].
    pub fn must_be(&self, kind: SessionKind) -> Result<(), SessionError> {
        match &self.record.head.subject {
            Some(subject) if subject.kind != kind => Err(SessionError::OtherKind { kind: subject.kind }),
            _ => Ok(()),
        }
    }

    /// What must hold so that nobody else has changed it.
    fn unchanged(&self) -> Precondition {
        self.etag.map_or(Precondition::Any, Precondition::Etag)
    }
}

impl Sessions {
    /// Sessions below the keys that begin with `root`.
    pub fn new(store: Arc<dyn Store>, root: &str, options: SessionOptions) -> Sessions {
        let leases = Leases::new(store.clone(), root);
        Sessions { store, root: root.to_owned(), options, leases, feeds: Arc::default() }
    }

    /// Creates a session, which can be worked on for `time`. If nothing comes of it, it is gone when the time is over.
    ///
    /// # Errors
    /// [`SessionError::Store`].
    pub async fn create(self: &Arc<Self>, draft: Draft, time: Duration) -> Result<Work, SessionError> {
        let id = new_id();
        let lease = self.leases.take(&id, time).await?;
        let record = Record::new(draft, now());
        let (key, bytes) = (self.key(&id), record.bytes());
        let etag = self.store.put(&key, &bytes, Precondition::Absent, Some(time)).await?;
        Ok(Work::new(self.clone(), id, record, etag, lease))
    }

    /// Creates a session that is not worked on.
    ///
    /// # Errors
    /// [`SessionError::Store`].
    pub async fn keep(self: &Arc<Self>, draft: Draft) -> Result<Session, SessionError> {
        let id = new_id();
        let record = Record::new(draft, now());
        let etag = self.put(&id, &record, Precondition::Absent).await?;
        Ok(Session { state: record.head.state, id, record, etag: Some(etag) })
    }

    /// The session with this id.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; if the store does not answer.
    pub async fn open(&self, id: &str) -> Result<Session, SessionError> {
        let mut session = self.stored(id).await?;
        if !session.state.is_end() && self.leases.is_held(id).await? {
            session.state = SessionState::Thinking;
        }
        Ok(session)
    }

    /// The right to change a session of a kind for `time`.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; [`SessionError::OtherKind`]; [`SessionError::OutOfTurn`] while somebody else has it, and for a session that has ended.
    pub async fn work(
        self: &Arc<Self>,
        id: &str,
        kind: SessionKind,
        time: Duration,
    ) -> Result<Work, SessionError> {
        check_id(id)?;
        let lease = match self.leases.take(id, time).await {
            Ok(lease) => lease,
            // Whoever has it may not have heard yet that the session has ended.
            Err(SessionError::OutOfTurn { state }) => {
                let stored = self.stored(id).await?;
                stored.must_be(kind)?;
                let ended = Some(stored.state).filter(|state| state.is_end());
                return Err(SessionError::OutOfTurn { state: ended.unwrap_or(state) });
            }
            Err(error) => return Err(error),
        };
        // It is read under the lease, as whoever had it before may have changed it.
        let session = self.stored(id).await?;
        session.must_be(kind)?;
        let Session { id, record, state, etag } = session;
        match etag.filter(|_| !state.is_end()) {
            Some(etag) => Ok(Work::new(self.clone(), id, record, etag, lease)),
            None => Err(SessionError::OutOfTurn { state }),
        }
    }

    /// Watches a session: what comes after the event with the number `after`, or from now on. Gives also the session as it is now.
    ///
    /// # Errors
    /// As [`Sessions::open`].
    pub async fn watch(
        self: &Arc<Self>,
        id: &str,
        after: Option<u64>,
    ) -> Result<(Session, Watcher), SessionError> {
        let told = self.feeds.last(id);
        let session = self.open(id).await?;
        let watcher = Watcher::new(self.clone(), &session, after, told);
        Ok((session, watcher))
    }

    /// The session as it is stored, whoever works on it.
    async fn stored(&self, id: &str) -> Result<Session, SessionError> {
        check_id(id)?;
        let (record, etag) = match self.store.get(&self.key(id)).await {
            Ok(None) => return Err(SessionError::NotFound { id: id.to_owned() }),
            Ok(Some(stored)) => (Record::read(&stored.bytes), Some(stored.etag)),
            Err(StoreError::WrongType { .. } | StoreError::TooLarge { .. }) => (Record::failed(), None),
            Err(error) => return Err(error.into()),
        };
        Ok(Session { id: id.to_owned(), state: record.head.state, record, etag })
    }

    /// Stores a record; its time to live begins anew.
    async fn put(&self, id: &str, record: &Record, expect: Precondition) -> Result<Etag, SessionError> {
        Ok(self.store.put(&self.key(id), &record.bytes(), expect, Some(self.ttl(record))).await?)
    }

    /// Stores a record once more if it would expire within this time; gives its version.
    async fn keep_for(
        &self,
        id: &str,
        record: &Record,
        etag: Etag,
        time: Duration,
    ) -> Result<Etag, SessionError> {
        let lived = Duration::from_millis(now().saturating_sub(record.head.updated_at));
        let ttl = self.ttl(record);
        if lived + time < ttl {
            return Ok(etag);
        }
        let expect = Precondition::Etag(etag);
        Ok(self.store.put(&self.key(id), &record.bytes(), expect, Some(ttl.max(time))).await?)
    }

    fn ttl(&self, record: &Record) -> Duration {
        match record.head.state.is_waiting() {
            true => self.options.ttl_waiting,
            false => self.options.ttl,
        }
    }

    fn prefix(&self) -> String {
        format!("{}sessions:", self.root)
    }

    fn key(&self, id: &str) -> String {
        format!("{}{id}", self.prefix())
    }
}

fn new_id() -> String {
    HEXLOWER.encode(&base::random::random().to_be_bytes())
}

/// Ids are random numbers of 128 bits in hexadecimal.
fn check_id(id: &str) -> Result<(), SessionError> {
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then_some(()).ok_or_else(|| SessionError::NotFound { id: id.chars().take(64).collect() })
}

/// Milliseconds since 1970.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
