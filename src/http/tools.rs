//! Single calls of tools, to try them out, and what servers offer as tools.

use actix_web::web::{Data, Json as JsonReply, Path};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::error::ApiError;
use crate::app::App;
use crate::toolbox::{TimedAnswer, ToolboxError};
use base::error::Kind;
use base::model::Id;
use template::value::{Tree, Value};
use tools::discover::{Discovery, Source};

#[derive(Debug, Deserialize)]
struct CallBody {
    arguments: Option<Value>,
}

/// The answer of a tool.
#[derive(Debug, Serialize)]
pub struct CallReply {
    value: Value,
    cached: bool,
    duration_ms: f64,
}

/// `POST /api/tools/{id}/call`
pub async fn call(
    app: Data<App>,
    RequestCaller(caller): RequestCaller,
    id: Path<String>,
    body: JsonBody,
) -> Result<JsonReply<CallReply>, ApiError> {
    let id = Id::parse(&id)?;
    let ParsedBody { value, held: _held } = body.parse::<CallBody>(Tree::Value).await?;
    let arguments = value.arguments.unwrap_or(Value::Null);
    let TimedAnswer { answer, duration } = app.toolbox.call(&caller, &id, &arguments).await?;
    let duration_ms = duration.as_micros() as f64 / 1e3;
    Ok(JsonReply(CallReply { value: answer.value, cached: answer.cached, duration_ms }))
}

/// Where to look for tools; one of `mcp`, `grpc` and `openapi`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DiscoverBody {
    mcp: Option<McpBody>,
    grpc: Option<GrpcBody>,
    openapi: Option<Json>,
    /// The URL of the OpenAPI document.
    read_at: Option<String>,
    module: Option<String>,
}

#[derive(Debug, Deserialize)]
struct McpBody {
    url: Option<String>,
    server: Option<String>,
}

#[derive(Debug, Deserialize)]
struct GrpcBody {
    url: String,
}

impl DiscoverBody {
    fn source(self) -> Result<Source, ApiError> {
        match (self.mcp, self.grpc, self.openapi) {
            (Some(McpBody { url: Some(url), server: None }), None, None) => Ok(Source::McpUrl(url)),
            (Some(McpBody { url: None, server: Some(name) }), None, None) => Ok(Source::McpServer(name)),
            (None, Some(GrpcBody { url }), None) => Ok(Source::Grpc(url)),
            (None, None, Some(document)) => Ok(Source::OpenApi { document, read_at: self.read_at }),
            _ => {
                let message =
                    "the body needs one of `mcp` {url | server}, `grpc` {url} and `openapi` (the document)";
                Err(ApiError::new(Kind::InvalidInput, "invalid_request", message))
            }
        }
    }
}

/// `POST /api/tools/discover`
pub async fn discover(
    app: Data<App>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<JsonReply<Discovery>, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<DiscoverBody>(Tree::Json).await?;
    let module = value.module.clone();
    let found = app.tools.discover(&caller, value.source()?, module.as_deref()).await;
    Ok(JsonReply(found.map_err(ToolboxError::from)?))
}
