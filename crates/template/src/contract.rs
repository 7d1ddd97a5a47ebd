//! What both dialects take and give: functions, partials, limits, requirements and errors.

use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::value::Value;

/// The language a template is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Syntax {
    /// Go's `text/template`.
    Go,
    /// Jinja.
    Jinja,
    /// No template at all: the text stands for itself.
    Text,
}

/// The arguments of a call, as the template wrote them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments {
    /// By position.
    pub positional: Vec<Value>,
    /// By name (Jinja only), in the order in which they were written.
    pub named: Vec<(String, Value)>,
}

impl Arguments {
    /// About how many bytes they take, counted little further than `limit`.
    pub fn bytes_up_to(&self, limit: usize) -> usize {
        let named = self.named.iter().map(|(_, value)| value);
        self.positional
            .iter()
            .chain(named)
            .fold(0, |bytes, value| bytes + if bytes < limit { value.bytes_up_to(limit - bytes) } else { 0 })
    }
}

/// What the arguments of a call may take, in bytes, as [`Arguments::bytes_up_to`] counts them; larger ones are not looked
/// through to their end.
pub const ARGUMENT_BYTES: usize = 16 << 20;

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Called {
    /// The value is known.
    Value(Value),
    /// The call failed for good, and a gap stands for it: empty when printed, undefined in Jinja.
    Gap,
    /// The value is not known yet; the number is the function's own for the call. The run goes on for as long as only
    /// printing it, or giving it a name that is not read, is at stake, and ends with [`RenderError::Pending`].
    Pending(usize),
    /// The call was not allowed, and the render fails with this message.
    Refused(String),
}

/// What a template may call beside the built-ins of its dialect.
pub trait Functions: Send + Sync {
    /// Whether a function of this name exists.
    fn contains(&self, name: &str) -> bool;

    /// Calls the function.
    fn call(&self, name: &str, arguments: Arguments) -> Called;
}

/// Another prompt's text that a template may include.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partial {
    /// The prompt's id, under which errors name it.
    pub id: String,
    /// The template text.
    pub text: Arc<str>,
    /// The dialect it is written in.
    pub syntax: Syntax,
}

/// Finds other prompts by the name that a template uses for them.
pub trait Partials: Send + Sync {
    /// The text prompt that `name` means, or why it cannot be used (none of that name, a prompt of messages, …).
    ///
    /// # Errors
    /// A sentence for the author of the including template.
    fn find(&self, name: &str) -> Result<Partial, String>;
}

/// No functions, and no other prompts.
#[derive(Debug, Clone, Copy)]
pub struct Alone;

impl Functions for Alone {
    fn contains(&self, _name: &str) -> bool {
        false
    }

    fn call(&self, name: &str, _arguments: Arguments) -> Called {
        Called::Refused(format!("there is no function `{name}`"))
    }
}

impl Partials for Alone {
    fn find(&self, name: &str) -> Result<Partial, String> {
        Err(format!("there is no prompt `{name}`"))
    }
}

/// What one render may use up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Steps of evaluation (Go: nodes; Jinja: instructions).
    pub steps: u64,
    /// Depth of nested templates, macros and includes.
    pub recursion: usize,
    /// Bytes of output, captured text included.
    pub output_bytes: usize,
    /// Bytes of a template's source; a prompt's texts count together.
    pub source_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 10_000_000, recursion: 1_000, output_bytes: 4 << 20, source_bytes: 256 << 10 }
    }
}

/// What this run of a template may use up; a first, cheap run gets less than the limits allow.
#[derive(Debug, Clone, Copy)]
pub struct Run {
    /// Steps left.
    pub steps: u64,
    /// Bytes of output left.
    pub output_bytes: usize,
    /// When the run must have ended.
    pub deadline: Instant,
}

/// A place in a template.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// The name of the template.
    pub template: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1; absent where the dialect does not know it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
}

/// A value that a template needed and that was not there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Missing {
    /// The path from the root of the data: `variables.docs[1].title`.
    pub path: String,
    /// Where it was needed first.
    pub position: Option<Position>,
}

/// Why a text is not a usable template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompileError {
    /// The text breaks the rules of its dialect.
    #[error("{message}")]
    Invalid {
        /// The dialect's own message.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// The text is longer than the limit.
    #[error("the template has {bytes} bytes; the limit is {limit}")]
    TooLarge {
        /// The length of the text, and of those before it in the same prompt.
        bytes: usize,
        /// The most that is allowed.
        limit: usize,
    },
}

impl CompileError {
    /// Where the fault is, if it has a place.
    pub fn position(&self) -> Option<&Position> {
        match self {
            CompileError::Invalid { position, .. } => position.as_ref(),
            CompileError::TooLarge { .. } => None,
        }
    }
}

/// Why a compiled template gave no text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// Values that are not there; all of them that the run could find.
    #[error("{} missing", .0.iter().map(|m| m.path.as_str()).collect::<Vec<_>>().join(", "))]
    Missing(Vec<Missing>),
    /// The template did something that is not possible.
    #[error("{message}")]
    Failed {
        /// The dialect's own message.
        message: String,
        /// Where.
        position: Option<Position>,
    },
    /// A limit other than steps and time was passed.
    #[error("the {what} limit of {limit} was passed")]
    Limit {
        /// Which limit: `output`, `recursion`, `string`, …
        what: &'static str,
        /// Its value.
        limit: u64,
    },
    /// The run used up its steps.
    #[error("the template took more than {limit} steps")]
    Steps {
        /// The steps that the run had.
        limit: u64,
    },
    /// The deadline passed.
    #[error("the template did not end in time")]
    Deadline,
    /// Results of functions are not known yet.
    #[error("the result of a function is not known yet")]
    Pending {
        /// The call whose result was needed to go on, by its number; nothing if the run came to its end.
        needed: Option<usize>,
    },
}

/// One thing that a template can touch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Need {
    /// A dotted path (`user.name`, `docs[].title`), or the name of a function or partial.
    pub name: String,
    /// Only tested, or only touched inside a branch: a render may succeed without it.
    pub optional: bool,
    /// Part of the name is computed as the template runs.
    pub dynamic: bool,
}

/// What a template can touch, by static analysis of its syntax tree, partials included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Requires {
    /// Paths below `variables` (or `args`).
    pub variables: Vec<Need>,
    /// Paths of environs.
    pub environs: Vec<Need>,
    /// Functions that are neither built-in nor defined in the text.
    pub tools: Vec<Need>,
    /// Other prompts.
    pub partials: Vec<Need>,
}

impl Requires {
    /// Adds what another template of the same prompt needs; a thing needed once for certain is not optional.
    pub fn merge(&mut self, other: &Requires) {
        for (mine, theirs) in [
            (&mut self.variables, &other.variables),
            (&mut self.environs, &other.environs),
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
