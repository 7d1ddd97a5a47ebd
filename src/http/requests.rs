//! Requests over HTTP: values that fit a schema, one at a time and as they grow.

use std::sync::Arc;

use actix_web::web::{Data, Path, Query};
use actix_web::{HttpResponse, HttpResponseBuilder};
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::body::{JsonBody, ParsedBody, Variables};
use super::caller::RequestCaller;
use super::chat::{PROMPT_ID, SERVER_TIMING, finished, streamed, timing};
use super::error::ApiError;
use super::shutdown::Shutdown;
use super::solution_events::SolutionEvents;
use crate::app::App;
use crate::chat::PromptBody;
use crate::llm::Usage;
use crate::llm::structured::Strategy;
use crate::render::Warning;
use crate::requests::{Context, Growing, Rendering, Request, RequestError, Solution, Wanted};
use crate::structured::{AttemptReport, StructuredError};
use base::caller::Caller;
use base::model::Id;
use template::value::{RawObject, Tree, Value, parse_json};

/// The query of a request.
#[derive(Debug, Clone, Copy, Deserialize)]
pub struct Options {
    /// Whether the idea may be kept.
    #[serde(default = "yes")]
    pub(super) save: bool,
    /// Whether the answer is the body that would be sent to the model.
    #[serde(default)]
    pub(super) dry_run: bool,
    /// Whether the answer tells of each attempt.
    #[serde(default)]
    pub(super) explain: bool,
}

fn yes() -> bool {
    true
}

/// The answer to a request.
#[derive(Serialize)]
pub struct SolutionReply<'s> {
    #[serde(skip_serializing_if = "Option::is_none")]
    solution: Option<&'s RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<&'s [Box<RawValue>]>,
    model: &'s str,
    strategy: Option<Strategy>,
    attempts: usize,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    idea_id: Option<Option<&'s str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    idea_ids: Option<&'s [Option<String>]>,
    #[serde(skip_serializing_if = "<[Warning]>::is_empty")]
    warnings: &'s [Warning],
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<Report<'s>>,
}

#[derive(Serialize)]
struct Report<'s> {
    attempts: &'s [AttemptReport],
}

impl<'s> SolutionReply<'s> {
    /// The reply to a request for `n` values.
    pub fn new(solution: &'s Solution, n: usize, explain: bool) -> SolutionReply<'s> {
        let Solution { values, model, strategy, attempts, usage, ideas, report, warnings, .. } = solution;
        let is_one = n == 1;
        SolutionReply {
            solution: values.first().filter(|_| is_one).map(|value| &**value),
            solutions: (!is_one).then_some(values.as_slice()),
            model,
            strategy: *strategy,
            attempts: *attempts,
            usage: *usage,
            idea_id: is_one.then(|| ideas.first().and_then(Option::as_deref)),
            idea_ids: (!is_one).then_some(ideas.as_slice()),
            warnings,
            report: explain.then_some(Report { attempts: report }),
        }
    }

    /// The reply without the value, which stands elsewhere.
    pub fn without_value(self) -> SolutionReply<'s> {
        SolutionReply { solution: None, ..self }
    }
}

/// What would be sent to a model.
#[derive(Serialize)]
pub(super) struct PreviewReply {
    model: String,
    strategy: Strategy,
    body: Box<RawValue>,
}

/// `POST /api/requests`
pub async fn solve(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    options: Query<Options>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let request = of_context(value, options.save)?;
    answer(&app, shutdown.into_inner(), caller, request, *options).await
}

/// `POST /api/requests/prompts/{id}`
pub async fn prompt(
    app: Data<App>,
    shutdown: Data<Shutdown>,
    id: Path<String>,
    options: Query<Options>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let (id, large) = (Id::parse(&id)?, body.is_large());
    let ParsedBody { value, held: _held } = body.parse::<PromptBody>(Tree::Value).await?;
    let (variables, rest) = value.into_parts()?;
    let Variables { value: variables, last: _last } = Variables::new(variables, large.then_some(&app.pool));
    let request = of_prompt(id, variables, rest, options.save)?;
    answer(&app, shutdown.into_inner(), caller, request, *options).await
}

/// The request that a body with a context makes.
pub(super) fn of_context(mut body: RawObject, save: bool) -> Result<Request, ApiError> {
    let context = body.remove("context").filter(|context| context.get() != "null");
    let messages = context.as_deref().map(|context| parse_json(context.get().as_bytes()));
    let wanted = Wanted::take(body)?;
    match messages {
        Some(Ok(messages)) => Ok(Request { context: Context::Messages(messages), wanted, save }),
        Some(Err(_)) => Err(invalid_context("must be a list of messages")),
        None => Err(invalid_context(
            "is missing: give the messages for the model, such as [{\"role\": \"user\", \"content\": \"…\"}]",
        )),
    }
}

fn invalid_context(message: &str) -> ApiError {
    let message = format!("`context` {message}");
    let details = json!({"violations": [{"path": "/context", "message": message}]});
    ApiError::invalid_request(&message).about("context").with_details(details)
}

/// The request that a body with variables makes.
pub(super) fn of_prompt(
    id: Id,
    variables: Option<Value>,
    rest: RawObject,
    save: bool,
) -> Result<Request, ApiError> {
    Ok(Request { context: Context::Prompt { id, variables }, wanted: Wanted::take(rest)?, save })
}

/// Answers a request in the way in which it is asked for.
async fn answer(
    app: &Data<App>,
    shutdown: Arc<Shutdown>,
    caller: Caller,
    request: Request,
    options: Options,
) -> Result<HttpResponse, ApiError> {
    let (services, n, stream) = (app.clone().into_inner(), request.wanted.n, request.wanted.stream);
    if options.dry_run {
        return Ok(HttpResponse::Ok().json(preview(&services, &caller, request).await?));
    }
    if stream {
        let events = finished(app, async move { services.requests.stream(caller, request).await });
        let Growing { rendering, events } =
            events.await?.map_err(|error| explained_by(error, options.explain))?;
        let mut response = HttpResponse::Ok();
        rendered_in(&mut response, rendering.as_ref());
        let body = SolutionEvents::new(events, shutdown, options.explain);
        return Ok(streamed(&mut response, "text/event-stream", body));
    }
    let solution = solved(app, caller, request, options.explain).await?;
    let mut response = HttpResponse::Ok();
    rendered_in(&mut response, solution.rendering.as_ref());
    let rendering = solution.rendering.as_ref().map(|rendering| rendering.duration);
    response.insert_header((SERVER_TIMING, timing(rendering, solution.llm)));
    Ok(response.json(SolutionReply::new(&solution, n, options.explain)))
}

/// Solves a request, for as long as its client waits.
pub(super) async fn solved(
    app: &Data<App>,
    caller: Caller,
    request: Request,
    explain: bool,
) -> Result<Solution, ApiError> {
    let services = app.clone().into_inner();
    let solution = finished(app, async move { services.requests.solve(&caller, request).await });
    solution.await?.map_err(|error| explained_by(error, explain))
}

/// Tells which prompt was rendered.
fn rendered_in(response: &mut HttpResponseBuilder, rendering: Option<&Rendering>) {
    if let Some(rendering) = rendering {
        response.insert_header((PROMPT_ID, rendering.id.as_str()));
    }
}

/// What would be sent first.
pub(super) async fn preview(
    app: &Arc<App>,
    caller: &Caller,
    request: Request,
) -> Result<PreviewReply, ApiError> {
    let preview = app.requests.preview(caller, request).await?;
    let unwritable = |error: serde_json::Error| ApiError::unwritable(&error.to_string());
    let body = serde_json::from_slice(&preview.body).map_err(unwritable)?;
    Ok(PreviewReply { model: preview.model, strategy: preview.strategy, body })
}

/// The error of a request, with what happened in its attempts if the client wants to know.
pub(super) fn explained_by(error: RequestError, explain: bool) -> ApiError {
    let report = match &error {
        RequestError::Structured(StructuredError::Unsolved(unsolved)) if explain => {
            Some(json!({"attempts": unsolved.report}))
        }
        _ => None,
    };
    let error = ApiError::from(error);
    match report {
        Some(report) => error.with_detail("report", report),
        None => error,
    }
}
