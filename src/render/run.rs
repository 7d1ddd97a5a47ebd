//! One render: runs the templates, in waves if they call tools. A wave runs on the serving thread if it is expected to be
//! short, otherwise in the pool.
//!
//! A run that calls tools continues without their results for as long as no result could influence which other calls are
//! made. Then the requested calls are made concurrently, and the next wave runs all templates again, from the beginning, with
//! the results. A wave without new calls gives the texts. So no thread waits for a tool, and no call is made that a
//! sequential run from left to right would not have made.
//!
//! The time limit of a render stands still while its calls wait for MCP servers that are starting, for as long as one start may
//! take in all.
//!
//! The step limit applies to each message of a prompt, the output limit to all messages together.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use super::RendererOptions;
use super::calls::{CallLimits, Calls};
use super::compiled::CompiledPrompt;
use super::cost::{Clock, RunEnd, Stage};
use super::error::RenderError;
use super::turns::{Turn, Turns};
use super::variables::unique;
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::model::ToolFailure;
use base::pool::Pool;
use base::random::random;
use template::value::Map;
use template::{Functions, Limits, RunBudget, RunError, Undefined};
use tools::{LimitedWork, Tools};

/// How many attempts a run has in the same stage if it is preempted.
const PREEMPTED_MAX: usize = 3;

/// A render with everything that it needs, owned, so that it can move to another thread.
pub struct Job {
    compiled: Arc<CompiledPrompt>,
    root: Arc<Map>,
    calls: Arc<Calls>,
    limits: Limits,
    undefined: Undefined,
    tool_failure: ToolFailure,
    deadline: Mutex<Deadline>,
    /// The time that all runs are told, and the seed of their random values: a call that depends on them must be the same in
    /// each wave.
    moment: SystemTime,
    seed: u128,
    /// The turn of the first wave, if it was taken before.
    turn: Mutex<Option<Turn>>,
}

/// The end of a render's time limit, and how far it may still move.
#[derive(Clone, Copy)]
struct Deadline {
    at: Instant,
    may_move: Duration,
}

/// Where renders run.
#[derive(Clone, Copy)]
pub struct Executors<'r> {
    /// The queues of the serving threads.
    pub turns: &'r Turns,
    /// The threads for longer work.
    pub pool: &'r Pool,
}

/// The input of a render.
pub struct RenderInput {
    /// The compiled prompt.
    pub compiled: Arc<CompiledPrompt>,
    /// The snapshot with the tools.
    pub snapshot: Arc<Snapshot>,
    /// The data of the templates.
    pub root: Arc<Map>,
    /// The turn on a serving thread, if it was taken before.
    pub turn: Option<Turn>,
    /// The end of the render's time limit.
    pub deadline: Instant,
}

/// The result of a render.
pub struct RunResult {
    /// One text for each template.
    pub texts: Vec<String>,
    /// The tool calls.
    pub calls: Arc<Calls>,
    /// Whether the last wave ran in the pool.
    pub pooled: bool,
}

/// The result of one wave.
enum WaveResult {
    /// The texts.
    Done(Vec<String>),
    /// There are calls to make; `needed` is the call without whose result the run could not continue.
    Waiting { needed: Option<usize> },
}

impl Job {
    /// A render for `caller`, whose templates call `tools`.
    pub fn new(caller: &Caller, input: RenderInput, tools: &Arc<Tools>, options: &RendererOptions) -> Job {
        let RenderInput { compiled, snapshot, root, turn, deadline } = input;
        let limits = CallLimits {
            allowed: compiled.prompt.limits.tools.clone(),
            calls: options.tool_calls,
            parallel: options.tool_calls_at_once,
            memory: options.memory.clone(),
        };
        let calls = Calls::new(snapshot, tools.clone(), limits, caller.clone());
        Job {
            undefined: compiled.prompt.undefined.unwrap_or(options.undefined),
            tool_failure: compiled.prompt.tool_failure.unwrap_or(options.tool_failure),
            calls: Arc::new(calls),
            limits: options.limits,
            moment: SystemTime::now(),
            seed: random(),
            turn: Mutex::new(turn),
            compiled,
            root,
            deadline: Mutex::new(Deadline { at: deadline, may_move: tools.start_timeout() }),
        }
    }

    /// Renders all texts.
    ///
    /// # Errors
    /// [`RenderError`]; one error names all missing values of all texts.
    pub async fn run(self, executors: Executors<'_>) -> Result<RunResult, RenderError> {
        let job = Arc::new(self);
        let mut stage = job.compiled.cost.stage();
        loop {
            let wave = job.wave(executors, &mut stage).await;
            if let Ok(WaveResult::Waiting { needed }) = wave {
                // Boxed, so that the futures of renders without calls stay small.
                Box::pin(job.make_calls(needed)).await?;
            }
            job.refuse_failures()?;
            if let WaveResult::Done(texts) = wave? {
                job.calls.log_unmade();
                return Ok(RunResult { texts, calls: job.calls.clone(), pooled: stage.lane().is_some() });
            }
        }
    }

    /// Runs the templates once without making calls, to find missing values.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub async fn find_missing(self, executors: Executors<'_>) -> Result<(), RenderError> {
        let mut stage = self.compiled.cost.stage();
        Arc::new(self).wave(executors, &mut stage).await.map(drop)
    }

    /// Ends the render if calls have failed and defaults are not allowed. An error of the wave would only follow from that.
    fn refuse_failures(&self) -> Result<(), RenderError> {
        if self.tool_failure == ToolFailure::Default {
            return Ok(());
        }
        let failures = self.calls.warnings();
        if failures.is_empty() {
            return Ok(());
        }
        self.calls.log_unmade();
        Err(RenderError::ToolsFailed { failures })
    }

    async fn make_calls(&self, needed: Option<usize>) -> Result<(), RenderError> {
        let Deadline { at, may_move } = self.deadline();
        let limited = LimitedWork {
            work: self.calls.make(needed),
            starts: || self.calls.starts(),
            limit: at.saturating_duration_since(Instant::now()),
            most: may_move,
        };
        let (made, still) = limited.run().await;
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner) =
            Deadline { at: at + still, may_move: may_move.saturating_sub(still) };
        match made {
            None => Err(RenderError::ToolsTimeout { tools: self.calls.unanswered() }),
            // Without a new result, the next wave would be the same, and so on for ever.
            Some(0) => Err(RenderError::Failed {
                message: "the template waits for a tool result that was never requested".into(),
                position: None,
            }),
            Some(_) => Ok(()),
        }
    }

    fn deadline(&self) -> Deadline {
        *self.deadline.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the templates once, in this stage or in the first later one that suffices. Later waves start in the stage that
    /// this one reached, because a run that was too long for a stage once will be too long again.
    async fn wave(
        self: &Arc<Self>,
        executors: Executors<'_>,
        stage: &mut Stage,
    ) -> Result<WaveResult, RenderError> {
        loop {
            let turn = self.turn.lock().ok().and_then(|mut turn| turn.take());
            let attempt = match stage.lane() {
                None if *stage == Stage::Inline || turn.is_some() => self.attempt_in(*stage),
                None => {
                    let _turn = executors.turns.take(self.compiled.cost.expected_us()).await?;
                    self.attempt_in(*stage)
                }
                Some(lane) => {
                    let (job, stage) = (self.clone(), *stage);
                    executors.pool.run(lane, self.deadline().at, move || job.attempt_in(stage)).await?
                }
            };
            match (attempt, stage.next()) {
                (Ok(texts), _) => return Ok(WaveResult::Done(texts)),
                (Err(RunError::Pending { needed }), _) => return Ok(WaveResult::Waiting { needed }),
                (Err(RunError::Steps { .. } | RunError::Deadline), Some(next)) => *stage = next,
                (Err(error), _) => return Err(error.into()),
            }
        }
    }

    /// Runs the templates with the limits of a stage, and updates the cost of the prompt.
    fn attempt_in(&self, stage: Stage) -> Result<Vec<String>, RunError> {
        for _ in 0..PREEMPTED_MAX {
            let (budget, clock) = (self.budget(stage), Clock::start(stage));
            let attempt = self.attempt(&budget, stage.lane().is_none());
            let took = clock.elapsed();
            let attempt = if self.calls.ran_out() { Err(RunError::Deadline) } else { attempt };
            let end = match attempt {
                Err(RunError::Deadline) if Instant::now() >= budget.deadline => RunEnd::OutOfTime,
                Err(RunError::Steps { .. } | RunError::Deadline) => RunEnd::TooMuch,
                _ => RunEnd::Normal,
            };
            let has_time = Instant::now() < self.deadline().at;
            if end == RunEnd::OutOfTime && has_time && stage.was_preempted(took) {
                continue;
            }
            self.compiled.cost.note(stage, took, end);
            return attempt;
        }
        Err(RunError::Deadline)
    }

    /// The limits of a run in a stage that begins now.
    fn budget(&self, stage: Stage) -> RunBudget {
        let end = self.deadline().at;
        RunBudget {
            steps: stage.steps().min(self.limits.steps),
            output_bytes: self.limits.output_bytes,
            deadline: stage.time().map_or(end, |time| end.min(Instant::now() + time)),
            undefined: self.undefined,
            moment: self.moment,
            seed: self.seed,
        }
    }

    fn attempt(&self, budget: &RunBudget, inline: bool) -> Result<Vec<String>, RunError> {
        self.calls.open(inline);
        let functions: Arc<dyn Functions> = self.calls.clone();
        let mut texts = Vec::with_capacity(self.compiled.templates.len());
        let (mut missing, mut first_error, mut pending) = (Vec::new(), None, None);
        let mut budget = *budget;
        for template in &self.compiled.templates {
            // Each message draws values of its own.
            budget.seed = budget.seed.wrapping_add(1);
            match template.render(&self.root, &functions, &budget) {
                Ok(text) => {
                    budget.output_bytes = budget.output_bytes.saturating_sub(text.len());
                    texts.push(text);
                }
                Err(RunError::Missing(more)) => missing.extend(more),
                // Missing values in the other texts take precedence.
                Err(error @ RunError::Failed { .. }) => first_error = first_error.or(Some(error)),
                Err(RunError::Pending { needed }) => {
                    // With the result, this text may fail, and then the later texts would make no calls.
                    if needed.is_some() {
                        self.calls.close();
                    }
                    pending = Some(pending.flatten().or(needed));
                }
                Err(error) => return Err(error),
            }
        }
        if !missing.is_empty() {
            return Err(RunError::Missing(unique(missing)));
        }
        match (first_error, pending) {
            (Some(error), _) => Err(error),
            (None, Some(needed)) => Err(RunError::Pending { needed }),
            (None, None) => Ok(texts),
        }
    }
}
