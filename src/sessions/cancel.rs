//! Ending a session: whoever works on it is stopped, and it stays to be read until its time to live is over.

use serde_json::json;

use super::event::EventKind;
use super::{Session, SessionError, SessionState, Sessions, now};

/// How often it is tried again when the session changes meanwhile.
const TRIES: usize = 16;

impl Sessions {
    /// Ends a session; one that has ended is removed.
    ///
    /// # Errors
    /// [`SessionError::NotFound`]; if the store does not answer.
    pub async fn cancel(&self, id: &str) -> Result<(), SessionError> {
        let mut tries = 0;
        loop {
            let session = self.stored(id).await?;
            let done = match session.state.is_end() {
                true => self.remove(&session).await,
                false => self.end(session).await,
            };
            tries += 1;
            match done {
                Err(SessionError::OutOfTurn { .. }) if tries < TRIES => {}
                done => return done,
            }
        }
    }

    async fn end(&self, session: Session) -> Result<(), SessionError> {
        let unchanged = session.unchanged();
        let Session { id, record, .. } = session;
        let mut record = record.ended(SessionState::Cancelled, now());
        let first = self.feeds.last(&id) + 1;
        let data = json!({"state": SessionState::Cancelled, "step": record.head.step}).to_string();
        for kind in [EventKind::State, EventKind::End] {
            record.add(first, kind, &data);
        }
        self.put(&id, &record, unchanged).await?;
        self.leases.stop(&id);
        self.feeds.catch_up(&id, &record);
        Ok(())
    }

    async fn remove(&self, session: &Session) -> Result<(), SessionError> {
        let key = self.key(&session.id);
        self.store.delete(&key, session.unchanged()).await?;
        self.leases.forget(&session.id).await?;
        self.feeds.remove(&session.id);
        Ok(())
    }
}
