//! Structured outputs: a chat and a JSON Schema to a value that validates, from any model.
//!
//! - [`Structured`]: has a model answer until its answer fits, a bounded number of times
//! - `schemas`: compiled schemas, which are kept; `checks`: what a value has to fulfil beside its schema
//! - `canonical`: JSON in one way of writing; `reading`: what an answer says; `answer`: a JSON value in a text
//! - `judge`: whether an answer fits, is sent back, or ends the request; `run`: what the attempts of one request cost
//! - `stream`: the same with the value as it grows; `growing`: its parts, and `pace`, how often they are told
//! - `partial`: a value from the beginning of its text; `preface`: what comes before it; `scan`: the grammar of JSON, byte by byte;
//!   `number`: that of its numbers
//! - `emulation`: what OpenAI's clients ask for, for models that do not have it

mod answer;
mod canonical;
mod checks;
mod emulation;
mod error;
mod growing;
mod judge;
mod number;
mod pace;
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

pub use canonical::canonical;
pub use checks::{Check, Checks};
pub use error::{StructuredError, Unsolved, UnsolvedCause};
pub use run::{AnswerOrigin, AttemptReport, Spent};
pub use schemas::CompiledSchema;
pub use stream::{SolutionEvent, SolutionStream};

use crate::llm::structured::{Plan, StructuredRequest};
use crate::llm::{Answered, Completion, Llm, Preview, Request};
use crate::render::Renderer;
use base::caller::Caller;
use base::memory::{BufferedBytes, Reservation};
use judge::{Fit, GivenAnswer, Verdict};
use run::{Attempt, Run};
use schemas::SchemaCache;
use template::value::{RawObject, Value};

/// The prompt that puts a schema into the system message.
const SCHEMA_PROMPT: &str = "requests.schema";

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
    /// The memory that large values take.
    pub held: Vec<Reservation>,
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
            let Given { completion, attempt, .. } = self.ask(caller, &request, &mut run).await?;
            self.settle(caller, task, First { request, completion, attempt, run }).await
        })
        .await
    }

    /// Reads an answer that is given beforehand, in the place of a model's. Nothing is asked, and nothing is sent back.
    ///
    /// # Errors
    /// [`StructuredError`] if it does not fit.
    pub async fn read_given(
        &self,
        caller: &Caller,
        schema: Arc<CompiledSchema>,
        completion: Completion,
    ) -> Result<Solved, StructuredError> {
        let (payload, checks) = (Arc::default(), Checks::default());
        let task = Task { payload, schema, plan: Plan::ANY, checks, max_repairs: 0 };
        let (payload, schema) = (task.payload.clone(), task.schema.output.clone());
        let request = StructuredRequest {
            payload,
            schema,
            text: None,
            plan: task.plan,
            failed: Vec::new(),
            emulation: None,
        };
        let mut run = Run::default();
        let origin = AnswerOrigin::of(&request, String::new(), None);
        let attempt = run.answered(origin, completion.usage, Duration::ZERO);
        self.settle(caller, &task, First { request, completion, attempt, run }).await
    }

    /// Whether a value fits.
    ///
    /// # Errors
    /// If there is no room for the work now.
    pub async fn fits(&self, caller: &Caller, task: &Task, value: &Value) -> Result<bool, StructuredError> {
        Ok(self.misfit(caller, task, value).await?.is_none())
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
            emulation: None,
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
    ) -> Result<Given, StructuredError> {
        let began = Instant::now();
        let Answered { completion, body, model, way } =
            self.llm.answer(caller, Request::Structured(request)).await?;
        let origin = AnswerOrigin::of(request, model, way);
        let attempt = run.answered(origin, completion.usage, began.elapsed());
        Ok(Given { completion, body, attempt })
    }

    /// Makes values of the choices of the first answer: those that do not fit are sent back.
    async fn settle(&self, caller: &Caller, task: &Task, first: First) -> Result<Solved, StructuredError> {
        let First { request, completion, attempt, mut run } = first;
        let (mut solutions, mut last) =
            (Vec::with_capacity(completion.choices.len()), attempt.origin.clone());
        let mut all_held = Vec::new();
        for (at, choice) in completion.choices.into_iter().enumerate() {
            let answer = GivenAnswer { choice, at, attempt: attempt.clone() };
            let before = run.spent.attempts;
            let Fit { value, origin, held } =
                self.settle_one(caller, task, request.clone(), answer, &mut run).await?;
            if run.spent.attempts > before {
                last = origin;
            }
            solutions.push(value);
            all_held.push(held);
        }
        let Run { spent, report } = run;
        Ok(Solved { solutions, origin: last, spent, report, held: all_held })
    }

    /// Sends a choice back until it fits.
    async fn settle_one(
        &self,
        caller: &Caller,
        task: &Task,
        mut request: StructuredRequest,
        mut answer: GivenAnswer,
        run: &mut Run,
    ) -> Result<Fit, StructuredError> {
        loop {
            match self.settle_step(caller, task, &mut request, answer, run).await? {
                ControlFlow::Break(fit) => return Ok(fit),
                ControlFlow::Continue(next) => answer = next,
            }
        }
    }

    /// The value that an answer says; or, if it is sent back, what the model says then.
    async fn settle_step(
        &self,
        caller: &Caller,
        task: &Task,
        request: &mut StructuredRequest,
        answer: GivenAnswer,
        run: &mut Run,
    ) -> Result<ControlFlow<Fit, GivenAnswer>, StructuredError> {
        let at = answer.at;
        if let Verdict::Fits(fit) = self.judge(caller, task, request, answer, run).await? {
            return Ok(ControlFlow::Break(fit));
        }
        // One answer is sent back, and one is wanted, as a whole.
        for member in ["n", "stream", "stream_options"] {
            Arc::make_mut(&mut request.payload).remove(member);
        }
        let Given { completion, attempt, .. } = self.ask(caller, request, run).await?;
        let choice = completion.choices.into_iter().next().unwrap_or_default();
        Ok(ControlFlow::Continue(GivenAnswer { choice, at, attempt }))
    }
}

/// What a model gave.
struct Given {
    completion: Completion,
    /// The same in OpenAI's format.
    body: BufferedBytes,
    attempt: Attempt,
}

/// The first answer, and the request that it answers.
struct First {
    request: StructuredRequest,
    completion: Completion,
    attempt: Attempt,
    run: Run,
}
