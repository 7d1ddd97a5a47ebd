//! Chats over HTTP: prompts answer by a model, and the endpoints of OpenAI's API.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::BoxBody;
use actix_web::http::header::{CACHE_CONTROL, ContentType, HeaderName};
use actix_web::web::{Data, Path};
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::Serialize;

use super::body::{JsonBody, ParsedBody, Variables};
use super::caller::RequestCaller;
use super::error::ApiError;
use super::events::EventBody;
use super::shutdown::Shutdown;
use super::unread_body::BodyWith;
use crate::app::App;
use crate::chat::{ChatAnswer, PromptBody, PromptRequest};
use crate::llm::Answer;
use base::memory::BufferedBytes;
use base::model::Id;
use template::value::{RawObject, Tree};

const PROMPT_ID: HeaderName = HeaderName::from_static("x-prompt-id");
const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// Tells nginx and similar proxies not to buffer a stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// A list, as OpenAI's API has it.
#[derive(Serialize)]
struct List {
    object: &'static str,
    data: Vec<RawObject>,
}

/// `POST /api/chat/prompts/{id}`, `POST /api/prompts/{id}/chat`
pub async fn prompt(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    id: Path<String>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, large) = (Id::parse(&id)?, body.is_large());
    let ParsedBody { value, held: _held } = body.parse::<PromptBody>(Tree::Value).await?;
    let request = PromptRequest::of(id, value)?;
    let Variables { last: _last, .. } = Variables::new(request.variables.clone(), large.then_some(&app.pool));
    let services = app.clone().into_inner();
    let answer = finished(&app, async move { services.chat.prompt(&caller, request).await }).await??;
    Ok(reply(answer, shutdown.into_inner()))
}

/// `POST /v1/chat/completions`
pub async fn completions(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value: request, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let services = app.clone().into_inner();
    let answer = finished(&app, async move { services.chat.completion(&caller, request).await }).await??;
    Ok(reply(answer, shutdown.into_inner()))
}

/// `POST /v1/embeddings`
pub async fn embeddings(
    app: Data<App>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value: request, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let services = app.clone().into_inner();
    let answer = finished(&app, async move { services.chat.embeddings(&caller, &request).await }).await??;
    Ok(HttpResponse::Ok().content_type(ContentType::json()).body(whole(answer)))
}

/// `GET /v1/models`
pub async fn models(app: Data<App>) -> Result<HttpResponse, ApiError> {
    super::status::first_read(&app)?;
    let data = app.chat.models().await?;
    Ok(HttpResponse::Ok().json(List { object: "list", data }))
}

/// `GET /v1/models/{id}`
pub async fn model(app: Data<App>, id: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.chat.model(&id).await?))
}

/// Runs `work`. When its client leaves, it is cancelled, or, with `llm.on_disconnect = "drain"`, finished in a task of its own.
async fn finished<T: 'static>(
    app: &Arc<App>,
    work: impl Future<Output = T> + 'static,
) -> Result<T, ApiError> {
    match app.llm.drains() {
        false => Ok(work.await),
        true => actix_web::rt::spawn(work).await.map_err(|error| ApiError::broken_off(&error.to_string())),
    }
}

fn reply(answer: ChatAnswer, shutdown: Arc<Shutdown>) -> HttpResponse {
    let mut response = HttpResponse::Ok();
    let mut timing = String::new();
    if let Some((id, duration)) = &answer.rendered {
        response.insert_header((PROMPT_ID, id.as_str()));
        timing = format!("render;dur={}, ", Milliseconds(*duration));
    }
    timing.push_str(&format!("llm;dur={}", Milliseconds(answer.llm)));
    response.insert_header((SERVER_TIMING, timing));
    match answer.answer {
        Answer::Whole(body) => response.content_type(ContentType::json()).body(whole(body)),
        Answer::Stream(events) => stream(&mut response, EventBody::new(events, shutdown)),
    }
}

/// A body that keeps its reservation of memory until it has been sent.
fn whole(answer: BufferedBytes) -> BoxBody {
    BoxBody::new(BodyWith::new(BoxBody::new(answer.bytes), answer.held))
}

/// A time in milliseconds with three digits after the point.
struct Milliseconds(Duration);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0.as_millis(), self.0.subsec_micros() % 1_000)
    }
}

fn stream(response: &mut HttpResponseBuilder, events: EventBody) -> HttpResponse {
    response
        .content_type("text/event-stream")
        .insert_header((CACHE_CONTROL, "no-cache"))
        .insert_header((ACCEL_BUFFERING, "no"))
        .streaming(events)
}
