//! Compiled templates, and their runs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use super::library::Library;
use super::machine::{Given, Machine};
use super::requires::requires;
use super::store::Store;
use crate::value::Map;
use crate::{CompileError, Functions, Limits, Partials, Requirements, RunBudget, RunError, Undefined};

/// A compiled template and the partials that it names.
pub struct Template {
    library: Library,
    limits: Limits,
    /// Found when it is asked for first.
    requires: OnceLock<Requirements>,
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
        let library = Library::read(name, source, partials.clone(), *limits)?;
        let last_bytes = AtomicUsize::new(0);
        Ok(Template { library, limits: *limits, requires: OnceLock::new(), last_bytes })
    }

    /// What the template may use, partials included.
    pub fn requires(&self) -> &Requirements {
        self.requires.get_or_init(|| {
            let texts = self.library.texts();
            let find = |name: &str| texts.get(name).map(|text| &text.tree);
            Requirements::of(requires(&self.library.main.tree, &find))
        })
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
        let given = Given {
            library: &self.library,
            root,
            functions: functions.as_ref(),
            limits: &self.limits,
            budget: run,
            lenient: run.undefined == Undefined::Lenient,
        };
        let store = Store::new();
        let out = String::with_capacity(self.last_bytes.load(Ordering::Relaxed).min(run.output_bytes));
        let mut machine = Machine::new(given, &store, out);
        let context = machine.context;
        let result = machine.run_text(&self.library.main, context);
        let text = machine.finish(result)?;
        self.last_bytes.store(text.len(), Ordering::Relaxed);
        Ok(text)
    }
}
