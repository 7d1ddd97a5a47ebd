//! How a render went: what is told to whoever asks for it, and what is told in any case.

use std::sync::Arc;

use serde::Serialize;

use template::value::Value;
use template::{Requirements, Syntax};

/// A call of a tool that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The tool's id.
    pub tool: String,
    /// Why it failed.
    pub reason: String,
}

/// How a render went.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The dialect.
    pub syntax: Syntax,
    /// The revision of the catalog that the render saw.
    pub revision: u64,
    /// Whether the compiled templates were at hand.
    pub cached: bool,
    /// Whether the render was too long for the serving thread and went on in the pool.
    pub pooled: bool,
    /// The time for everything, in microseconds.
    pub duration_us: u64,
    /// What the templates can touch.
    pub requires: Arc<Requirements>,
    /// The calls of tools, by the runs of the templates that asked for them.
    pub waves: Vec<WaveReport>,
}

/// The calls that one run of the templates asked for, and that ran at the same time.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WaveReport {
    /// The calls, in the order in which the templates asked for them.
    pub calls: Vec<CallReport>,
}

/// One call of a tool.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallReport {
    /// The tool's id.
    pub tool: String,
    /// The arguments as the tool got them; a list of those that were given where they are not right.
    pub arguments: Value,
    /// What stands for the call in the text.
    pub outcome: Outcome,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took, in microseconds.
    pub duration_us: u64,
    /// The tool whose result was needed before this call could be asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_for: Option<String>,
}

/// What stands for a call in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The tool's answer.
    Value,
    /// An answer that was known already, or that another call asked for at the same time.
    Cached,
    /// The call failed, and the tool's document has a default.
    Default,
    /// The call failed, and there is nothing in its place.
    Empty,
}
