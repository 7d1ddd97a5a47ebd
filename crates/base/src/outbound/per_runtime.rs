//! Things that an async runtime drives, one for each.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use tokio::runtime::{Handle, Id};

/// Runtimes that are remembered.
const RUNTIMES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// A client for each async runtime: a connection is driven by the runtime that made it, and stands still with it.
pub struct PerRuntime<T> {
    known: Mutex<LruCache<Id, T>>,
}

impl<T: Clone> PerRuntime<T> {
    /// That of the current runtime; the first one to ask makes it.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let id = Handle::current().id();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.try_get_or_insert(id, make).cloned()
    }
}

impl<T> Default for PerRuntime<T> {
    fn default() -> PerRuntime<T> {
        PerRuntime { known: Mutex::new(LruCache::new(RUNTIMES)) }
    }
}

impl<T> fmt::Debug for PerRuntime<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerRuntime").finish_non_exhaustive()
    }
}
