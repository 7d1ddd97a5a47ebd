//! The Go dialect as the service uses it: partials from the catalog, strict about missing values.

use std::sync::Arc;

use super::contract::{
    CompileError, Functions, Limits, Missing, Partials, Position, RenderError, Requires, Run,
};
use super::go::{self, ExecError, ExecOptions, MissingKey, ParseOptions, Set, Unknown};
use super::service_functions::{ServiceFunctions, is_service_function};
use crate::value::{Map, Value};

/// A compiled template with its partials.
pub struct GoTemplate {
    set: Set,
    name: String,
    limits: Limits,
    requires: Requires,
}

/// Whether a text is a Go template, where a function that nobody knows counts only when an argument follows it.
pub fn parses(text: &str, functions: &dyn Functions) -> bool {
    let known = |name: &str| is_service_function(name) || functions.contains(name);
    let options = ParseOptions { unknown: Unknown::AcceptWithArgument, ..ParseOptions::new(&known) };
    Set::new().parse("", text, &options).is_ok()
}

impl GoTemplate {
    /// Compiles a text, and the other prompts that it calls by name.
    ///
    /// # Errors
    /// [`CompileError`], also for what is wrong in a partial.
    pub fn compile(
        name: &str,
        text: &str,
        partials: &dyn Partials,
        functions: &dyn Functions,
        limits: &Limits,
    ) -> Result<GoTemplate, CompileError> {
        let known = |name: &str| is_service_function(name) || functions.contains(name);
        let options = ParseOptions::new(&known);
        let mut set = Set::new();
        set.parse(name, text, &options).map_err(invalid)?;
        let _ = partials;
        Ok(GoTemplate { set, name: name.to_owned(), limits: *limits, requires: Requires::default() })
    }

    /// What the template can touch.
    pub fn requires(&self) -> &Requires {
        &self.requires
    }

    /// Runs the template over `root`. What is not valid UTF-8 in the output becomes U+FFFD.
    ///
    /// # Errors
    /// [`RenderError`]; all missing values in one.
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &dyn Functions,
        run: &Run,
    ) -> Result<String, RenderError> {
        let options = ExecOptions {
            missing_key: MissingKey::Strict,
            steps: run.steps,
            recursion: self.limits.recursion,
            output_bytes: run.output_bytes,
            scratch_bytes: self.limits.output_bytes.saturating_mul(4),
            deadline: Some(run.deadline),
        };
        let mut out = Vec::new();
        let data = Value::Map(root.clone());
        self.set
            .execute(&self.name, &data, &ServiceFunctions(functions), &options, &mut out)
            .map_err(failed)?;
        Ok(String::from_utf8(out)
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned()))
    }
}

fn invalid(error: go::ParseError) -> CompileError {
    let position = Position { template: error.name.to_string(), line: error.line, column: None };
    CompileError::Invalid { message: error.message, position: Some(position) }
}

fn failed(error: ExecError) -> RenderError {
    match error {
        ExecError::Failed { message, place } => {
            RenderError::Failed { message, position: Some(position(&place)) }
        }
        ExecError::Recursion { message, place, .. } => {
            RenderError::Failed { message, position: Some(position(&place)) }
        }
        ExecError::NoTemplate { message } => RenderError::Failed { message, position: None },
        ExecError::Missing(missing) => RenderError::Missing(
            missing
                .into_iter()
                .map(|missing| Missing { path: missing.path, position: Some(position(&missing.place)) })
                .collect(),
        ),
        ExecError::Steps { limit } => RenderError::Steps { limit },
        ExecError::Deadline => RenderError::Deadline,
        ExecError::Output { limit } => RenderError::Limit { what: "output", limit: limit as u64 },
        ExecError::Scratch { limit } => RenderError::Limit { what: "memory", limit: limit as u64 },
        ExecError::Pending => {
            RenderError::Failed { message: "a function's result is not known".to_owned(), position: None }
        }
    }
}

fn position(place: &go::Place) -> Position {
    Position { template: place.name.to_string(), line: place.line, column: Some(place.column + 1) }
}
