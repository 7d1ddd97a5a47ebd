//! The errors of a store; no message contains a password.

use std::path::PathBuf;

use super::Etag;
use base::error::{Kind, Kinded};

/// The error of an operation of a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The store cannot be reached, did not answer in time, or cannot do it just now.
    ///
    /// A write with this error was not applied, and will not be.
    #[error("the store is unavailable: {message}")]
    Unavailable {
        /// What went wrong.
        message: String,
    },
    /// It is unknown whether a write was applied: read the key to find out. If it is not applied by now, it will not be.
    #[error("the store is unavailable: {message}; the write may have been done: read it to find out")]
    Unsure {
        /// What went wrong.
        message: String,
    },
    /// A scan cannot continue: another server answers now, and a cursor is valid for one server only. Start a new scan.
    #[error("the store is unavailable: the server changed while it was being read")]
    ScanLost,
    /// Another process (or another store of this process) has the file open.
    #[error("the store {} is in use by another process; stop that process, or send requests to it instead", path.display())]
    Locked {
        /// The database file.
        path: PathBuf,
    },
    /// The precondition of a write does not hold; nothing was changed.
    #[error("the key {key} {}", describe_found(found))]
    PreconditionFailed {
        /// The key of the write.
        key: String,
        /// The version that is stored now; `None` if there is none.
        found: Option<Etag>,
    },
    /// The key holds a value of another Redis type than string.
    #[error("the key {key} holds a {found}, not a string")]
    WrongType {
        /// The key that was read.
        key: String,
        /// The type of its value in Redis' words: `list`, `hash`, …
        found: String,
    },
    /// The value is larger than [`VALUE_LIMIT`](super::VALUE_LIMIT).
    #[error("the value of the key {key} has {bytes} bytes; at most {limit} are allowed")]
    TooLarge {
        /// The key of the value.
        key: String,
        /// The size of the value.
        bytes: usize,
        /// The largest size that is allowed.
        limit: usize,
    },
    /// The text is not the address of a store.
    #[error("the address of the store cannot be used: {message}")]
    BadUrl {
        /// What is wrong with it. It does not quote the address, which can contain a password.
        message: String,
    },
    /// The file of an embedded store is damaged, or is not a database.
    #[error(
        "the store {} is damaged or no store at all ({message}); restore it from a backup, \
         or move it away to start with an empty one",
        path.display()
    )]
    Corrupt {
        /// The database file.
        path: PathBuf,
        /// What the database found.
        message: String,
    },
}

fn describe_found(found: &Option<Etag>) -> String {
    match found {
        Some(etag) => format!("has changed: its version is now {etag}"),
        None => "does not exist".to_owned(),
    }
}

impl Kinded for StoreError {
    fn kind(&self) -> Kind {
        match self {
            StoreError::Unavailable { .. } | StoreError::Unsure { .. } | StoreError::ScanLost => {
                Kind::Unavailable
            }
            StoreError::Locked { .. } | StoreError::WrongType { .. } => Kind::Conflict,
            StoreError::PreconditionFailed { .. } => Kind::PreconditionFailed,
            StoreError::TooLarge { .. } | StoreError::BadUrl { .. } => Kind::InvalidInput,
            StoreError::Corrupt { .. } => Kind::Unavailable,
        }
    }
}
