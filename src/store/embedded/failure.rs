//! What is known of a failure of the file: why it came, and when to try again.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::StoreError;

/// How long the file is left alone after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// A failure, from its beginning until a write succeeds again.
#[derive(Default)]
pub(super) struct Failure(Mutex<Option<Broken>>);

struct Broken {
    reason: String,
    /// Whether the file has not been opened again since.
    closed: bool,
    /// When it failed, or when it was last tried.
    tried: Instant,
}

impl Failure {
    /// Why nothing can be written, if so.
    pub fn reason(&self) -> Option<String> {
        self.lock().as_ref().map(|broken| broken.reason.clone())
    }

    /// The failure as the answer to a call.
    pub fn error(&self) -> StoreError {
        StoreError::Unavailable { reason: read_only(&self.reason().unwrap_or_default()) }
    }

    /// Takes note that something failed.
    pub fn note(&self, reason: String) {
        let mut broken = self.lock();
        // What failed first says more than what only repeats that something failed before.
        let first = broken.as_ref().filter(|broken| broken.closed).map(|broken| broken.reason.clone());
        if broken.is_none() {
            tracing::error!(reason, "the store cannot be written; it is read-only until it can");
        }
        *broken = Some(Broken { reason: first.unwrap_or(reason), closed: true, tried: Instant::now() });
    }

    /// Whether the file is to be opened again now: at most one caller at a time is told so.
    ///
    /// # Errors
    /// When it failed, and it is too early to try again.
    pub fn is_time_to_reopen(&self) -> Result<bool, StoreError> {
        let mut broken = self.lock();
        let Some(broken) = broken.as_mut().filter(|broken| broken.closed) else { return Ok(false) };
        if broken.tried.elapsed() < PAUSE {
            return Err(StoreError::Unavailable { reason: read_only(&broken.reason) });
        }
        broken.tried = Instant::now();
        Ok(true)
    }

    /// The file is open again, but nothing was written yet.
    pub fn reopened(&self) {
        if let Some(broken) = self.lock().as_mut() {
            broken.closed = false;
        }
    }

    /// Something was written.
    pub fn over(&self) {
        if self.lock().take().is_some() {
            tracing::info!("the store can be written again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Broken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_only(reason: &str) -> String {
    format!("it is read-only because a write failed ({reason}); it is tried again every second")
}
