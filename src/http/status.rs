//! The service itself: is it alive, is it ready, what does it hold, and what is wrong.

use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use serde_json::json;

use super::error::ApiError;
use crate::app::App;
use crate::schema;

/// `GET /healthz`
pub async fn alive() -> HttpResponse {
    HttpResponse::Ok().json(json!({"status": "ok"}))
}

/// `GET /readyz`
pub async fn ready(app: Data<App>) -> Result<HttpResponse, ApiError> {
    let store = app.catalog.store_state();
    if !app.catalog.ready() {
        return Err(ApiError::not_ready(store.why_not_loaded()));
    }
    let status = if store.error.is_none() { "ready" } else { "degraded" };
    Ok(HttpResponse::Ok().json(json!({"status": status})))
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
            "state": if store.error.is_none() { "ok" } else { "unavailable" },
            "error": store.error,
        },
        "revision": snapshot.revision,
        "loaded_at": snapshot.loaded_at,
        "counts": {
            "extensions": snapshot.documents.extensions.len(),
            "prompts": snapshot.documents.prompts.len(),
            "environs": snapshot.environ_ids.len(),
            "tools": snapshot.documents.tools.len(),
        },
        "problems": *snapshot.problems,
    }))
}

/// `GET /schemas/{name}.json`
pub async fn schema(name: Path<String>) -> Result<HttpResponse, ApiError> {
    let path = || format!("/schemas/{name}.json");
    let document = schema::document(&name).ok_or_else(|| ApiError::route_not_found(&path()))?;
    Ok(HttpResponse::Ok().content_type("application/schema+json").body(document.text))
}
