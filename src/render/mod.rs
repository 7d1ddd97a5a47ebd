//! Rendering: the one place where catalog, templates and tools meet.
//!
//! - [`Renderer`]: from a prompt's id and variables to finished text or messages
//! - `compiled`: a prompt ready to run, and the cache of them; `surroundings`: what it sees of the catalog meanwhile
//! - `variables`: defaults and schema check of what a request brings
//! - `run`: one render in waves, on the caller's thread or in the pool; `cost`: where it is expected to fit; `turns`: middling
//!   ones on one thread
//! - `calls`: the calls of tools in one render; `report`: how it went

mod calls;
mod compiled;
mod cost;
mod error;
mod report;
mod run;
mod surroundings;
mod turns;
mod variables;

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::TryFutureExt;
use serde::Serialize;
use serde_json::Value as Json;

pub use compiled::checker;
pub use error::RenderFailure;
pub use report::{CallReport, Outcome, Report, Warning, WaveReport};
pub use variables::only_one;

use crate::catalog::{Catalog, PromptEntry, Snapshot, violations};
use base::caller::Caller;
use base::memory::Memory;
use base::model::{Body, DocumentKind, Id, Messages, Origin, Prompt};
use base::pool::{Lane, Pool};
use compiled::{Cache, Compiled};
use cost::Stage;
use run::{Job, Order, Place};
use template::value::Value;
use template::{Limits, Requirements, Syntax};
use tools::Tools;
use turns::{Turn, Turns};

/// How prompts are rendered.
#[derive(Debug, Clone)]
pub struct Options {
    /// The time for one render.
    pub timeout: Duration,
    /// How many compiled prompts are kept.
    pub templates_cached: usize,
    /// What a render may use up.
    pub limits: Limits,
    /// Calls of tools in one render.
    pub tool_calls: usize,
    /// How many of them may run at once.
    pub tool_calls_at_once: usize,
    /// The budget of memory that answers of tools are part of.
    pub memory: Arc<Memory>,
}

/// A prompt with more source than this, in bytes, is compiled in the pool.
const COMPILED_INLINE_MAX: usize = 8 << 10;

/// Turns prompts into text and messages.
pub struct Renderer {
    catalog: Arc<Catalog>,
    tools: Arc<Tools>,
    options: Options,
    cache: Arc<Cache>,
    pool: Arc<Pool>,
    turns: Turns,
}

/// A render that has begun: what the catalog held at that moment, and its turn, if it takes one.
pub struct Begun {
    id: Id,
    snapshot: Arc<Snapshot>,
    /// The prompt compiled, if it was at hand.
    known: Option<Arc<Compiled>>,
    turn: Option<Turn>,
}

/// A finished prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Rendered {
    /// The prompt.
    pub prompt: Arc<Prompt>,
    /// The text or the messages.
    pub content: Content,
    /// The calls of tools that failed.
    pub warnings: Vec<Warning>,
    /// How the render went.
    pub report: Report,
}

/// What a prompt renders to.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// One text.
    Text(String),
    /// A list of messages.
    Messages(Messages),
}

impl Content {
    /// The length of the rendered texts, in bytes.
    pub fn text_bytes(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::Messages(messages) => messages.text_bytes(),
        }
    }
}

/// A prompt as [`Renderer::describe`] shows it.
#[derive(Debug, Clone)]
pub struct Description {
    /// The dialect, where the templates compile.
    pub syntax: Option<Syntax>,
    /// What the templates can touch, where they compile.
    pub requires: Arc<Requirements>,
}

/// A prompt that is ready to be rendered.
struct Prepared {
    compiled: Arc<Compiled>,
    /// Whether it was compiled before.
    cached: bool,
    turn: Option<Turn>,
    snapshot: Arc<Snapshot>,
    started: Instant,
}

impl Renderer {
    /// A renderer over a catalog, whose templates call `tools`; what is too long for a serving thread runs in `pool`.
    pub fn new(catalog: Arc<Catalog>, tools: Arc<Tools>, pool: Arc<Pool>, options: Options) -> Renderer {
        let cache = Arc::new(Cache::new(options.templates_cached));
        Renderer { catalog, tools, options, cache, pool, turns: Turns::default() }
    }

    /// Renders the prompt `id`; the variables must be an object, if there are any.
    ///
    /// # Errors
    /// [`RenderFailure`], with everything that is missing or wrong at once.
    pub fn render(
        &self,
        caller: &Caller,
        id: &Id,
        variables: Option<Value>,
    ) -> impl Future<Output = Result<Rendered, RenderFailure>> {
        self.render_begun(caller, self.look_up(id.clone()), variables)
    }

    /// Begins a render: waits for its turn on this thread, if it is one of those that take turns. Who does so before the
    /// variables are parsed has nothing large lying about while it waits, and refuses what is too much at the least cost.
    ///
    /// # Errors
    /// [`RenderFailure::Overloaded`].
    pub async fn begin(&self, id: Id) -> Result<Begun, RenderFailure> {
        let mut begun = self.look_up(id);
        if let Some(known) = begun.known.as_ref().filter(|known| known.cost.stage() == Stage::Turn) {
            begun.turn = Some(self.turns.take(known.cost.expected_us()).await?);
        }
        Ok(begun)
    }

    fn look_up(&self, id: Id) -> Begun {
        let snapshot = self.catalog.snapshot();
        let prompt = snapshot.prompt(&id).and_then(|entry| entry.prompt.as_ref());
        let known = prompt.and_then(|prompt| self.cache.known(prompt, &snapshot.documents));
        Begun { id, snapshot, known, turn: None }
    }

    /// As [`Renderer::render`], for a render that was begun before.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub fn render_begun(
        &self,
        caller: &Caller,
        begun: Begun,
        variables: Option<Value>,
    ) -> impl Future<Output = Result<Rendered, RenderFailure>> {
        self.render_known(caller, begun, variables).map_err(|failure| self.or_not_loaded(failure))
    }

    async fn render_known(
        &self,
        caller: &Caller,
        Begun { id, snapshot, known, turn }: Begun,
        variables: Option<Value>,
    ) -> Result<Rendered, RenderFailure> {
        let started = Instant::now();
        let prompt = serving(&snapshot, &id)?;
        let cached = known.is_some();
        let compiled = match known {
            Some(known) => known,
            None => self.compile(prompt, &snapshot, started).await?,
        };
        self.run(caller, Prepared { compiled, cached, turn, snapshot, started }, variables).await
    }

    /// Compiles a prompt and keeps it; a long one is compiled in the pool.
    async fn compile(
        &self,
        prompt: Arc<Prompt>,
        snapshot: &Arc<Snapshot>,
        started: Instant,
    ) -> Result<Arc<Compiled>, RenderFailure> {
        let (cache, limits) = (self.cache.clone(), self.options.limits);
        if prompt.source_bytes() <= COMPILED_INLINE_MAX {
            return cache.get(&prompt, &snapshot.documents, &limits);
        }
        let documents = snapshot.documents.clone();
        let work = move || cache.get(&prompt, &documents, &limits);
        self.pool.run(Lane::Short, started + self.options.timeout, work).await?
    }

    /// Does work in the pool, within the time limit of a render.
    ///
    /// # Errors
    /// When there is too much to do, or the time limit passes.
    pub async fn aside<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RenderFailure> {
        Ok(self.pool.run(lane, Instant::now() + self.options.timeout, work).await?)
    }

    /// A prompt that is not known may be in a store that could not be read yet, and so may be what a prompt of a package lacks
    /// while the store is read for the first time.
    fn or_not_loaded(&self, failure: RenderFailure) -> RenderFailure {
        let may_be_there = match &failure {
            RenderFailure::NotFound { .. } => true,
            RenderFailure::InvalidTemplate { .. } => self.catalog.store_state().is_first_read(),
            RenderFailure::Missing { missing, .. } => {
                missing.iter().any(|missing| !missing.path.starts_with("variables."))
                    && self.catalog.store_state().is_first_read()
            }
            _ => false,
        };
        let not_loaded = may_be_there.then(|| self.catalog.store_state().not_loaded()).flatten();
        not_loaded.map_or(failure, RenderFailure::from)
    }

    /// Renders a prompt document that is not registered.
    ///
    /// # Errors
    /// [`RenderFailure::InvalidDocument`]; else as for a registered one.
    pub async fn preview(
        &self,
        caller: &Caller,
        mut document: Json,
        variables: Option<Value>,
    ) -> Result<Rendered, RenderFailure> {
        let started = Instant::now();
        let violations = violations(DocumentKind::Prompt, &mut document);
        if !violations.is_empty() {
            return Err(RenderFailure::InvalidDocument { violations });
        }
        let snapshot = self.catalog.snapshot();
        let prompt = Arc::new(Prompt::from_document(Id::parse("preview")?, Origin::Direct, document));
        let (documents, limits) = (snapshot.documents.clone(), self.options.limits);
        // Of a text that is seen for the first time nothing is known, so that all of it runs in the pool.
        let work = move || Compiled::unknown(&prompt, &documents, &limits);
        let compiled = self.pool.run(Lane::Short, started + self.options.timeout, work).await??;
        let prepared =
            Prepared { compiled: Arc::new(compiled), cached: false, turn: None, snapshot, started };
        self.run(caller, prepared, variables).await
    }

    /// What is known of a prompt of this catalog, without rendering it.
    pub fn describe(&self, snapshot: &Arc<Snapshot>, entry: &Arc<PromptEntry>) -> Description {
        let compiled =
            entry.prompt.as_ref().map(|p| self.cache.get(p, &snapshot.documents, &self.options.limits));
        let (syntax, requires) = match compiled {
            Some(Ok(compiled)) => (Some(compiled.syntax), compiled.requires.clone()),
            _ => (None, Arc::default()),
        };
        Description { syntax, requires }
    }

    async fn run(
        &self,
        caller: &Caller,
        Prepared { compiled, cached, turn, snapshot, started }: Prepared,
        variables: Option<Value>,
    ) -> Result<Rendered, RenderFailure> {
        let timeout = match compiled.prompt.limits.timeout_ms {
            Some(ms) => self.options.timeout.min(Duration::from_millis(ms)),
            None => self.options.timeout,
        };
        let deadline = started + timeout;
        let place = Place { turns: &self.turns, pool: &self.pool };
        let checked = variables::check(compiled.clone(), variables, &self.pool, deadline).await?;
        let revision = snapshot.revision;
        let order = Order { compiled: compiled.clone(), snapshot, variables: checked.value, turn, deadline };
        let job = Job::new(caller, order, &self.tools, &self.options);
        if !checked.faults.is_empty() {
            return Err(checked.faults.with_found(job.look(place).await));
        }
        let ran = job.run(place).await?;
        Ok(Rendered {
            prompt: compiled.prompt.clone(),
            content: content(&compiled.prompt, ran.texts),
            warnings: ran.calls.warnings(),
            report: Report {
                syntax: compiled.syntax,
                revision,
                cached,
                pooled: ran.pooled,
                duration_us: started.elapsed().as_micros() as u64,
                requires: compiled.requires.clone(),
                waves: ran.calls.report(),
            },
        })
    }
}

/// The version of a prompt that serves.
fn serving(snapshot: &Snapshot, id: &Id) -> Result<Arc<Prompt>, RenderFailure> {
    let entry = snapshot.prompt(id).ok_or_else(|| RenderFailure::NotFound { id: id.clone() })?;
    if let Some(reason) = entry.extension.as_ref().and_then(|extension| extension.unavailable.clone()) {
        return Err(RenderFailure::FailedDependency { id: id.clone(), reason });
    }
    entry
        .prompt
        .clone()
        .ok_or_else(|| RenderFailure::Unreadable { id: id.clone(), reasons: entry.problems.clone() })
}

fn content(prompt: &Arc<Prompt>, texts: Vec<String>) -> Content {
    match prompt.body {
        Body::Text(_) => Content::Text(texts.into_iter().next().unwrap_or_default()),
        Body::Messages { .. } => Content::Messages(Messages::new(prompt, texts)),
    }
}
