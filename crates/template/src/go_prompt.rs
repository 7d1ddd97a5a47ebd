//! Go templates as prompts: with partials from [`Partials`], the service's functions, strict about missing values or lenient.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::contract::{
    CompileError, Functions, Limits, MissingValue, Need, Partials, Position, Requirements, RunBudget,
    RunError, Syntax, Undefined,
};
use super::functions::{Programs, ServiceFunctions, changes_data, is_service_function, use_of_arguments};
use super::go::{self, ExecError, ExecOptions, MissingKey, ParseOptions, Set, UnknownFunctions};
use crate::go::time::Moment;
use crate::run::Random;
use crate::value::{Map, Value};

/// How many partials one template may include, directly or through others.
const PARTIALS_MAX: usize = 100;

/// A compiled template with its partials.
pub struct GoTemplate {
    set: Set,
    name: String,
    limits: Limits,
    requires: Requirements,
    /// Whether it calls functions that change maps.
    changes_data: bool,
    /// The length of the last output: the capacity of the next buffer. Buffers are not reused, since the text is moved into
    /// the answer without a copy.
    last_bytes: AtomicUsize,
}

/// Whether a text is a valid Go template with the known functions; an unknown one is accepted if an argument follows it.
pub fn parses(text: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let options = ParseOptions { unknown: UnknownFunctions::AcceptWithArgument, ..ParseOptions::new(known) };
    Set::new().parse("", text, &options).is_ok()
}

/// Go's error message for a text that is not a valid Go template.
pub fn parse_error(name: &str, text: &str, functions: &dyn Functions) -> Option<String> {
    let known = |name: &str| is_service_function(name) || functions.contains(name);
    Set::new().parse(name, text, &ParseOptions::new(&known)).err().map(|error| error.message)
}

impl GoTemplate {
    /// Compiles a text, with the prompts that it calls by name.
    ///
    /// # Errors
    /// [`CompileError`] if the text or one of those prompts is too large or not valid.
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
        let found = set.requires(name, &use_of_arguments);
        let changes_data = found.functions.iter().any(|function| changes_data(&function.name));
        let requires = requires(found, partials);
        Ok(GoTemplate {
            set,
            name: name.to_owned(),
            limits: *limits,
            requires,
            changes_data,
            last_bytes: AtomicUsize::new(0),
        })
    }

    /// What the template may use, partials included.
    pub fn requires(&self) -> &Requirements {
        &self.requires
    }

    /// Runs the template over `root`. Invalid UTF-8 in the output becomes U+FFFD.
    ///
    /// # Errors
    /// [`RunError`]; all missing values are reported together.
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &dyn Functions,
        run: &RunBudget,
    ) -> Result<String, RunError> {
        let options = ExecOptions {
            missing_key: match run.undefined {
                Undefined::Strict => MissingKey::Strict,
                Undefined::Lenient => MissingKey::Default,
            },
            steps: run.steps,
            recursion: self.limits.recursion,
            output_bytes: run.output_bytes,
            scratch_bytes: self.limits.output_bytes.saturating_mul(4),
            live_data: self.changes_data,
            deadline: Some(run.deadline),
        };
        let mut out = Vec::with_capacity(self.last_bytes.load(Ordering::Relaxed));
        let data = Value::Map(root.clone());
        let functions = ServiceFunctions {
            tools: functions,
            moment: Moment::from(run.moment),
            random: Random::new(run.seed),
            programs: Programs::default(),
        };
        self.set.execute(&self.name, &data, &functions, &options, &mut out).map_err(failed)?;
        self.last_bytes.store(out.len(), Ordering::Relaxed);
        Ok(String::from_utf8(out)
            .unwrap_or_else(|bytes| String::from_utf8_lossy(bytes.as_bytes()).into_owned()))
    }
}

fn invalid(error: go::ParseError) -> CompileError {
    let position = Position { template: error.name.to_string(), line: error.line, column: None };
    CompileError::Invalid { message: error.message, position: Some(position) }
}

fn failed(error: ExecError) -> RunError {
    match error {
        ExecError::Failed { message, place } => {
            RunError::Failed { message, position: Some(position(&place)) }
        }
        ExecError::Recursion { message, place, .. } => {
            RunError::Failed { message, position: Some(position(&place)) }
        }
        ExecError::NoTemplate { message } => RunError::Failed { message, position: None },
        ExecError::Missing(missing) => RunError::Missing(
            missing
                .into_iter()
                .map(|missing| MissingValue { path: missing.path, position: Some(position(&missing.place)) })
                .collect(),
        ),
        ExecError::Steps { limit } => RunError::Steps { limit },
        ExecError::Deadline => RunError::Deadline,
        ExecError::Output { limit } => RunError::Limit { what: "output", limit: limit as u64 },
        ExecError::Scratch { limit } => RunError::Limit { what: "memory", limit: limit as u64 },
        ExecError::Pending { needed } => RunError::Pending { needed },
    }
}

fn position(place: &go::Place) -> Position {
    Position { template: place.name.to_string(), line: place.line, column: Some(place.column + 1) }
}

/// The template that includes the partials.
struct Main<'a> {
    name: &'a str,
    text: &'a str,
}

/// Adds the prompts that the templates of the set call and that the set does not define; returns the names used for them.
fn add_partials(
    set: &mut Set,
    main: Main<'_>,
    partials: &dyn Partials,
    options: &ParseOptions<'_>,
    limits: &Limits,
) -> Result<Vec<Need>, CompileError> {
    let Main { name, text } = main;
    let mut used: Vec<Need> = Vec::new();
    while let Some(wanted) = set.requires(name, &use_of_arguments).templates.into_iter().next() {
        let fail = |message: String| {
            let position =
                Some(Position { template: name.to_owned(), line: line_of(text, &wanted.name), column: None });
            CompileError::Invalid { message, position }
        };
        if used.len() >= PARTIALS_MAX {
            return Err(fail(format!("the template includes more than {PARTIALS_MAX} others")));
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
        let source = match partial.syntax {
            Syntax::Text => as_printed(&partial.text),
            _ => Cow::Borrowed(partial.text.as_ref()),
        };
        set.parse(&wanted.name, &source, options).map_err(invalid)?;
        if !set.contains(&wanted.name) {
            return Err(fail(format!("the prompt `{}` cannot be called by this name", partial.id)));
        }
        used.push(Need { name: wanted.name, optional: wanted.optional, dynamic: wanted.dynamic });
    }
    Ok(used)
}

/// A template that prints a text which is none.
fn as_printed(text: &str) -> Cow<'_, str> {
    if !text.contains("{{") {
        return Cow::Borrowed(text);
    }
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
    Cow::Owned(format!("{{{{\"{text}\"}}}}"))
}

/// The line in which a text first names a template; line 1 if the name is not found literally.
fn line_of(text: &str, name: &str) -> usize {
    let at = text.find(&format!("\"{name}\"")).unwrap_or(0);
    1 + text.bytes().take(at).filter(|b| *b == b'\n').count()
}

/// What a template may use, in the terms of prompts. The functions of the service are no tools.
fn requires(mut found: go::Requirements, mut partials: Vec<Need>) -> Requirements {
    found.functions.retain(|function| !is_service_function(&function.name));
    partials.sort();
    Requirements { partials, ..Requirements::of(found) }
}
