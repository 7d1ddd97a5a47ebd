//! Request bodies of writes: a document as JSON, or, where documents may be texts, as Markdown.

use std::future::Future;
use std::pin::Pin;

use actix_web::dev::Payload;
use actix_web::http::header::CONTENT_TYPE;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest};

use super::body::{admitted, receive};
use super::error::ApiError;
use base::encoding::media_type;
use base::memory::{Buffer, BufferedBytes};
use base::model::{DocumentKind, ProblemDetail};
use template::value::Tree;

/// The media type of a text that is a document.
const MARKDOWN: &str = "text/markdown";

/// The bytes of a document.
pub struct DocumentBody {
    sent: Buffer,
    is_markdown: bool,
}

impl DocumentBody {
    /// The document, with a reservation of the memory that it takes when it is read.
    ///
    /// # Errors
    /// `unsupported_media_type` for Markdown where documents are JSON; `invalid_json` for JSON that cannot be a document of the
    /// kind; `body_too_large` and `overloaded` as for all bodies.
    pub fn finish(self, kind: DocumentKind) -> Result<BufferedBytes, ApiError> {
        let may_be_text = kind == DocumentKind::Skill;
        if self.is_markdown && !may_be_text {
            return Err(ApiError::unsupported_media_type());
        }
        let BufferedBytes { bytes, mut held } = self.sent.finish()?;
        held.grow(match self.is_markdown {
            true => bytes.len(),
            false => admitted(&bytes, tree_of(kind))?,
        })?;
        match self.is_markdown || !may_be_text || begins_object(&bytes) {
            true => Ok(BufferedBytes { bytes, held }),
            false => Err(ApiError::invalid_json(&ProblemDetail::new(
                "not a JSON object (a SKILL.md is sent with `content-type: text/markdown`)",
            ))),
        }
    }
}

fn begins_object(bytes: &Bytes) -> bool {
    base::encoding::without_bom(bytes).trim_ascii_start().first() == Some(&b'{')
}

/// Into what a document is parsed, for the estimate of its memory.
fn tree_of(kind: DocumentKind) -> Tree {
    if kind.schema().is_some() { Tree::Json } else { Tree::Value }
}

fn is_markdown(declared: &str) -> bool {
    declared.eq_ignore_ascii_case(MARKDOWN)
}

impl FromRequest for DocumentBody {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<DocumentBody, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let declared = request.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let is_text = declared.map(media_type).is_some_and(is_markdown);
        let is_expected: fn(&str) -> bool =
            |declared| declared.eq_ignore_ascii_case("application/json") || is_markdown(declared);
        let received = receive(request, payload, is_expected, ApiError::unsupported_media_type);
        Box::pin(async move {
            let (sent, _) = received.await?;
            Ok(DocumentBody { sent, is_markdown: is_text })
        })
    }
}
