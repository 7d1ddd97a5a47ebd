//! Prompts ready to run: compiled templates with their schema, and the cache of them.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use lru::LruCache;
use serde_json::Value as Json;

use super::error::RenderFailure;
use super::surroundings::{FunctionNames, NearbyPrompts};
use crate::catalog::{Check, Checked, Snapshot};
use crate::model::{Id, Prompt, Reason};
use crate::schema::Schema;
use crate::template::{CompileError, Functions, Limits, Partials, Requires, Syntax, Template, detect};

/// A prompt whose templates are compiled.
pub struct Compiled {
    /// The prompt.
    pub prompt: Arc<Prompt>,
    /// Its dialect.
    pub syntax: Syntax,
    /// One template for each of the prompt's texts.
    pub templates: Vec<Template>,
    /// What the templates can touch.
    pub requires: Arc<Requires>,
    /// The schema of the variables, as a document and compiled.
    pub parameters: Option<(Json, Schema)>,
    /// The revision of the documents that partials and functions were looked up in.
    documents_revision: u64,
}

/// The dialect of a prompt: what it says, or what its texts look like.
pub fn syntax_of(prompt: &Prompt, snapshot: &Arc<Snapshot>) -> Syntax {
    prompt.syntax.unwrap_or_else(|| {
        let texts: Vec<&str> = prompt.texts().iter().map(|text| text.text.as_ref()).collect();
        detect(&texts, &FunctionNames(snapshot.clone()))
    })
}

impl Compiled {
    /// Compiles a prompt as it stands in a snapshot.
    ///
    /// # Errors
    /// [`RenderFailure::InvalidTemplate`] for the first text that does not compile,
    /// [`RenderFailure::InvalidParameters`] for a schema that is none.
    pub fn new(
        prompt: &Arc<Prompt>,
        snapshot: &Arc<Snapshot>,
        limits: &Limits,
    ) -> Result<Compiled, RenderFailure> {
        let syntax = syntax_of(prompt, snapshot);
        let mut templates = Vec::with_capacity(prompt.texts().len());
        for result in compile_each(prompt, syntax, snapshot, limits) {
            let (file, template) = result;
            let template = template
                .map_err(|source| RenderFailure::InvalidTemplate { source, file: file.map(str::to_owned) })?;
            templates.push(template);
        }
        let mut requires = Requires::default();
        templates.iter().for_each(|template| requires.merge(template.requires()));
        let parameters = parameters(prompt)?;
        let documents_revision = snapshot.documents.revision;
        Ok(Compiled {
            prompt: prompt.clone(),
            syntax,
            templates,
            requires: Arc::new(requires),
            parameters,
            documents_revision,
        })
    }

    /// Whether nothing but its own text decides what this is.
    fn closed(&self) -> bool {
        self.requires.partials.is_empty() && self.requires.tools.is_empty()
    }

    fn is_current(&self, prompt: &Arc<Prompt>, snapshot: &Snapshot) -> bool {
        Arc::ptr_eq(&self.prompt, prompt)
            && (self.closed() || self.documents_revision == snapshot.documents.revision)
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
    snapshot: &Arc<Snapshot>,
    limits: &'a Limits,
) -> impl Iterator<Item = (Option<&'a str>, Result<Template, CompileError>)> + 'a {
    let functions: Arc<dyn Functions> = Arc::new(FunctionNames(snapshot.clone()));
    let partials: Arc<dyn Partials> =
        Arc::new(NearbyPrompts { snapshot: snapshot.clone(), near: prompt.id.clone() });
    let name = prompt.id.as_str();
    prompt.texts().iter().map(move |text| {
        let template = Template::compile(name, &text.text, syntax, (&partials, functions.as_ref()), limits);
        (text.file.as_deref(), template)
    })
}

/// The check that the catalog makes of every prompt: all of its templates must compile, and its `parameters` must be
/// a schema.
pub fn checker(limits: Limits) -> Check {
    Arc::new(move |prompt, snapshot| {
        let snapshot = Arc::new(snapshot.clone());
        let syntax = syntax_of(prompt, &snapshot);
        let mut checked = Checked { flaws: Vec::new(), closed: true };
        for (file, template) in compile_each(prompt, syntax, &snapshot, &limits) {
            match template {
                Ok(template) => {
                    let requires = template.requires();
                    checked.closed &= requires.partials.is_empty() && requires.tools.is_empty();
                }
                Err(error) => checked.flaws.push(flaw(file, &error)),
            }
        }
        if let Err(error) = parameters(prompt) {
            checked.flaws.push(Reason::new(error.to_string()));
        }
        checked.closed &= checked.flaws.is_empty();
        checked
    })
}

fn flaw(file: Option<&str>, error: &CompileError) -> Reason {
    let position = error.position();
    Reason {
        message: error.to_string(),
        file: file.map(str::to_owned),
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

    /// The prompt compiled, and whether it was at hand.
    ///
    /// # Errors
    /// As [`Compiled::new`].
    pub fn get(
        &self,
        prompt: &Arc<Prompt>,
        snapshot: &Arc<Snapshot>,
        limits: &Limits,
    ) -> Result<(Arc<Compiled>, bool), RenderFailure> {
        let known = self.entries.lock().ok().and_then(|mut entries| entries.get(&prompt.id).cloned());
        if let Some(known) = known.filter(|known| known.is_current(prompt, snapshot)) {
            return Ok((known, true));
        }
        let compiled = Arc::new(Compiled::new(prompt, snapshot, limits)?);
        if let Ok(mut entries) = self.entries.lock() {
            entries.put(prompt.id.clone(), compiled.clone());
        }
        Ok((compiled, false))
    }
}
