//! What a prompt's templates see of the catalog: other prompts by name, and tools as functions.

use std::sync::{Arc, Mutex};

use super::Warning;
use super::compiled::syntax_of;
use crate::catalog::{Nearby, Snapshot};
use crate::model::{Body, Tool};
use crate::template::{Arguments, Called, Functions, Partial, Partials};
use crate::value::Value;

impl Partials for Nearby {
    fn find(&self, name: &str) -> Result<Partial, String> {
        let entry = self
            .prompt(name)
            .ok_or_else(|| format!("there is no template, and no prompt, called `{name}`"))?;
        let prompt = entry.prompt.as_ref().ok_or_else(|| format!("the prompt `{}` is broken", entry.id))?;
        match &prompt.body {
            Body::Text(text) => Ok(Partial {
                id: entry.id.to_string(),
                text: text.text.clone(),
                syntax: syntax_of(prompt, self),
            }),
            Body::Messages { .. } => Err(format!(
                "the prompt `{}` is a list of messages; only text prompts can be included",
                entry.id
            )),
        }
    }
}

/// The functions by name alone, for compiling.
impl Functions for Nearby {
    fn contains(&self, name: &str) -> bool {
        self.has_function(name)
    }

    fn call(&self, name: &str, _arguments: Arguments) -> Called {
        Called::Refused(format!("`{name}` is called while templates are only compiled"))
    }
}

/// The tools of the catalog as functions, for one render; counts calls and collects warnings.
pub struct ToolFunctions {
    snapshot: Arc<Snapshot>,
    allowed: Option<Vec<String>>,
    calls_left: Mutex<usize>,
    warnings: Mutex<Vec<Warning>>,
    calls_max: usize,
}

impl ToolFunctions {
    /// The tools of `snapshot`, or those of them whose ids are `allowed`, for at most `calls_max` calls.
    pub fn new(snapshot: Arc<Snapshot>, allowed: Option<Vec<String>>, calls_max: usize) -> ToolFunctions {
        ToolFunctions {
            snapshot,
            allowed,
            calls_left: Mutex::new(calls_max),
            warnings: Mutex::default(),
            calls_max,
        }
    }

    /// The failed calls so far.
    pub fn take_warnings(&self) -> Vec<Warning> {
        self.warnings.lock().map(|mut warnings| std::mem::take(&mut *warnings)).unwrap_or_default()
    }

    fn failed(&self, tool: &Tool, reason: &str) -> Called {
        if let Ok(mut warnings) = self.warnings.lock() {
            warnings.push(Warning { tool: tool.id.to_string(), reason: reason.to_owned() });
        }
        match &tool.default {
            Some(default) => Called::Value(Value::from(default.clone())),
            None => Called::Gap,
        }
    }

    /// Takes one call off the budget; says whether there was one left.
    fn spend_call(&self) -> bool {
        let Ok(mut left) = self.calls_left.lock() else { return false };
        let some = *left > 0;
        *left = left.saturating_sub(1);
        some
    }
}

impl Functions for ToolFunctions {
    fn contains(&self, name: &str) -> bool {
        self.snapshot.documents.functions.contains_key(name)
    }

    fn call(&self, name: &str, _arguments: Arguments) -> Called {
        let Some(tool) = self.snapshot.documents.functions.get(name) else {
            return Called::Refused(format!("there is no function `{name}`"));
        };
        if !self.spend_call() {
            return Called::Refused(format!("the render makes more than {} tool calls", self.calls_max));
        }
        if self.allowed.as_ref().is_some_and(|allowed| !allowed.iter().any(|id| id == tool.id.as_str())) {
            return self.failed(tool, "the prompt's `limits.tools` does not allow this tool");
        }
        self.failed(tool, "this version registers tools, but has no way to reach them yet")
    }
}
