//! A tool's document, prepared for calls: its binding parsed, its schemas compiled.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use super::arguments::Parameters;
use super::description::Description;
use super::error::ToolError;
use super::grpc::url_of;
use super::offload::{LARGE_BYTES, offload};
use base::model::{Restful, Tool};
use base::schema::{Effort, Schema, Violation, in_words};
use template::value::Value;

/// A tool that is ready to be called.
#[derive(Debug)]
pub(super) struct PreparedTool {
    pub tool: Arc<Tool>,
    /// Unique for every version of every tool in this process, so that cached answers of old versions are not found.
    pub version: u64,
    pub binding: Binding,
    /// What the tool takes; `None` if only its server says it.
    pub parameters: Option<Parameters>,
    /// What its server has said lately, if only that says it.
    pub described: Mutex<Option<(Instant, Description)>>,
    /// The time limit of one call.
    pub timeout: Duration,
    /// How long an answer is cached, if the document has `cacheSeconds`.
    pub cache: Option<Duration>,
    /// Bounds the calls that run at the same time.
    pub permits: Semaphore,
    returns: Option<Arc<Schema>>,
}

/// The protocol of a tool, with what the document says about it.
#[derive(Debug)]
pub(super) enum Binding {
    Rest(RestBinding),
    Grpc(GrpcBinding),
    Mcp(McpBinding),
}

/// An HTTP request.
#[derive(Debug)]
pub(super) struct RestBinding {
    /// Where each argument goes.
    pub request: Restful,
    pub method: Method,
}

/// A unary gRPC call.
#[derive(Debug)]
pub(super) struct GrpcBinding {
    /// A URL with the scheme `http` or `https`, which may be relative.
    pub address: String,
    /// `pkg.Service/Method`, or one of the other forms that [`UnaryCall::method`](super::grpc::UnaryCall) has.
    pub method: String,
    /// An encoded `FileDescriptorSet` with the message types, if the document contains one.
    pub descriptor_set: Option<Vec<u8>>,
}

/// A tool of an MCP server.
#[derive(Debug)]
pub(super) struct McpBinding {
    pub server: McpServer,
    /// The tool's name on the server.
    pub tool: String,
}

/// Where an MCP server is.
#[derive(Debug)]
pub(super) enum McpServer {
    /// A URL, which may be relative.
    Url(String),
    /// A name in the settings.
    Named(String),
}

/// Limits that apply unless a tool's document sets its own.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallDefaults {
    /// The time limit of one call.
    pub timeout: Duration,
    /// How many calls of one tool may run at the same time.
    pub parallel_calls: usize,
}

impl PreparedTool {
    /// Prepares a tool.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] if a schema or the binding in its document is not valid.
    pub fn new(tool: &Arc<Tool>, version: u64, defaults: CallDefaults) -> Result<PreparedTool, ToolError> {
        let document = &tool.document;
        let unusable = |what: &str, error: &dyn std::fmt::Display| ToolError::Unusable {
            message: format!("its `{what}` is {error}"),
        };
        let returns = document.get("returns").map(Schema::compile).transpose();
        let milliseconds = document.get("timeoutMs").and_then(Json::as_u64);
        let seconds = document.get("cacheSeconds").and_then(Json::as_f64).filter(|seconds| *seconds > 0.0);
        let binding = Binding::read(document)?;
        let parameters = document.get("parameters");
        let says = parameters.is_some() || matches!(binding, Binding::Rest(_));
        let parameters = says.then(|| Parameters::new(parameters)).transpose();
        Ok(PreparedTool {
            tool: tool.clone(),
            version,
            binding,
            parameters: parameters.map_err(|error| unusable("parameters", &error))?,
            described: Mutex::default(),
            timeout: milliseconds.map_or(defaults.timeout, Duration::from_millis),
            cache: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            permits: Semaphore::new(defaults.parallel_calls.min(Semaphore::MAX_PERMITS)),
            returns: returns.map_err(|error| unusable("returns", &error))?.map(Arc::new),
        })
    }

    /// Checks an answer against the tool's `returns`, and gives it back.
    ///
    /// # Errors
    /// [`ToolError::Answer`] with all violations.
    pub async fn check(&self, answer: Value) -> Result<Value, ToolError> {
        let Some(schema) = self.returns.clone() else { return Ok(answer) };
        if answer.bytes_up_to(LARGE_BYTES) < LARGE_BYTES
            && let Ok(violations) = schema.check(&answer, Effort::SERVING)
        {
            return answer_unless(answer, &violations);
        }
        offload(move || {
            let violations = schema.violations(&answer, Effort::BLOCKING);
            answer_unless(answer, &violations)
        })
        .await
    }
}

fn answer_unless(answer: Value, violations: &[Violation]) -> Result<Value, ToolError> {
    match violations {
        [] => Ok(answer),
        violations => {
            let message = format!("it does not fit `returns`: {}", in_words(violations));
            Err(ToolError::Answer { message })
        }
    }
}

impl Binding {
    fn read(document: &Json) -> Result<Binding, ToolError> {
        let text = |section: Option<&Json>, name: &str| section?.get(name)?.as_str().map(str::to_owned);
        let absent = |name: &str| ToolError::Unusable { message: format!("its document has no `{name}`") };
        match document.get("type").and_then(Json::as_str) {
            Some("grpc") => {
                let grpc = document.get("grpc");
                let set = text(grpc, "descriptorSet").map(|set| STANDARD.decode(set)).transpose();
                Ok(Binding::Grpc(GrpcBinding {
                    address: url_of(&text(grpc, "url").ok_or_else(|| absent("grpc.url"))?)?,
                    method: text(grpc, "method").ok_or_else(|| absent("grpc.method"))?,
                    descriptor_set: set.map_err(|error| ToolError::Unusable {
                        message: format!("its `grpc.descriptorSet` is not valid base64: {error}"),
                    })?,
                }))
            }
            Some("mcp") => {
                let mcp = document.get("mcp");
                let name = text(Some(document), "name");
                let server = match (text(mcp, "url"), text(mcp, "server")) {
                    (Some(url), _) => McpServer::Url(url),
                    (None, Some(name)) => McpServer::Named(name),
                    (None, None) => return Err(absent("mcp.url")),
                };
                Ok(Binding::Mcp(McpBinding {
                    server,
                    tool: text(mcp, "tool").or(name).ok_or_else(|| absent("mcp.tool"))?,
                }))
            }
            _ => {
                let request = Restful::read(document).map_err(|faults| {
                    let faults: Vec<String> = faults.into_iter().map(|fault| fault.message).collect();
                    ToolError::Unusable { message: faults.join("; ") }
                })?;
                let method = request.method.parse().map_err(|_| ToolError::Unusable {
                    message: format!("`{}` is not a method", request.method),
                })?;
                Ok(Binding::Rest(RestBinding { request, method }))
            }
        }
    }
}
