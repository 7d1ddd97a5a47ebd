//! The kind of an error, so that each front door can answer in its own terms.

use std::error::Error;

/// The kind of an error, independent of the module that reports it; `http` has one table from kinds to statuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The caller sent something that cannot be used as it is.
    InvalidInput,
    /// The input can be read, but what it asks for makes no sense.
    Unprocessable,
    /// The input is in a format that is not read here.
    UnsupportedFormat,
    /// The input is longer than it may be.
    TooLarge,
    /// The input did not arrive within its time limit.
    InputTimeout,
    /// The caller has not said who it is, or cannot prove it.
    Unauthenticated,
    /// The caller may not do this.
    Forbidden,
    /// The thing that was named does not exist.
    NotFound,
    /// The thing exists, but not this operation on it.
    NoSuchOperation,
    /// The thing exists, but its state forbids the operation.
    Conflict,
    /// The caller's expectation about the stored version does not hold.
    PreconditionFailed,
    /// Something that the thing depends on is missing.
    FailedDependency,
    /// Too much work is asked for or under way.
    Overloaded,
    /// The operation ran into its time limit.
    Timeout,
    /// A backing service cannot be reached just now.
    Unavailable,
    /// The operation was valid, but failed as it ran.
    Failed,
    /// Another service that had to answer failed, or could not be reached.
    Upstream,
}

/// An error and all that caused it, from the outermost on.
pub fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// The innermost cause of an error, or the error itself; of an HTTP client it names neither the address nor what was sent.
pub fn innermost<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    causes(error).last().unwrap_or(error)
}

/// An error that knows its [`Kind`].
pub trait Kinded: Error {
    /// The kind of this error.
    fn kind(&self) -> Kind;
}
