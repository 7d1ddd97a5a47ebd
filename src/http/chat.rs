//! Chats over HTTP: prompts answer by a model, and the endpoints of OpenAI's API.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, Ready, ready};
use std::sync::Arc;
use std::time::Duration;

use actix_web::body::BoxBody;
use actix_web::dev::Payload;
use actix_web::http::header::{CACHE_CONTROL, ContentType, HeaderName, HeaderValue};
use actix_web::web::{Bytes, Data, Path, Query};
use actix_web::{FromRequest, HttpRequest, HttpResponse, HttpResponseBuilder};
use futures_util::Stream;
use serde::{Deserialize, Serialize};

use super::body::{JsonBody, ParsedBody, Variables};
use super::caller::RequestCaller;
use super::error::ApiError;
use super::events::EventBody;
use super::shutdown::Shutdown;
use super::unread_body::BodyWith;
use crate::app::App;
use crate::chat::{Api, Aside, ChatAnswer, PromptBody, PromptRequest, Rendering, VARIABLES_HEADER};
use crate::llm::Answer;
use crate::render::{Report, Warning};
use base::memory::BufferedBytes;
use base::model::Id;
use template::value::{RawObject, Tree};

pub(super) const PROMPT_ID: HeaderName = HeaderName::from_static("x-prompt-id");
/// How many tool calls of the prompt failed, and which tools: `2; tools="tracker.issue weather.now"` (RFC 9651, section 3.3).
const PROMPT_WARNINGS: HeaderName = HeaderName::from_static("x-prompt-warnings");
pub(super) const SERVER_TIMING: HeaderName = HeaderName::from_static("server-timing");
/// Tells nginx and similar proxies not to buffer a stream.
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");

/// The most tools that `x-prompt-warnings` names.
const WARNED_TOOLS_MAX: usize = 16;

/// The query of a chat.
#[derive(Debug, Deserialize)]
pub struct Options {
    #[serde(default)]
    explain: bool,
}

/// What a request says in its headers.
pub struct RequestAside(Aside);

impl FromRequest for RequestAside {
    type Error = ApiError;
    type Future = Ready<Result<RequestAside, ApiError>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        // Several headers of one name are one list (RFC 9110, section 5.3), which is no JSON object, and refused as such.
        let values: Vec<&[u8]> =
            request.headers().get_all(VARIABLES_HEADER).map(HeaderValue::as_bytes).collect();
        let variables = (!values.is_empty()).then(|| values.join(&b", "[..]));
        ready(Ok(RequestAside(Aside { variables, explain: false })))
    }
}

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
    options: Query<Options>,
    RequestAside(aside): RequestAside,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let aside = Aside { explain: options.explain, ..aside };
    let (id, large) = (Id::parse(&id)?, body.is_large());
    let ParsedBody { value, held: _held } = body.parse::<PromptBody>(Tree::Value).await?;
    let request = PromptRequest::of(id, value, aside)?;
    let Variables { last: _last, .. } =
        Variables::new(request.variables.body.clone(), large.then_some(&app.pool));
    let services = app.clone().into_inner();
    let answer = finished(&app, async move { services.chat.prompt(&caller, request).await }).await??;
    reply(answer, Api::Completions, shutdown.into_inner())
}

/// `POST /v1/chat/completions`
pub async fn completions(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    RequestAside(aside): RequestAside,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value: request, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let services = app.clone().into_inner();
    let answer =
        finished(&app, async move { services.chat.completion(&caller, request, aside).await }).await??;
    reply(answer, Api::Completions, shutdown.into_inner())
}

/// `POST /v1/completions`
pub async fn text_completions(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    RequestAside(aside): RequestAside,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value: request, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let services = app.clone().into_inner();
    let answer = finished(&app, async move { services.chat.text(&caller, request, aside).await }).await??;
    reply(answer, Api::Text, shutdown.into_inner())
}

/// `POST /v1/responses`
pub async fn responses(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    RequestAside(aside): RequestAside,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value: request, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let services = app.clone().into_inner();
    let answer =
        finished(&app, async move { services.chat.response(&caller, request, aside).await }).await??;
    reply(answer, Api::Responses, shutdown.into_inner())
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
    let data = app.chat.models().await;
    Ok(HttpResponse::Ok().json(List { object: "list", data }))
}

/// `GET /v1/models/{id}`
pub async fn model(app: Data<App>, id: Path<String>) -> Result<HttpResponse, ApiError> {
    Ok(HttpResponse::Ok().json(app.chat.model(&id).await?))
}

/// Runs `work`. When its client leaves, it is cancelled, or, with `llm.on_disconnect = "drain"`, finished in a task of its own.
pub(super) async fn finished<T: 'static>(
    app: &Arc<App>,
    work: impl Future<Output = T> + 'static,
) -> Result<T, ApiError> {
    match app.llm.drains() {
        false => Ok(work.await),
        true => actix_web::rt::spawn(work).await.map_err(|error| ApiError::broken_off(&error.to_string())),
    }
}

fn reply(answer: ChatAnswer, api: Api, shutdown: Arc<Shutdown>) -> Result<HttpResponse, ApiError> {
    let ChatAnswer { answer, rendered, llm } = answer;
    let mut response = HttpResponse::Ok();
    if let Some(Rendering { id, warnings, .. }) = &rendered {
        response.insert_header((PROMPT_ID, id.as_str()));
        if !warnings.is_empty() {
            response.insert_header((PROMPT_WARNINGS, in_header(warnings)));
        }
    }
    let render = rendered.as_ref().map(|rendering| rendering.duration);
    response.insert_header((SERVER_TIMING, timing(render, llm)));
    let explained = rendered.and_then(Explanation::of);
    Ok(match answer {
        Answer::Whole(BufferedBytes { bytes, held }) => {
            let bytes = explained.map_or(Ok(bytes.clone()), |explanation| explanation.added_to(&bytes))?;
            response.content_type(ContentType::json()).body(whole(BufferedBytes { bytes, held }))
        }
        Answer::Stream(events) => {
            let first = explained.map(|explanation| explanation.event());
            let events = EventBody::new(events, api, shutdown).after(first);
            streamed(&mut response, "text/event-stream", events)
        }
    })
}

/// The value of `server-timing`: how long the render took, if there was one, and the model.
pub(super) fn timing(render: Option<Duration>, llm: Duration) -> String {
    let render = render.map(|took| format!("render;dur={}, ", Milliseconds(took)));
    format!("{}llm;dur={}", render.unwrap_or_default(), Milliseconds(llm))
}

/// The value of `x-prompt-warnings`.
fn in_header(warnings: &[Warning]) -> String {
    let mut tools: Vec<&str> = Vec::new();
    for warning in warnings {
        if tools.len() < WARNED_TOOLS_MAX && !tools.contains(&warning.tool.as_str()) {
            tools.push(&warning.tool);
        }
    }
    format!("{}; tools=\"{}\"", warnings.len(), tools.join(" "))
}

/// How a prompt was rendered, as part of an answer.
#[derive(Serialize)]
struct Explanation {
    warnings: Vec<Warning>,
    report: Report,
}

/// An explanation as the first event of a stream. A chunk without choices is legal, and clients pass over it.
#[derive(Serialize)]
struct ExplanationChunk<'e> {
    object: &'static str,
    choices: [(); 0],
    #[serde(flatten)]
    explanation: &'e Explanation,
}

impl Explanation {
    /// The explanation, if the client asked for one.
    fn of(rendering: Rendering) -> Option<Explanation> {
        Some(Explanation { report: rendering.report?, warnings: rendering.warnings })
    }

    /// The answer with the members `warnings` and `report`.
    fn added_to(&self, answer: &[u8]) -> Result<Bytes, ApiError> {
        let unwritable = |error: serde_json::Error| ApiError::unwritable(&error.to_string());
        let mut answer: RawObject = serde_json::from_slice(answer).map_err(unwritable)?;
        answer.set("warnings", &self.warnings).map_err(unwritable)?;
        answer.set("report", &self.report).map_err(unwritable)?;
        Ok(serde_json::to_vec(&answer).map_err(unwritable)?.into())
    }

    fn event(&self) -> Bytes {
        let chunk = ExplanationChunk { object: "chat.completion.chunk", choices: [], explanation: self };
        // It holds only texts, numbers and JSON, which can always be written.
        format!("data: {}\n\n", serde_json::to_string(&chunk).unwrap_or_default()).into()
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

/// An answer in pieces, which nobody on the way is to keep back.
pub(super) fn streamed(
    response: &mut HttpResponseBuilder,
    content_type: &'static str,
    pieces: impl Stream<Item = Result<Bytes, Infallible>> + 'static,
) -> HttpResponse {
    response
        .content_type(content_type)
        .insert_header((CACHE_CONTROL, "no-cache"))
        .insert_header((ACCEL_BUFFERING, "no"))
        .streaming(pieces)
}
