//! Values that belong to an async runtime, one for each runtime.

use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use lru::LruCache;
use tokio::runtime::{Handle, Id};

/// For how many runtimes a value is kept; the least recently used one goes first.
const RUNTIMES: NonZeroUsize = NonZeroUsize::MIN.saturating_add(255);

/// A value, such as a client with its connections, for each async runtime.
///
/// A connection is driven by the runtime that opened it, and stalls when that runtime stops; so runtimes share none.
pub struct PerRuntime<T> {
    values: Mutex<LruCache<Id, T>>,
}

impl<T: Clone> PerRuntime<T> {
    /// The value of the current runtime, made by `make` on the first call.
    ///
    /// # Errors
    /// Those of `make`.
    pub fn get_or_make<E>(&self, make: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let id = Handle::current().id();
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.try_get_or_insert(id, make).cloned()
    }
}

impl<T> Default for PerRuntime<T> {
    fn default() -> PerRuntime<T> {
        PerRuntime { values: Mutex::new(LruCache::new(RUNTIMES)) }
    }
}

impl<T> fmt::Debug for PerRuntime<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerRuntime").finish_non_exhaustive()
    }
}
