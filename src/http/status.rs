//! The service itself: is it alive, is it ready, what does it hold, and what is wrong.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use serde_json::{Map, Value as Json, json};

use super::error::ApiError;
use crate::app::App;
use crate::catalog::{Loss, Missing, StoreState};
use crate::telemetry;
use base::schema;

/// `GET /healthz`
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(json!({"status": "ok"}))
}

/// `GET /readyz`
pub async fn ready(app: Data<App>) -> Result<HttpResponse, ApiError> {
    let store = app.catalog.store_state();
    if let Some(error) = store.not_loaded().filter(|_| !app.catalog.ready()) {
        return Err(error.into());
    }
    Ok(HttpResponse::Ok().json(match trouble(&app, &store) {
        None => json!({"status": "ready"}),
        Some(why) => json!({"status": "degraded", "store": word(&app, &store), "why": why}),
    }))
}

/// Refuses what needs to know the store as long as it is read for the first time.
pub fn first_read(app: &App) -> Result<(), ApiError> {
    let store = app.catalog.store_state();
    store.not_loaded().filter(|_| store.is_first_read()).map_or(Ok(()), |error| Err(error.into()))
}

/// `GET /api/status`
pub async fn status(app: Data<App>) -> HttpResponse {
    let snapshot = app.catalog.snapshot();
    let store = app.catalog.store_state();
    HttpResponse::Ok().json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ready": app.catalog.ready(),
        "store": {
            "url": app.catalog.store().describe(),
            "state": word(&app, &store),
            "why": trouble(&app, &store),
            "error": store.error,
            "age_seconds": store.age().map(|age| age.as_secs()),
            "missing": store.loss.as_ref().map(missing),
        },
        "revision": snapshot.revision,
        "loaded_at": snapshot.loaded_at,
        "counts": {
            "extensions": snapshot.documents.extensions.len(),
            "prompts": snapshot.documents.prompts.len(),
            "environs": snapshot.environ_ids.len(),
            "tools": snapshot.documents.tools.len(),
        },
        "log": {"dropped_lines": telemetry::dropped()},
        "problems": *snapshot.problems,
    }))
}

/// The state of the store in a word.
fn word(app: &App, store: &StoreState) -> &'static str {
    match app.catalog.store().read_only() {
        Some(_) => "read_only",
        None => store.word(),
    }
}

/// What is not as it should be with the store, if anything.
fn trouble(app: &App, store: &StoreState) -> Option<String> {
    app.catalog.store().read_only().or_else(|| store.trouble())
}

/// What is gone from the store at once: how much of each kind, and how long it is kept.
fn missing(loss: &Loss) -> Json {
    let of = |missing: &Missing| {
        (format!("{}s", missing.kind), json!({"gone": missing.gone, "known": missing.known}))
    };
    let mut members: Map<String, Json> = loss.missing.iter().map(of).collect();
    members.insert("kept_for_seconds".to_owned(), json!(loss.kept_for().as_secs()));
    members.into()
}

/// `POST /api/store/confirm`
pub async fn confirm(app: Data<App>) -> Result<HttpResponse, ApiError> {
    let forgotten = app.catalog.confirm_loss().await.map_err(|error| ApiError::from(&error))?;
    Ok(HttpResponse::Ok().json(json!({"forgotten": forgotten})))
}

/// `GET /schemas/{name}.json`
pub async fn schema(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let path = || format!("/schemas/{name}.json");
    let document = schema::document(&name).ok_or_else(|| ApiError::route_not_found(&path()))?;
    Ok(HttpResponse::Ok().content_type("application/schema+json").body(document.text))
}
