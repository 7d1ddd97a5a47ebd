//! One render: first a short run on the caller's thread, and, when that is not enough, a full one in the pool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::compiled::Compiled;
use super::error::RenderFailure;
use super::pool::Pool;
use super::surroundings::ToolFunctions;
use super::variables::unique;
use super::{Options, Warning};
use crate::catalog::Snapshot;
use crate::template::{Functions, Limits, RenderError, Run};
use crate::value::{Map, Value};

/// What a run on the caller's thread gets: enough for nearly every prompt, too little to delay other requests.
const INLINE_STEPS: u64 = 50_000;
const INLINE_TIME: Duration = Duration::from_millis(5);

/// Everything that a render needs, owned, so that it can move to another thread.
pub struct Job {
    compiled: Arc<Compiled>,
    snapshot: Arc<Snapshot>,
    root: Arc<Map>,
    limits: Limits,
    tool_calls: usize,
    deadline: Instant,
}

/// What a render gave.
#[derive(Debug)]
pub struct Ran {
    /// One text for each template.
    pub texts: Vec<String>,
    /// The calls of tools that failed.
    pub warnings: Vec<Warning>,
    /// Whether it took the pool.
    pub pooled: bool,
}

impl Job {
    /// A render of `compiled` over the environs of `snapshot` and these variables.
    pub fn new(
        compiled: Arc<Compiled>,
        snapshot: &Arc<Snapshot>,
        variables: Value,
        options: &Options,
        deadline: Instant,
    ) -> Job {
        let root = Map::over(snapshot.environs.clone(), vec![("variables".into(), variables)])
            .with_alias("args", "variables");
        Job {
            compiled,
            snapshot: snapshot.clone(),
            root: Arc::new(root),
            limits: options.limits,
            tool_calls: options.tool_calls,
            deadline,
        }
    }

    /// Renders all texts.
    ///
    /// # Errors
    /// [`RenderFailure`]; all missing values of all texts are in one.
    pub async fn run(self, pool: &Pool) -> Result<Ran, RenderFailure> {
        let inline = Run {
            steps: INLINE_STEPS.min(self.limits.steps),
            output_bytes: self.limits.output_bytes,
            deadline: self.deadline.min(Instant::now() + INLINE_TIME),
        };
        match self.attempt(&inline) {
            Err(RenderError::Steps { .. } | RenderError::Deadline) => self.run_in_pool(pool).await,
            done => Ok(done?),
        }
    }

    async fn run_in_pool(self, pool: &Pool) -> Result<Ran, RenderFailure> {
        let deadline = self.deadline;
        let full = Run { steps: self.limits.steps, output_bytes: self.limits.output_bytes, deadline };
        let ran = pool.run_until(deadline, move || self.attempt(&full)).await??;
        Ok(Ran { pooled: true, ..ran })
    }

    fn attempt(&self, run: &Run) -> Result<Ran, RenderError> {
        let allowed = self.compiled.prompt.limits.tools.clone();
        let tools = Arc::new(ToolFunctions::new(self.snapshot.clone(), allowed, self.tool_calls));
        let functions: Arc<dyn Functions> = tools.clone();
        let mut texts = Vec::with_capacity(self.compiled.templates.len());
        let (mut missing, mut failure) = (Vec::new(), None);
        let mut run = *run;
        for template in &self.compiled.templates {
            match template.render(&self.root, &functions, &run) {
                Ok(text) => {
                    run.output_bytes = run.output_bytes.saturating_sub(text.len());
                    texts.push(text);
                }
                Err(RenderError::Missing(more)) => missing.extend(more),
                // What is missing in the other texts counts more.
                Err(error @ RenderError::Failed { .. }) => failure = failure.or(Some(error)),
                Err(error) => return Err(error),
            }
        }
        if !missing.is_empty() {
            return Err(RenderError::Missing(unique(missing)));
        }
        failure.map_or(Ok(()), Err)?;
        let warnings = tools.take_warnings();
        for Warning { tool, reason } in &warnings {
            tracing::debug!(tool, reason, "a tool call failed");
        }
        Ok(Ran { texts, warnings, pooled: false })
    }
}
