//! The state of the store: whether it can be read, how old the snapshot's documents may be, and mass deletions.
//!
//! Packages serve before the store has been read. Until then a document that is not found is 503 `not_ready`, because it may
//! be in the store, and so is everything that needs the store (lists, writes). If the store cannot be read, and there are
//! prompts in packages, the service is ready but degraded.

use std::fmt;
use std::time::{Duration, Instant};

use base::error::{Kind, Kinded};
use base::model::DocumentKind;

/// The documents count as old when the last complete scan began longer ago than this and than twice the pause between scans.
const OLD: Duration = Duration::from_secs(30);

/// The smallest number of documents whose disappearance can look like a loss: deleting a single one is routine.
const LOSS_MIN: usize = 2;

/// The state of the store, as the catalog knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreState {
    /// Whether a scan has ever been completed.
    pub loaded: bool,
    /// The error of the last scan, if it failed.
    pub error: Option<String>,
    /// Documents that disappeared all at once and are kept for some time.
    pub loss: Option<Loss>,
    /// Whether the store pushes its changes.
    pushes: bool,
    /// When the last complete scan began; changes in the store since then may be unknown.
    read_at: Option<Instant>,
    old_after: Duration,
}

/// The error of a request that needs documents of the store before the store has been read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no catalog is loaded yet: {message}")]
pub struct NotLoadedError {
    message: String,
}

impl Kinded for NotLoadedError {
    fn kind(&self) -> Kind {
        Kind::Unavailable
    }
}

/// Documents that disappeared from the store all at once, and are kept for some time in case that was an accident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The counts of the kinds of which documents are missing.
    pub missing: Vec<MissingCount>,
    /// The number of the last scan that did not see them.
    pub scan: u64,
    /// When the documents are dropped.
    until: Instant,
}

/// How many documents of a kind are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingCount {
    /// The kind of the documents.
    pub kind: DocumentKind,
    /// The number of documents that are missing.
    pub gone: usize,
    /// The number of documents before.
    pub known: usize,
}

impl StoreState {
    /// The state before the first scan; `read_every` is the pause between scans.
    pub(super) fn new(read_every: Duration) -> StoreState {
        let old_after = OLD.max(read_every * 2);
        StoreState { loaded: false, error: None, loss: None, pushes: false, read_at: None, old_after }
    }

    /// Whether the store is being read for the first time.
    pub fn is_first_read(&self) -> bool {
        !self.loaded && self.error.is_none()
    }

    /// The error for requests that need the store, until it has been read once.
    pub fn not_loaded(&self) -> Option<NotLoadedError> {
        let message = self.error.as_deref().unwrap_or("the store is still being read");
        (!self.loaded).then(|| NotLoadedError { message: message.to_owned() })
    }

    /// How old the snapshot may be: younger changes in the store may be unknown. `None` before the first scan.
    pub fn age(&self) -> Option<Duration> {
        match self.read_at {
            Some(_) if self.pushes && self.error.is_none() => Some(Duration::ZERO),
            read_at => read_at.map(|read_at| read_at.elapsed()),
        }
    }

    /// The state in one word: `ok`, `loading`, `unavailable`, `emptied` or `old`.
    pub fn status(&self) -> &'static str {
        match self {
            StoreState { error: Some(_), .. } => "unavailable",
            state if state.is_first_read() => "loading",
            StoreState { loss: Some(_), .. } => "emptied",
            state if state.is_old() => "old",
            _ => "ok",
        }
    }

    /// The problem of the store, if it has one, and what to do about it.
    pub fn problem(&self) -> Option<String> {
        match (&self.error, &self.loss) {
            (Some(error), _) => Some(error.clone()),
            (None, Some(loss)) => Some(loss.to_string()),
            (None, None) if self.is_old() => Some(format!(
                "the documents may be {} s out of date: reading the store takes so long",
                self.age().unwrap_or_default().as_secs()
            )),
            (None, None) => None,
        }
    }

    fn is_old(&self) -> bool {
        self.age().is_some_and(|age| age > self.old_after)
    }

    /// Notes whether the store pushes its changes from now on.
    pub(super) fn set_pushes(&mut self, pushes: bool) {
        if self.pushes && self.error.is_none() {
            self.read_at = self.read_at.map(|_| Instant::now());
        }
        self.pushes = pushes;
    }

    /// Notes a complete scan that began at this moment.
    pub(super) fn was_read(&mut self, began: Instant) {
        self.loaded = true;
        self.error = None;
        self.read_at = Some(began);
    }

    /// Notes that the store cannot be read.
    pub(super) fn failed(&mut self, error: String) {
        self.set_pushes(self.pushes);
        self.error = Some(error);
    }

    /// Notes the documents that the scan with this number did not see, and returns whether they are to be dropped.
    ///
    /// In a loss, documents are kept for the time `keep` from when the loss was first seen, together with documents that
    /// disappear meanwhile. The loss ends early if all of them come back.
    pub(super) fn accepts_missing(&mut self, missing: Vec<MissingCount>, scan: u64, keep: Duration) -> bool {
        let is_loss = looks_like_loss(&missing);
        let missing: Vec<MissingCount> = missing.into_iter().filter(|missing| missing.gone > 0).collect();
        match self.loss.take() {
            Some(_) if missing.is_empty() => {
                tracing::info!("the documents that had disappeared from the store are back");
                true
            }
            Some(loss) if Instant::now() >= loss.until => {
                tracing::warn!("{} gone from the store, and no longer kept", in_words(&missing));
                true
            }
            None if !is_loss => true,
            before => {
                let until = before.as_ref().map_or_else(|| Instant::now() + keep, |loss| loss.until);
                let loss = Loss { missing, scan, until };
                if before.is_none() {
                    tracing::warn!("{loss}");
                }
                self.loss = Some(loss);
                false
            }
        }
    }
}

impl Loss {
    /// How much longer the documents are kept.
    pub fn kept_for(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} gone from the store all at once; they are kept for another {} s (store.keep_missing_seconds). \
             Restore them; or, if they were deleted on purpose, POST /api/store/confirm",
            in_words(&self.missing),
            self.kept_for().as_secs()
        )
    }
}

/// Whether more than half of a kind, or of all documents together, is missing.
fn looks_like_loss(missing: &[MissingCount]) -> bool {
    let too_many = |gone: usize, known: usize| gone >= LOSS_MIN && gone > known / 2;
    let (gone, known) = missing.iter().fold((0, 0), |(gone, known), m| (gone + m.gone, known + m.known));
    too_many(gone, known) || missing.iter().any(|m| too_many(m.gone, m.known))
}

fn in_words(missing: &[MissingCount]) -> String {
    let words: Vec<String> =
        missing.iter().map(|m| format!("{} of {} {}s", m.gone, m.known, m.kind)).collect();
    format!("{} are", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(gone: [(usize, usize); 4]) -> Vec<MissingCount> {
        let of = |(kind, (gone, known))| MissingCount { kind, gone, known };
        DocumentKind::ALL.into_iter().zip(gone).map(of).collect()
    }

    #[test]
    fn more_than_half_of_a_kind_or_of_all_looks_like_a_loss_and_a_single_document_does_not() {
        for (gone, expected) in [
            ([(0, 5), (1, 1), (0, 0), (0, 0)], false),
            ([(0, 0), (2, 4), (0, 0), (0, 9)], false),
            ([(0, 0), (2, 3), (0, 900), (0, 0)], true),
            ([(1, 1), (1, 1), (0, 0), (0, 0)], true),
            ([(1, 1), (1, 9), (0, 0), (0, 0)], false),
        ] {
            assert_eq!(looks_like_loss(&missing(gone)), expected, "{gone:?}");
        }
    }

    #[test]
    fn a_loss_is_accepted_when_its_time_is_over_and_ends_when_all_is_back() {
        let (none, all) =
            (missing([(0, 0), (0, 3), (0, 0), (0, 0)]), missing([(0, 0), (3, 3), (0, 0), (0, 0)]));
        let less = missing([(0, 0), (1, 3), (0, 0), (0, 0)]);
        let minute = Duration::from_secs(60);
        let mut state = StoreState::new(minute);
        state.was_read(Instant::now());
        assert!(state.accepts_missing(none.clone(), 1, minute));
        assert!(!state.accepts_missing(all.clone(), 2, minute));
        assert!(state.problem().unwrap().contains("3 of 3 prompts"), "{:?}", state.problem());
        assert!(!state.accepts_missing(less, 3, minute), "what is still missing is kept, too");
        assert!(state.accepts_missing(none, 4, minute));
        assert_eq!((state.status(), state.problem()), ("ok", None));
        assert!(!state.accepts_missing(all.clone(), 5, Duration::ZERO));
        assert!(state.accepts_missing(all, 6, Duration::ZERO));
    }

    #[test]
    fn documents_that_were_read_long_ago_are_old_unless_the_store_pushes() {
        let mut state = StoreState::new(Duration::from_secs(5));
        assert_eq!(state.age(), None);
        state.was_read(Instant::now().checked_sub(Duration::from_secs(31)).unwrap());
        assert_eq!(state.status(), "old");
        state.set_pushes(true);
        assert_eq!((state.status(), state.age()), ("ok", Some(Duration::ZERO)));
    }
}
