//! Watching a session: its events one after the other, also those of other processes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::event::{EventKind, SessionEvent};
use super::feed::After;
use super::{LOOK_EVERY, Session, SessionError, Sessions};

/// How often a store of this process alone is asked whether the session is still there.
const CHECK_EVERY: Duration = Duration::from_secs(5);

/// How long to wait before events are read again that were forgotten for want of memory.
const FORGOTTEN: Duration = Duration::from_millis(500);

/// Reads the events of a session.
pub struct Watcher {
    sessions: Arc<Sessions>,
    id: String,
    /// The number of the last event that was read.
    last: u64,
    changed: watch::Receiver<()>,
    /// When the store is asked next. It stays if [`Watcher::next`] is dropped, so that no other timer can keep it from coming.
    look_at: Instant,
    is_over: bool,
}

/// What happened.
#[derive(Debug)]
pub enum Seen {
    /// An event.
    Event(SessionEvent),
    /// Events are gone: the whole session, as it is after the event with this number.
    Reset(u64, Session),
}

impl Watcher {
    /// A watcher of what comes after the event with the number `after`, or else after what `session` shows. The event `told` was the
    /// last one when it was read: what came since may be in it or not.
    pub(super) fn new(sessions: Arc<Sessions>, session: &Session, after: Option<u64>, told: u64) -> Watcher {
        let changed = sessions.feeds.open(&session.id, &session.record);
        let last = after.unwrap_or_else(|| told.max(session.record.last_event()));
        let (look_at, is_over) = (next_look(&sessions), session.state.is_end());
        Watcher { sessions, id: session.id.clone(), last, changed, look_at, is_over }
    }

    /// The number of the last event that was read.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// The number of the newest event.
    pub fn newest(&self) -> u64 {
        self.sessions.feeds.last(&self.id)
    }

    /// What happens next; none when the session has ended.
    ///
    /// # Errors
    /// If the store does not answer.
    pub async fn next(&mut self) -> Result<Option<Seen>, SessionError> {
        loop {
            self.changed.mark_unchanged();
            match self.sessions.feeds.after(&self.id, self.last) {
                After::Event(event) => {
                    self.last = event.id;
                    self.is_over |= event.kind == EventKind::End;
                    return Ok(Some(Seen::Event(event)));
                }
                After::Lost => return self.reset().await,
                After::Nothing if self.is_over => return Ok(None),
                After::Nothing => self.wait().await?,
            }
        }
    }

    /// Waits until there may be more.
    async fn wait(&mut self) -> Result<(), SessionError> {
        match timeout_at(self.look_at, self.changed.changed()).await {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(_)) => sleep(FORGOTTEN).await,
            Err(_) => {}
        }
        let opened = self.sessions.open(&self.id).await;
        self.look_at = next_look(&self.sessions);
        match opened {
            Ok(session) => {
                self.changed = self.sessions.feeds.open(&self.id, &session.record);
                self.is_over |= session.state.is_end();
                Ok(())
            }
            Err(SessionError::NotFound { .. }) => {
                self.is_over = true;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    async fn reset(&mut self) -> Result<Option<Seen>, SessionError> {
        let session = match self.sessions.open(&self.id).await {
            Err(SessionError::NotFound { .. }) => return Ok(None),
            opened => opened?,
        };
        self.changed = self.sessions.feeds.open(&self.id, &session.record);
        self.last = self.sessions.feeds.last(&self.id);
        self.is_over |= session.state.is_end();
        Ok(Some(Seen::Reset(self.last, session)))
    }
}

/// When a watcher that begins to wait now asks the store.
fn next_look(sessions: &Sessions) -> Instant {
    let every = if sessions.store.is_shared() { LOOK_EVERY } else { CHECK_EVERY };
    Instant::now() + every
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;
    use crate::sessions::{Draft, SessionKind, SessionOptions, SessionState, Subject};

    const MINUTE: Duration = Duration::from_secs(60);

    fn draft(step: usize) -> Draft {
        let subject = Subject { kind: SessionKind::Skill, id: "s".to_owned() };
        Draft {
            subject,
            state: SessionState::WaitingCmd,
            step,
            max_steps: 9,
            body: RawValue::NULL.to_owned(),
        }
    }

    #[tokio::test]
    async fn what_happens_while_a_watcher_begins_is_not_lost() {
        let store = crate::store::open(crate::store::MEMORY).await.unwrap();
        let options = SessionOptions { ttl: MINUTE, ttl_waiting: MINUTE };
        let sessions = Arc::new(Sessions::new(store, "", options));
        let mut work = sessions.create(draft(0), MINUTE).await.unwrap();
        let id = work.id().to_owned();
        // Somebody else watches, so that events are kept.
        let (_, _other) = sessions.watch(&id, None).await.unwrap();
        let told = sessions.feeds.last(&id);
        let session = sessions.open(&id).await.unwrap();
        work.save(draft(1), &[(EventKind::Directive, "1".to_owned())]).await.unwrap();
        work.finish().await;
        let mut watcher = Watcher::new(sessions.clone(), &session, None, told);
        let seen = watcher.next().await.unwrap();
        assert!(matches!(&seen, Some(Seen::Event(event)) if event.data == "1"), "{seen:?}");
    }
}
