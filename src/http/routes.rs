//! Every path and the handler behind it.

use actix_web::web::{self, ServiceConfig};
use actix_web::{HttpRequest, Resource, Route, guard};

use super::error::ApiError;
use super::{chat, documents, render, status, tools};
use base::model::DocumentKind;

/// Adds all routes.
pub fn configure(config: &mut ServiceConfig) {
    config
        .service(post("/api/render/prompts/{id}", web::post().to(render::rendered)))
        .service(post("/api/chat/prompts/{id}", web::post().to(chat::prompt)))
        .service(post("/v1/chat/completions", web::post().to(chat::completions)))
        .service(post("/api/prompts/{id}/render", web::post().to(render::prototype)))
        .service(post("/api/render", web::post().to(render::preview)))
        .service(post("/api/prompts/{id}/chat", web::post().to(chat::prompt)))
        .service(post("/v1/embeddings", web::post().to(chat::embeddings)))
        .service(get("/v1/models", reading().to(chat::models)))
        .service(get("/v1/models/{id:.+}", reading().to(chat::model)))
        .service(post("/api/tools/{id}/call", web::post().to(tools::call)))
        .service(get("/api/status", reading().to(status::status)))
        .service(post("/api/store/confirm", web::post().to(status::confirm)))
        .service(get("/healthz", reading().to(status::alive)))
        .service(get("/readyz", reading().to(status::ready)))
        .service(get("/schemas/{name}.json", reading().to(status::schema)));
    for kind in DocumentKind::ALL {
        config.service(list(kind)).service(one(kind));
    }
    config.default_service(web::to(no_route));
}

fn get(path: &str, route: Route) -> Resource {
    only(path, "GET, HEAD").route(route)
}

fn post(path: &str, route: Route) -> Resource {
    only(path, "POST").route(route)
}

/// A route for `GET`, and for `HEAD`, whose answers the server sends without their bodies.
fn reading() -> Route {
    web::route().guard(guard::Any(guard::Get()).or(guard::Head()))
}

/// A path that says which methods it takes when it gets another.
fn only(path: &str, allowed: &'static str) -> Resource {
    let refuse = move |request: HttpRequest| async move {
        Err::<&str, _>(ApiError::method_not_allowed(request.method().as_str(), allowed))
    };
    web::resource(path).default_service(web::to(refuse))
}

fn list(kind: DocumentKind) -> Resource {
    let list = move |app, query| documents::list(kind, app, query);
    get(&format!("/api/{kind}s"), reading().to(list))
}

fn one(kind: DocumentKind) -> Resource {
    let show = move |app, id, form| documents::show(kind, app, id, form);
    let put = move |app, id, request, body| documents::put(kind, app, id, request, body);
    let delete = move |app, id, request| documents::delete(kind, app, id, request);
    only(&format!("/api/{kind}s/{{id}}"), "GET, HEAD, PUT, DELETE")
        .route(reading().to(show))
        .route(web::put().to(put))
        .route(web::delete().to(delete))
}

async fn no_route(request: HttpRequest) -> Result<&'static str, ApiError> {
    Err(ApiError::route_not_found(request.path()))
}
