//! Structured outputs: a chat and a JSON Schema to a value that validates, from any model.
//!
//! - [`Structured`]: has a model answer until its answer fits, a bounded number of times
//! - `schemas`: compiled schemas, which are kept; `checks`: what a value has to fulfil beside its schema
//! - `reading`: what an answer says; `answer`: a JSON value in a text; `distinct`: parsing that refuses repeated names
//! - `partial`: a value from the beginning of its text; `preface`: what comes before it; `scan`: the grammar of JSON, byte by byte;
//!   `number`: that of its numbers
//! - `run`: what the attempts of one request cost; `stream`: the same with the value as it grows
//! - `emulation`: what OpenAI's clients ask for, for models that do not have it

mod answer;
mod checks;
mod distinct;
mod emulation;
mod error;
mod number;
mod partial;
mod preface;
mod reading;
mod run;
mod scan;
mod schemas;
mod stream;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

pub use checks::{Check, Checks};
pub use error::{StructuredError, Unsolved, UnsolvedCause};
pub use run::{AttemptReport, Spent};
pub use schemas::CompiledSchema;
pub use stream::{SolutionEvent, SolutionStream};

use crate::llm::structured::{FailedAnswer, Plan, Strategy, StructuredRequest};
use crate::llm::{AnswerOrigin, Answered, Choice, Completion, Llm, Preview, Request};
use crate::render::Renderer;
use base::caller::Caller;
use base::schema::Violation;
use reading::{Invalid, Useless, read};
use run::Run;
use schemas::SchemaCache;
use template::value::{RawObject, Value};

/// The prompt that puts a schema into the system message.
const SCHEMA_PROMPT: &str = "requests.schema";

/// The prompt that asks for a corrected answer.
const REPAIR_PROMPT: &str = "requests.repair";

/// Makes values that fit schemas.
pub struct Structured {
    renderer: Arc<Renderer>,
    llm: Arc<Llm>,
    schemas: SchemaCache,
    options: StructuredOptions,
}

/// The limits of all requests for values.
#[derive(Debug, Clone, Copy)]
pub struct StructuredOptions {
    /// The time for one request with all of its attempts.
    pub timeout: Duration,
    /// How often an answer that does not fit is sent back, where the request does not say it.
    pub max_repairs: usize,
    /// Whether `response_format`, and functions that have to be called, are offered for models that do not have them.
    pub emulate: bool,
}

/// What is wanted of a model.
#[derive(Debug, Clone)]
pub struct Task {
    /// The messages and parameters of a chat completion, without `stream`.
    pub payload: Arc<RawObject>,
    /// What the value has to fit.
    pub schema: Arc<CompiledSchema>,
    /// The ways in which the model may be asked.
    pub plan: Plan,
    /// What else it has to fulfil.
    pub checks: Checks,
    /// How often an answer that does not fit is sent back, at most.
    pub max_repairs: usize,
}

/// Values that fit.
#[derive(Debug)]
pub struct Solved {
    /// The values: one, or as many as the model gave choices.
    pub solutions: Vec<Value>,
    /// Who gave the last answer, and how it was asked.
    pub origin: AnswerOrigin,
    /// What it cost.
    pub spent: Spent,
    /// What happened in each attempt.
    pub report: Vec<AttemptReport>,
}

impl Structured {
    /// A service that asks the models of `llm`; its own texts are prompts, which `renderer` renders.
    pub fn new(renderer: Arc<Renderer>, llm: Arc<Llm>, options: StructuredOptions) -> Structured {
        Structured { renderer, llm, schemas: SchemaCache::default(), options }
    }

    /// The limits.
    pub fn options(&self) -> StructuredOptions {
        self.options
    }

    /// The compiled form of a schema, given as JSON.
    ///
    /// # Errors
    /// [`StructuredError::Schema`] if it is no JSON Schema.
    pub async fn schema(&self, json: &str) -> Result<Arc<CompiledSchema>, StructuredError> {
        self.schemas.get(json, &self.renderer).await
    }

    /// Has the model answer until its answer fits.
    ///
    /// # Errors
    /// [`StructuredError`].
    pub async fn solve(&self, caller: &Caller, task: &Task) -> Result<Solved, StructuredError> {
        self.in_time(async {
            let request = self.request(caller, task).await?;
            let mut run = Run::default();
            let Answered { completion, origin, .. } = self.ask(caller, &request, &mut run).await?;
            self.settle(caller, task, First { request, completion, origin, run }).await
        })
        .await
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// If there is no room for the work now.
    pub async fn fits(&self, caller: &Caller, task: &Task, value: &Value) -> Result<bool, StructuredError> {
        Ok(self.violations(caller, task, value).await?.is_empty())
    }

    /// The violations of the schema or, if there are none, of the checks.
    async fn violations(
        &self,
        caller: &Caller,
        task: &Task,
        value: &Value,
    ) -> Result<Vec<Violation>, StructuredError> {
        let violations = task.schema.violations(value, &self.renderer).await?;
        match violations.is_empty() {
            true => task.checks.violations(value, caller, &self.renderer).await,
            false => Ok(violations),
        }
    }

    /// Compiles checks.
    ///
    /// # Errors
    /// [`StructuredError::Checks`].
    pub fn checks(&self, checks: Vec<Check>) -> Result<Checks, StructuredError> {
        Checks::compile(checks, &self.renderer)
    }

    /// The request that would be sent first, for a whole answer or for a stream.
    ///
    /// # Errors
    /// If there is no such model, or it does not have the strategy.
    pub async fn preview(
        &self,
        caller: &Caller,
        task: &Task,
        is_stream: bool,
    ) -> Result<Preview, StructuredError> {
        let request = match is_stream {
            true => self.stream_request(caller, task).await?,
            false => self.request(caller, task).await?,
        };
        Ok(self.llm.preview(&request)?)
    }

    /// Does the work within the time for one request.
    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, StructuredError>>,
    ) -> Result<T, StructuredError> {
        let limit = self.options.timeout;
        let timeout = |_| StructuredError::Timeout { milliseconds: limit.as_millis() };
        tokio::time::timeout(limit, work).await.map_err(timeout)?
    }

    /// The first request to the model.
    ///
    /// # Errors
    /// If there is no such model, or it does not have the strategy.
    async fn request(&self, caller: &Caller, task: &Task) -> Result<StructuredRequest, StructuredError> {
        let prospects = self.llm.prospects(&task.payload, task.plan)?;
        let text = match prospects.needs_text {
            true => Some(self.schema_text(caller, &task.schema).await?.into()),
            false => None,
        };
        Ok(StructuredRequest {
            payload: task.payload.clone(),
            schema: task.schema.output.clone(),
            text,
            plan: task.plan,
            failed: Vec::new(),
            emulation: Arc::default(),
        })
    }

    async fn schema_text(&self, caller: &Caller, schema: &CompiledSchema) -> Result<String, StructuredError> {
        let variables = Value::from(json!({"schema": schema.output.asked().get()}));
        Ok(self.renderer.own_text(caller, SCHEMA_PROMPT, variables).await?)
    }

    async fn ask(
        &self,
        caller: &Caller,
        request: &StructuredRequest,
        run: &mut Run,
    ) -> Result<Answered, StructuredError> {
        let began = Instant::now();
        let answered = self.llm.answer(caller, Request::Structured(request)).await?;
        run.answered(&answered.origin, answered.completion.usage, began.elapsed());
        Ok(answered)
    }

    /// Makes values of the choices of the first answer: those that do not fit are sent back.
    async fn settle(&self, caller: &Caller, task: &Task, first: First) -> Result<Solved, StructuredError> {
        let First { request, completion, mut origin, mut run } = first;
        let mut solutions = Vec::with_capacity(completion.choices.len());
        for (at, choice) in completion.choices.into_iter().enumerate() {
            let mut dialogue = Dialogue { request: request.clone(), at, origin: &mut origin };
            solutions.push(self.settle_one(caller, task, &mut dialogue, choice, &mut run).await?);
        }
        let Run { spent, report, .. } = run;
        Ok(Solved { solutions, origin, spent, report })
    }

    async fn settle_one(
        &self,
        caller: &Caller,
        task: &Task,
        dialogue: &mut Dialogue<'_>,
        mut choice: Choice,
        run: &mut Run,
    ) -> Result<Value, StructuredError> {
        loop {
            match self.settle_step(caller, task, dialogue, &choice, run).await? {
                ControlFlow::Break(value) => return Ok(value),
                ControlFlow::Continue(next) => choice = next,
            }
        }
    }

    /// The value that a choice says; or, if it does not fit, what the model says when it is asked again.
    async fn settle_step(
        &self,
        caller: &Caller,
        task: &Task,
        dialogue: &mut Dialogue<'_>,
        choice: &Choice,
        run: &mut Run,
    ) -> Result<ControlFlow<Value, Choice>, StructuredError> {
        let reading = self.read(caller, task, choice, dialogue.origin.strategy).await?;
        run.read(dialogue.at, choice, &reading);
        match reading {
            Ok(value) => Ok(ControlFlow::Break(value)),
            Err(Useless::Invalid(invalid)) if dialogue.request.failed.len() < task.max_repairs => {
                self.ask_again(caller, dialogue, invalid, run).await.map(ControlFlow::Continue)
            }
            Err(useless) => Err(run.unsolved(useless).into()),
        }
    }

    /// Sends an answer back with everything that is wrong with it.
    async fn ask_again(
        &self,
        caller: &Caller,
        dialogue: &mut Dialogue<'_>,
        invalid: Invalid,
        run: &mut Run,
    ) -> Result<Choice, StructuredError> {
        // One answer is sent back, and one is wanted, as a whole.
        for member in ["n", "stream", "stream_options"] {
            Arc::make_mut(&mut dialogue.request.payload).remove(member);
        }
        dialogue.request.failed.push(self.complain(caller, invalid).await?);
        let answered = self.ask(caller, &dialogue.request, run).await?;
        *dialogue.origin = answered.origin;
        Ok(answered.completion.choices.into_iter().next().unwrap_or_default())
    }

    async fn complain(&self, caller: &Caller, invalid: Invalid) -> Result<FailedAnswer, StructuredError> {
        let Invalid { text, call, violations } = invalid;
        let variables = Value::from(json!({"violations": violations}));
        let complaint = self.renderer.own_text(caller, REPAIR_PROMPT, variables).await?;
        Ok(FailedAnswer { text, call, complaint })
    }

    /// What a choice says, by the schema and the checks.
    async fn read(
        &self,
        caller: &Caller,
        task: &Task,
        choice: &Choice,
        strategy: Strategy,
    ) -> Result<Result<Value, Useless>, StructuredError> {
        let read = match read(choice, &task.schema.output, strategy) {
            Ok(read) => read,
            Err(useless) => return Ok(Err(useless)),
        };
        let mut first = None;
        for value in read.meanings {
            let violations = self.violations(caller, task, &value).await?;
            if violations.is_empty() {
                return Ok(Ok(value));
            }
            first.get_or_insert(violations);
        }
        let violations = first.unwrap_or_default();
        Ok(Err(Useless::Invalid(Invalid { text: read.text, call: read.call, violations })))
    }
}

/// The first answer, and the request that it answers.
struct First {
    request: StructuredRequest,
    completion: Completion,
    origin: AnswerOrigin,
    run: Run,
}

/// A choice on its way to a value.
struct Dialogue<'d> {
    request: StructuredRequest,
    /// The number of the choice, from 0.
    at: usize,
    /// Who gave the last answer.
    origin: &'d mut AnswerOrigin,
}
