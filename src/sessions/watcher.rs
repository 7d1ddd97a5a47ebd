//! Watching a session: its events one after the other, also those of other processes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::timeout;

use super::event::{EventKind, SessionEvent};
use super::feed::After;
use super::{Session, SessionError, Sessions};

/// How often a store that other processes change is asked for what they did.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often a store of this process alone is asked whether the session is still there.
const CHECK_EVERY: Duration = Duration::from_secs(10);

/// Reads the events of a session.
pub struct Watcher {
    sessions: Arc<Sessions>,
    id: String,
    /// The number of the last event that was read.
    last: u64,
    changed: watch::Receiver<()>,
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
    /// A watcher of what comes after the event with the number `after`, or from now on.
    pub(super) fn new(sessions: Arc<Sessions>, session: &Session, after: Option<u64>) -> Watcher {
        let changed = sessions.feeds.open(&session.id, &session.record);
        let last = after.unwrap_or_else(|| sessions.feeds.last(&session.id));
        let is_over = session.state.is_end();
        Watcher { sessions, id: session.id.clone(), last, changed, is_over }
    }

    /// The number of the last event that was read.
    pub fn last(&self) -> u64 {
        self.last
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
        let is_shared = self.sessions.store.is_shared();
        let time = if is_shared { LOOK_EVERY } else { CHECK_EVERY };
        if let Ok(Ok(())) = timeout(time, self.changed.changed()).await {
            return Ok(());
        }
        // Nothing came, or the events were forgotten for want of memory.
        match self.sessions.open(&self.id).await {
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
