//! Rendering over HTTP: registered prompts, with two formats of answers, and previews.

use std::time::{Duration, Instant};

use actix_web::body::BoxBody;
use actix_web::http::header::ContentType;
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpResponse, Responder};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::body::{JsonBody, ParsedBody, Variables, VariablesBody};
use super::caller::RequestCaller;
use super::error::ApiError;
use super::unread_body::BodyWith;
use crate::app::App;
use crate::render::{Content, RenderError, RenderedPrompt, Report, Warning};
use base::memory::Reservation;
use base::model::{Id, Messages};
use base::pool::Lane;
use template::value::Tree;

/// The usual size of an answer without its texts, in bytes.
const ROOM_BESIDE_TEXTS: usize = 256;

/// Answers with more text, in bytes, are serialized in the pool.
const INLINE_BYTES: usize = 256 << 10;

/// How long a long answer may wait for the pool and be serialized there.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// The query of a render.
#[derive(Debug, Deserialize)]
pub struct Options {
    #[serde(default)]
    explain: bool,
}

/// The answer in the format of the specification.
#[derive(Debug, Serialize)]
struct RenderedReply {
    rendered_prompt: Content,
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report>,
}

/// The answer in the format of the Go prototype.
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
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let ticket = app.renderer.admit(Id::parse(&id)?).await?.explained(options.explain);
    let ParsedBody { value: Variables { value, last: _last }, held } = body.variables().await?;
    let rendered = app.renderer.render_admitted(&caller, ticket, value).await?;
    reply(&app, rendered, held).await
}

/// `POST /api/prompts/{id}/render`
pub async fn prototype(
    app: Data<App>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let ticket = app.renderer.admit(Id::parse(&id)?).await?;
    let ParsedBody { value: Variables { value, last: _last }, held } = body.variables().await?;
    let rendered = app.renderer.render_admitted(&caller, ticket, value).await?;
    let bytes = rendered.content.text_bytes();
    let reply = match rendered.content {
        Content::Text(prompt) => PrototypeReply::Prompt { prompt },
        Content::Messages(messages) => PrototypeReply::Messages { messages },
    };
    reply_with(&app, bytes, held, reply).await
}

/// The body of a preview.
#[derive(Debug, Deserialize)]
struct PreviewBody {
    template: Option<Json>,
    messages: Option<Json>,
    syntax: Option<Json>,
    roles: Option<Json>,
    undefined: Option<Json>,
    tools: Option<Json>,
    #[serde(flatten)]
    variables: VariablesBody,
}

/// `POST /api/render`
pub async fn preview(
    app: Data<App>,
    options: Query<Options>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<impl Responder, ApiError> {
    let large = body.is_large();
    let ParsedBody { value: preview, held } = body.parse::<PreviewBody>(Tree::Json).await?;
    if preview.template.is_some() == preview.messages.is_some() {
        return Err(ApiError::not_one_template());
    }
    let members = [
        ("userPrompt", preview.template),
        ("messages", preview.messages),
        ("syntax", preview.syntax),
        ("roles", preview.roles),
        ("undefined", preview.undefined),
        ("tools", preview.tools),
    ];
    let document =
        members.into_iter().filter_map(|(name, member)| Some((name.to_owned(), member?))).collect();
    let Variables { value, last: _last } =
        Variables::new(preview.variables.either()?, large.then_some(&app.pool));
    let rendered = app.renderer.preview(&caller, document, value, options.explain).await.map_err(as_sent)?;
    reply(&app, rendered, held).await
}

/// Gives violations the paths of the request instead of those of the document that was made from it.
fn as_sent(error: RenderError) -> RenderError {
    let RenderError::InvalidDocument { mut violations } = error else { return error };
    for violation in &mut violations {
        if let Some(rest) = violation.path.strip_prefix("/userPrompt") {
            violation.path = format!("/template{rest}");
        }
    }
    RenderError::InvalidDocument { violations }
}

fn reply(
    app: &App,
    rendered: RenderedPrompt,
    held: Reservation,
) -> impl Future<Output = Result<HttpResponse, ApiError>> + '_ {
    let bytes = rendered.content.text_bytes();
    let reply = RenderedReply {
        rendered_prompt: rendered.content,
        status: "success",
        warnings: rendered.warnings,
        report: rendered.report,
    };
    reply_with(app, bytes, held, reply)
}

/// The answer, with about `bytes` of text. A long one is serialized in the pool, and counts against the memory limit until it has been sent.
async fn reply_with<T: Serialize + Send + 'static>(
    app: &App,
    bytes: usize,
    mut held: Reservation,
    reply: T,
) -> Result<HttpResponse, ApiError> {
    let mut response = HttpResponse::Ok();
    response.content_type(ContentType::json());
    if bytes <= INLINE_BYTES {
        return Ok(response.body(written(bytes, &reply)?));
    }
    held.grow(bytes)?;
    let work = move || written(bytes, &reply);
    let body = app.pool.run(Lane::Short, Instant::now() + WRITE_TIME, work).await??;
    Ok(response.body(BodyWith::new(BoxBody::new(body), held)))
}

fn written<T: Serialize>(bytes: usize, reply: &T) -> Result<Vec<u8>, ApiError> {
    // Most of an answer is text. With room for it, and for what escapes add, the buffer rarely grows.
    let mut body = Vec::with_capacity(bytes + bytes / 8 + ROOM_BESIDE_TEXTS);
    serde_json::to_writer(&mut body, reply).map_err(|error| ApiError::unwritable(&error.to_string()))?;
    Ok(body)
}
