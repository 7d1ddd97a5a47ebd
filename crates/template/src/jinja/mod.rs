//! Jinja: `minijinja` behind walls.
//!
//! The engine is used as it is; what it lacks is put around it. A text is looked at before it is
//! parsed (`source`), its unbounded operators are rewritten (`guard`), its partials are read
//! (`library`) and its needs found (`requires`). As it runs, data is shown to it without copying
//! (`data`, `root`), absent values stand in for themselves (`missing`), and filters, methods
//! and operators keep within limits (`run`).

mod bounds;
mod data;
mod engine;
mod failure;
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
use super::{CompileError, Functions, Limits, Missing, Partials, Position, RenderError, Requires, Run};
use crate::value::Map;

/// Up to this length, in bytes, a text of our own is faster than the engine's: it has its whole length from the beginning. Beyond,
/// checking that it is UTF-8 takes longer than growing.
const SHORT_BYTES: usize = 8 << 10;

/// A compiled template and the partials that it names.
pub struct Template {
    env: Environment<'static>,
    /// The engine with the steps of the first run, which are those of nearly all: setting others takes a copy of it.
    usual: OnceLock<Environment<'static>>,
    library: Arc<Library>,
    requires: Requires,
    /// The length of the last output, which the next one is likely to have too.
    last_bytes: AtomicUsize,
}

impl Template {
    /// Compiles a text, and the partials that it names in writing.
    ///
    /// # Errors
    /// For a text that is too large or not Jinja, and for partials that are not there, of another
    /// dialect, or broken themselves.
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

    /// What the template can touch, partials included.
    pub fn requires(&self) -> &Requires {
        &self.requires
    }

    /// Runs the template over `root`.
    ///
    /// # Errors
    /// All missing values that the run could find; else why it failed, or which limit it passed.
    pub fn render(
        &self,
        root: &Arc<Map>,
        functions: &Arc<dyn Functions>,
        run: &Run,
    ) -> Result<String, RenderError> {
        let state = RunState::new(root.clone(), self.library.clone(), *run);
        let entered = state.enter();
        // The engine has a few panics of its own (`loop.cycle()` without arguments, for one).
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
        run: &Run,
    ) -> Result<String, RenderError> {
        let mut missing = self.missing(state);
        let failure = match (state.stopped(), result) {
            (Some(reason), _) => Some(reason),
            (None, None) => Some(RenderError::Failed { message: "the engine failed".into(), position: None }),
            (None, Some(Ok(text))) if text.len() > run.output_bytes => {
                Some(RenderError::Limit { what: "output", limit: run.output_bytes as u64 })
            }
            (None, Some(Ok(_))) if state.is_pending() => Some(RenderError::Pending { needed: None }),
            (None, Some(Ok(text))) if missing.is_empty() => return Ok(text),
            (None, Some(Ok(_))) => None,
            (None, Some(Err(error))) => {
                let place = |error: &Error| self.place(error);
                Some(failure::of_engine(&error, run.steps, engine::recursion_limit(&self.env), place))
            }
        };
        match failure {
            // There may be more that is missing in the part that was not reached.
            Some(unfinished @ (RenderError::Steps { .. } | RenderError::Deadline)) => return Err(unfinished),
            Some(RenderError::Missing(more)) => missing.extend(more),
            Some(failure) if missing.is_empty() => return Err(failure),
            _ => {}
        }
        missing.sort();
        missing.dedup_by(|a, b| a.path == b.path);
        Err(RenderError::Missing(missing))
    }

    fn missing(&self, state: &RunState) -> Vec<Missing> {
        let misses = state.misses();
        if misses.is_empty() {
            return Vec::new();
        }
        let paths = missing::paths(&state.root, &misses);
        paths.into_iter().map(|path| Missing { position: self.first_use(&path), path }).collect()
    }

    /// Where one of the texts first names a path.
    fn first_use(&self, path: &str) -> Option<Position> {
        let main = self.library.text(MAIN);
        let others = self.library.texts().into_iter().map(|(_, text)| text);
        main.into_iter().chain(others).find_map(|text| first_use::first_use(&text, path))
    }

    /// The author's place of an error.
    fn place(&self, error: &Error) -> Option<Position> {
        let text = self.library.text(error.name()?)?;
        match (error.range(), error.line()) {
            (Some(range), _) => Some(text.position(range.start)),
            (None, Some(line)) => Some(Position { template: text.name.clone(), line, column: None }),
            (None, None) => None,
        }
    }
}
