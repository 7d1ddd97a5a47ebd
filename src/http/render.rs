//! Rendering over HTTP, in both spellings, and previews.

use actix_web::http::header::ContentType;
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpResponse, Responder};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::body::{JsonBody, VariablesBody};
use super::error::ApiError;
use crate::app::App;
use crate::model::{Id, Messages};
use crate::render::{Content, RenderFailure, Rendered, Report, Warning};
use crate::trace::Trace;

/// What an answer has beside its texts, in bytes; usually no more.
const ROOM_BESIDE_TEXTS: usize = 256;

/// What the query may ask for.
#[derive(Debug, Deserialize)]
pub struct Options {
    #[serde(default)]
    explain: bool,
}

/// The answer in the spelling of the original document.
#[derive(Debug, Serialize)]
struct RenderedReply<'a> {
    rendered_prompt: &'a Content,
    status: &'static str,
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    warnings: &'a [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Report>,
}

/// The answer in the spelling of the Go prototype.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum PrototypeReply {
    Prompt { prompt: String },
    Messages { messages: Messages },
}

/// `POST /api/render/prompts/{id}`
pub async fn rendered(
    app: Data<App>,
    id: Path<String>,
    options: Query<Options>,
    trace: Trace,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let id = Id::parse(&id)?;
    let variables = body.parse::<VariablesBody>()?.either()?;
    let rendered = app.renderer.render(&id, variables, trace).await?;
    reply(&rendered, options.explain)
}

/// `POST /api/prompts/{id}/render`
pub async fn prototype(
    app: Data<App>,
    id: Path<String>,
    trace: Trace,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let id = Id::parse(&id)?;
    let variables = body.parse::<VariablesBody>()?.either()?;
    let rendered = app.renderer.render(&id, variables, trace).await?;
    Ok(HttpResponse::Ok().json(match rendered.content {
        Content::Text(prompt) => PrototypeReply::Prompt { prompt },
        Content::Messages(messages) => PrototypeReply::Messages { messages },
    }))
}

/// The body of a preview.
#[derive(Debug, Deserialize)]
struct PreviewBody {
    template: Option<Json>,
    messages: Option<Json>,
    syntax: Option<Json>,
    #[serde(flatten)]
    variables: VariablesBody,
}

/// `POST /api/render`
pub async fn preview(
    app: Data<App>,
    options: Query<Options>,
    trace: Trace,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let preview: PreviewBody = body.parse()?;
    if preview.template.is_some() == preview.messages.is_some() {
        return Err(ApiError::not_one_template());
    }
    let members =
        [("userPrompt", preview.template), ("messages", preview.messages), ("syntax", preview.syntax)];
    let document =
        members.into_iter().filter_map(|(name, member)| Some((name.to_owned(), member?))).collect();
    let variables = preview.variables.either()?;
    let rendered = app.renderer.preview(document, variables, trace).await.map_err(as_sent)?;
    reply(&rendered, options.explain)
}

/// A document's violations as those of the request that it was made from.
fn as_sent(failure: RenderFailure) -> RenderFailure {
    let RenderFailure::InvalidDocument { mut violations } = failure else { return failure };
    for violation in &mut violations {
        if let Some(rest) = violation.path.strip_prefix("/userPrompt") {
            violation.path = format!("/template{rest}");
        }
    }
    RenderFailure::InvalidDocument { violations }
}

fn reply(rendered: &Rendered, explain: bool) -> Result<HttpResponse, ApiError> {
    let reply = RenderedReply {
        rendered_prompt: &rendered.content,
        status: "success",
        warnings: &rendered.warnings,
        report: explain.then_some(&rendered.report),
    };
    // Texts are most of an answer: with room for them, and for what escapes add, it is rarely moved.
    let bytes = rendered.content.text_bytes();
    let mut body = Vec::with_capacity(bytes + bytes / 8 + ROOM_BESIDE_TEXTS);
    serde_json::to_writer(&mut body, &reply).map_err(|error| ApiError::unwritable(&error.to_string()))?;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(body))
}
