//! Lists of documents, single documents, and writes.

use actix_web::http::StatusCode;
use actix_web::http::header::{ETAG, IF_MATCH, IF_NONE_MATCH};
use actix_web::web::{Data, Path, Query};
use actix_web::{HttpRequest, HttpResponse};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::body::{JsonBody, admitted};
use super::error::ApiError;
use super::status::first_read;
use super::views;
use crate::app::App;
use crate::catalog::{PromptEntry, Snapshot};
use crate::store::{Etag, Expect};
use base::memory::BufferedBytes;
use base::model::{DocumentKind, Id};
use template::value::Tree;

/// What a list may be narrowed to.
#[derive(Debug, Default, Deserialize)]
pub struct Filter {
    supports: Option<String>,
    language: Option<String>,
    #[serde(default)]
    detail: bool,
    /// The ids in the store, of good documents and bad ones.
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
    Ok(HttpResponse::Ok().json(match kind {
        DocumentKind::Extension => extensions(&snapshot, &filter),
        DocumentKind::Prompt => prompts(&snapshot, &filter),
        DocumentKind::Environ => environs(&snapshot, &filter),
        DocumentKind::Tool => tools(&snapshot, &filter),
    }))
}

impl Filter {
    fn supports(&self, supported: &[String]) -> bool {
        self.supports.as_ref().is_none_or(|wanted| supported.contains(wanted))
    }

    fn language(&self, languages: &[String]) -> bool {
        let fits = |wanted: &String| languages.iter().any(|l| l == "*" || l.eq_ignore_ascii_case(wanted));
        self.language.as_ref().is_none_or(fits)
    }

    fn prompt(&self, entry: &PromptEntry) -> bool {
        let supported = entry.prompt.as_ref().map_or(&[][..], |prompt| &prompt.supports);
        let languages = entry.extension.as_ref().map_or(&[][..], |entry| &entry.extension.languages);
        self.supports(supported) && self.language(languages)
    }

    /// The id alone, or the object that `detail` gives.
    fn item(&self, id: &Id, detail: impl FnOnce() -> Json) -> Json {
        if self.detail { detail() } else { json!(id) }
    }
}

fn extensions(snapshot: &Snapshot, filter: &Filter) -> Json {
    let all = snapshot.documents.extensions.iter().filter(|(_, entry)| {
        let extension = &entry.extension;
        let supported = extension.prompts.iter().any(|prompt| filter.supports(&prompt.supports));
        (supported || filter.supports.is_none()) && filter.language(&extension.languages)
    });
    all.map(|(id, entry)| filter.item(id, || views::extension(entry, snapshot))).collect()
}

fn prompts(snapshot: &Snapshot, filter: &Filter) -> Json {
    let all = snapshot.documents.prompts.iter().filter(|(_, entry)| filter.prompt(entry));
    all.map(|(id, entry)| filter.item(id, || views::prompt_summary(entry))).collect()
}

fn environs(snapshot: &Snapshot, filter: &Filter) -> Json {
    let value = |id: &str| Id::parse(id).ok().and_then(|id| snapshot.environ(&id));
    let item = |id: &str| match filter.detail {
        true => json!({"id": id, "value": value(id)}),
        false => json!(id),
    };
    snapshot.environ_ids.iter().map(|id| item(id)).collect()
}

fn tools(snapshot: &Snapshot, filter: &Filter) -> Json {
    let all = snapshot.documents.tools.iter().filter(|(_, tool)| filter.supports(&tool.supports));
    all.map(|(id, tool)| filter.item(id, || views::tool(tool))).collect()
}

/// In which form a document is wanted.
#[derive(Debug, Default, Deserialize)]
pub struct Form {
    /// The bare document, as it was written.
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
    let id = Id::parse(&id)?;
    if let Some(source) = form.raw {
        let stored_only = matches!(source, RawSource::Store);
        let raw = app.catalog.raw(kind, &id, stored_only).await;
        let raw = raw.ok_or_else(|| not_found(&app, kind, &id))?;
        return Ok(HttpResponse::Ok().content_type("application/json").body(raw));
    }
    let (snapshot, etag) = app.catalog.snapshot_with_etag(kind, &id).await;
    let documents = &snapshot.documents;
    let view = match kind {
        DocumentKind::Extension => {
            documents.extensions.get(&id).map(|entry| views::extension(entry, &snapshot))
        }
        DocumentKind::Prompt => {
            documents.prompts.get(&id).map(|entry| views::prompt(&app.renderer.describe(&snapshot, entry)))
        }
        DocumentKind::Environ => snapshot.environ(&id).map(|value| json!(value)),
        DocumentKind::Tool => documents.tools.get(&id).map(|tool| views::tool(tool)),
    };
    let view = view.ok_or_else(|| not_found(&app, kind, &id))?;
    let mut response = HttpResponse::Ok();
    if let Some(etag) = etag {
        response.insert_header((ETAG, format!("\"{etag}\"")));
    }
    Ok(response.json(view))
}

/// Nothing of this id, unless it may be in a store that could not be read yet.
fn not_found(app: &App, kind: DocumentKind, id: &Id) -> ApiError {
    let not_loaded = app.catalog.store_state().not_loaded();
    not_loaded.map_or_else(|| ApiError::not_found(kind, id.as_str()), ApiError::from)
}

/// `PUT /api/{kind}s/{id}`
pub async fn put(
    kind: DocumentKind,
    app: Data<App>,
    id: Path<String>,
    request: HttpRequest,
    body: JsonBody,
) -> Result<HttpResponse, ApiError> {
    first_read(&app)?;
    let id = Id::parse(&id)?;
    let (expect, sent) = (expectation(&request)?, body.into_sent());
    let (catalog, stored_as) = (app.catalog.clone(), id.clone());
    let write = async move {
        let BufferedBytes { bytes, mut held } = sent.finish()?;
        held.grow(admitted(&bytes, tree_of(kind))?)?;
        Ok::<_, ApiError>(catalog.put(kind, &stored_as, &bytes, expect).await?)
    };
    let written =
        app.runtime.spawn(write).await.map_err(|error| ApiError::broken_off(&error.to_string()))??;
    let status = if written.created { StatusCode::CREATED } else { StatusCode::OK };
    let reply = json!({"id": id, "created": written.created});
    Ok(HttpResponse::build(status).insert_header((ETAG, format!("\"{}\"", written.etag))).json(reply))
}

/// What a document is read into: environs are plain values, all others have a schema.
fn tree_of(kind: DocumentKind) -> Tree {
    if kind == DocumentKind::Environ { Tree::Value } else { Tree::Json }
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

/// What `If-Match` and `If-None-Match: *` say about the stored version.
fn expectation(request: &HttpRequest) -> Result<Expect, ApiError> {
    let headers = request.headers();
    match headers.get(IF_NONE_MATCH) {
        Some(any) if any == "*" => return Ok(Expect::Absent),
        Some(_) => return Err(ApiError::bad_condition("`if-none-match` can only be `*` here")),
        None => {}
    }
    let Some(header) = headers.get(IF_MATCH) else { return Ok(Expect::Any) };
    let text = header.to_str().ok().and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
    let etag = text
        .and_then(|text| text.parse::<Etag>().ok())
        .ok_or_else(|| ApiError::bad_condition("`if-match` must be one ETag, just as GET returns it"))?;
    Ok(Expect::Etag(etag))
}
