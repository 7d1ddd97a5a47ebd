//! The files beside skills.

use actix_web::HttpResponse;
use actix_web::body::BoxBody;
use actix_web::http::header::X_CONTENT_TYPE_OPTIONS;
use actix_web::web::{Data, Path};

use super::error::ApiError;
use super::status::first_read;
use super::unread_body::BodyWith;
use crate::app::App;
use base::model::Id;

/// The media types of files by their extensions; all others are bytes. What a browser would run (HTML, SVG, XML) is never served as such.
const TYPES: [(&str, &str); 20] = [
    ("md", "text/markdown; charset=utf-8"),
    ("txt", "text/plain; charset=utf-8"),
    ("sh", "text/plain; charset=utf-8"),
    ("py", "text/plain; charset=utf-8"),
    ("rb", "text/plain; charset=utf-8"),
    ("js", "text/plain; charset=utf-8"),
    ("ts", "text/plain; charset=utf-8"),
    ("toml", "text/plain; charset=utf-8"),
    ("yaml", "text/plain; charset=utf-8"),
    ("yml", "text/plain; charset=utf-8"),
    ("sql", "text/plain; charset=utf-8"),
    ("csv", "text/csv; charset=utf-8"),
    ("json", "application/json"),
    ("xml", "text/plain; charset=utf-8"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("jpg", "image/jpeg"),
    ("jpeg", "image/jpeg"),
    ("gif", "image/gif"),
    ("webp", "image/webp"),
];

/// `GET /api/skills/{id}/files/{path}`
pub async fn file(app: Data<App>, place: Path<(String, String)>) -> Result<HttpResponse, ApiError> {
    first_read(&app)?;
    let (id, path) = place.into_inner();
    let contents = app.catalog.bundled_file(&Id::parse(&id)?, &path).await?;
    let mut held = app.memory.reservation();
    held.grow(contents.len())?;
    let mut response = HttpResponse::Ok();
    // No browser is to find a type of its own.
    response.insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff")).content_type(type_of(&path));
    Ok(response.body(BodyWith::new(BoxBody::new(contents), held)))
}

fn type_of(path: &str) -> &'static str {
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let known = TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    known.map_or("application/octet-stream", |(_, media_type)| media_type)
}
