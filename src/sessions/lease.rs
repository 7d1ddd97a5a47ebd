//! Who works on a session: one at a time, and for a limited time.
//!
//! In a store that no other process uses, leases are in memory, and end with the process. In a shared store they are keys
//! with a time to live besides, so that a session whose process has died is free when the time is over.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::{SessionError, SessionState};
use crate::store::{Etag, Precondition, Store, StoreError};

/// All leases that this process has given out.
pub struct Leases {
    shared: Arc<Shared>,
}

struct Shared {
    store: Arc<dyn Store>,
    prefix: String,
    /// What tells each holder to stop.
    held: Mutex<HashMap<String, watch::Sender<bool>>>,
}

/// The right to work on a session. It ends when it is dropped.
pub struct Lease {
    shared: Arc<Shared>,
    id: String,
    stop: watch::Receiver<bool>,
    /// The value of the lease's key in a shared store, which nobody else has.
    token: String,
    /// Whether the key may be there.
    is_stored: bool,
}

impl Leases {
    /// Leases on the sessions of a store.
    pub fn new(store: Arc<dyn Store>, root: &str) -> Leases {
        let prefix = format!("{root}session-leases:");
        Leases { shared: Arc::new(Shared { store, prefix, held: Mutex::default() }) }
    }

    /// Takes the lease on a session.
    ///
    /// # Errors
    /// [`SessionError::OutOfTurn`] if somebody has it.
    pub async fn take(&self, id: &str, time: Duration) -> Result<Lease, SessionError> {
        let shared = self.shared.clone();
        let stop = match shared.held().entry(id.to_owned()) {
            Entry::Occupied(_) => return Err(SessionError::OutOfTurn { state: SessionState::Thinking }),
            Entry::Vacant(free) => free.insert(watch::Sender::new(false)).subscribe(),
        };
        let token = base::random::random().to_string();
        let mut lease = Lease { shared, id: id.to_owned(), stop, token, is_stored: false };
        if lease.shared.store.is_shared() {
            lease.store(Precondition::Absent, time).await?;
        }
        Ok(lease)
    }

    /// Whether somebody works on a session, here or elsewhere.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn is_held(&self, id: &str) -> Result<bool, StoreError> {
        if self.shared.held().contains_key(id) {
            return Ok(true);
        }
        match self.shared.store.is_shared() {
            true => Ok(self.shared.store.get(&self.shared.key(id)).await?.is_some()),
            false => Ok(false),
        }
    }

    /// What the keys of all leases begin with.
    pub fn prefix(&self) -> &str {
        &self.shared.prefix
    }

    /// The sessions that somebody works on in this process.
    pub fn held_here(&self) -> Vec<String> {
        self.shared.held().keys().cloned().collect()
    }

    /// Tells whoever works on a session in this process to stop.
    pub fn stop(&self, id: &str) {
        if let Some(holder) = self.shared.held().get(id) {
            holder.send_replace(true);
        }
    }

    /// Removes the lease on a session that is gone.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn forget(&self, id: &str) -> Result<(), StoreError> {
        if self.shared.store.is_shared() {
            self.shared.store.delete(&self.shared.key(id), Precondition::Any).await?;
        }
        Ok(())
    }
}

impl Shared {
    fn held(&self) -> MutexGuard<'_, HashMap<String, watch::Sender<bool>>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn key(&self, id: &str) -> String {
        format!("{}{id}", self.prefix)
    }
}

impl Lease {
    /// Gives the lease this time from now on. If its time was over, it is taken anew.
    ///
    /// # Errors
    /// If somebody else has it now; if the store does not answer.
    pub async fn extend(&mut self, time: Duration) -> Result<(), SessionError> {
        if !self.shared.store.is_shared() {
            return Ok(());
        }
        match self.store(self.own(), time).await {
            Err(StoreError::PreconditionFailed { found: None, .. }) => {
                Ok(self.store(Precondition::Absent, time).await?)
            }
            stored => Ok(stored?),
        }
    }

    /// The condition that the key is there and of this lease.
    fn own(&self) -> Precondition {
        Precondition::Etag(Etag::of(self.token.as_bytes()))
    }

    /// Ends when somebody else has ended the session.
    pub async fn stopped(&mut self) {
        // The sender lives as long as the lease.
        let _ = self.stop.wait_for(|stop| *stop).await;
    }

    /// Gives the lease back, so that it is free for others when this returns.
    pub async fn give_back(mut self) {
        if std::mem::take(&mut self.is_stored) {
            let key = self.shared.key(&self.id);
            if let Err(error) = self.shared.store.delete(&key, self.own()).await {
                tracing::debug!(%error, "a lease stays until its time is over");
            }
        }
    }

    async fn store(&mut self, expect: Precondition, time: Duration) -> Result<(), StoreError> {
        let key = self.shared.key(&self.id);
        // Also a write whose answer is lost may have been done.
        self.is_stored = true;
        let stored = self.shared.store.put(&key, self.token.as_bytes(), expect, Some(time)).await;
        if let Err(StoreError::PreconditionFailed { .. }) = stored {
            self.is_stored = false;
        }
        stored.map(drop)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.shared.held().remove(&self.id);
        if !self.is_stored {
            return;
        }
        // The runtime may be shutting down; then the lease ends with its time.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let (shared, key, own) = (self.shared.clone(), self.shared.key(&self.id), self.own());
        runtime.spawn(async move { shared.store.delete(&key, own).await });
    }
}
