//! Lists of documents, single documents, and writes.

use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use serde::{Deserialize, Serialize};

use super::document_body::DocumentBody;
use super::error::ApiError;
use super::status::first_read;
use super::views;
use crate::app::App;
use crate::catalog::Entry;
use crate::formats::is_skill_document;
use crate::store::{Etag, Precondition};
use base::memory::BufferedBytes;
use base::model::{DocumentKind, Id, ProblemDetail};

/// The query of a list.
#[derive(Debug, Default, Deserialize)]
pub struct Filter {
    supports: Option<String>,
    language: Option<String>,
    #[serde(default)]
    detail: bool,
    /// The ids in the store instead, also of documents that cannot be used.
    #[serde(default)]
    stored: bool,
}

/// `GET /api/{kind}s`
pub async fn list(
    kind: DocumentKind,
    app: Data<App>,
    filter: Query<Filter>,
) -> Result<HttpResponse, ApiError> {
    first_read(&app)?;
    if filter.stored {
        return Ok(HttpResponse::Ok().json(app.catalog.stored_ids(kind).await));
    }
    let snapshot = app.catalog.snapshot();
    let ids = snapshot.ids(kind);
    if filter.takes_all() && !filter.detail {
        return Ok(HttpResponse::Ok().json(ids));
    }
    let entries = ids.iter().filter_map(|id| Some((id, snapshot.entry(kind, id)?)));
    let found: Vec<(&Id, Entry)> = entries.filter(|(_, entry)| filter.takes(entry)).collect();
    Ok(match filter.detail {
        true => {
            let details = found.iter().map(|(id, entry)| views::summary(id, entry, &snapshot, &app));
            HttpResponse::Ok().json(details.collect::<Vec<_>>())
        }
        false => HttpResponse::Ok().json(found.iter().map(|(id, _)| id).collect::<Vec<_>>()),
    })
}

impl Filter {
    fn takes_all(&self) -> bool {
        self.supports.is_none() && self.language.is_none()
    }

    /// Whether a document is in the list. Kinds without scenes, or without languages, are not filtered by them.
    fn takes(&self, entry: &Entry) -> bool {
        let scene = self.supports.as_deref().zip(entry.supports());
        let language = self.language.as_deref().zip(entry.languages());
        let speaks = |(wanted, languages): (&str, &[String])| {
            languages.iter().any(|language| language == "*" || language.eq_ignore_ascii_case(wanted))
        };
        scene.is_none_or(|(wanted, scenes)| scenes.contains(&wanted)) && language.is_none_or(speaks)
    }
}

/// The query of a single document.
#[derive(Debug, Default, Deserialize)]
pub struct Form {
    /// The document as it was written, byte by byte.
    raw: Option<RawSource>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RawSource {
    /// Only if it is in the store.
    Store,
    /// Also if it is a package's.
    Any,
}

/// `GET /api/{kind}s/{id}`
pub async fn show(
    kind: DocumentKind,
    app: Data<App>,
    id: Path<String>,
    form: Query<Form>,
) -> Result<HttpResponse, ApiError> {
    let id = app.catalog.snapshot().full_id(kind, &Id::parse(&id)?);
    if let Some(source) = form.raw {
        let stored_only = matches!(source, RawSource::Store);
        let raw = app.catalog.raw(kind, &id, stored_only).await;
        let raw = raw.ok_or_else(|| not_found(&app, kind, &id))?;
        return Ok(HttpResponse::Ok().content_type(media_type_of(kind, &raw)).body(raw));
    }
    let (snapshot, etag) = app.catalog.snapshot_with_etag(kind, &id).await;
    let entry = snapshot.entry(kind, &id).ok_or_else(|| not_found(&app, kind, &id))?;
    let mut response = HttpResponse::Ok();
    if let Some(etag) = etag {
        response.insert_header((ETAG, format!("\"{etag}\"")));
    }
    Ok(response.json(views::document(&entry, &snapshot, &app)))
}

/// The media type of a stored document.
fn media_type_of(kind: DocumentKind, raw: &[u8]) -> &'static str {
    match kind {
        DocumentKind::Skill if !is_skill_document(raw) => "text/markdown; charset=utf-8",
        _ => "application/json",
    }
}

/// 404; or 503 while the store was not read yet, since the document may be in there.
fn not_found(app: &App, kind: DocumentKind, id: &Id) -> ApiError {
    let not_loaded = app.catalog.store_state().not_loaded();
    not_loaded.map_or_else(|| (&app.catalog.snapshot().no_document(kind, id)).into(), ApiError::from)
}

/// What a write did.
#[derive(Serialize)]
struct WrittenReply {
    id: Id,
    /// Whether nothing was stored under the id before.
    created: bool,
    /// What is wrong with the document although it was taken.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<ProblemDetail>,
}

/// `PUT /api/{kind}s/{id}`
pub async fn put(
    kind: DocumentKind,
    app: Data<App>,
    id: Path<String>,
    request: HttpRequest,
    body: DocumentBody,
) -> Result<HttpResponse, ApiError> {
    first_read(&app)?;
    let id = Id::parse(&id)?;
    let expect = expectation(&request)?;
    let (catalog, stored_as) = (app.catalog.clone(), id.clone());
    let write = async move {
        let BufferedBytes { bytes, held: _held } = body.finish(kind)?;
        Ok::<_, ApiError>(catalog.put(kind, &stored_as, &bytes, expect).await?)
    };
    let written =
        app.runtime.spawn(write).await.map_err(|error| ApiError::broken_off(&error.to_string()))??;
    let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    let etag = format!("\"{}\"", written.etag);
    let reply = WrittenReply { id, created: written.created, problems: written.problems };
    Ok(HttpResponse::build(status).insert_header((ETAG, etag)).json(reply))
}

/// `DELETE /api/{kind}s/{id}`
pub async fn delete(
    kind: DocumentKind,
    app: Data<App>,
    id: Path<String>,
    request: HttpRequest,
) -> Result<HttpResponse, ApiError> {
    first_read(&app)?;
    let id = Id::parse(&id)?;
    let (expect, catalog) = (expectation(&request)?, app.catalog.clone());
    let delete = async move { catalog.delete(kind, &id, expect).await };
    app.runtime.spawn(delete).await.map_err(|error| ApiError::broken_off(&error.to_string()))??;
    Ok(HttpResponse::NoContent().finish())
}

/// The expectation about the stored version: one ETag in `If-Match`, or `If-None-Match: *` (RFC 9110). Any other condition fails.
fn expectation(request: &HttpRequest) -> Result<Precondition, ApiError> {
    let headers = request.headers();
    match headers.get(IF_NONE_MATCH) {
        Some(any) if any == "*" => return Ok(Precondition::Absent),
        Some(_) => return Err(ApiError::bad_condition("`if-none-match` can only be `*` here")),
        None => {}
    }
    let Some(header) = headers.get(IF_MATCH) else { return Ok(Precondition::Any) };
    let text = header.to_str().ok().and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
    let etag = text
        .and_then(|text| text.parse::<Etag>().ok())
        .ok_or_else(|| ApiError::bad_condition("`if-match` must be one ETag, just as GET returns it"))?;
    Ok(Precondition::Etag(etag))
}
