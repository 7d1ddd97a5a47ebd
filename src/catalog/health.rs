//! What is known of the store: whether it can be read, how old that is which serves, and what is missing all at once.

use std::fmt;
use std::time::{Duration, Instant};

use base::error::{Kind, Kinded};
use base::model::DocumentKind;

/// What serves counts as old when the last complete reading of the store began longer ago than this, or than two times the
/// pause between readings.
const OLD: Duration = Duration::from_secs(30);

/// As many documents at least must be gone at once to look like a loss: a single one is deleted every day.
const LOSS_MIN: usize = 2;

/// What is known of the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreState {
    /// Whether a scan has ever been completed.
    pub loaded: bool,
    /// Why the last scan failed, if it did.
    pub error: Option<String>,
    /// What is gone at once, and serves nevertheless for some time.
    pub loss: Option<Loss>,
    /// Whether the store tells its changes itself.
    pushes: bool,
    /// The moment at which all that serves was in the store for sure: when the last complete scan began.
    read_at: Option<Instant>,
    old_after: Duration,
}

/// The store was never read, so that there may be more than the catalog knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no catalog is loaded yet: {reason}")]
pub struct NotLoaded {
    reason: String,
}

impl Kinded for NotLoaded {
    fn kind(&self) -> Kind {
        Kind::Unavailable
    }
}

/// Documents that are gone from the store all at once, and still serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What is missing, of each kind of which something is.
    pub missing: Vec<Missing>,
    /// The last scan that missed them.
    pub scan: u64,
    /// From when on it is believed.
    until: Instant,
}

/// How much of a kind is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missing {
    /// The kind.
    pub kind: DocumentKind,
    /// How many documents are gone.
    pub gone: usize,
    /// How many there were.
    pub known: usize,
}

impl StoreState {
    /// Nothing is known yet of a store that is read so often.
    pub(super) fn new(read_every: Duration) -> StoreState {
        let old_after = OLD.max(read_every * 2);
        StoreState { loaded: false, error: None, loss: None, pushes: false, read_at: None, old_after }
    }

    /// Whether the store is being read for the first time.
    pub fn is_first_read(&self) -> bool {
        !self.loaded && self.error.is_none()
    }

    /// Why there may be more than the catalog knows, as long as the store was never read.
    pub fn not_loaded(&self) -> Option<NotLoaded> {
        let reason = self.error.as_deref().unwrap_or("the store is still being read");
        (!self.loaded).then(|| NotLoaded { reason: reason.to_owned() })
    }

    /// How old that may be which serves: a change in the store since then may be unknown. `None` before the first scan.
    pub fn age(&self) -> Option<Duration> {
        match self.read_at {
            Some(_) if self.pushes && self.error.is_none() => Some(Duration::ZERO),
            read_at => read_at.map(|read_at| read_at.elapsed()),
        }
    }

    /// One word for it: `ok`, `loading`, `unavailable`, `emptied` or `old`.
    pub fn word(&self) -> &'static str {
        match self {
            StoreState { error: Some(_), .. } => "unavailable",
            state if state.is_first_read() => "loading",
            StoreState { loss: Some(_), .. } => "emptied",
            state if state.is_old() => "old",
            _ => "ok",
        }
    }

    /// What is not as it should be, if anything, and what to do about it.
    pub fn trouble(&self) -> Option<String> {
        match (&self.error, &self.loss) {
            (Some(error), _) => Some(error.clone()),
            (None, Some(loss)) => Some(loss.to_string()),
            (None, None) if self.is_old() => Some(format!(
                "what serves may be {} s old: reading the store takes so long",
                self.age().unwrap_or_default().as_secs()
            )),
            (None, None) => None,
        }
    }

    fn is_old(&self) -> bool {
        self.age().is_some_and(|age| age > self.old_after)
    }

    /// Takes note whether the store tells its changes itself from now on.
    pub(super) fn set_pushes(&mut self, pushes: bool) {
        if self.pushes && self.error.is_none() {
            self.read_at = self.read_at.map(|_| Instant::now());
        }
        self.pushes = pushes;
    }

    /// Takes note of a scan that was complete and began at this moment.
    pub(super) fn was_read(&mut self, began: Instant) {
        self.loaded = true;
        self.error = None;
        self.read_at = Some(began);
    }

    /// Takes note that the store cannot be read.
    pub(super) fn failed(&mut self, error: String) {
        self.set_pushes(self.pushes);
        self.error = Some(error);
    }

    /// Takes note of what the scan of this number missed, of all kinds, and says whether that is to be forgotten.
    ///
    /// A loss is kept for the time `keep` from the moment at which it was seen first, with whatever else goes missing
    /// meanwhile, unless all of it comes back.
    pub(super) fn believes(&mut self, missing: Vec<Missing>, scan: u64, keep: Duration) -> bool {
        let is_loss = looks_like_loss(&missing);
        let missing: Vec<Missing> = missing.into_iter().filter(|missing| missing.gone > 0).collect();
        match self.loss.take() {
            Some(_) if missing.is_empty() => {
                tracing::info!("the documents that were gone from the store are back");
                true
            }
            Some(loss) if Instant::now() >= loss.until => {
                tracing::warn!("{} gone from the store, and now forgotten", in_words(&missing));
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
    /// How long the documents go on serving.
    pub fn kept_for(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} gone from the store all at once; they go on serving for another {} s (store.keep_missing_seconds). \
             Restore them; or, if they are meant to be gone, POST /api/store/confirm",
            in_words(&self.missing),
            self.kept_for().as_secs()
        )
    }
}

/// More than half of a kind, or of all documents together.
fn looks_like_loss(missing: &[Missing]) -> bool {
    let too_many = |gone: usize, known: usize| gone >= LOSS_MIN && gone > known / 2;
    let (gone, known) = missing.iter().fold((0, 0), |(gone, known), m| (gone + m.gone, known + m.known));
    too_many(gone, known) || missing.iter().any(|m| too_many(m.gone, m.known))
}

fn in_words(missing: &[Missing]) -> String {
    let words: Vec<String> =
        missing.iter().map(|m| format!("{} of {} {}s", m.gone, m.known, m.kind)).collect();
    format!("{} are", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(gone: [(usize, usize); 4]) -> Vec<Missing> {
        let of = |(kind, (gone, known))| Missing { kind, gone, known };
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
    fn a_loss_is_believed_when_its_time_is_over_and_forgotten_when_all_is_back() {
        let (none, all) =
            (missing([(0, 0), (0, 3), (0, 0), (0, 0)]), missing([(0, 0), (3, 3), (0, 0), (0, 0)]));
        let less = missing([(0, 0), (1, 3), (0, 0), (0, 0)]);
        let minute = Duration::from_secs(60);
        let mut state = StoreState::new(minute);
        state.was_read(Instant::now());
        assert!(state.believes(none.clone(), 1, minute));
        assert!(!state.believes(all.clone(), 2, minute));
        assert!(state.trouble().unwrap().contains("3 of 3 prompts"), "{:?}", state.trouble());
        assert!(!state.believes(less, 3, minute), "what is still missing is kept, too");
        assert!(state.believes(none, 4, minute));
        assert_eq!((state.word(), state.trouble()), ("ok", None));
        assert!(!state.believes(all.clone(), 5, Duration::ZERO));
        assert!(state.believes(all, 6, Duration::ZERO));
    }

    #[test]
    fn what_was_read_long_ago_is_old_unless_the_store_pushes() {
        let mut state = StoreState::new(Duration::from_secs(5));
        assert_eq!(state.age(), None);
        state.was_read(Instant::now().checked_sub(Duration::from_secs(31)).unwrap());
        assert_eq!(state.word(), "old");
        state.set_pushes(true);
        assert_eq!((state.word(), state.age()), ("ok", Some(Duration::ZERO)));
    }
}
