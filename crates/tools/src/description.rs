//! What a tool without `parameters` takes: its server says it, and is asked again after a minute.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::arguments::Parameters;
use super::error::ToolError;
use super::grpc::UnaryCall;
use super::mcp::Endpoint;
use super::modules::Target;
use super::prepared::{Binding, GrpcBinding, McpBinding, McpServer, PreparedTool};
use super::{Tools, offload::offload};
use base::caller::Caller;
use base::model::Tool;
use base::schema::Effort;
use template::Arguments;
use template::value::Value;

/// How long what a server said is used.
const TTL: Duration = Duration::from_secs(60);

/// What a tool takes, as its server says; cheap to clone.
#[derive(Debug, Clone)]
pub struct Description(Arc<Described>);

#[derive(Debug)]
struct Described {
    /// The schema in the server's words; `None` if it says nothing about the tool.
    schema: Option<Json>,
    parameters: Parameters,
}

impl Description {
    async fn new(schema: Option<Json>) -> Result<Description, ToolError> {
        // Compiling a large schema takes some milliseconds.
        offload(move || {
            let parameters = Parameters::new(schema.as_ref()).map_err(|error| ToolError::Unusable {
                message: format!(
                    "its server's schema of the arguments is {error}; add `parameters` to the tool's document"
                ),
            })?;
            Ok(Description(Arc::new(Described { schema, parameters })))
        })
        .await
    }

    pub(super) fn bind(&self, arguments: &Arguments, effort: Effort) -> Result<Value, ToolError> {
        self.0.parameters.bind(arguments, effort)
    }
}

impl PreparedTool {
    /// What the server has said within the last minute.
    pub(super) fn description(&self) -> Option<Description> {
        let described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        described.as_ref().filter(|(since, _)| since.elapsed() < TTL).map(|(_, found)| found.clone())
    }

    fn keep(&self, description: &Description) {
        let mut described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        *described = Some((Instant::now(), description.clone()));
    }

    /// The last description, however old, if it has this schema.
    fn same(&self, schema: Option<&Json>) -> Option<Description> {
        let described = self.described.lock().unwrap_or_else(PoisonError::into_inner);
        // The order of the properties is that of positional arguments, and equality of objects ignores it.
        let text = |schema: Option<&Json>| schema.map(Json::to_string);
        let found = described.as_ref().map(|(_, found)| found.clone());
        found.filter(|found| text(found.0.schema.as_ref()) == text(schema))
    }
}

impl Tools {
    /// Asks the server of a tool without `parameters` what the tool takes, within the time limit of a call. `module` is the
    /// environ `modules.{module}`. What it says is kept for a minute.
    ///
    /// A server that does not list the tool leaves all arguments to the call, as does a tool with `parameters`.
    ///
    /// # Errors
    /// As those of a call; [`ToolError::Unusable`] if the schema cannot be used.
    pub async fn describe(
        &self,
        caller: &Caller,
        tool: &Arc<Tool>,
        module: Option<&Value>,
    ) -> Result<Description, ToolError> {
        let prepared = self.prepare(tool)?;
        let limit = prepared.timeout;
        let asking = async {
            if let Some(known) = prepared.description() {
                return Ok(known);
            }
            let schema = match &prepared.binding {
                Binding::Rest(_) => None,
                Binding::Grpc(binding) => Some(self.grpc_schema(caller, &prepared, binding, module).await?),
                Binding::Mcp(binding) => self.mcp_schema(&prepared, binding, module).await?,
            };
            let description = match prepared.same(schema.as_ref()) {
                Some(description) => description,
                None => Description::new(schema).await?,
            };
            prepared.keep(&description);
            Ok(description)
        };
        // Boxed: the future is large, and rarely needed.
        let answer = tokio::time::timeout(limit, Box::pin(asking)).await;
        let answer = answer.unwrap_or(Err(ToolError::Timeout { milliseconds: limit.as_millis() }));
        answer.map_err(|error| error.redacted(&self.secrets))
    }

    async fn grpc_schema(
        &self,
        caller: &Caller,
        prepared: &PreparedTool,
        binding: &GrpcBinding,
        module: Option<&Value>,
    ) -> Result<Json, ToolError> {
        let Target { url, headers } = self.grpc_target(caller, prepared, binding, module)?;
        let call = UnaryCall {
            url: &url,
            method: &binding.method,
            descriptor_set: binding.descriptor_set.as_deref(),
            arguments: &Json::Null,
            headers: &headers,
            timeout: prepared.timeout,
        };
        self.grpc.request_schema(call).await
    }

    async fn mcp_schema(
        &self,
        prepared: &PreparedTool,
        binding: &McpBinding,
        module: Option<&Value>,
    ) -> Result<Option<Json>, ToolError> {
        let target;
        let endpoint = match &binding.server {
            McpServer::Named(name) => Endpoint::Server(name),
            McpServer::Url(address) => {
                target = self.target(prepared, address, module)?;
                Endpoint::Http { url: &target.url, headers: &target.headers }
            }
        };
        let listing = self.mcp.tools(endpoint).await?;
        let found = listing.tools.iter().find(|tool| tool.name == binding.tool);
        Ok(found.map(|tool| tool.schema.clone()))
    }
}
