//! Rendering: the place where catalog, templates and tools meet.
//!
//! - [`Renderer`]: from a prompt's id and variables to finished text or messages
//! - `contents`: from messages with content objects to messages for a model; `own`: the service's own texts
//! - `compiled`: compiled prompts and their cache; `partials`: what templates see of the catalog while they are compiled
//! - `variables`: the variables of a request: defaults and schema check
//! - `run`: one render in waves, on the serving thread or in the pool; `cost`: chooses between these; `turns`: the queue of
//!   medium renders on a serving thread
//! - `names`: what names at the top level of templates mean
//! - `expressions`: Jinja expressions that are true or false
//! - `calls`: the tool calls of one render; `report`: the report of a render

mod calls;
mod compiled;
mod contents;
mod cost;
mod error;
mod expressions;
mod names;
mod own;
mod partials;
mod report;
mod roles;
mod run;
mod turns;
mod variables;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value as Json;
use serde_json::value::{RawValue, to_raw_value};

pub use compiled::checker;
pub use contents::{ExpandError, Expansion};
pub use error::RenderError;
pub use expressions::{Expression, InvalidExpression};
pub use names::{NameOrigin, Requires};
pub use report::{CallReport, OutcomeKind, Report, Warning, WaveReport};
pub use variables::only_one;

use crate::catalog::{Catalog, PromptEntry, Snapshot, shipped_prompts, violations};
use base::caller::Caller;
use base::memory::Memory;
use base::model::{Body, DocumentKind, Id, Messages, Origin, Prompt, ToolFailure};
use base::pool::{Lane, Pool};
use compiled::{CompiledPrompt, PromptCache};
use cost::Stage;
use names::TopLevelNames;
use run::{Executors, Job, RenderInput};
use template::value::Value;
use template::{Limits, Syntax, Undefined};
use tools::Tools;
use turns::{Turn, Turns};
use variables::unique;

/// The options of a renderer.
#[derive(Debug, Clone)]
pub struct RendererOptions {
    /// The time limit of a render.
    pub timeout: Duration,
    /// The size of the cache of compiled prompts.
    pub templates_cached: usize,
    /// The limits of the templates.
    pub limits: Limits,
    /// Whether values may be missing, where a prompt does not say it.
    pub undefined: Undefined,
    /// What a failed call of a tool means, where a prompt does not say it.
    pub tool_failure: ToolFailure,
    /// The largest number of tool calls in one render.
    pub tool_calls: usize,
    /// How many of them may run concurrently.
    pub tool_calls_at_once: usize,
    /// The memory budget, which includes the answers of tools.
    pub memory: Arc<Memory>,
}

/// A prompt with more source than this, in bytes, is compiled in the pool.
const COMPILED_INLINE_MAX: usize = 8 << 10;

/// Renders prompts to text and messages.
pub struct Renderer {
    catalog: Arc<Catalog>,
    tools: Arc<Tools>,
    options: RendererOptions,
    cache: Arc<PromptCache>,
    pool: Arc<Pool>,
    turns: Turns,
    /// The service's own texts, as they ship.
    own: Vec<Arc<Prompt>>,
}

/// The admission of a render: the snapshot that it uses, and its turn on the serving thread if it needs one.
pub struct RenderTicket {
    id: Id,
    snapshot: Arc<Snapshot>,
    /// The compiled prompt, if it was in the cache.
    cached: Option<Arc<CompiledPrompt>>,
    turn: Option<Turn>,
    /// Whether a report is wanted.
    explain: bool,
}

impl RenderTicket {
    /// The prompt that is to be rendered, if it can be.
    pub fn prompt(&self) -> Option<&Prompt> {
        self.snapshot.prompt(&self.id)?.prompt.as_deref()
    }

    /// The ticket of a render that gives a report if `explain` is true.
    pub fn explained(self, explain: bool) -> RenderTicket {
        RenderTicket { explain, ..self }
    }
}

/// A rendered prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct RenderedPrompt {
    /// The version of the prompt that was rendered.
    pub prompt: Arc<Prompt>,
    /// The text or the messages.
    pub content: Content,
    /// The warnings about tool calls that failed.
    pub warnings: Vec<Warning>,
    /// The details, for clients that ask for them.
    pub report: Option<Report>,
}

/// The content of a rendered prompt.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// One text.
    Text(String),
    /// A list of messages.
    Messages(Messages),
}

impl Content {
    /// The messages; a text becomes a message of the user.
    ///
    /// # Errors
    /// If they cannot be written as JSON.
    pub fn to_raw_messages(&self) -> Result<Vec<Box<RawValue>>, serde_json::Error> {
        match self {
            Content::Text(text) => {
                Ok(vec![to_raw_value(&serde_json::json!({"role": "user", "content": text}))?])
            }
            Content::Messages(messages) => messages.to_raw(),
        }
    }

    /// The length of the rendered texts, in bytes.
    pub fn text_bytes(&self) -> usize {
        match self {
            Content::Text(text) => text.len(),
            Content::Messages(messages) => messages.text_bytes(),
        }
    }
}

/// The properties of a prompt that are found by compiling it.
#[derive(Debug, Clone)]
pub struct Description {
    /// The dialect; `None` if the templates do not compile.
    pub syntax: Option<Syntax>,
    /// The variables, environs, functions and partials that the templates can use; empty if they do not compile.
    pub requires: Requires,
}

/// A prompt that is ready to run.
struct PreparedPrompt {
    compiled: Arc<CompiledPrompt>,
    /// Whether it came from the cache.
    cached: bool,
    turn: Option<Turn>,
    snapshot: Arc<Snapshot>,
    started: Instant,
    explain: bool,
}

impl Renderer {
    /// A renderer of the prompts of a catalog, whose templates call `tools`; long runs go to `pool`.
    pub fn new(
        catalog: Arc<Catalog>,
        tools: Arc<Tools>,
        pool: Arc<Pool>,
        options: RendererOptions,
    ) -> Renderer {
        let cache = Arc::new(PromptCache::new(options.templates_cached));
        let own = own::PACKAGES.into_iter().flat_map(shipped_prompts).collect();
        Renderer { catalog, tools, options, cache, pool, turns: Turns::default(), own }
    }

    /// Renders the prompt `id`; the variables must be an object, if there are any.
    ///
    /// # Errors
    /// [`RenderError`]; one error names everything that is missing or wrong.
    pub fn render(
        &self,
        caller: &Caller,
        id: &Id,
        variables: Option<Value>,
    ) -> impl Future<Output = Result<RenderedPrompt, RenderError>> {
        self.render_admitted(caller, self.ticket(id.clone()), variables)
    }

    /// Admits a render: if it takes turns on this thread, waits for its turn. Call it before parsing the variables: requests
    /// then wait without large data in memory, and are rejected at little cost during overload.
    ///
    /// # Errors
    /// [`RenderError::Overloaded`].
    pub async fn admit(&self, id: Id) -> Result<RenderTicket, RenderError> {
        let mut ticket = self.ticket(id);
        let cached = ticket.cached.as_ref();
        if let Some(compiled) = cached.filter(|compiled| compiled.cost.stage() == Stage::Turn) {
            ticket.turn = Some(self.turns.take(compiled.cost.expected_us()).await?);
        }
        Ok(ticket)
    }

    /// A ticket without a turn: the render waits for one when it begins.
    pub fn ticket(&self, id: Id) -> RenderTicket {
        self.ticket_of(id, self.catalog.snapshot())
    }

    fn ticket_of(&self, id: Id, snapshot: Arc<Snapshot>) -> RenderTicket {
        let prompt = snapshot.prompt(&id).and_then(|entry| entry.prompt.as_ref());
        let cached = prompt.and_then(|prompt| self.cache.cached(prompt, &snapshot.documents));
        RenderTicket { id, snapshot, cached, turn: None, explain: false }
    }

    /// As [`Renderer::render`], for a render that was admitted before.
    ///
    /// # Errors
    /// As [`Renderer::render`].
    pub async fn render_admitted(
        &self,
        caller: &Caller,
        ticket: RenderTicket,
        variables: Option<Value>,
    ) -> Result<RenderedPrompt, RenderError> {
        let rendered = self.render_ticket(caller, ticket, variables).await;
        rendered.map_err(|error| self.or_not_loaded(error))
    }

    async fn render_ticket(
        &self,
        caller: &Caller,
        RenderTicket { id, snapshot, cached: compiled, turn, explain }: RenderTicket,
        variables: Option<Value>,
    ) -> Result<RenderedPrompt, RenderError> {
        let started = Instant::now();
        let prompt = serving(&snapshot, &id)?;
        let cached = compiled.is_some();
        let compiled = match compiled {
            Some(compiled) => compiled,
            None => self.compile(prompt, &snapshot, started).await?,
        };
        let prepared = PreparedPrompt { compiled, cached, turn, snapshot, started, explain };
        self.run(caller, prepared, variables).await
    }

    /// Compiles a prompt and caches it; a long one is compiled in the pool.
    async fn compile(
        &self,
        prompt: Arc<Prompt>,
        snapshot: &Arc<Snapshot>,
        started: Instant,
    ) -> Result<Arc<CompiledPrompt>, RenderError> {
        let (cache, limits) = (self.cache.clone(), self.options.limits);
        if prompt.source_bytes() <= COMPILED_INLINE_MAX {
            return cache.get(&prompt, &snapshot.documents, &limits);
        }
        let documents = snapshot.documents.clone();
        let work = move || cache.get(&prompt, &documents, &limits);
        self.pool.run(Lane::Short, started + self.options.timeout, work).await?
    }

    /// Reads or checks JSON in the pool's lane for long work, by [`Pool::run_on_json`].
    ///
    /// # Errors
    /// If the pool is overloaded, or the time limit is exceeded.
    pub async fn run_on_json<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RenderError> {
        Ok(self.pool.run_on_json(Lane::Long, work).await?)
    }

    /// Replaces the error of a missing prompt by [`RenderError::NotLoaded`] if the store has not been read yet, because the
    /// prompt may be there. During the first read, the same applies to what a prompt of a package needs.
    fn or_not_loaded(&self, error: RenderError) -> RenderError {
        let may_be_there = match &error {
            RenderError::NotFound { .. } => true,
            RenderError::InvalidTemplate { .. } => self.catalog.store_state().is_first_read(),
            RenderError::Missing { missing, .. } => {
                missing.iter().any(|missing| !missing.path.starts_with("variables."))
                    && self.catalog.store_state().is_first_read()
            }
            _ => false,
        };
        let not_loaded = may_be_there.then(|| self.catalog.store_state().not_loaded()).flatten();
        not_loaded.map_or(error, RenderError::from)
    }

    /// Renders a prompt document that is not registered; with a report if `explain` is true.
    ///
    /// # Errors
    /// [`RenderError::InvalidDocument`]; otherwise as for [`Renderer::render`].
    pub async fn preview(
        &self,
        caller: &Caller,
        mut document: Json,
        variables: Option<Value>,
        explain: bool,
    ) -> Result<RenderedPrompt, RenderError> {
        let started = Instant::now();
        let violations = violations(DocumentKind::Prompt, &mut document);
        if !violations.is_empty() {
            return Err(RenderError::InvalidDocument { violations });
        }
        let snapshot = self.catalog.snapshot();
        let prompt = Arc::new(Prompt::from_document(Id::parse("preview")?, Origin::Direct, document));
        let (documents, limits) = (snapshot.documents.clone(), self.options.limits);
        // The cost of a new text is not known, so it is compiled and run in the pool.
        let work = move || CompiledPrompt::for_single_use(&prompt, &documents, &limits);
        let compiled = self.pool.run(Lane::Short, started + self.options.timeout, work).await??;
        let compiled = Arc::new(compiled);
        let prepared = PreparedPrompt { compiled, cached: false, turn: None, snapshot, started, explain };
        self.run(caller, prepared, variables).await
    }

    /// Describes a prompt of this catalog without rendering it.
    pub fn describe(&self, snapshot: &Arc<Snapshot>, entry: &Arc<PromptEntry>) -> Description {
        let compiled =
            entry.prompt.as_ref().map(|p| self.cache.get(p, &snapshot.documents, &self.options.limits));
        let (syntax, requires) = match compiled {
            Some(Ok(compiled)) => {
                (Some(compiled.syntax), compiled.names(snapshot).requires(&compiled.requires))
            }
            _ => (None, Requires::default()),
        };
        Description { syntax, requires }
    }

    async fn run(
        &self,
        caller: &Caller,
        PreparedPrompt { compiled, cached, turn, snapshot, started, explain }: PreparedPrompt,
        variables: Option<Value>,
    ) -> Result<RenderedPrompt, RenderError> {
        let timeout = match compiled.prompt.limits.timeout_ms {
            Some(ms) => self.options.timeout.min(Duration::from_millis(ms)),
            None => self.options.timeout,
        };
        let deadline = started + timeout;
        let executors = Executors { turns: &self.turns, pool: &self.pool };
        let checked = variables::check(compiled.clone(), variables, &self.pool, deadline).await?;
        let (revision, names) = (snapshot.revision, compiled.names(&snapshot));
        let root = Arc::new(names.root(checked.value));
        let input = RenderInput { compiled: compiled.clone(), snapshot, root: root.clone(), turn, deadline };
        let job = Job::new(caller, input, &self.tools, &self.options);
        let with_full_paths = |error| self.with_full_paths(error, &names);
        if !checked.errors.is_empty() {
            let trial = job.find_missing(executors).await.map_err(with_full_paths);
            return Err(checked.errors.combine(trial));
        }
        let result = job.run(executors).await.map_err(with_full_paths)?;
        let report = || Report {
            syntax: compiled.syntax,
            revision,
            cached,
            pooled: result.pooled,
            duration_us: started.elapsed().as_micros() as u64,
            requires: names.requires(&compiled.requires),
            names: names.origins(&compiled.requires, &root),
            waves: result.calls.report(),
        };
        Ok(RenderedPrompt {
            report: explain.then(report),
            prompt: compiled.prompt.clone(),
            content: content(&compiled, result.texts)?,
            warnings: result.calls.warnings(),
        })
    }

    /// Adds `variables` to the paths of missing values that no environ could give.
    fn with_full_paths(&self, error: RenderError, names: &TopLevelNames) -> RenderError {
        let RenderError::Missing { missing, violations } = error else { return error };
        let may_be_environ = self.catalog.store_state().is_first_read();
        let full = |missing| names.with_full_path(missing, may_be_environ);
        RenderError::Missing { missing: unique(missing.into_iter().map(full).collect()), violations }
    }
}

/// The version of a prompt that serves.
fn serving(snapshot: &Snapshot, id: &Id) -> Result<Arc<Prompt>, RenderError> {
    let entry = snapshot.prompt(id).ok_or_else(|| RenderError::NotFound { id: id.clone() })?;
    if let Some(message) = entry.extension.as_ref().and_then(|extension| extension.unavailable.clone()) {
        return Err(RenderError::FailedDependency { id: id.clone(), message });
    }
    entry
        .prompt
        .clone()
        .ok_or_else(|| RenderError::Unreadable { id: id.clone(), problems: entry.problems.clone() })
}

fn content(compiled: &CompiledPrompt, texts: Vec<String>) -> Result<Content, RenderError> {
    let prompt = &compiled.prompt;
    let text = || texts.first().map_or("", String::as_str);
    match (&prompt.body, &compiled.role_mark) {
        (Body::Text(_), Some(mark)) => {
            let messages = mark.messages(text());
            let messages = messages.map_err(|message| RenderError::Failed { message, position: None })?;
            Ok(Content::Messages(messages))
        }
        (Body::Text(_), None) => Ok(Content::Text(texts.into_iter().next().unwrap_or_default())),
        (Body::Messages { .. }, _) => Ok(Content::Messages(Messages::new(prompt, texts))),
    }
}
