//! Ideas over HTTP: what they are, and what a model says to them now.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path, Query};
use serde::Serialize;
use serde_json::value::RawValue;

use super::body::{JsonBody, ParsedBody};
use super::caller::RequestCaller;
use super::error::ApiError;
use super::requests::{Options, SolutionReply, preview, solved};
use crate::app::App;
use crate::requests::{Idea, Wanted};
use template::value::{RawObject, Tree};

/// An idea and what the model says now.
#[derive(Serialize)]
struct ReplayReply<'r> {
    old: &'r RawValue,
    new: &'r RawValue,
    is_equal: bool,
    #[serde(flatten)]
    reply: SolutionReply<'r>,
}

/// `GET /api/ideas/{id}`
pub async fn idea(app: Data<App>, id: Path<String>) -> Result<HttpResponse, ApiError> {
    let idea: Idea = app.requests.idea(&id).await?;
    Ok(HttpResponse::Ok().json(idea))
}

/// `POST /api/ideas/{id}/replay`
pub async fn replay(
    app: Data<App>,
    id: Path<String>,
    options: Query<Options>,
    RequestCaller(caller): RequestCaller,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    let ParsedBody { value, held: _held } = body.parse::<RawObject>(Tree::Raw).await?;
    let wanted = Wanted::take(value)?;
    if wanted.stream || wanted.reuse || wanted.n > 1 {
        return Err(ApiError::invalid_request("a replay takes neither `stream` nor `reuse` nor `n`"));
    }
    let (old, request) = app.requests.again(&id, wanted, options.save).await?;
    if options.dry_run {
        return Ok(HttpResponse::Ok().json(preview(&app, &caller, request).await?));
    }
    let solution = solved(&app, caller, request, options.explain).await?;
    let Some(new) = solution.values.first() else { return Err(ApiError::broken_off("there is no value")) };
    let reply = ReplayReply {
        old: &old.solution,
        new,
        is_equal: new.get() == old.solution.get(),
        reply: SolutionReply::new(&solution, 1, options.explain).without_value(),
    };
    Ok(HttpResponse::Ok().json(reply))
}
