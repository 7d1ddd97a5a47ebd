//! Work on a session: it is read once, and each change is stored on the condition that nobody else has changed it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use template::value::SmolStr;

use super::event::EventKind;
use super::lease::Lease;
use super::record::{Draft, Record};
use super::{LOOK_EVERY, SessionError, SessionState, Sessions, now};
use crate::store::{Etag, Precondition, StoreError};

/// A session that is worked on. [`Work::finish`] it; if it is dropped, nothing more is stored, and those who watch are told of what is
/// stored when they look.
pub struct Work {
    sessions: Arc<Sessions>,
    id: String,
    record: Record,
    etag: Etag,
    lease: Lease,
}

/// Tells those who watch a session what does not change it.
pub struct Teller {
    sessions: Arc<Sessions>,
    id: String,
}

impl Teller {
    /// Tells an event.
    pub fn tell(&self, kind: EventKind, data: impl Into<SmolStr>) {
        self.sessions.feeds.push(&self.id, kind, data.into());
    }
}

impl Work {
    pub(super) fn new(sessions: Arc<Sessions>, id: String, record: Record, etag: Etag, lease: Lease) -> Work {
        Work { sessions, id, record, etag, lease }
    }

    /// The id of the session.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// What is stored.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Whether somebody watches, or has watched lately.
    pub fn is_watched(&self) -> bool {
        self.sessions.feeds.has(&self.id)
    }

    /// What tells those who watch.
    pub fn teller(&self) -> Teller {
        Teller { sessions: self.sessions.clone(), id: self.id.clone() }
    }

    /// Goes on for this time at most, in which the session does not expire.
    ///
    /// # Errors
    /// If somebody else has the session now, because the time was over; if the store does not answer.
    pub async fn extend(&mut self, time: Duration) -> Result<(), SessionError> {
        self.sessions.feeds.catch_up(&self.id, &self.record);
        self.lease.extend(time).await?;
        match self.sessions.keep_for(&self.id, &self.record, self.etag, time).await {
            Err(SessionError::OutOfTurn { .. }) => Err(self.out_of_turn().await),
            kept => {
                self.etag = kept?;
                Ok(())
            }
        }
    }

    /// Stores the next version. Those who watch are told when the work goes on or ends.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if the session was ended meanwhile.
    pub async fn save(&mut self, draft: Draft, events: &[(EventKind, String)]) -> Result<(), SessionError> {
        let mut record = self.record.next(draft, now());
        let first = self.sessions.feeds.last(&self.id) + 1;
        for (kind, data) in events {
            record.add(first, *kind, data);
        }
        let put = self.sessions.put(&self.id, &record, Precondition::Etag(self.etag)).await;
        match put {
            Err(SessionError::OutOfTurn { .. }) => Err(self.out_of_turn().await),
            put => {
                self.etag = put?;
                self.record = record;
                Ok(())
            }
        }
    }

    /// Runs `work` unless the session is ended meanwhile.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if it is.
    pub async fn unless_ended<T>(&mut self, work: impl Future<Output = T>) -> Result<T, SessionError> {
        tokio::select! {
            result = work => Ok(result),
            () = ended(&self.sessions, &self.id, self.etag, &mut self.lease) => Err(self.out_of_turn().await),
        }
    }

    /// Ends the work. Only then those who watch are told, as one of them may answer at once.
    pub async fn finish(self) {
        let Work { sessions, id, record, lease, .. } = self;
        lease.give_back().await;
        sessions.feeds.catch_up(&id, &record);
    }

    /// Ends the work, and removes the session unless somebody else has changed it.
    pub async fn discard(self) {
        let removed =
            self.sessions.store.delete(&self.sessions.key(&self.id), Precondition::Etag(self.etag)).await;
        if let Err(error) = removed {
            tracing::debug!(%error, "a session that was not started stays until its time to live is over");
        }
        self.sessions.feeds.remove(&self.id);
        self.lease.give_back().await;
    }

    /// What somebody else has made of the session.
    async fn out_of_turn(&self) -> SessionError {
        match self.sessions.stored(&self.id).await {
            Ok(session) => SessionError::OutOfTurn { state: session.state },
            Err(SessionError::NotFound { .. }) => SessionError::OutOfTurn { state: SessionState::Cancelled },
            Err(error) => error,
        }
    }
}

/// Waits until somebody has ended the session, here or in another process.
async fn ended(sessions: &Sessions, id: &str, etag: Etag, lease: &mut Lease) {
    if !sessions.store.is_shared() {
        return lease.stopped().await;
    }
    loop {
        if tokio::time::timeout(LOOK_EVERY, lease.stopped()).await.is_ok() {
            return;
        }
        match sessions.store.get(&sessions.key(id)).await {
            Ok(Some(stored)) if stored.etag == etag => {}
            // While the store does not answer, nobody can end the session.
            Err(StoreError::Unavailable { .. } | StoreError::Unsure { .. } | StoreError::ScanLost) => {}
            _ => return,
        }
    }
}
