//! For whom a request is handled, as it goes on to tools.

use std::future::{Ready, ready};

use actix_web::dev::Payload;
use actix_web::http::header::HeaderValue;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};

use crate::trace::Trace;

/// The id that the [guard](super::guard) has chosen for a request.
pub struct RequestId(pub HeaderValue);

impl FromRequest for Trace {
    type Error = Error;
    type Future = Ready<Result<Trace, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let text = |value: &HeaderValue| value.to_str().map(str::to_owned).ok();
        let id = request.extensions().get::<RequestId>().and_then(|id| text(&id.0));
        let parent = request.headers().get("traceparent").and_then(|value| value.to_str().ok());
        ready(Ok(Trace::new(id.unwrap_or_default(), parent)))
    }
}
