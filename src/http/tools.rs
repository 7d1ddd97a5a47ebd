//! Single calls of tools, to try them out.

use actix_web::web::{Data, Json as JsonReply, Path};
use serde::{Deserialize, Serialize};

use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::error::ApiError;
use crate::app::App;
use crate::toolbox::TimedAnswer;
use base::model::Id;
use template::value::{Tree, Value};

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
