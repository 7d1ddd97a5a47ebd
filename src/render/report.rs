//! The report of a render, which a client can ask for, and the warnings, which are always sent.

use std::collections::BTreeMap;

use serde::Serialize;

use super::names::{NameOrigin, Requires};
use template::Syntax;
use template::value::{SmolStr, Value};

/// The warning about a tool call that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The id of the tool.
    pub tool: String,
    /// The error of the call.
    #[serde(rename = "reason")]
    pub error: String,
}

/// The report of a render.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// The dialect of the templates.
    pub syntax: Syntax,
    /// The revision of the snapshot that was used.
    pub revision: u64,
    /// Whether the compiled prompt came from the cache.
    pub cached: bool,
    /// Whether the last wave ran in the pool.
    pub pooled: bool,
    /// The duration of the whole render, in microseconds.
    pub duration_us: u64,
    /// The variables, environs, functions and partials that the templates can use.
    pub requires: Requires,
    /// Where the value of each name comes from that the templates use at the top level.
    pub names: BTreeMap<SmolStr, NameOrigin>,
    /// The tool calls, wave by wave.
    pub waves: Vec<WaveReport>,
}

/// The tool calls that one run of the templates requested, and that were made concurrently.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WaveReport {
    /// The calls, in the order in which the templates requested them.
    pub calls: Vec<CallReport>,
}

/// The report of one tool call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallReport {
    /// The id of the tool.
    pub tool: String,
    /// The arguments as an object, as the tool got them; if they do not fit, the list of arguments in the template.
    pub arguments: Value,
    /// The kind of value that replaced the call in the text.
    pub outcome: OutcomeKind,
    /// The error, if the call failed.
    #[serde(rename = "reason", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The duration of the call, in microseconds.
    pub duration_us: u64,
    /// The tool whose result was needed before this call could be requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_for: Option<String>,
}

/// The kind of value that replaces a tool call in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// The tool's answer.
    Value,
    /// An answer from the cache, or that of an equal call that was under way.
    Cached,
    /// The default of the tool's document, because the call failed.
    Default,
    /// Nothing, because the call failed and the tool has no default.
    Empty,
}
