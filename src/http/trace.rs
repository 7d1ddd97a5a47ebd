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

/// The time that a client of OpenAI's make gives its request, in seconds: in JavaScript and in Python.
const STAINLESS_TIMEOUTS: [&str; 2] = ["x-stainless-timeout", "x-stainless-read-timeout"];

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
        let seconds = |name| text(request.headers().get(name))?.trim().parse().ok();
        let timeouts = STAINLESS_TIMEOUTS.into_iter().filter_map(seconds);
        let timeouts = timeouts.filter_map(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let timeout = timeouts.filter(|timeout| !timeout.is_zero()).min();
        ready(Ok(Caller::new(trace(request), timeout, true)))
    }
}

fn trace(request: &HttpRequest) -> Trace {
    let id = request.extensions().get::<RequestId>().and_then(|id| text(Some(&id.0)).map(str::to_owned));
    Trace::new(id.unwrap_or_default(), text(request.headers().get("traceparent")))
}

fn text(value: Option<&HeaderValue>) -> Option<&str> {
    value.and_then(|value| value.to_str().ok())
}
