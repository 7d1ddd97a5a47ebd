//! The last events of the sessions that somebody watches, or has watched, in this process.
//!
//! What is stored of a session has its events, too, but only those that changed it. Here are also the pieces of the model's text as
//! they come, which are for those who watch.

use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::sync::{Mutex, MutexGuard, PoisonError};

use lru::LruCache;
use template::value::SmolStr;
use tokio::sync::watch;

use super::event::{EventKind, SessionEvent};
use super::record::{EVENTS_MAX, Record};

/// Of how many sessions events are kept.
const FEEDS_MAX: usize = 16_384;

/// How much memory all events together may take, in bytes.
const BYTES_MAX: usize = 64 << 20;

/// What an event takes beside its data, in bytes.
const EVENT_BYTES: usize = size_of::<SessionEvent>();

/// The events of all sessions that were watched lately.
pub struct Feeds(Mutex<Kept>);

struct Kept {
    feeds: LruCache<String, Feed>,
    bytes: usize,
}

/// The last events of one session.
struct Feed {
    events: VecDeque<SessionEvent>,
    /// The number of the last event.
    last: u64,
    /// The number of the last event that is not kept any more; 0 if there is none.
    lost: u64,
    /// How many of the events that are stored with the session are among these.
    stored: u64,
    bytes: usize,
    /// Tells those who watch that there is more.
    changed: watch::Sender<()>,
}

/// What comes after an event.
pub enum After {
    /// The next event.
    Event(SessionEvent),
    /// Nothing yet.
    Nothing,
    /// Events that are not kept any more.
    Lost,
}

impl Default for Feeds {
    fn default() -> Feeds {
        let most = NonZeroUsize::new(FEEDS_MAX).unwrap_or(NonZeroUsize::MIN);
        Feeds(Mutex::new(Kept { feeds: LruCache::new(most), bytes: 0 }))
    }
}

impl Feeds {
    /// Whether somebody watches a session, or has watched it lately.
    pub fn has(&self, id: &str) -> bool {
        self.kept().feeds.contains(id)
    }

    /// Begins to keep the events of a session, with those that are stored. Gives what tells of more.
    pub fn open(&self, id: &str, record: &Record) -> watch::Receiver<()> {
        let mut kept = self.kept();
        if !kept.feeds.contains(id)
            && let Some((_, oldest)) = kept.feeds.push(id.to_owned(), Feed::new(record))
        {
            kept.bytes = kept.bytes.saturating_sub(oldest.bytes);
        }
        kept.change(id, |feed| feed.catch_up(record));
        kept.feeds.get(id).map_or_else(|| watch::Sender::new(()).subscribe(), |feed| feed.changed.subscribe())
    }

    /// Adds the events that are stored with the session and are new here, if somebody watches it.
    pub fn catch_up(&self, id: &str, record: &Record) {
        self.kept().change(id, |feed| feed.catch_up(record));
    }

    /// Adds an event that is not stored, if somebody watches the session.
    pub fn push(&self, id: &str, kind: EventKind, data: SmolStr) {
        self.kept().change(id, |feed| feed.push(SessionEvent { id: feed.last + 1, kind, data }));
    }

    /// The number of the last event of a session; 0 if nobody watches it.
    pub fn last(&self, id: &str) -> u64 {
        self.kept().feeds.peek(id).map_or(0, |feed| feed.last)
    }

    /// What comes after the event with this number.
    pub fn after(&self, id: &str, number: u64) -> After {
        self.kept().feeds.get(id).map_or(After::Nothing, |feed| feed.after(number))
    }

    /// Forgets a session.
    pub fn remove(&self, id: &str) {
        let mut kept = self.kept();
        if let Some(feed) = kept.feeds.pop(id) {
            kept.bytes = kept.bytes.saturating_sub(feed.bytes);
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    /// Changes a feed, if there is one, and keeps to the limit on memory.
    fn change(&mut self, id: &str, change: impl FnOnce(&mut Feed)) {
        let Some(feed) = self.feeds.get_mut(id) else { return };
        let (before, last) = (feed.bytes, feed.last);
        change(feed);
        if feed.last != last {
            feed.changed.send_replace(());
        }
        self.bytes = (self.bytes + feed.bytes).saturating_sub(before);
        while self.bytes > BYTES_MAX
            && let Some((_, oldest)) = self.feeds.pop_lru()
        {
            self.bytes = self.bytes.saturating_sub(oldest.bytes);
        }
    }
}

impl Feed {
    /// A feed that has nothing yet of what is stored.
    fn new(record: &Record) -> Feed {
        let kept = record.events_since(0).len() as u64;
        let lost = match record.has_lost_events() {
            true => record.events_since(0).first().map_or(0, |first| first.id.saturating_sub(1)),
            false => 0,
        };
        let stored = record.stored().saturating_sub(kept);
        let changed = watch::Sender::new(());
        Feed { events: VecDeque::new(), last: lost, lost, stored, bytes: 0, changed }
    }

    fn catch_up(&mut self, record: &Record) {
        for event in record.events_since(self.stored) {
            let id = event.id.max(self.last + 1);
            self.push(SessionEvent { id, ..event.clone() });
        }
        self.stored = self.stored.max(record.stored());
        self.last = self.last.max(record.last_event());
    }

    fn push(&mut self, event: SessionEvent) {
        self.last = event.id;
        self.bytes += EVENT_BYTES + event.data.len();
        self.events.push_back(event);
        while self.events.len() > EVENTS_MAX
            && let Some(first) = self.events.pop_front()
        {
            self.lost = first.id;
            self.bytes = self.bytes.saturating_sub(EVENT_BYTES + first.data.len());
        }
    }

    fn after(&self, number: u64) -> After {
        if number < self.lost || number > self.last {
            return After::Lost;
        }
        let next = self.events.partition_point(|event| event.id <= number);
        self.events.get(next).cloned().map_or(After::Nothing, After::Event)
    }
}
