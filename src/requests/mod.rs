//! Requests: a context and a schema to a solution that validates; nothing is remembered between them but ideas.
//!
//! - [`Requests`]: solves requests, of their own and of prompts; replays ideas
//! - `wanted`: what a request says beside its context; `prepare`: from there to what the model is asked
//! - `idea`: a context, a schema and a solution; `ideas`: where they are kept
//! - `stream`: solutions as they grow

mod error;
mod idea;
mod ideas;
mod prepare;
mod stream;
mod wanted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map as JsonMap, Value as Json};

pub use error::RequestError;
pub use idea::Idea;
pub use ideas::Ideas;
pub use stream::{Growing, RequestStream};
pub use wanted::{OWN_PARAMS, Wanted};

use crate::llm::structured::Strategy;
use crate::llm::{Completion, Llm, Preview, Usage};
use crate::render::{Renderer, Warning};
use crate::structured::{AttemptReport, Solved, Structured};
use base::caller::Caller;
use base::model::Id;
use idea::Source;
use prepare::Prepared;
use template::value::{Value, parse_json};

/// The service.
pub struct Requests {
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    structured: Arc<Structured>,
    ideas: Ideas,
    options: RequestsOptions,
}

/// The options of all requests.
#[derive(Debug, Clone)]
pub struct RequestsOptions {
    /// Members of the upstream's body that nobody else sets.
    pub params: JsonMap<String, Json>,
    /// Whether ideas are kept.
    pub keep_ideas: bool,
    /// How many requests of a batch are under way at once.
    pub batch_parallel: usize,
}

/// Where the context of a request comes from.
#[derive(Debug)]
pub enum Context {
    /// The request has it.
    Messages(Vec<Box<RawValue>>),
    /// It is a rendered prompt.
    Prompt {
        /// Its id.
        id: Id,
        /// Its variables.
        variables: Option<Value>,
    },
}

/// A request.
#[derive(Debug)]
pub struct Request {
    /// The messages.
    pub context: Context,
    /// How the value is to be made.
    pub wanted: Wanted,
    /// Whether the idea may be kept.
    pub save: bool,
}

/// The answer to a request.
#[derive(Debug)]
pub struct Solution {
    /// The values as JSON: one, or as many as the model gave for `n`.
    pub values: Vec<Box<RawValue>>,
    /// The model that gave them.
    pub model: String,
    /// How it was asked; `None` for one that was kept.
    pub strategy: Option<Strategy>,
    /// How often a model answered.
    pub attempts: usize,
    /// The tokens of all answers.
    pub usage: Usage,
    /// The id of the idea of each value; `None` for those that are not kept.
    pub ideas: Vec<Option<String>>,
    /// What happened in each attempt.
    pub report: Vec<AttemptReport>,
    /// The warnings about tool calls that failed while prompts were rendered.
    pub warnings: Vec<Warning>,
    /// The prompt that was rendered.
    pub rendering: Option<Rendering>,
    /// How long all attempts took.
    pub llm: Duration,
}

/// A prompt that was rendered for a request.
#[derive(Debug, Clone)]
pub struct Rendering {
    /// Its id.
    pub id: Id,
    /// How long the render took.
    pub duration: Duration,
}

impl Requests {
    /// A service whose ideas are kept in `ideas`.
    pub fn new(
        renderer: Arc<Renderer>,
        llm: Arc<Llm>,
        structured: Arc<Structured>,
        ideas: Ideas,
        options: RequestsOptions,
    ) -> Requests {
        Requests { renderer, llm, structured, ideas, options }
    }

    /// How many requests of a batch are under way at once.
    pub fn batch_parallel(&self) -> usize {
        self.options.batch_parallel
    }

    /// Solves a request.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn solve(&self, caller: &Caller, request: Request) -> Result<Solution, RequestError> {
        let prepared = self.prepare(caller, request).await?;
        if let Some(known) = self.known(caller, &prepared).await? {
            return Ok(known);
        }
        let began = Instant::now();
        let solved = self.structured.solve(caller, &prepared.task).await?;
        self.kept(&prepared, solved, began.elapsed()).await
    }

    /// Reads the value out of an answer that is given beforehand, and checks it by a schema: no model is asked, and nothing is kept.
    ///
    /// # Errors
    /// [`RequestError`] if it does not fit, or the schema is none.
    pub async fn read_given(
        &self,
        caller: &Caller,
        schema: &RawValue,
        completion: Completion,
    ) -> Result<Option<Box<RawValue>>, RequestError> {
        let schema = self.structured.schema(schema.get()).await?;
        let solved = self.structured.read_given(caller, schema, completion).await?;
        let value = solved.solutions.first().map(to_raw_value).transpose();
        value.map_err(prepare::unwritable)
    }

    /// The request that would be sent first to the model.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn preview(&self, caller: &Caller, request: Request) -> Result<Preview, RequestError> {
        let is_stream = request.wanted.stream;
        let prepared = self.prepare(caller, request).await?;
        Ok(self.structured.preview(caller, &prepared.task, is_stream).await?)
    }

    /// An idea that was kept.
    ///
    /// # Errors
    /// [`RequestError::IdeaNotFound`]; if the store does not answer.
    pub async fn idea(&self, id: &str) -> Result<Idea, RequestError> {
        self.ideas.get(id).await
    }

    /// An idea, and the request to make it again: by the idea's own model if no other one is wanted.
    ///
    /// # Errors
    /// [`RequestError`].
    pub async fn again(&self, id: &str, wanted: Wanted, save: bool) -> Result<(Idea, Request), RequestError> {
        if wanted.schema.is_some() {
            return Err(RequestError::invalid(
                "/schema",
                "is that of the idea; make a new request for another one",
            ));
        }
        let idea = self.ideas.get(id).await?;
        let unreadable = |_| RequestError::IdeaUnreadable { id: id.to_owned() };
        let context = Context::Messages(parse_json(idea.context.get().as_bytes()).map_err(unreadable)?);
        let (schema, own) = (Some(idea.schema.clone()), idea.model.clone());
        let wanted = Wanted { schema, model: Some(wanted.model.unwrap_or(own)), ..wanted };
        Ok((idea, Request { context, wanted, save }))
    }

    /// The last answer to the same request, if that will do, and if it still fits.
    async fn known(&self, caller: &Caller, prepared: &Prepared) -> Result<Option<Solution>, RequestError> {
        let Some(source) = prepared.source.as_ref().filter(|_| prepared.reuse) else { return Ok(None) };
        let last = match self.ideas.last(source.request()).await {
            Ok(last) => last,
            Err(error) => {
                tracing::warn!(request_id = caller.request_id(), %error, "no earlier idea can be looked up");
                None
            }
        };
        let Some((id, idea)) = last else { return Ok(None) };
        let Ok(value) = parse_json::<Value>(idea.solution.get().as_bytes()) else { return Ok(None) };
        if !self.structured.fits(caller, &prepared.task, &value).await? {
            return Ok(None);
        }
        let nothing = Usage { prompt_tokens: Some(0), completion_tokens: Some(0), total_tokens: Some(0) };
        Ok(Some(Solution {
            values: vec![idea.solution],
            model: idea.model,
            strategy: None,
            attempts: 0,
            usage: nothing,
            ideas: vec![Some(id).filter(|_| prepared.save)],
            report: Vec::new(),
            warnings: prepared.warnings.clone(),
            rendering: prepared.rendering.clone(),
            llm: Duration::ZERO,
        }))
    }

    /// The answer to a request, whose ideas are kept if they may be.
    async fn kept(
        &self,
        prepared: &Prepared,
        solved: Solved,
        llm: Duration,
    ) -> Result<Solution, RequestError> {
        let Solved { solutions, origin, spent, report, held: _held } = solved;
        let values = solutions.iter().map(to_raw_value).collect::<Result<Vec<_>, _>>();
        let values = values.map_err(prepare::unwritable)?;
        let mut ideas = Vec::with_capacity(values.len());
        for value in &values {
            ideas.push(match prepared.source.as_ref().filter(|_| prepared.save) {
                Some(source) => self.keep(source, value, &origin.model).await,
                None => None,
            });
        }
        Ok(Solution {
            values,
            model: origin.model,
            strategy: Some(origin.strategy),
            attempts: spent.attempts,
            usage: spent.usage,
            ideas,
            report,
            warnings: prepared.warnings.clone(),
            rendering: prepared.rendering.clone(),
            llm,
        })
    }

    /// Keeps an idea. A store that takes none does not make the solution worthless: the id is missing then, and the log says why.
    async fn keep(&self, source: &Source, value: &RawValue, model: &str) -> Option<String> {
        let kept = self.ideas.keep(source.idea(value, model)).await;
        kept.inspect_err(|error| tracing::warn!(%error, "an idea cannot be kept")).ok()
    }
}
