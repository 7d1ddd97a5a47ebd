//! What Python raises, with Python's messages.

use std::fmt;

/// An exception of Python, or a result that is larger than its caller allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PyError {
    /// The result has more bytes (or bits, where a function says so) than `room`.
    TooLarge,
    /// `TypeError`
    Type(String),
    /// `ValueError`; also `AssertionError`, which only `truncate` raises.
    Value(String),
    /// `OverflowError`
    Overflow(String),
    /// `KeyError`, with the key itself.
    Key(String),
    /// `IndexError`
    Index(String),
    /// `ZeroDivisionError`
    Zero(String),
}

impl PyError {
    /// A `TypeError`.
    pub fn type_error<T>(message: impl Into<String>) -> Result<T, PyError> {
        Err(PyError::Type(message.into()))
    }

    /// A `ValueError`.
    pub fn value_error<T>(message: impl Into<String>) -> Result<T, PyError> {
        Err(PyError::Value(message.into()))
    }
}

impl fmt::Display for PyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PyError::TooLarge => f.write_str("the result is too large"),
            PyError::Type(message)
            | PyError::Value(message)
            | PyError::Overflow(message)
            | PyError::Key(message)
            | PyError::Index(message)
            | PyError::Zero(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for PyError {}
