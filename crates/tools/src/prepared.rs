//! A tool's document made ready: its binding read, its schemas compiled.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Method;
use serde_json::Value as Json;
use tokio::sync::Semaphore;

use super::arguments::Parameters;
use super::aside::{LARGE_BYTES, aside};
use super::error::ToolError;
use base::model::Tool;
use base::schema::{Effort, Schema, Violation, in_words};
use template::value::Value;

/// A tool that can be called.
#[derive(Debug)]
pub(super) struct Prepared {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Tells this version of the tool from every other one in this process.
    pub version: u64,
    /// How it is reached.
    pub binding: Binding,
    /// What it takes.
    pub parameters: Parameters,
    /// The time for one call.
    pub timeout: Duration,
    /// How long an answer holds.
    pub cache: Option<Duration>,
    /// The calls that may run at once.
    pub permits: Semaphore,
    returns: Option<Arc<Schema>>,
}

/// How a tool is reached.
#[derive(Debug)]
pub(super) enum Binding {
    /// An HTTP request.
    Rest(RestBinding),
    /// A unary gRPC call.
    Grpc(GrpcBinding),
    /// A tool of an MCP server.
    Mcp(McpBinding),
}

/// An HTTP request.
#[derive(Debug)]
pub(super) struct RestBinding {
    /// Its address; `{name}` in it stands for an argument.
    pub address: String,
    pub method: Method,
}

/// A unary gRPC call.
#[derive(Debug)]
pub(super) struct GrpcBinding {
    pub address: String,
    /// `pkg.Service/Method`.
    pub method: String,
    /// The types of its messages, where the document brings them (a serialized `FileDescriptorSet`).
    pub descriptor_set: Option<Vec<u8>>,
}

/// A tool of an MCP server.
#[derive(Debug)]
pub(super) struct McpBinding {
    pub server: McpServer,
    /// What the server calls it.
    pub tool: String,
}

/// Where an MCP server is.
#[derive(Debug)]
pub(super) enum McpServer {
    /// At an address.
    Url(String),
    /// Named in the settings.
    Named(String),
}

/// What all tools have unless their documents say otherwise.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    /// The time for one call.
    pub timeout: Duration,
    /// The calls of one tool that may run at once.
    pub calls: usize,
}

impl Prepared {
    /// Reads a tool's document.
    ///
    /// # Errors
    /// [`ToolError::Unusable`] for schemas and bindings that are none.
    pub fn new(tool: &Arc<Tool>, version: u64, usual: Usual) -> Result<Prepared, ToolError> {
        let document = &tool.document;
        let unusable = |what: &str, error: &dyn std::fmt::Display| ToolError::Unusable {
            message: format!("its `{what}` is {error}"),
        };
        let returns = document.get("returns").map(Schema::compile).transpose();
        let milliseconds = document.get("timeoutMs").and_then(Json::as_u64);
        let seconds = document.get("cacheSeconds").and_then(Json::as_f64).filter(|seconds| *seconds > 0.0);
        Ok(Prepared {
            tool: tool.clone(),
            version,
            binding: Binding::read(document)?,
            parameters: Parameters::new(document.get("parameters"))
                .map_err(|error| unusable("parameters", &error))?,
            timeout: milliseconds.map_or(usual.timeout, Duration::from_millis),
            cache: seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            permits: Semaphore::new(usual.calls.min(Semaphore::MAX_PERMITS)),
            returns: returns.map_err(|error| unusable("returns", &error))?.map(Arc::new),
        })
    }

    /// The answer, if it fits the tool's `returns`.
    ///
    /// # Errors
    /// [`ToolError::Answer`] with everything that does not fit.
    pub async fn checked(&self, answer: Value) -> Result<Value, ToolError> {
        let Some(schema) = self.returns.clone() else { return Ok(answer) };
        if answer.bytes_up_to(LARGE_BYTES) < LARGE_BYTES
            && let Ok(violations) = schema.check(&answer, Effort::SERVING)
        {
            return fitting(answer, &violations);
        }
        aside(move || {
            let violations = schema.violations(&answer, Effort::ASIDE);
            fitting(answer, &violations)
        })
        .await
    }
}

fn fitting(answer: Value, violations: &[Violation]) -> Result<Value, ToolError> {
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
                    address: text(grpc, "url").ok_or_else(|| absent("grpc.url"))?,
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
                let restful = document.get("restful");
                let method = text(restful, "method").and_then(|method| method.parse().ok());
                let address = text(restful, "url").or_else(|| text(Some(document), "url"));
                let address = address.ok_or_else(|| absent("url"))?;
                if chooses_host(&address) {
                    let message = "arguments in its URL may stand after the host only".to_owned();
                    return Err(ToolError::Unusable { message });
                }
                Ok(Binding::Rest(RestBinding { address, method: method.unwrap_or(Method::POST) }))
            }
        }
    }
}

/// Whether an argument stands in the part of an address that says which host it is.
fn chooses_host(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    rest.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('{'))
}
