//! Edits that wait to be written. Those that wait at the same time are written together, as one write waits for the disk.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::store::{Etag, Precondition, StoreError, Write};

/// The most edits that are written together.
const TOGETHER: usize = 256;

/// Edits are written together up to about so many bytes.
const TOGETHER_BYTES: usize = 4 * 1024 * 1024;

/// A change of some keys.
pub(super) enum Edit {
    /// A value, if the precondition holds.
    Put { key: String, bytes: Vec<u8>, condition: Precondition, ttl: Option<Duration> },
    /// The removal of a key, if the precondition holds.
    Delete { key: String, condition: Precondition },
    /// Several values.
    PutAll(Vec<Write>),
}

/// What an edit has done.
#[derive(Debug, Clone, Copy)]
pub(super) enum Edited {
    /// The value is stored; its version.
    Put(Etag),
    /// The key is gone; whether it was there.
    Deleted(bool),
    /// All values are stored.
    PutAll,
}

/// An edit that waits.
pub(super) struct Pending {
    pub(super) edit: Edit,
    pub(super) done: oneshot::Sender<Result<Edited, StoreError>>,
}

/// The edits that wait, the first one first: as many as there are callers.
#[derive(Default)]
pub(super) struct Waiting(Mutex<VecDeque<Pending>>);

impl Edit {
    /// The keys that it changes.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let (one, several) = match self {
            Edit::Put { key, .. } | Edit::Delete { key, .. } => (Some(key), [].as_slice()),
            Edit::PutAll(writes) => (None, writes.as_slice()),
        };
        one.into_iter().chain(several.iter().map(|write| &write.key)).map(String::as_str)
    }

    fn bytes(&self) -> usize {
        match self {
            Edit::Put { bytes, .. } => bytes.len(),
            Edit::Delete { .. } => 0,
            Edit::PutAll(writes) => writes.iter().map(|write| write.bytes.len()).sum(),
        }
    }
}

impl Edited {
    /// Whether anything has changed.
    pub(super) fn is_change(self) -> bool {
        !matches!(self, Edited::Deleted(false))
    }
}

impl Waiting {
    /// Adds an edit; gives what tells how it went.
    pub(super) fn add(&self, edit: Edit) -> oneshot::Receiver<Result<Edited, StoreError>> {
        let (done, told) = oneshot::channel();
        self.lock().push_back(Pending { edit, done });
        told
    }

    /// Takes the edits that are to be written now. Those whose callers have left are dropped: they must not be written later.
    pub(super) fn take(&self) -> Vec<Pending> {
        let mut waiting = self.lock();
        let (mut taken, mut bytes) = (Vec::new(), 0);
        while taken.len() < TOGETHER
            && bytes < TOGETHER_BYTES
            && let Some(next) = waiting.pop_front()
        {
            if !next.done.is_closed() {
                bytes += next.edit.bytes();
                taken.push(next);
            }
        }
        taken
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Pending>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
