//! What can go wrong in a store; no text in here ever contains a password.

use std::path::PathBuf;

use super::Etag;
use base::error::{Kind, Kinded};

/// A failure of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, did not answer in time, or refused to do it just now.
    ///
    /// A write that ends so was not done, and will not be.
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What happened.
        reason: String,
    },
    /// The store did not say whether a write was done: read the key to find out. If it was not done by now, it will not be.
    #[error("the store is unavailable: {reason}; the write may have been done: read it to find out")]
    Unsure {
        /// What happened.
        reason: String,
    },
    /// A scan cannot go on: another server answers now, and a cursor is good for one server only. Begin again.
    #[error("the store is unavailable: the server changed while it was being read")]
    ScanLost,
    /// Another process (or another part of this one) has the embedded store open.
    #[error("the store {} is in use by another process; stop it, or talk to it instead", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
    },
    /// What is stored is not what the caller expected; nothing was changed.
    #[error("the key {key} {}", describe_found(found))]
    Expectation {
        /// The key.
        key: String,
        /// What is there now; `None` if nothing is.
        found: Option<Etag>,
    },
    /// The key holds something other than plain bytes.
    #[error("the key {key} holds a {found}, not a string")]
    WrongType {
        /// The key.
        key: String,
        /// The type that it holds, in Redis' words: `list`, `hash`, …
        found: String,
    },
    /// The value is larger than [`VALUE_LIMIT`](super::VALUE_LIMIT).
    #[error("the value of the key {key} has {bytes} bytes; at most {limit} are allowed")]
    TooLarge {
        /// The key.
        key: String,
        /// The size of the value.
        bytes: usize,
        /// The largest size allowed.
        limit: usize,
    },
    /// The address names no store.
    #[error("the address of the store cannot be used: {reason}")]
    BadUrl {
        /// What is wrong with it, without repeating it: an address can contain a password.
        reason: String,
    },
    /// The file of an embedded store cannot be read as one.
    #[error(
        "the store {} is damaged or no store at all ({reason}); put back a copy of it, \
         or move it away to start with an empty one",
        path.display()
    )]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// What was found.
        reason: String,
    },
}

fn describe_found(found: &Option<Etag>) -> String {
    match found {
        Some(etag) => format!("has changed: its version is now {etag}"),
        None => "does not exist (any more)".to_owned(),
    }
}

impl Kinded for StoreError {
    fn kind(&self) -> Kind {
        match self {
            StoreError::Unavailable { .. } | StoreError::Unsure { .. } | StoreError::ScanLost => {
                Kind::Unavailable
            }
            StoreError::Locked { .. } | StoreError::WrongType { .. } => Kind::Conflict,
            StoreError::Expectation { .. } => Kind::PreconditionFailed,
            StoreError::TooLarge { .. } | StoreError::BadUrl { .. } => Kind::InvalidInput,
            StoreError::Corrupt { .. } => Kind::Unavailable,
        }
    }
}
