//! The errors of parsing and of execution.

/// The error of a text that is not a valid template, with Go's message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Go's message: `template: NAME:LINE: …`.
    pub message: String,
    /// The name with which the text was parsed.
    pub name: Box<str>,
    /// The line, from 1.
    pub line: usize,
}

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name with which the text was parsed.
    pub name: Box<str>,
    /// The name of the template that was running: that of the text, or of a `define` in it.
    pub template: Box<str>,
    /// The line, from 1.
    pub line: usize,
    /// The column, in bytes from the start of the line, from 0.
    pub column: usize,
}

/// A value that a run in strict mode needed and that is missing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingValue {
    /// The path from the root of the data: `variables.docs[1].title`. Below a value that is not part of the data, such
    /// as a function's result, it is `(an expression).title`.
    pub path: String,
    /// The place that needed it first.
    pub place: Place,
}

/// The error of a run that ended early.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExecError {
    /// The template performed an invalid operation.
    #[error("{message}")]
    Failed {
        /// Go's message: `template: NAME:LINE:COL: executing "TPL" at <NODE>: …`.
        message: String,
        /// The place of the error.
        place: Place,
    },
    /// Calls of templates nest too deep.
    #[error("{message}")]
    Recursion {
        /// Go's message.
        message: String,
        /// The place of the call.
        place: Place,
        /// The depth that was allowed.
        limit: usize,
    },
    /// The set has no template of the given name.
    #[error("{message}")]
    NoTemplate {
        /// Go's message.
        message: String,
    },
    /// Values are missing (strict mode only); they are sorted by path.
    #[error("missing: {}", .0.iter().map(|missing| missing.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<MissingValue>),
    /// The template needs more steps than are allowed.
    #[error("the template took more than {limit} steps")]
    Steps {
        /// The steps that were allowed.
        limit: u64,
    },
    /// The deadline passed.
    #[error("the template did not end in time")]
    Deadline,
    /// The output is too long; the part that fits was written.
    #[error("the output is longer than {limit} bytes")]
    Output {
        /// The bytes that were allowed.
        limit: usize,
    },
    /// The values that the run made take too much memory.
    #[error("the values made by the template are larger than {limit} bytes")]
    Scratch {
        /// The bytes that were allowed.
        limit: usize,
    },
    /// Results of functions are pending.
    #[error("the result of a function is not known yet")]
    Pending {
        /// The result that the run needed to go on, by the number that its function gave it; `None` if the run reached its
        /// end.
        needed: Option<usize>,
    },
}
