//! The Go dialect as the service uses it: partials from the catalog, strict about missing values.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::contract::{
    CompileError, Functions, Limits, Missing, Need, Partials, Position, RenderError, Requires, Run, Syntax,
};
use super::go::{self, ExecError, ExecOptions, MissingKey, ParseOptions, Set, Unknown};
use super::service_functions::{ServiceFunctions, is_service_function, takes_missing};
use crate::value::{Map, Value};

/// How many partials one prompt may pull in, one through another.
const PARTIALS_MAX: usize = 100;

/// A compiled template with its partials.
pub struct GoTemplate {
    set: Set,
    name: String,
    limits: Limits,
    requires: Requires,
    /// The length of the last output, which the next one is likely to have too.
    last_bytes: AtomicUsize,
}

/// Whether a text is a Go template, where a function that nobody knows counts only when an argument follows it.
pub fn parses(text: &str, functions: &dyn Functions) -> bool {
    let known = |name: &str| is_service_function(name) || functions.contains(name);
    let options = ParseOptions { unknown: Unknown::AcceptWithArgument, ..ParseOptions::new(&known) };
    Set::new().parse("", text, &options).is_ok()
}

/// Go's message about a text that is no Go template.
pub fn parse_error(name: &str, text: &str, functions: &dyn Functions) -> Option<String> {
    let known = |name: &str| is_service_function(name) || functions.contains(name);
    Set::new().parse(name, text, &ParseOptions::new(&known)).err().map(|error| error.message)
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
        let partials = add_partials(&mut set, Main { name, text }, partials, &options, limits)?;
        let requires = requires(&set, name, partials);
        Ok(GoTemplate {
            set,
            name: name.to_owned(),
            limits: *limits,
            requires,
            last_bytes: AtomicUsize::new(0),
        })
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
        let mut out = Vec::with_capacity(self.last_bytes.load(Ordering::Relaxed));
        let data = Value::Map(root.clone());
        self.set
            .execute(&self.name, &data, &ServiceFunctions(functions), &options, &mut out)
            .map_err(failed)?;
        self.last_bytes.store(out.len(), Ordering::Relaxed);
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
        ExecError::Pending { needed } => RenderError::Pending { needed },
    }
}

fn position(place: &go::Place) -> Position {
    Position { template: place.name.to_string(), line: place.line, column: Some(place.column + 1) }
}

/// The template that a prompt is made of.
struct Main<'a> {
    name: &'a str,
    text: &'a str,
}

/// Adds the prompts that the templates of the set call and nobody defines; returns them as they are called.
fn add_partials(
    set: &mut Set,
    main: Main<'_>,
    partials: &dyn Partials,
    options: &ParseOptions<'_>,
    limits: &Limits,
) -> Result<Vec<Need>, CompileError> {
    let Main { name, text } = main;
    let mut used: Vec<Need> = Vec::new();
    while let Some(wanted) = set.requires(name, &takes_missing).templates.into_iter().next() {
        let fail = |message: String| {
            let position =
                Some(Position { template: name.to_owned(), line: line_of(text, &wanted.name), column: None });
            CompileError::Invalid { message, position }
        };
        if used.len() >= PARTIALS_MAX {
            return Err(fail(format!("the template calls more than {PARTIALS_MAX} others")));
        }
        let partial = partials.find(&wanted.name).map_err(fail)?;
        if partial.syntax == Syntax::Jinja {
            let id = partial.id;
            return Err(fail(format!(
                "the prompt `{id}` is written in Jinja; only Go templates can be called here"
            )));
        }
        if partial.text.len() > limits.source_bytes {
            return Err(CompileError::TooLarge { bytes: partial.text.len(), limit: limits.source_bytes });
        }
        set.parse(&wanted.name, &partial.text, options).map_err(invalid)?;
        if !set.contains(&wanted.name) {
            return Err(fail(format!("the prompt `{}` cannot be called by this name", partial.id)));
        }
        used.push(Need { name: wanted.name, optional: wanted.optional, dynamic: wanted.dynamic });
    }
    Ok(used)
}

/// The line where a text first names a template; the first line when it does so in some roundabout way.
fn line_of(text: &str, name: &str) -> usize {
    let at = text.find(&format!("\"{name}\"")).unwrap_or(0);
    1 + text.bytes().take(at).filter(|b| *b == b'\n').count()
}

/// What the templates touch, sorted into what the service knows.
fn requires(set: &Set, name: &str, mut partials: Vec<Need>) -> Requires {
    let found = set.requires(name, &takes_missing);
    let need = |need: go::Need| Need { name: need.name, optional: need.optional, dynamic: need.dynamic };
    let tools = found.functions.into_iter().filter(|f| !is_service_function(&f.name)).map(need).collect();
    partials.sort();
    let mut requires = Requires { tools, partials, ..Requires::default() };
    for path in found.paths {
        let (first, rest) = path.name.split_once('.').unwrap_or((&path.name, ""));
        let place = match first {
            "variables" | "args" => (&mut requires.variables, rest),
            _ => (&mut requires.environs, path.name.as_str()),
        };
        place.0.push(Need { name: place.1.to_owned(), optional: path.optional, dynamic: path.dynamic });
    }
    let mut merged = Requires::default();
    merged.merge(&requires);
    merged
}
