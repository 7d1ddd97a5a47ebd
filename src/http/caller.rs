//! The caller of a request, read from its headers.

use std::future::{Ready, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderValue;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};

use base::caller::Caller;

/// The id that the [guard](super::guard) has chosen for a request.
pub struct RequestId(pub HeaderValue);

/// A handler's argument: the caller of its request.
pub struct RequestCaller(pub Caller);

/// The headers in which OpenAI's client libraries (JavaScript, Python) tell their timeout, in seconds.
const STAINLESS_TIMEOUTS: [&str; 2] = ["x-stainless-timeout", "x-stainless-read-timeout"];

impl FromRequest for RequestCaller {
    type Error = Error;
    type Future = Ready<Result<RequestCaller, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let headers = request.headers();
        let seconds = |name| text(headers.get(name))?.trim().parse().ok();
        let timeouts = STAINLESS_TIMEOUTS.into_iter().filter_map(seconds);
        let timeouts = timeouts.filter_map(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let timeout = timeouts.filter(|timeout| !timeout.is_zero()).min();
        let extensions = request.extensions();
        let id = extensions.get::<RequestId>().and_then(|id| text(Some(&id.0))).unwrap_or_default();
        ready(Ok(RequestCaller(Caller::new(id, text(headers.get("traceparent")), timeout))))
    }
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}
