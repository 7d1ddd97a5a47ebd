//! Jinja, by means of `minijinja`, with limits and missing values added around it.
//!
//! Before a text is compiled, its nesting is checked (`source`), operators that could take unbounded time are rewritten
//! (`guard`), its partials are read (`library`), and its requirements are found (`requires`). At run time, the engine reads
//! the data without a copy (`data`, `root`), stand-in objects represent missing values (`missing`), and filters, methods and
//! operators obey the limits (`run`).
//!
//! - As in minijinja, names that an included text sets are set in the including text, too.
//! - As in Jinja, one line break at the end of a text is dropped. A text without any action is not changed.
//! - Chains such as `a in b in c` without brackets, more than 32 nested brackets, and namespaces inside namespaces are
//!   refused, since their cost could not be bounded.

mod bounds;
mod data;
mod engine;
mod error;
mod filters;
mod first_use;
mod guard;
mod heft;
mod json;
mod library;
mod methods;
mod missing;
mod operators;
mod pending;
mod print;
mod requires;
mod root;
mod run;
mod source;
mod tree;
mod turns;

#[cfg(test)]
mod tests;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use minijinja::{Environment, Error, Value as Engine};

use self::library::{Library, MAIN};
use self::root::Root;
use self::run::{RunState, Text};
use super::{
    CompileError, Functions, Limits, MissingValue, Partials, Position, Requirements, RunBudget, RunError,
};
use crate::value::Map;

/// Up to this length, in bytes, a buffer of our own with enough capacity is faster than the engine's. Beyond it, checking that
/// the output is UTF-8 takes longer than growing a string.
const SHORT_BYTES: usize = 8 << 10;

/// A compiled template and the partials that it names.
pub struct Template {
    env: Environment<'static>,
    /// The engine with the step limit of the first run, which nearly all runs have: another limit takes a copy of the engine.
    usual: OnceLock<Environment<'static>>,
    library: Arc<Library>,
    requires: Requirements,
    /// The length of the last output: the capacity of the next buffer.
    last_bytes: AtomicUsize,
}

impl Template {
    /// Compiles a text, with the partials that it names by a literal.
    ///
    /// # Errors
    /// If the text is too large or not valid Jinja, or a partial is missing, in another dialect, or not valid itself.
    pub fn compile(
        name: &str,
        source: &str,
        partials: &Arc<dyn Partials>,
        limits: &Limits,
    ) -> Result<Template, CompileError> {
        let mut library = Library::new(partials.clone(), *limits);
        let requires = library.read(name, source)?;
        let library = Arc::new(library);
        let env = engine::environment(&library, limits).map_err(|(text, error)| text.refused(&error))?;
        Ok(Template { env, usual: OnceLock::new(), library, requires, last_bytes: AtomicUsize::new(0) })
    }

    /// What the template may use, partials included.
    pub fn requires(&self) -> &Requirements {
        &self.requires
    }

    /// Runs the template over `root`.
    ///
    /// # Errors
    /// [`RunError::Missing`] with all missing values that the run found, else the error that ended it.
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &Arc<dyn Functions>,
        run: &RunBudget,
    ) -> Result<String, RunError> {
        let state = RunState::new(root.clone(), self.library.clone(), *run);
        let entered = state.enter();
        // The engine can panic, for example for `loop.cycle()` without arguments.
        let result = catch_unwind(AssertUnwindSafe(|| self.run(root, functions, run.steps)));
        drop(entered);
        self.outcome(result.ok(), &state, run)
    }

    fn run(&self, root: &Arc<Map>, functions: &Arc<dyn Functions>, steps: u64) -> Result<String, Error> {
        let root = Engine::from_object(Root::new(root.clone(), functions.clone()));
        let with_steps = || {
            let mut env = self.env.clone();
            env.set_fuel(Some(steps));
            env
        };
        let usual = self.usual.get_or_init(with_steps);
        match usual.fuel() == Some(steps) {
            true => self.write(usual, root),
            false => self.write(&with_steps(), root),
        }
    }

    fn write(&self, env: &Environment<'_>, root: Engine) -> Result<String, Error> {
        let template = env.get_template(MAIN)?;
        let expected = self.last_bytes.load(Ordering::Relaxed);
        let text = if expected > SHORT_BYTES && self.requires.tools.is_empty() {
            template.render(root)?
        } else {
            let mut text = Text::with_capacity(expected);
            template.render_captured_to(root, &mut text)?;
            text.finish()
        };
        self.last_bytes.store(text.len(), Ordering::Relaxed);
        Ok(text)
    }

    fn outcome(
        &self,
        result: Option<Result<String, Error>>,
        state: &RunState,
        run: &RunBudget,
    ) -> Result<String, RunError> {
        let mut missing = self.missing(state);
        let error = match (state.stopped(), result) {
            (Some(error), _) => Some(error),
            (None, None) => Some(RunError::Failed { message: "the engine failed".into(), position: None }),
            (None, Some(Ok(text))) if text.len() > run.output_bytes => {
                Some(RunError::Limit { what: "output", limit: run.output_bytes as u64 })
            }
            (None, Some(Ok(_))) if state.is_pending() => Some(RunError::Pending { needed: None }),
            (None, Some(Ok(text))) if missing.is_empty() => return Ok(text),
            (None, Some(Ok(_))) => None,
            (None, Some(Err(error))) => {
                let place = |error: &Error| self.place(error);
                Some(error::of_engine(&error, run.steps, engine::recursion_limit(&self.env), place))
            }
        };
        match error {
            // The part of the template that was not reached may have more missing values.
            Some(unfinished @ (RunError::Steps { .. } | RunError::Deadline)) => return Err(unfinished),
            Some(RunError::Missing(more)) => missing.extend(more),
            Some(error) if missing.is_empty() => return Err(error),
            _ => {}
        }
        missing.sort();
        missing.dedup_by(|a, b| a.path == b.path);
        Err(RunError::Missing(missing))
    }

    fn missing(&self, state: &RunState) -> Vec<MissingValue> {
        let misses = state.misses();
        if misses.is_empty() {
            return Vec::new();
        }
        let paths = missing::paths(&state.root, &misses);
        paths.into_iter().map(|path| MissingValue { position: self.first_use(&path), path }).collect()
    }

    /// The place where one of the texts first names a path.
    fn first_use(&self, path: &str) -> Option<Position> {
        let main = self.library.text(MAIN);
        let others = self.library.texts().into_iter().map(|(_, text)| text);
        main.into_iter().chain(others).find_map(|text| first_use::first_use(&text, path))
    }

    /// The place of an error in the text as the author wrote it.
    fn place(&self, error: &Error) -> Option<Position> {
        let text = self.library.text(error.name()?)?;
        match (error.range(), error.line()) {
            (Some(range), _) => Some(text.position(range.start)),
            (None, Some(line)) => Some(Position { template: text.name.clone(), line, column: None }),
            (None, None) => None,
        }
    }
}
