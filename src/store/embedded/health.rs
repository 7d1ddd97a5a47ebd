//! The health of the database file: the outage that a failed write began, and when to retry.
//!
//! After an I/O error redb rejects every call until its file is opened again. That is done by the next call after a pause.
//! Until then nobody reads the file; renders are not affected, because they read the catalog's snapshot. The outage ends
//! (`read_only` in the status and in `/readyz`) only when a write has succeeded, which may be a trial write.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::store::StoreError;

/// How long the file is left alone after an error.
const PAUSE: Duration = Duration::from_millis(500);

/// The health of the file; without an outage it can be written.
#[derive(Default)]
pub(super) struct Health(Mutex<Option<Outage>>);

/// The time from an I/O error until a write succeeds again.
struct Outage {
    message: String,
    /// Whether the file has not been opened again since the last error.
    closed: bool,
    /// The time of the last error, or of the last attempt to open the file.
    last_attempt: Instant,
}

impl Health {
    /// The error that keeps the file from being written, during an outage.
    pub fn outage_message(&self) -> Option<String> {
        self.lock().as_ref().map(|outage| outage.message.clone())
    }

    /// The error of a call during an outage.
    pub fn error(&self) -> StoreError {
        StoreError::Unavailable { message: read_only(&self.outage_message().unwrap_or_default()) }
    }

    /// Notes an I/O error, which begins an outage or prolongs it.
    pub fn failed(&self, message: String) {
        let mut outage = self.lock();
        // The first error says more than later ones, which only say that an earlier call failed.
        let first = outage.as_ref().filter(|outage| outage.closed).map(|outage| outage.message.clone());
        if outage.is_none() {
            tracing::error!(
                error = message,
                "the store cannot be written; it is read-only until a write succeeds"
            );
        }
        *outage =
            Some(Outage { message: first.unwrap_or(message), closed: true, last_attempt: Instant::now() });
    }

    /// Whether the caller is to open the file again now; at most one caller at a time gets `true`.
    ///
    /// # Errors
    /// If the file is closed and it is too early to retry.
    pub fn is_time_to_reopen(&self) -> Result<bool, StoreError> {
        let mut outage = self.lock();
        let Some(outage) = outage.as_mut().filter(|outage| outage.closed) else { return Ok(false) };
        if outage.last_attempt.elapsed() < PAUSE {
            return Err(StoreError::Unavailable { message: read_only(&outage.message) });
        }
        outage.last_attempt = Instant::now();
        Ok(true)
    }

    /// Notes that the file is open again, although nothing has been written yet.
    pub fn reopened(&self) {
        if let Some(outage) = self.lock().as_mut() {
            outage.closed = false;
        }
    }

    /// Notes that a write has succeeded, which ends an outage.
    pub fn written(&self) {
        if self.lock().take().is_some() {
            tracing::info!("the store can be written again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Outage>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read_only(message: &str) -> String {
    format!("it is read-only because a write failed ({message}); it is tried again every second")
}
