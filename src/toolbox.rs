//! Tool calls outside of a render: by operators, and by agent loops in which a model chooses the tool.

use std::sync::Arc;
use std::time::{Duration, Instant};

use base::caller::Caller;
use base::error::{Kind, Kinded};
use base::model::{DocumentKind, Id, Tool};
use base::pool::{Lane, Pool, PoolError};
use base::schema::Effort;
use template::Arguments;
use template::value::Value;
use tools::{BoundArguments, Call, Description, ToolAnswer, ToolError, Tools};

use crate::catalog::{Catalog, NoDocumentError, NotLoadedError};

/// Calls single tools of the catalog.
pub struct Toolbox {
    catalog: Arc<Catalog>,
    tools: Arc<Tools>,
    pool: Arc<Pool>,
    /// The time limit for checking the arguments of a call in the pool.
    check_time: Duration,
}

/// A tool's answer and the duration of the call.
#[derive(Debug, Clone, PartialEq)]
pub struct TimedAnswer {
    /// The answer of the tool.
    pub answer: ToolAnswer,
    /// The time from the call to the answer.
    pub duration: Duration,
}

/// The error of a call.
#[derive(Debug, thiserror::Error)]
pub enum ToolboxError {
    /// There is no tool with this id.
    #[error(transparent)]
    NotFound(NoDocumentError),
    /// The tool was not found, but it may be in the store, which has not been read yet.
    #[error(transparent)]
    NotLoaded(NotLoadedError),
    /// The pool could not check the arguments.
    #[error("the arguments were not checked: {0}")]
    NotChecked(#[from] PoolError),
    /// The call failed.
    #[error(transparent)]
    Tool(#[from] ToolError),
}

impl Kinded for ToolboxError {
    fn kind(&self) -> Kind {
        match self {
            ToolboxError::NotFound(error) => error.kind(),
            ToolboxError::NotLoaded(error) => error.kind(),
            ToolboxError::NotChecked(error) => error.kind(),
            ToolboxError::Tool(error) => error.kind(),
        }
    }
}

impl Toolbox {
    /// A toolbox of the tools of `catalog`, which are called through `tools`. Arguments that take long to check are checked in
    /// `pool`, within `check_time`.
    pub fn new(catalog: Arc<Catalog>, tools: Arc<Tools>, pool: Arc<Pool>, check_time: Duration) -> Toolbox {
        Toolbox { catalog, tools, pool, check_time }
    }

    /// The time limit of one call of the tool `id`; `None` if there is no such tool, or it cannot be used.
    pub fn time_limit(&self, id: &Id) -> Option<Duration> {
        self.tools.time_limit(self.catalog.snapshot().tool(id)?).ok()
    }

    /// Calls the tool `id` with named arguments: an object, or null for none.
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
                None => ToolboxError::NotFound(snapshot.no_document(DocumentKind::Tool, id)),
            });
        };
        let (arguments, module) = (by_name(arguments)?, snapshot.module_environ(&tool.module));
        let bound = match self.bind(tool, None, arguments.clone()).await? {
            Some(bound) => bound,
            None => {
                let description = self.tools.describe(caller, tool, module).await?;
                let bound = self.bind(tool, Some(description), arguments).await?;
                bound
                    .ok_or_else(|| ToolError::Unusable { message: "it is not known what it takes".into() })?
            }
        };
        let began = Instant::now();
        let call = Call { tool, bound: &bound, module };
        let answer = self.tools.call(caller, call).await?;
        Ok(TimedAnswer { answer, duration: began.elapsed() })
    }

    /// Whether a call with these arguments would be made. Nothing is sent: a tool of which only its server knows what it takes,
    /// takes everything.
    ///
    /// # Errors
    /// [`ToolboxError`] if there is no such tool, or it does not take them.
    pub async fn takes(&self, id: &Id, arguments: &Value) -> Result<(), ToolboxError> {
        let snapshot = self.catalog.snapshot();
        let none = || ToolboxError::NotFound(snapshot.no_document(DocumentKind::Tool, id));
        let tool = snapshot.tool(id).ok_or_else(none)?;
        self.bind(tool, None, by_name(arguments)?).await.map(|_| ())
    }

    /// The arguments as the tool gets them, checked in the pool if that takes long; `None` as [`Tools::bind`].
    async fn bind(
        &self,
        tool: &Arc<Tool>,
        description: Option<Description>,
        arguments: Arguments,
    ) -> Result<Option<BoundArguments>, ToolboxError> {
        match self.tools.bind(tool, description.as_ref(), &arguments, Effort::SERVING) {
            Err(ToolError::Effort { .. }) => {}
            bound => return Ok(bound?),
        }
        let (tools, tool) = (self.tools.clone(), tool.clone());
        let work = move || tools.bind(&tool, description.as_ref(), &arguments, Effort::POOL);
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
