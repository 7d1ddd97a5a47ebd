//! For whom a request is handled, as it goes on to tools and models.

use std::future::{Ready, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::HeaderValue;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest};

use crate::llm::Caller;
use crate::trace::Trace;

/// The id that the [guard](super::guard) has chosen for a request.
pub struct RequestId(pub HeaderValue);

/// The time that a client of OpenAI's make gives its request, in seconds.
const STAINLESS_TIMEOUT: &str = "x-stainless-timeout";

impl FromRequest for Trace {
    type Error = Error;
    type Future = Ready<Result<Trace, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(Ok(trace(request)))
    }
}

impl FromRequest for Caller {
    type Error = Error;
    type Future = Ready<Result<Caller, Error>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        let seconds =
            text(request.headers().get(STAINLESS_TIMEOUT)).and_then(|text| text.trim().parse().ok());
        let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let timeout = timeout.filter(|timeout| !timeout.is_zero());
        ready(Ok(Caller { trace: trace(request), timeout, verbose: true }))
    }
}

fn trace(request: &HttpRequest) -> Trace {
    let id = request.extensions().get::<RequestId>().and_then(|id| text(Some(&id.0)).map(str::to_owned));
    Trace::new(id.unwrap_or_default(), text(request.headers().get("traceparent")))
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}
