//! The service itself: is it alive, is it ready, what does it hold, and what is wrong.

use std::sync::Arc;

use actix_web::HttpResponse;
use actix_web::web::{self, Data, Path};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::error::ApiError;
use crate::app::App;
use crate::catalog::{Loss, MissingCount, Snapshot, StoreState};
use crate::telemetry;
use base::model::{DocumentKind, ListedProblem};

/// Whether the service is alive, or ready to serve.
#[derive(Serialize)]
pub struct HealthReply {
    /// `ok`, `ready`, or `degraded`: requests are served, but something is wrong.
    status: &'static str,
    /// The state of the store, if the service is degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<&'static str>,
    /// What is wrong, if the service is degraded.
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// What the service is and holds, and what is wrong with it.
#[derive(Serialize)]
pub struct StatusReply {
    version: &'static str,
    ready: bool,
    store: StoreReply,
    /// Counts the changes of the catalog since the process started.
    revision: u64,
    /// When the catalog changed last: seconds since the Unix epoch.
    loaded_at: u64,
    /// How many documents of each kind serve, by the plural of the kind.
    counts: Map<String, Json>,
    log: LogReply,
    problems: Arc<Vec<ListedProblem>>,
}

/// What is known of the store.
#[derive(Serialize)]
struct StoreReply {
    url: String,
    state: &'static str,
    why: Option<String>,
    error: Option<String>,
    /// How long ago it was read.
    age_seconds: Option<u64>,
    /// What is gone from it all at once: how much of each kind, by its plural, and `kept_for_seconds`.
    missing: Option<Map<String, Json>>,
}

/// What is known of the log.
#[derive(Serialize)]
struct LogReply {
    /// Lines that did not fit into its queue.
    dropped_lines: u64,
}

/// What a confirmation did.
#[derive(Serialize)]
pub struct ConfirmReply {
    /// How many documents were forgotten.
    forgotten: usize,
}

/// `GET /healthz`
pub async fn alive() -> web::Json<HealthReply> {
    web::Json(HealthReply { status: "ok", store: None, why: None })
}

/// `GET /readyz`
pub async fn ready(app: Data<App>) -> Result<web::Json<HealthReply>, ApiError> {
    let store = app.catalog.store_state();
    if let Some(error) = store.not_loaded().filter(|_| !app.catalog.ready()) {
        return Err(error.into());
    }
    Ok(web::Json(match trouble(&app, &store) {
        None => HealthReply { status: "ready", store: None, why: None },
        why => HealthReply { status: "degraded", store: Some(word(&app, &store)), why },
    }))
}

/// Refuses what needs to know the store as long as it is read for the first time.
pub fn first_read(app: &App) -> Result<(), ApiError> {
    let store = app.catalog.store_state();
    store.not_loaded().filter(|_| store.is_first_read()).map_or(Ok(()), |error| Err(error.into()))
}

/// `GET /api/status`
pub async fn status(app: Data<App>) -> web::Json<StatusReply> {
    let snapshot = app.catalog.snapshot();
    let store = app.catalog.store_state();
    let count = |kind: DocumentKind| (format!("{kind}s"), snapshot.count(kind).into());
    web::Json(StatusReply {
        version: env!("CARGO_PKG_VERSION"),
        ready: app.catalog.ready(),
        store: StoreReply {
            url: app.catalog.store().describe().to_owned(),
            state: word(&app, &store),
            why: trouble(&app, &store),
            age_seconds: store.age().map(|age| age.as_secs()),
            missing: store.loss.as_ref().map(missing),
            error: store.error,
        },
        revision: snapshot.revision,
        loaded_at: snapshot.loaded_at,
        counts: DocumentKind::ALL.into_iter().map(count).collect(),
        log: LogReply { dropped_lines: telemetry::dropped() },
        problems: problems(&app, &snapshot),
    })
}

/// What is wrong with documents, and with settings that override those of agents.
fn problems(app: &App, snapshot: &Snapshot) -> Arc<Vec<ListedProblem>> {
    let overrides = app.agents.override_problems();
    if overrides.is_empty() {
        return snapshot.problems.clone();
    }
    // Settings do not change: they are wrong since the agents are as they are.
    let listed = overrides.into_iter().map(|problem| ListedProblem { problem, since: snapshot.loaded_at });
    Arc::new(snapshot.problems.iter().cloned().chain(listed).collect())
}

/// The state of the store in a word.
fn word(app: &App, store: &StoreState) -> &'static str {
    match app.catalog.store().read_only() {
        Some(_) => "read_only",
        None => store.status(),
    }
}

/// What is not as it should be with the store, if anything.
fn trouble(app: &App, store: &StoreState) -> Option<String> {
    app.catalog.store().read_only().or_else(|| store.problem())
}

/// What is gone from the store at once: how much of each kind, and how long it is kept.
fn missing(loss: &Loss) -> Map<String, Json> {
    let of = |missing: &MissingCount| {
        (format!("{}s", missing.kind), json!({"gone": missing.gone, "known": missing.known}))
    };
    let mut members: Map<String, Json> = loss.missing.iter().map(of).collect();
    members.insert("kept_for_seconds".to_owned(), json!(loss.kept_for().as_secs()));
    members
}

/// `POST /api/store/confirm`
pub async fn confirm(app: Data<App>) -> Result<web::Json<ConfirmReply>, ApiError> {
    let forgotten = app.catalog.confirm_loss().await.map_err(|error| ApiError::from(&error))?;
    Ok(web::Json(ConfirmReply { forgotten }))
}

/// `GET /schemas/{name}.json`
pub async fn schema(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let path = || format!("/schemas/{name}.json");
    let kind = DocumentKind::ALL.into_iter().find(|kind| kind.noun() == name.as_str());
    let text = kind.and_then(DocumentKind::schema).ok_or_else(|| ApiError::route_not_found(&path()))?;
    Ok(HttpResponse::Ok().content_type("application/schema+json").body(text))
}
