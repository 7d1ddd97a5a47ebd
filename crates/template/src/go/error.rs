//! What can go wrong when a template is read and when it is run.

/// Why a text is not a template; the message is Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ParseError {
    /// Go's message: `template: NAME:LINE: …`.
    pub message: String,
    /// The name of the text.
    pub name: Box<str>,
    /// The line, from 1.
    pub line: usize,
}

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    /// The name of the text that was parsed.
    pub name: Box<str>,
    /// The template that was running, which a `define` in that text may have named differently.
    pub template: Box<str>,
    /// The line, from 1.
    pub line: usize,
    /// The bytes between the start of the line and the place.
    pub column: usize,
}

/// A value that a run in strict mode needed and that is not there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The path from the root of the data: `variables.docs[1].title`. Below a value that is not part of the data, such
    /// as a function's result: `(an expression).title`.
    pub path: String,
    /// Where it was needed first.
    pub place: Place,
}

/// Why a run ended early.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ExecError {
    /// The template did something that is not possible; the message is Go's.
    #[error("{message}")]
    Failed {
        /// Go's message: `template: NAME:LINE:COL: executing "TPL" at <NODE>: …`.
        message: String,
        /// Where.
        place: Place,
    },
    /// Templates called templates too deeply; the message is Go's.
    #[error("{message}")]
    Recursion {
        /// Go's message.
        message: String,
        /// Where.
        place: Place,
        /// The depth that was allowed.
        limit: usize,
    },
    /// There is no template of the name that was to be run; the message is Go's.
    #[error("{message}")]
    NoTemplate {
        /// Go's message.
        message: String,
    },
    /// Values that are not there, sorted by path (strict mode only).
    #[error("missing: {}", .0.iter().map(|missing| missing.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<Missing>),
    /// The steps were used up.
    #[error("the template took more than {limit} steps")]
    Steps {
        /// The steps that were allowed.
        limit: u64,
    },
    /// The deadline passed.
    #[error("the template did not end in time")]
    Deadline,
    /// The output grew too long, or a value nests deeper than values are printed (1,200); what fits was written.
    #[error("the output is longer than {limit} bytes")]
    Output {
        /// The bytes that were allowed.
        limit: usize,
    },
    /// The values that the run made on its way took too much memory, or nest too deeply.
    #[error("the values made by the template are larger than {limit} bytes or nest too deeply")]
    Scratch {
        /// The bytes that were allowed.
        limit: usize,
    },
    /// Results of functions are not known yet.
    #[error("the result of a function is not known yet")]
    Pending {
        /// The result that the run needed to go on, by the number that its function gave it; nothing if the run came to
        /// its end.
        needed: Option<usize>,
    },
}
