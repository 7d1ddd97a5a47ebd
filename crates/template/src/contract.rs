//! The types that both dialects share: functions, partials, limits, requirements and errors.
//!
//! # Calls of functions
//!
//! A call may have no result yet ([`CallResult::Pending`]), or fail and leave a *gap* ([`CallResult::Gap`]).
//!
//! - A gap prints nothing and is false or undefined. A function that gets a gap as an argument is not called, and its
//!   result is a gap too. Inside a list or an object that is an argument, a gap is null (Jinja) or an empty text (Go).
//! - In arithmetic, a gap gives the other operand.
//! - Go's functions that take any text (`print`, `printf`, `len`, `toJson`, …, and `eq` beside a text) get an empty text
//!   for a gap; a function that could only fail on an empty text is not called, and gives a gap.
//! - A member that is missing in the result of a function is a missing value like any other; its path begins with
//!   `(an expression)`.
//! - The size of the arguments counts as work of the template, so that the clock is read in time.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// The dialect of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// Go's `text/template`.
    Go,
    /// Jinja.
    Jinja,
    /// Plain text, without actions.
    Text,
}

/// The arguments of a call, in the order of the template.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// The arguments without a name.
    pub positional: Vec<Value>,
    /// The arguments with a name (Jinja only).
    pub named: Vec<(String, Value)>,
}

impl Arguments {
    /// About how many bytes of memory they take; counting stops soon after `limit`.
    pub fn bytes_up_to(&self, limit: usize) -> usize {
        let named = self.named.iter().map(|(_, value)| value);
        self.positional
            .iter()
            .chain(named)
            .fold(0, |bytes, value| bytes + if bytes < limit { value.bytes_up_to(limit - bytes) } else { 0 })
    }
}

/// The most bytes that the arguments of a call may take, as [`Arguments::bytes_up_to`] counts them.
pub const ARGUMENT_BYTES: usize = 16 << 20;

/// The result of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum CallResult {
    /// The value that the function returned.
    Value(Value),
    /// The call failed, and its result is a gap: empty when printed, undefined in Jinja.
    Gap,
    /// The result is not there yet; the function chooses the number, which identifies the call. The run goes on while the
    /// result is only printed, or assigned to a name that is not read, and ends with [`RunError::Pending`].
    Pending(usize),
    /// The call is not allowed; the run ends with this message.
    Denied(String),
}

/// The functions that a template may call besides the built-ins of its dialect.
pub trait Functions: Send + Sync {
    /// Whether a function of this name exists.
    fn contains(&self, name: &str) -> bool;

    /// Calls the function; it must not block.
    fn call(&self, name: &str, arguments: Arguments) -> CallResult;
}

/// The text of another prompt that a template includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The prompt's id, which errors name.
    pub id: String,
    /// The source of its template.
    pub text: Arc<str>,
    /// Its dialect.
    pub syntax: Syntax,
}

/// The prompts that a template may include.
pub trait Partials: Send + Sync {
    /// Finds a prompt by the name that a template uses for it.
    ///
    /// # Errors
    /// Why there is no usable prompt of that name, as a sentence for the author of the including template.
    fn find(&self, name: &str) -> Result<Partial, String>;
}

/// [`Functions`] and [`Partials`] without any entries.
#[derive(Debug, Clone, Copy)]
pub struct NoSurroundings;

impl Functions for NoSurroundings {
    fn contains(&self, _name: &str) -> bool {
        false
    }

    fn call(&self, name: &str, _arguments: Arguments) -> CallResult {
        CallResult::Denied(format!("there is no function `{name}`"))
    }
}

impl Partials for NoSurroundings {
    fn find(&self, name: &str) -> Result<Partial, String> {
        Err(format!("there is no prompt `{name}`"))
    }
}

/// The limits of a template: its source, and each run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The most steps of evaluation (nodes, turns of loops, items that an operation looks at).
    pub steps: u64,
    /// How deep templates, macros and includes may nest.
    pub recursion: usize,
    /// The most bytes of output, captured text included.
    pub output_bytes: usize,
    /// The most bytes of source; the texts of a prompt count together, each partial by itself.
    pub source_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 10_000_000, recursion: 1_000, output_bytes: 4 << 20, source_bytes: 256 << 10 }
    }
}

/// What a template does with values that are not there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Undefined {
    /// A run that needs one fails, and names all of them.
    #[default]
    Strict,
    /// They are what the dialect makes of them: `<no value>` in Go, an empty text in Jinja.
    Lenient,
}

/// What one run of a template may use, and how strict it is. A first, cheap run may get less than [`Limits`] allow.
#[derive(Debug, Clone, Copy)]
pub struct RunBudget {
    /// The most steps of evaluation.
    pub steps: u64,
    /// The most bytes of output.
    pub output_bytes: usize,
    /// The time by which the run must end.
    pub deadline: Instant,
    /// Whether a value that is not there ends the run with [`RunError::Missing`].
    pub undefined: Undefined,
    /// The time that the template is told it is. All runs of a render must be told the same one, since a call whose arguments
    /// depend on it would be made again.
    pub moment: SystemTime,
    /// What decides the template's random values. All runs of a render must have the same seed, for the same reason.
    pub seed: u128,
}

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The name of the template.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; `None` if the dialect does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A value that a template needs and that is not in the data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MissingValue {
    /// The path from the root of the data: `variables.docs[1].title`.
    pub path: String,
    /// The place in the template that needed it first.
    pub position: Option<Position>,
}

impl MissingValue {
    /// The name at the top level that the path begins with; `None` if it begins with the result of an expression.
    pub fn first_name(&self) -> Option<&str> {
        (!self.path.starts_with('(')).then(|| first_name(&self.path))
    }
}

/// The name that a path begins with.
fn first_name(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// The error of a text that is not a usable template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The text is not valid in its dialect, or includes a prompt that cannot be used.
    #[error("{message}")]
    Invalid {
        /// The dialect's own message.
        message: String,
        /// The place of the error.
        position: Option<Position>,
    },
    /// The text is longer than the limit.
    #[error("the template has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The length of the text, together with those before it in the same prompt.
        bytes: usize,
        /// [`Limits::source_bytes`].
        limit: usize,
    },
}

impl CompileError {
    /// The place of the error, if it has one.
    pub fn position(&self) -> Option<&Position> {
        match self {
            CompileError::Invalid { position, .. } => position.as_ref(),
            CompileError::TooLarge { .. } => None,
        }
    }
}

/// The error of a run that gave no text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunError {
    /// Values are missing; all that the run could find are listed.
    #[error("{} missing", .0.iter().map(|m| m.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<MissingValue>),
    /// The template performed an invalid operation.
    #[error("{message}")]
    Failed {
        /// The dialect's own message.
        message: String,
        /// The place of the error.
        position: Option<Position>,
    },
    /// A limit other than steps and time was exceeded.
    #[error("the {what} limit of {limit} was exceeded")]
    Limit {
        /// The name of the limit: `output`, `recursion`, `string`, …
        what: &'static str,
        /// The value of the limit.
        limit: u64,
    },
    /// The template needs more steps than the run had.
    #[error("the template took more than {limit} steps")]
    Steps {
        /// The steps that the run had.
        limit: u64,
    },
    /// The deadline passed.
    #[error("the template did not end in time")]
    Deadline,
    /// Results of functions are pending.
    #[error("the result of a function is not known yet")]
    Pending {
        /// The number of the call whose result the run needed to go on; `None` if the run reached its end.
        needed: Option<usize>,
    },
}

/// Something that a template may use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Need {
    /// A path in the data (`user.name`, `docs[].title`), or the name of a function or partial.
    pub name: String,
    /// Whether a render may succeed without it: it is only tested, or only used inside a branch.
    pub optional: bool,
    /// Whether a part of the name is computed at run time.
    pub dynamic: bool,
}

impl Need {
    /// The name that a path in the data begins with; empty for the data as a whole.
    pub fn first_name(&self) -> &str {
        first_name(&self.name)
    }
}

/// What a template may use, found by static analysis; partials are included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Requirements {
    /// Paths below `variables` (or `args`).
    pub variables: Vec<Need>,
    /// All other paths in the data. Their first name may be that of a variable or of an environ: which, depends on the data.
    pub names: Vec<Need>,
    /// Functions that are neither built-in nor defined in the text.
    pub tools: Vec<Need>,
    /// The names of other prompts.
    pub partials: Vec<Need>,
}

impl Requirements {
    /// Adds the requirements of another template of the same prompt. A need is optional only if it is so in both.
    pub fn merge(&mut self, other: &Requirements) {
        for (mine, theirs) in [
            (&mut self.variables, &other.variables),
            (&mut self.names, &other.names),
            (&mut self.tools, &other.tools),
            (&mut self.partials, &other.partials),
        ] {
            for need in theirs {
                match mine.iter_mut().find(|known| known.name == need.name) {
                    Some(known) => {
                        known.optional &= need.optional;
                        known.dynamic |= need.dynamic;
                    }
                    None => mine.push(need.clone()),
                }
            }
            mine.sort();
        }
    }
}
