//! Calls of tools outside of a render: by their operators, and by loops that let a model choose.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::caller::Caller;
use base::error::{Kind, Kinded};
use base::model::{Id, Tool};
use base::pool::{Lane, Pool, PoolError};
use base::schema::Effort;
use template::Arguments;
use template::value::Value;
use tools::{BoundArguments, Call, ToolAnswer, ToolError, Tools};

use crate::catalog::{Catalog, NotLoadedError};

/// The tools of the catalog, called one at a time.
pub struct Toolbox {
    catalog: Arc<Catalog>,
    tools: Arc<Tools>,
    pool: Arc<Pool>,
    /// The time for checking the arguments of a call in the pool.
    check_time: Duration,
}

/// A tool's answer, and how long it took.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedAnswer {
    /// The answer.
    pub answer: ToolAnswer,
    /// The time from the call to the answer.
    pub duration: Duration,
}

/// Why a tool did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    /// No such tool.
    #[error("there is no tool `{id}`; GET /api/tools lists the tools that exist")]
    NotFound {
        /// Its id.
        id: Id,
    },
    /// The store was never read, so that the tool may be there.
    #[error(transparent)]
    NotLoaded(NotLoadedError),
    /// Its arguments were not checked.
    #[error("the arguments were not checked: {0}")]
    NotChecked(#[from] PoolError),
    /// The tool's own error.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Kinded for ToolboxError {
    fn kind(&self) -> Kind {
        match self {
            ToolboxError::NotFound { .. } => Kind::NotFound,
            ToolboxError::NotLoaded(error) => error.kind(),
            ToolboxError::NotChecked(error) => error.kind(),
            ToolboxError::Tool(error) => error.kind(),
        }
    }
}

impl Toolbox {
    /// The tools of `catalog`, reached through `tools`; arguments that take long to check are checked in `pool`, within
    /// `check_time`.
    pub fn new(catalog: Arc<Catalog>, tools: Arc<Tools>, pool: Arc<Pool>, check_time: Duration) -> Toolbox {
        Toolbox { catalog, tools, pool, check_time }
    }

    /// Calls the tool `id` with arguments by name: an object, or null for none.
    ///
    /// # Errors
    /// [`ToolboxError`].
    pub async fn call(
        &self,
        caller: &Caller,
        id: &Id,
        arguments: &Value,
    ) -> Result<TimedAnswer, ToolboxError> {
        let snapshot = self.catalog.snapshot();
        let Some(tool) = snapshot.tool(id) else {
            return Err(match self.catalog.store_state().not_loaded() {
                Some(error) => ToolboxError::NotLoaded(error),
                None => ToolboxError::NotFound { id: id.clone() },
            });
        };
        let bound = self.bind(tool, by_name(arguments)?).await?;
        let began = Instant::now();
        let call = Call { tool, bound: &bound, module: snapshot.module_environ(&tool.module) };
        let answer = self.tools.call(caller, call).await?;
        Ok(TimedAnswer { answer, duration: began.elapsed() })
    }

    /// The arguments as the tool takes them, checked in the pool if that takes long.
    async fn bind(&self, tool: &Arc<Tool>, arguments: Arguments) -> Result<BoundArguments, ToolboxError> {
        match self.tools.bind(tool, &arguments, Effort::SERVING) {
            Err(ToolError::Effort { .. }) => {}
            bound => return Ok(bound?),
        }
        let (tools, tool) = (self.tools.clone(), tool.clone());
        let work = move || tools.bind(&tool, &arguments, Effort::POOL);
        Ok(self.pool.run(Lane::Short, Instant::now() + self.check_time, work).await??)
    }
}

fn by_name(arguments: &Value) -> Result<Arguments, ToolError> {
    let named = match arguments {
        Value::Null => Vec::new(),
        Value::Map(members) => {
            members.iter().map(|(name, value)| (name.to_string(), value.clone())).collect()
        }
        _ => return Err(ToolError::Arguments { message: "`arguments` must be an object".to_owned() }),
    };
    Ok(Arguments { positional: Vec::new(), named })
}
