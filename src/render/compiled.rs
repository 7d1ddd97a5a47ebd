//! Compiled prompts (templates and schema), and the LRU cache of them.

use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use lru::LruCache;
use serde_json::Value as Json;

use super::cost::Cost;
use super::error::RenderError;
use super::names::TopLevelNames;
use super::roles::RoleMark;
use crate::catalog::{Check, CheckResult, Documents, Lookups, PromptScope, Snapshot};
use base::model::{Body, Id, ProblemDetail, Prompt, TemplateText, declared_names, with_defaults};
use base::schema::{Effort, Schema, in_words};
use template::value::{Map, SmolStr, Value};
use template::{
    CompileError, Functions, Limits, Partials, Requirements, Surroundings, Syntax, Template, detect,
};

/// A prompt with compiled templates.
pub struct CompiledPrompt {
    /// The version of the prompt that was compiled.
    pub prompt: Arc<Prompt>,
    /// The dialect of all templates.
    pub syntax: Syntax,
    /// The mark around the headings of a text that renders to messages.
    pub role_mark: Option<RoleMark>,
    /// One template for each of the prompt's texts.
    pub templates: Vec<Template>,
    /// The data, functions and partials that the templates can use.
    pub requires: Requirements,
    /// The names of its parameters, sorted.
    declared: Arc<[SmolStr]>,
    /// The schema of the variables, as a document and compiled.
    pub parameters: Option<(Json, Schema)>,
    /// The expected duration of a run.
    pub cost: Cost,
    /// The lookups in other documents; `None` if there may be more at run time, because names of partials are computed.
    lookups: Option<Lookups>,
    /// The last revision of the documents for which the compiled prompt is known to be valid.
    valid_for: AtomicU64,
}

/// The dialect of a prompt: the one that it names, or the one that is detected in its texts.
pub fn syntax_of(prompt: &Prompt, functions: &dyn Functions) -> Syntax {
    prompt.syntax.unwrap_or_else(|| {
        let texts: Vec<&str> = prompt.texts().iter().map(|text| text.text.as_ref()).collect();
        detect(&texts, functions)
    })
}

impl CompiledPrompt {
    /// Compiles a prompt among these documents.
    ///
    /// # Errors
    /// [`RenderError::InvalidTemplate`] for the first text that does not compile,
    /// [`RenderError::InvalidParameters`] if `parameters` is not a schema.
    pub fn new(
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<CompiledPrompt, RenderError> {
        let scope = Arc::new(PromptScope::serving(documents.clone(), prompt));
        let syntax = syntax_of(prompt, scope.as_ref());
        let mut templates = Vec::with_capacity(prompt.texts().len());
        let role_mark = role_mark(prompt);
        for (text, template) in compile_each(prompt, syntax, role_mark.clone(), &scope, limits) {
            let template = template
                .map_err(|source| RenderError::InvalidTemplate { source, file: text.file.clone() })?;
            templates.push(template);
        }
        let mut requires = Requirements::default();
        templates.iter().for_each(|template| requires.merge(template.requires()));
        let parameters = parameters(prompt)?;
        let is_complete = !requires.partials.iter().any(|partial| partial.dynamic);
        Ok(CompiledPrompt {
            prompt: prompt.clone(),
            syntax,
            role_mark,
            templates,
            requires,
            declared: declared(prompt),
            parameters,
            cost: Cost::default(),
            lookups: Some(scope.take_lookups()).filter(|_| is_complete),
            valid_for: AtomicU64::new(documents.revision),
        })
    }

    /// Compiles a prompt that will run only once, and not on a serving thread.
    ///
    /// # Errors
    /// As [`CompiledPrompt::new`].
    pub fn for_single_use(
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<CompiledPrompt, RenderError> {
        Ok(CompiledPrompt { cost: Cost::for_single_use(), ..CompiledPrompt::new(prompt, documents, limits)? })
    }

    /// What names at the top level of its templates mean among the environs of a snapshot.
    pub fn names(&self, snapshot: &Snapshot) -> TopLevelNames {
        TopLevelNames { declared: self.declared.clone(), environs: snapshot.environs.clone() }
    }

    /// Whether compiling this prompt again among these documents would give the same result.
    fn is_current(&self, prompt: &Arc<Prompt>, documents: &Documents) -> bool {
        if !Arc::ptr_eq(&self.prompt, prompt) {
            return false;
        }
        if self.valid_for.load(Ordering::Relaxed) == documents.revision {
            return true;
        }
        let is_valid = self.lookups.as_ref().is_some_and(|lookups| lookups.serve_in(documents, prompt));
        if is_valid {
            self.valid_for.store(documents.revision, Ordering::Relaxed);
        }
        is_valid
    }
}

/// The names of a prompt's parameters, sorted.
fn declared(prompt: &Prompt) -> Arc<[SmolStr]> {
    let mut names: Vec<SmolStr> =
        prompt.parameters.iter().flat_map(declared_names).map(SmolStr::new).collect();
    names.sort_unstable();
    names.into()
}

fn parameters(prompt: &Prompt) -> Result<Option<(Json, Schema)>, RenderError> {
    let Some(document) = &prompt.parameters else { return Ok(None) };
    let schema = Schema::compile(document)
        .map_err(|error| RenderError::InvalidParameters { message: error.to_string() })?;
    Ok(Some((document.clone(), schema)))
}

/// The mark for the headings of a prompt whose text renders to messages.
fn role_mark(prompt: &Prompt) -> Option<RoleMark> {
    (prompt.roles && matches!(prompt.body, Body::Text(_))).then(RoleMark::random)
}

fn compile_each<'a>(
    prompt: &'a Prompt,
    syntax: Syntax,
    role_mark: Option<RoleMark>,
    scope: &Arc<PromptScope>,
    limits: &'a Limits,
) -> impl Iterator<Item = (&'a TemplateText, Result<Template, CompileError>)> + 'a {
    let functions = scope.clone();
    let partials: Arc<dyn Partials> = scope.clone();
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
            let marked = role_mark.as_ref().map(|mark| Arc::from(mark.marked(&text.text)));
            let source = marked.as_ref().unwrap_or(&text.text);
            let compiled = Template::compile(&name, source, syntax, surroundings, limits);
            compiled.map_err(|error| in_file(error, &name, text.lines_before))
        };
        (text, template)
    })
}

/// The error with the line of the file in place of that of the text, which begins after this many lines of it. An error in a
/// partial has its own place.
fn in_file(error: CompileError, name: &str, lines_before: usize) -> CompileError {
    match error {
        CompileError::Invalid { message, position: Some(mut position) } if position.template == name => {
            position.line += lines_before;
            CompileError::Invalid { message, position: Some(position) }
        }
        other => other,
    }
}

/// The check that the catalog makes of every prompt: all templates must compile, `parameters` must be a schema, and the
/// defaults in it must fit it.
pub fn checker(limits: Limits) -> Check {
    Arc::new(move |prompt, documents| {
        // A template that makes an engine panic must not end the catalog.
        let result = catch_unwind(AssertUnwindSafe(|| check(prompt, documents, &limits)));
        result.unwrap_or_else(|_| CheckResult {
            problems: vec![ProblemDetail::new("the template engine failed")],
            ..CheckResult::default()
        })
    })
}

fn check(prompt: &Prompt, documents: &Arc<Documents>, limits: &Limits) -> CheckResult {
    let scope = Arc::new(PromptScope::new(documents.clone(), prompt));
    let syntax = syntax_of(prompt, scope.as_ref());
    let results = compile_each(prompt, syntax, role_mark(prompt), &scope, limits);
    let mut problems: Vec<ProblemDetail> =
        results.filter_map(|(text, result)| Some(problem(text, &result.err()?))).collect();
    match parameters(prompt) {
        Ok(parameters) => {
            problems.extend(parameters.and_then(|(document, schema)| bad_defaults(&document, &schema)))
        }
        Err(error) => problems.push(ProblemDetail::new(error.to_string())),
    }
    CheckResult { problems, lookups: scope.take_lookups() }
}

/// The problem of defaults that break their own schema: a render that relies on them would always fail.
fn bad_defaults(document: &Json, schema: &Schema) -> Option<ProblemDetail> {
    let defaults = with_defaults(document, Value::from(Map::default()));
    let mut violations = schema.violations(&defaults, Effort::MEDIUM);
    violations.retain(|violation| violation.missing.is_none() && !violation.path.is_empty());
    let message = format!("defaults in `parameters` do not fit their own schema: {}", in_words(&violations));
    (!violations.is_empty()).then(|| ProblemDetail::new(message))
}

fn problem(text: &TemplateText, error: &CompileError) -> ProblemDetail {
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

/// The most recently used compiled prompts.
pub struct PromptCache {
    entries: Mutex<LruCache<Id, Arc<CompiledPrompt>>>,
}

impl PromptCache {
    /// A cache of at most `size` prompts (at least one).
    pub fn new(size: usize) -> PromptCache {
        let size = NonZeroUsize::new(size).unwrap_or(NonZeroUsize::MIN);
        PromptCache { entries: Mutex::new(LruCache::new(size)) }
    }

    /// The compiled prompt, if it is in the cache and valid among these documents.
    pub fn cached(&self, prompt: &Arc<Prompt>, documents: &Documents) -> Option<Arc<CompiledPrompt>> {
        let cached = self.entries.lock().ok().and_then(|mut entries| entries.get(&prompt.id).cloned());
        cached.filter(|cached| cached.is_current(prompt, documents))
    }

    /// The compiled prompt, from the cache or compiled now.
    ///
    /// # Errors
    /// As [`CompiledPrompt::new`].
    pub fn get(
        &self,
        prompt: &Arc<Prompt>,
        documents: &Arc<Documents>,
        limits: &Limits,
    ) -> Result<Arc<CompiledPrompt>, RenderError> {
        if let Some(cached) = self.cached(prompt, documents) {
            return Ok(cached);
        }
        let compiled = Arc::new(CompiledPrompt::new(prompt, documents, limits)?);
        if let Ok(mut entries) = self.entries.lock() {
            entries.put(prompt.id.clone(), compiled.clone());
        }
        Ok(compiled)
    }
}
