//! One render: its templates are run, in waves if they call tools, each on the caller's thread if that is expected to be
//! quick, and, when that is not enough, in the pool.
//!
//! A run that calls tools whose results are not known yet goes on for as long as no result could change what else it
//! calls. Then the calls that it asked for are made at the same time, and the next wave runs everything again with the
//! results. The wave that asks for nothing gives the text. So no thread waits for a tool, and nothing is called that a
//! single run from left to right would not have called.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::Options;
use super::calls::{CallLimits, Calls};
use super::compiled::Compiled;
use super::cost::{Clock, End, Stage};
use super::error::RenderFailure;
use super::turns::{Turn, Turns};
use super::variables::unique;
use crate::catalog::Snapshot;
use base::caller::Caller;
use base::pool::Pool;
use template::value::{Map, Value};
use template::{Functions, Limits, RunBudget, RunError};
use tools::Tools;

/// How often a run is begun again in the same stage because others had the processor.
const INTERRUPTED_MAX: usize = 3;

/// Everything that a render needs, owned, so that it can move to another thread.
pub struct Job {
    compiled: Arc<Compiled>,
    root: Arc<Map>,
    calls: Arc<Calls>,
    limits: Limits,
    deadline: Instant,
    /// A turn that was taken before, for the first wave.
    turn: Mutex<Option<Turn>>,
}

/// Where renders run.
#[derive(Clone, Copy)]
pub struct Place<'r> {
    /// On the serving threads.
    pub turns: &'r Turns,
    /// Elsewhere.
    pub pool: &'r Pool,
}

/// What is to be rendered.
pub struct Order {
    /// The prompt.
    pub compiled: Arc<Compiled>,
    /// The environs and tools.
    pub snapshot: Arc<Snapshot>,
    /// The variables, checked.
    pub variables: Value,
    /// The turn on a serving thread, if it was taken before.
    pub turn: Option<Turn>,
    /// When the render must have ended.
    pub deadline: Instant,
}

/// What a render gave.
pub struct Ran {
    /// One text for each template.
    pub texts: Vec<String>,
    /// The calls of tools.
    pub calls: Arc<Calls>,
    /// Whether it took the pool.
    pub pooled: bool,
}

/// What one run of the templates gave.
enum Wave {
    /// The texts.
    Done(Vec<String>),
    /// There are calls to make; the result of one of them may be needed to go on.
    Waiting { needed: Option<usize> },
}

impl Job {
    /// A render for `caller`, whose templates call `tools`.
    pub fn new(caller: &Caller, order: Order, tools: &Arc<Tools>, options: &Options) -> Job {
        let Order { compiled, snapshot, variables, turn, deadline } = order;
        let root = Map::over(snapshot.environs.clone(), vec![("variables".into(), variables)])
            .with_alias("args", "variables");
        let limits = CallLimits {
            allowed: compiled.prompt.limits.tools.clone(),
            calls: options.tool_calls,
            parallel: options.tool_calls_at_once,
            memory: options.memory.clone(),
        };
        let calls = Calls::new(snapshot, tools.clone(), limits, caller.clone());
        let (root, calls, turn) = (Arc::new(root), Arc::new(calls), Mutex::new(turn));
        Job { compiled, root, calls, limits: options.limits, deadline, turn }
    }

    /// Renders all texts.
    ///
    /// # Errors
    /// [`RenderFailure`]; all missing values of all texts are in one.
    pub async fn run(self, place: Place<'_>) -> Result<Ran, RenderFailure> {
        let job = Arc::new(self);
        let mut stage = job.compiled.cost.stage();
        loop {
            match job.wave(place, &mut stage).await? {
                Wave::Done(texts) => {
                    job.calls.log_unmade();
                    return Ok(Ran { texts, calls: job.calls.clone(), pooled: stage.lane().is_some() });
                }
                // Boxed, so that a render without calls does not carry the room for them about.
                Wave::Waiting { needed } => Box::pin(job.make_calls(needed)).await?,
            }
        }
    }

    /// Runs the templates once, calling nothing, to see what is missing.
    ///
    /// # Errors
    /// As [`Job::run`].
    pub async fn look(self, place: Place<'_>) -> Result<(), RenderFailure> {
        let mut stage = self.compiled.cost.stage();
        Arc::new(self).wave(place, &mut stage).await.map(drop)
    }

    async fn make_calls(&self, needed: Option<usize>) -> Result<(), RenderFailure> {
        match tokio::time::timeout_at(self.deadline.into(), self.calls.make(needed)).await {
            Err(_) => Err(RenderFailure::ToolsTimeout { tools: self.calls.unanswered() }),
            // Without a call, the next wave would be like this one, for ever.
            Ok(0) => Err(RenderFailure::Failed {
                message: "a result is needed that nobody gives".into(),
                position: None,
            }),
            Ok(_) => Ok(()),
        }
    }

    /// Runs the templates once, in this stage, or in the first later one that suffices: what was too long for a stage once is
    /// so in every wave.
    async fn wave(self: &Arc<Self>, place: Place<'_>, stage: &mut Stage) -> Result<Wave, RenderFailure> {
        loop {
            let turn = self.turn.lock().ok().and_then(|mut turn| turn.take());
            let attempt = match stage.lane() {
                None if *stage == Stage::Inline || turn.is_some() => self.attempt_in(*stage),
                None => {
                    let _turn = place.turns.take(self.compiled.cost.expected_us()).await?;
                    self.attempt_in(*stage)
                }
                Some(lane) => {
                    let (job, stage) = (self.clone(), *stage);
                    place.pool.run(lane, self.deadline, move || job.attempt_in(stage)).await?
                }
            };
            match (attempt, stage.next()) {
                (Ok(texts), _) => return Ok(Wave::Done(texts)),
                (Err(RunError::Pending { needed }), _) => return Ok(Wave::Waiting { needed }),
                (Err(RunError::Steps { .. } | RunError::Deadline), Some(next)) => *stage = next,
                (Err(error), _) => return Err(error.into()),
            }
        }
    }

    /// Runs the templates with what a stage gives them, and takes note of how long that took.
    fn attempt_in(&self, stage: Stage) -> Result<Vec<String>, RunError> {
        for _ in 0..INTERRUPTED_MAX {
            let (given, clock) = (self.given(stage), Clock::start(stage));
            let attempt = self.attempt(&given, stage.lane().is_none());
            let took = clock.elapsed();
            let attempt = if self.calls.ran_out() { Err(RunError::Deadline) } else { attempt };
            let end = match attempt {
                Err(RunError::Deadline) if Instant::now() >= given.deadline => End::OutOfTime,
                Err(RunError::Steps { .. } | RunError::Deadline) => End::TooMuch,
                _ => End::Itself,
            };
            let goes_on = Instant::now() < self.deadline;
            if end == End::OutOfTime && goes_on && stage.was_interrupted(took) {
                continue;
            }
            self.compiled.cost.note(stage, took, end);
            return attempt;
        }
        Err(RunError::Deadline)
    }

    /// What a run gets in a stage that begins now.
    fn given(&self, stage: Stage) -> RunBudget {
        RunBudget {
            steps: stage.steps().min(self.limits.steps),
            output_bytes: self.limits.output_bytes,
            deadline: stage.time().map_or(self.deadline, |time| self.deadline.min(Instant::now() + time)),
        }
    }

    fn attempt(&self, run: &RunBudget, inline: bool) -> Result<Vec<String>, RunError> {
        self.calls.open(inline);
        let functions: Arc<dyn Functions> = self.calls.clone();
        let mut texts = Vec::with_capacity(self.compiled.templates.len());
        let (mut missing, mut failure, mut pending) = (Vec::new(), None, None);
        let mut run = *run;
        for template in &self.compiled.templates {
            match template.render(&self.root, &functions, &run) {
                Ok(text) => {
                    run.output_bytes = run.output_bytes.saturating_sub(text.len());
                    texts.push(text);
                }
                Err(RunError::Missing(more)) => missing.extend(more),
                // What is missing in the other texts counts more.
                Err(error @ RunError::Failed { .. }) => failure = failure.or(Some(error)),
                Err(RunError::Pending { needed }) => {
                    // With the result, this text may turn out to fail: then the later ones would call nothing.
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
        match (failure, pending) {
            (Some(failure), _) => Err(failure),
            (None, Some(needed)) => Err(RunError::Pending { needed }),
            (None, None) => Ok(texts),
        }
    }
}
