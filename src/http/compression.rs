//! Compression with gzip: of answers, for clients that accept it; of request bodies, within the limit on their length.

use std::io::Read;

use actix_http::encoding::Encoder;
use actix_web::HttpRequest;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::{ResponseHead, ServiceRequest};
use actix_web::http::Method;
use actix_web::http::header::{
    ACCEPT_ENCODING, AcceptEncoding, CONTENT_ENCODING, ContentEncoding, Encoding, Header, HeaderValue, VARY,
};
use actix_web::web::Bytes;
use base::memory::{Buffer, BufferedBytes, Memory};
use flate2::bufread::GzDecoder;
use memchr::memmem;
use std::sync::Arc;

use super::error::ApiError;

/// Shorter answers, in bytes, are not worth the work.
const SHORTEST: u64 = 4 << 10;

/// The most members that a body in gzip may have (RFC 1952, section 2.2). Empty ones unpack to nothing, but take time.
const MEMBERS: usize = 10_000;

/// How much is unpacked at a time, in bytes.
const PIECE: usize = 16 << 10;

/// Whether the client of a request takes an answer in gzip.
pub fn is_accepted(request: &ServiceRequest) -> bool {
    // Most clients that are no browsers send no such header: only one with the word is read.
    let has_word = request
        .headers()
        .get_all(ACCEPT_ENCODING)
        .any(|value| memmem::find(value.as_bytes(), b"gzip").is_some());
    if !has_word || request.method() == Method::HEAD {
        return false;
    }
    let offered = [Encoding::gzip(), Encoding::identity()];
    let negotiated =
        AcceptEncoding::parse(request).ok().and_then(|accepted| accepted.negotiate(offered.iter()));
    negotiated == Some(Encoding::gzip())
}

/// The body of an answer: in gzip, if that is accepted and worth it. The parts of a stream are sent as they come, and stay as
/// they are.
pub fn encoded(head: &mut ResponseHead, body: BoxBody, is_accepted: bool) -> BoxBody {
    let is_long = matches!(body.size(), BodySize::Sized(bytes) if bytes >= SHORTEST);
    match (is_long, is_accepted) {
        (true, true) => BoxBody::new(Encoder::response(ContentEncoding::Gzip, head, body)),
        (true, false) => {
            // A cache must not give this answer to those who accept gzip, nor the other way round (RFC 9110, section 12.5.5).
            head.headers_mut().append(VARY, HeaderValue::from_static("accept-encoding"));
            body
        }
        (false, _) => body,
    }
}

/// How the body of a request is packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    None,
    /// With gzip.
    Gzip,
}

impl Packing {
    /// Reads the header `content-encoding`.
    ///
    /// # Errors
    /// `unsupported_media_type` for anything but gzip.
    pub fn of(request: &HttpRequest) -> Result<Packing, ApiError> {
        let mut values = request.headers().get_all(CONTENT_ENCODING);
        let Some(first) = values.next() else { return Ok(Packing::None) };
        let name = first.to_str().unwrap_or("?").trim().to_ascii_lowercase();
        match (name.as_str(), values.next()) {
            ("identity" | "", None) => Ok(Packing::None),
            ("gzip" | "x-gzip", None) => Ok(Packing::Gzip),
            _ => Err(ApiError::unsupported_content_encoding()),
        }
    }
}

/// Unpacks a body, up to `limit` bytes.
///
/// # Errors
/// `body_too_large` beyond the limit; `invalid_json` for what is not gzip.
pub fn unpack(packed: Buffer, limit: usize, memory: &Arc<Memory>) -> Result<Buffer, ApiError> {
    let BufferedBytes { bytes, held: _held } = packed.finish()?;
    let mut unpacked = Buffer::new(memory, None);
    let mut piece = vec![0; PIECE];
    let mut rest = &bytes[..];
    for _ in 0..MEMBERS {
        let mut member = GzDecoder::new(rest);
        loop {
            let read = member.read(&mut piece);
            let read = read.map_err(|_| ApiError::body_unreadable("it is not in gzip, or is cut off"))?;
            let Some(new) = piece.get(..read).filter(|new| !new.is_empty()) else { break };
            if unpacked.len() + new.len() > limit {
                return Err(ApiError::body_too_large(limit));
            }
            unpacked.push(Bytes::copy_from_slice(new))?;
        }
        rest = member.into_inner();
        if rest.is_empty() {
            return Ok(unpacked);
        }
    }
    Err(ApiError::body_unreadable("it has too many members in gzip"))
}
