//! For which models an upstream offers a service, as far as it is known: the settings say it, or its answers do.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;

/// How many models are remembered.
const MODELS: usize = 1_000;

/// Models with longer names, in bytes, are not remembered: clients may choose names.
const NAME_BYTES: usize = 256;

/// For which models an upstream offers a service.
#[derive(Debug)]
pub struct Offer {
    /// What the settings say of all models.
    setting: Option<bool>,
    /// How long it is believed that the upstream lacks the service for a model. Its refusal may have had another reason.
    lacking: Duration,
    /// Whether it has answered in this way, for any model.
    is_seen: AtomicBool,
    models: Mutex<LruCache<String, Known>>,
}

/// What is known of a model.
#[derive(Debug, Clone, Copy)]
enum Known {
    Offered,
    LackingUntil(Instant),
}

impl Offer {
    /// Of nothing but what the settings say. A lack is believed for `lacking`.
    pub fn new(setting: Option<bool>, lacking: Duration) -> Offer {
        let models = NonZeroUsize::new(MODELS).unwrap_or(NonZeroUsize::MIN);
        let (is_seen, models) = (AtomicBool::new(false), Mutex::new(LruCache::new(models)));
        Offer { setting, lacking, is_seen, models }
    }

    /// Whether it is asked for a model in this way.
    pub fn is_tried(&self, model: &str) -> bool {
        self.setting.unwrap_or_else(|| match self.known(model) {
            Some(Known::LackingUntil(time)) => time <= Instant::now(),
            Some(Known::Offered) | None => true,
        })
    }

    /// Whether an answer may still tell that it does not offer the service for a model.
    pub fn is_uncertain(&self, model: &str) -> bool {
        self.setting.is_none() && !matches!(self.known(model), Some(Known::Offered))
    }

    /// Whether it has answered in this way, for any model.
    pub fn is_seen(&self) -> bool {
        self.is_seen.load(Ordering::Relaxed)
    }

    /// Remembers that it has answered for a model in this way.
    pub fn offers(&self, model: &str) {
        self.is_seen.store(true, Ordering::Relaxed);
        self.remember(model, Known::Offered);
    }

    /// Remembers that it answers for a model, but not in this way.
    pub fn lacks(&self, model: &str) {
        self.remember(model, Known::LackingUntil(Instant::now() + self.lacking));
    }

    fn known(&self, model: &str) -> Option<Known> {
        self.lock().get(model).copied()
    }

    fn remember(&self, model: &str, known: Known) {
        if self.setting.is_none() && model.len() <= NAME_BYTES {
            self.lock().put(model.to_owned(), known);
        }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<String, Known>> {
        self.models.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LACKING: Duration = Duration::from_secs(600);

    #[test]
    fn what_a_model_lacks_says_nothing_of_others_or_of_the_settings() {
        let offer = Offer::new(None, LACKING);
        offer.lacks("old");
        offer.offers("new");
        assert!(!offer.is_tried("old") && offer.is_tried("new") && offer.is_tried("other"));
        assert!(!offer.is_uncertain("new") && offer.is_uncertain("other") && offer.is_seen());
        for setting in [true, false] {
            let offer = Offer::new(Some(setting), LACKING);
            offer.lacks("old");
            assert!(offer.is_tried("old") == setting && !offer.is_uncertain("old"));
        }
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let offer = Offer::new(None, LACKING);
        offer.lacks(&"x".repeat(NAME_BYTES + 1));
        assert_eq!(offer.lock().len(), 0);
        (0..MODELS + 1).for_each(|number| offer.lacks(&number.to_string()));
        assert_eq!(offer.lock().len(), MODELS);
        assert!(offer.is_tried("0") && !offer.is_tried("1"));
    }

    #[test]
    fn a_lack_is_believed_for_a_while() {
        let offer = Offer::new(None, LACKING);
        offer.remember("old", Known::LackingUntil(Instant::now()));
        assert!(offer.is_tried("old"));
    }
}
