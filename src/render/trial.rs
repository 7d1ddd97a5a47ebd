//! One call of a tool outside of any prompt.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::{RenderFailure, Renderer};
use base::caller::Caller;
use base::error::{Kind, Kinded};
use base::model::{Id, Tool};
use base::pool::Lane;
use base::schema::Effort;
use template::value::Value;
use tools::{Answer, Bound, Call, ToolError};

/// What a tool answered, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct Tried {
    /// The answer.
    pub answer: Answer,
    /// The time for it.
    pub duration: Duration,
}

/// Why a tool could not be tried, or what it failed with.
#[derive(Debug, thiserror::Error)]
pub enum TrialFailure {
    /// No such tool.
    #[error("there is no tool `{id}`; GET /api/tools lists the tools that exist")]
    NotFound {
        /// Its id.
        id: Id,
    },
    /// No catalog is loaded yet.
    #[error(transparent)]
    NotLoaded(RenderFailure),
    /// Its arguments could not be checked in time.
    #[error(transparent)]
    NotChecked(RenderFailure),
    /// The tool's own failure.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Kinded for TrialFailure {
    fn kind(&self) -> Kind {
        match self {
            TrialFailure::NotFound { .. } => Kind::NotFound,
            TrialFailure::NotLoaded(failure) | TrialFailure::NotChecked(failure) => failure.kind(),
            TrialFailure::Tool(error) => error.kind(),
        }
    }
}

impl Renderer {
    /// Calls the tool `id` with arguments by name: an object, or null for none.
    ///
    /// # Errors
    /// [`TrialFailure`].
    pub async fn try_tool(&self, caller: &Caller, id: &Id, arguments: Value) -> Result<Tried, TrialFailure> {
        let snapshot = self.catalog.snapshot();
        let Some(tool) = snapshot.documents.tools.get(id) else {
            return Err(match self.not_loaded() {
                Some(failure) => TrialFailure::NotLoaded(failure),
                None => TrialFailure::NotFound { id: id.clone() },
            });
        };
        let named: Vec<(String, Value)> = match &arguments {
            Value::Null => Vec::new(),
            Value::Map(members) => {
                members.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
            }
            _ => {
                let message = "`arguments` must be an object".to_owned();
                return Err(ToolError::Arguments { message }.into());
            }
        };
        let bound = self.bind(tool, named).await?;
        let began = Instant::now();
        let call = Call { tool, bound: &bound, module: snapshot.module_environ(&tool.module) };
        let answer = self.tools.call(caller, call).await?;
        Ok(Tried { answer, duration: began.elapsed() })
    }

    /// The arguments as the tool takes them, checked in the pool if that takes long.
    async fn bind(&self, tool: &Arc<Tool>, named: Vec<(String, Value)>) -> Result<Bound, TrialFailure> {
        match self.tools.bind(tool, (&[], &named), Effort::SERVING) {
            Err(ToolError::Effort { .. }) => {}
            bound => return Ok(bound?),
        }
        let (tools, tool) = (self.tools.clone(), tool.clone());
        let bound = self.aside(Lane::Short, move || tools.bind(&tool, (&[], &named), Effort::POOL));
        Ok(bound.await.map_err(TrialFailure::NotChecked)??)
    }
}
