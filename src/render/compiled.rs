//! Prompts ready to run: compiled templates with their schema, and the cache of them.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lru::LruCache;
use serde_json::Value as Json;

use super::cost::Cost;
use super::error::RenderFailure;
use crate::catalog::{Asked, Check, Checked, Documents, Nearby};
use base::model::{Id, ProblemDetail, Prompt, TemplateText, with_defaults};
use base::schema::{Effort, Schema, in_words};
use template::value::{Map, Value};
use template::{
    CompileError, Functions, Limits, Partials, Requirements, Surroundings, Syntax, Template, detect,
};

/// A prompt whose templates are compiled.
pub struct Compiled {
    /// The prompt.
    pub prompt: Arc<Prompt>,
    /// Its dialect.
    pub syntax: Syntax,
    /// One template for each of the prompt's texts.
    pub templates: Vec<Template>,
    /// What the templates can touch.
    pub requires: Arc<Requirements>,
    /// The schema of the variables, as a document and compiled.
    pub parameters: Option<(Json, Schema)>,
    /// How long its templates take to run.
    pub cost: Cost,
    /// What was asked of the documents around; `None` if running it asks more, for partials with computed names.
    asked: Option<Asked>,
    /// The last revision of the documents that is known to give the same answers.
    good_for: AtomicU64,
}

/// The dialect of a prompt: what it says, or what its texts look like.
pub fn syntax_of(prompt: &Prompt, functions: &dyn Functions) -> Syntax {
    prompt.syntax.unwrap_or_else(|| {
        let texts: Vec<&str> = prompt.texts().iter().map(|text| text.text.as_ref()).collect();
        detect(&texts, functions)
    })
}

impl Compiled {
    /// Compiles a prompt as it stands among these documents.
    ///
    /// # Errors
    /// [`RenderFailure::InvalidTemplate`] for the first text that does not compile,
    /// [`RenderFailure::InvalidParameters`] for a schema that is none.
    pub fn new(
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<Compiled, RenderFailure> {
        let nearby = Arc::new(Nearby::new(documents.clone(), prompt.id.clone()));
        let syntax = syntax_of(prompt, nearby.as_ref());
        let mut templates = Vec::with_capacity(prompt.texts().len());
        for (text, template) in compile_each(prompt, syntax, &nearby, limits) {
            let template = template
                .map_err(|source| RenderFailure::InvalidTemplate { source, file: text.file.clone() })?;
            templates.push(template);
        }
        let mut requires = Requirements::default();
        templates.iter().for_each(|template| requires.merge(template.requires()));
        let parameters = parameters(prompt)?;
        let asks_no_more = !requires.partials.iter().any(|partial| partial.dynamic);
        Ok(Compiled {
            prompt: prompt.clone(),
            syntax,
            templates,
            requires: Arc::new(requires),
            parameters,
            cost: Cost::default(),
            asked: Some(nearby.take_asked()).filter(|_| asks_no_more),
            good_for: AtomicU64::new(documents.revision),
        })
    }

    /// Compiles a prompt that is run only once, and not on a serving thread.
    ///
    /// # Errors
    /// As [`Compiled::new`].
    pub fn unknown(
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<Compiled, RenderFailure> {
        Ok(Compiled { cost: Cost::of_the_unknown(), ..Compiled::new(prompt, documents, limits)? })
    }

    /// Whether compiling this prompt among these documents would give the same again.
    fn is_current(&self, prompt: &Arc<Prompt>, documents: &Documents) -> bool {
        if !Arc::ptr_eq(&self.prompt, prompt) {
            return false;
        }
        if self.good_for.load(Ordering::Relaxed) == documents.revision {
            return true;
        }
        let same = self.asked.as_ref().is_some_and(|asked| asked.holds_in(documents, &prompt.id));
        if same {
            self.good_for.store(documents.revision, Ordering::Relaxed);
        }
        same
    }
}

fn parameters(prompt: &Prompt) -> Result<Option<(Json, Schema)>, RenderFailure> {
    let Some(document) = &prompt.parameters else { return Ok(None) };
    let schema = Schema::compile(document)
        .map_err(|error| RenderFailure::InvalidParameters { message: error.to_string() })?;
    Ok(Some((document.clone(), schema)))
}

fn compile_each<'a>(
    prompt: &'a Prompt,
    syntax: Syntax,
    nearby: &Arc<Nearby>,
    limits: &'a Limits,
) -> impl Iterator<Item = (&'a TemplateText, Result<Template, CompileError>)> + 'a {
    let functions = nearby.clone();
    let partials: Arc<dyn Partials> = nearby.clone();
    let mut bytes = 0;
    prompt.texts().iter().map(move |text| {
        bytes += text.text.len();
        let template = if bytes > limits.source_bytes {
            Err(CompileError::TooLarge { bytes, limit: limits.source_bytes })
        } else {
            let name = match text.place.as_str() {
                "" => prompt.id.to_string(),
                place => format!("{}#{place}", prompt.id),
            };
            let surroundings = Surroundings { partials: &partials, functions: functions.as_ref() };
            Template::compile(&name, &text.text, syntax, surroundings, limits)
        };
        (text, template)
    })
}

/// The check that the catalog makes of every prompt: all of its templates must compile, and its `parameters` must be
/// a schema.
pub fn checker(limits: Limits) -> Check {
    Arc::new(move |prompt, documents| {
        // Whatever a template does to an engine, it must not end the catalog that asks.
        let checked = catch_unwind(AssertUnwindSafe(|| check(prompt, documents, &limits)));
        checked.unwrap_or_else(|_| Checked {
            flaws: vec![ProblemDetail::new("the template engine failed")],
            ..Checked::default()
        })
    })
}

fn check(prompt: &Prompt, documents: &Arc<Documents>, limits: &Limits) -> Checked {
    let nearby = Arc::new(Nearby::new(documents.clone(), prompt.id.clone()));
    let syntax = syntax_of(prompt, nearby.as_ref());
    let results = compile_each(prompt, syntax, &nearby, limits);
    let mut flaws: Vec<ProblemDetail> =
        results.filter_map(|(text, result)| Some(flaw(text, &result.err()?))).collect();
    match parameters(prompt) {
        Ok(parameters) => {
            flaws.extend(parameters.and_then(|(document, schema)| bad_defaults(&document, &schema)))
        }
        Err(error) => flaws.push(ProblemDetail::new(error.to_string())),
    }
    Checked { flaws, asked: nearby.take_asked() }
}

/// Whether defaults break the schema that they stand in: then nobody could render the prompt who relies on them.
fn bad_defaults(document: &Json, schema: &Schema) -> Option<ProblemDetail> {
    let defaults = with_defaults(document, Value::from(Map::default()));
    let mut violations = schema.violations(&defaults, Effort::MEDIUM);
    violations.retain(|violation| violation.missing.is_none() && !violation.path.is_empty());
    let message = format!("defaults in `parameters` do not fit their own schema: {}", in_words(&violations));
    (!violations.is_empty()).then(|| ProblemDetail::new(message))
}

fn flaw(text: &TemplateText, error: &CompileError) -> ProblemDetail {
    let position = error.position();
    ProblemDetail {
        message: match text.place.as_str() {
            "" => error.to_string(),
            place => format!("{place}: {error}"),
        },
        file: text.file.clone(),
        line: position.map(|p| p.line),
        column: position.and_then(|p| p.column),
    }
}

/// The compiled prompts that were used last.
pub struct Cache {
    entries: Mutex<LruCache<Id, Arc<Compiled>>>,
}

impl Cache {
    /// A cache of `size` prompts (at least one).
    pub fn new(size: usize) -> Cache {
        let size = NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN);
        Cache { entries: Mutex::new(LruCache::new(size)) }
    }

    /// The prompt compiled, if it is at hand.
    pub fn known(&self, prompt: &Arc<Prompt>, documents: &Documents) -> Option<Arc<Compiled>> {
        let known = self.entries.lock().ok().and_then(|mut entries| entries.get(&prompt.id).cloned());
        known.filter(|known| known.is_current(prompt, documents))
    }

    /// The prompt compiled.
    ///
    /// # Errors
    /// As [`Compiled::new`].
    pub fn get(
        &self,
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<Arc<Compiled>, RenderFailure> {
        if let Some(known) = self.known(prompt, documents) {
            return Ok(known);
        }
        let compiled = Arc::new(Compiled::new(prompt, documents, limits)?);
        if let Ok(mut entries) = self.entries.lock() {
            entries.put(prompt.id.clone(), compiled.clone());
        }
        Ok(compiled)
    }
}
