//! Errors as answers: one table from kinds to statuses, one shape for all bodies.

use std::borrow::Cow;

use actix_web::http::StatusCode;
use actix_web::http::header::{ACCEPT_ENCODING, ALLOW, ContentType, HeaderName, RETRY_AFTER};
use actix_web::web::Bytes;
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::chat::Api;
use crate::llm::response_error_event;
use base::error::Kind;
use base::model::{DocumentKind, ProblemDetail};
use base::schema::{Violation, in_words};
use template::value::TooDense;

/// An error as an answer, in the shape that OpenAI's client libraries show.
#[derive(Debug, Clone, PartialEq)]
pub struct ApiError(Box<ErrorAnswer>);

#[derive(Debug, Clone, PartialEq)]
struct ErrorAnswer {
    status: StatusCode,
    error: ErrorBody,
    headers: Vec<(HeaderName, String)>,
    /// The body that another service wrote, in place of our own.
    passed_on: Option<Bytes>,
}

#[derive(Serialize)]
struct ErrorReply<'a> {
    error: &'a ErrorBody,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ErrorBody {
    message: String,
    #[serde(rename = "type")]
    error_type: &'static str,
    /// The part of the request that is wrong.
    param: Option<Cow<'static, str>>,
    /// Tells programs which error it is; `docs/api.md` lists all codes.
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Json>,
}

/// The one table from kinds to statuses and OpenAI's types of errors.
fn status_and_type(kind: Kind) -> (StatusCode, &'static str) {
    match kind {
        Kind::InvalidInput => (StatusCode::BAD_REQUEST, "invalid_request_error"),
        Kind::Unprocessable => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request_error"),
        Kind::UnsupportedFormat => (StatusCode::UNSUPPORTED_MEDIA_TYPE, "invalid_request_error"),
        Kind::TooLarge => (StatusCode::PAYLOAD_TOO_LARGE, "invalid_request_error"),
        Kind::InputTimeout => (StatusCode::REQUEST_TIMEOUT, "invalid_request_error"),
        Kind::Unauthenticated => (StatusCode::UNAUTHORIZED, "authentication_error"),
        Kind::Forbidden => (StatusCode::FORBIDDEN, "permission_error"),
        Kind::NotFound => (StatusCode::NOT_FOUND, "not_found_error"),
        Kind::NoSuchOperation => (StatusCode::METHOD_NOT_ALLOWED, "invalid_request_error"),
        Kind::Conflict => (StatusCode::CONFLICT, "conflict_error"),
        Kind::PreconditionFailed => (StatusCode::PRECONDITION_FAILED, "conflict_error"),
        Kind::FailedDependency => (StatusCode::FAILED_DEPENDENCY, "conflict_error"),
        Kind::Overloaded => (StatusCode::TOO_MANY_REQUESTS, "rate_limit_error"),
        Kind::Timeout => (StatusCode::SERVICE_UNAVAILABLE, "timeout_error"),
        Kind::Unavailable => (StatusCode::SERVICE_UNAVAILABLE, "unavailable_error"),
        Kind::Failed => (StatusCode::INTERNAL_SERVER_ERROR, "render_error"),
        Kind::Upstream => (StatusCode::BAD_GATEWAY, "upstream_error"),
    }
}

impl ApiError {
    pub(super) fn new(kind: Kind, code: &'static str, message: impl Into<String>) -> ApiError {
        let (status, error_type) = status_and_type(kind);
        let error = ErrorBody { message: message.into(), error_type, param: None, code, details: None };
        ApiError(Box::new(ErrorAnswer { status, error, headers: Vec::new(), passed_on: None }))
    }

    pub(super) fn with_details(mut self, details: Json) -> ApiError {
        self.0.error.details = Some(details);
        self
    }

    /// Passes on another service's error: its status and its body, unchanged.
    pub(super) fn passed_on(mut self, status: u16, body: Bytes) -> ApiError {
        self.0.status = StatusCode::from_u16(status).unwrap_or(self.0.status);
        self.0.passed_on = Some(body);
        self
    }

    pub(super) fn with_header(mut self, name: HeaderName, value: impl Into<String>) -> ApiError {
        self.0.headers.push((name, value.into()));
        self
    }

    pub(super) fn about(mut self, param: impl Into<Cow<'static, str>>) -> ApiError {
        self.0.error.param = Some(param.into());
        self
    }

    /// The error of a part, whose place it says.
    pub(super) fn at(mut self, place: &str) -> ApiError {
        self.0.error.message = format!("{place}: {}", self.0.error.message);
        self
    }

    /// The body is not JSON, or not of the expected shape.
    pub fn invalid_json(problem: &ProblemDetail) -> ApiError {
        ApiError::no_object("the request body", problem)
    }

    /// A line of the body is not JSON, or not of the expected shape.
    pub fn invalid_line(problem: &ProblemDetail) -> ApiError {
        ApiError::no_object("the line", problem)
    }

    fn no_object(what: &str, problem: &ProblemDetail) -> ApiError {
        let message = format!("{what} is {}; send one JSON object", problem.message);
        ApiError::new(Kind::InvalidInput, "invalid_json", message)
            .with_details(place(problem.line, problem.column))
    }

    /// An answer that cannot be written as JSON.
    pub fn unwritable(problem: &str) -> ApiError {
        ApiError::new(Kind::Failed, "render_failed", format!("the answer cannot be written: {problem}"))
    }

    /// A preview without a template, or with two.
    pub fn not_one_template() -> ApiError {
        let message = "give exactly one of `template` (a text) and `messages` (a list)";
        ApiError::new(Kind::InvalidInput, "invalid_document", message)
            .with_details(json!({"violations": [{"path": "", "message": message}]}))
    }

    /// The query of the address cannot be read.
    pub fn invalid_query(detail: &str) -> ApiError {
        ApiError::new(Kind::InvalidInput, "invalid_query", format!("the query of the address: {detail}"))
    }

    /// No document of the kind has this id.
    pub fn not_found(kind: DocumentKind, id: &str) -> ApiError {
        let message = format!("there is no {kind} `{id}`; GET /api/{kind}s lists those that exist");
        ApiError::new(Kind::NotFound, kind.not_found_code(), message).about("id")
    }

    /// No route has this path.
    pub fn route_not_found(path: &str) -> ApiError {
        let message = format!("there is nothing at `{path}`; docs/api.md lists the routes");
        ApiError::new(Kind::NotFound, "route_not_found", message)
    }

    /// The path does not take the method; `allowed` are those that it takes.
    pub fn method_not_allowed(method: &str, allowed: &str) -> ApiError {
        let message = format!("this path does not take {method}; it takes {allowed}");
        ApiError::new(Kind::NoSuchOperation, "method_not_allowed", message).with_header(ALLOW, allowed)
    }

    /// The service stops before the request was finished.
    pub fn stopping() -> ApiError {
        let message = "the service is stopping and has cancelled this request, which may have been carried out in part; send it again";
        ApiError::new(Kind::Unavailable, "stopping", message).with_header(RETRY_AFTER, "1")
    }

    /// The body is longer than the limit.
    pub fn body_too_large(limit: usize) -> ApiError {
        let message = format!("the request body is longer than {limit} bytes (server.body_limit_bytes)");
        ApiError::new(Kind::TooLarge, "body_too_large", message)
    }

    /// The parsed body would take too much memory for its length.
    pub fn body_too_dense(error: TooDense) -> ApiError {
        let message = format!("the request body {error}; send fewer values, or longer ones");
        ApiError::new(Kind::TooLarge, "body_too_large", message)
    }

    /// The body did not arrive in time.
    pub fn body_too_slow() -> ApiError {
        let message =
            "the request body came too slowly (server.body_timeout_ms, server.body_bytes_per_second)";
        ApiError::new(Kind::InputTimeout, "request_timeout", message.to_owned())
    }

    /// The connection broke while the body was read.
    pub fn body_unreadable(detail: &str) -> ApiError {
        ApiError::new(
            Kind::InvalidInput,
            "invalid_json",
            format!("the request body cannot be read: {detail}"),
        )
    }

    /// A body that is packed in another way than with gzip.
    pub fn unsupported_content_encoding() -> ApiError {
        let message = "a body may be packed with gzip only: send `content-encoding: gzip`, or none";
        ApiError::new(Kind::UnsupportedFormat, "unsupported_media_type", message.to_owned())
            .with_header(ACCEPT_ENCODING, "gzip")
    }

    /// A request on a connection that has too many of them under way.
    pub fn too_many_streams(limit: usize) -> ApiError {
        let message = format!("{limit} requests are under way on this connection; wait for their answers");
        ApiError::new(Kind::Unavailable, "overloaded", message)
    }

    /// The body is not declared as JSON.
    pub fn unsupported_media_type() -> ApiError {
        let message = "send the body as JSON, with the header `content-type: application/json`".to_owned();
        ApiError::new(Kind::UnsupportedFormat, "unsupported_media_type", message)
    }

    /// Members of a request that do not go together, or cannot be used.
    pub fn invalid_request(message: &str) -> ApiError {
        ApiError::new(Kind::InvalidInput, "invalid_request", message)
    }

    /// Members of a request that cannot be used.
    pub(super) fn invalid_members(code: &'static str, violations: &[Violation]) -> ApiError {
        let message = format!("the request body: {}", in_words(violations));
        ApiError::new(Kind::InvalidInput, code, message).with_details(json!({"violations": violations}))
    }

    /// The client has an event under way already.
    pub fn busy_session() -> ApiError {
        let message = "an event is under way; send the next one when its directive has come";
        ApiError::new(Kind::Conflict, "session_state", message).with_details(json!({"state": "thinking"}))
    }

    /// The body is not declared as JSON lines.
    pub fn no_lines() -> ApiError {
        let message =
            "send one JSON object a line, with the header `content-type: application/x-ndjson`".to_owned();
        ApiError::new(Kind::UnsupportedFormat, "unsupported_media_type", message)
    }

    /// The `Host` or the `Origin` of the request is not allowed.
    pub fn forbidden(message: String) -> ApiError {
        ApiError::new(Kind::Forbidden, "forbidden", message)
    }

    /// The limit on connections is reached.
    pub fn too_many_connections() -> ApiError {
        let message = "too many connections are open (server.connections); try again in a moment";
        ApiError::new(Kind::Unavailable, "overloaded", message)
    }

    /// A condition on the stored version that is not supported.
    pub fn bad_condition(message: &str) -> ApiError {
        ApiError::new(Kind::PreconditionFailed, "etag_mismatch", message)
    }

    /// The work for a request ended without a result, by a panic.
    pub fn broken_off(detail: &str) -> ApiError {
        ApiError::new(Kind::Failed, "render_failed", format!("the request was not finished: {detail}"))
    }

    /// The error as the last event of a stream, of which it is the event with this number.
    pub fn event(&self, api: Api, sequence: u64) -> Bytes {
        match api {
            // Serialization cannot fail: the error holds only strings and JSON.
            Api::Completions | Api::Text => {
                format!("data: {}\n\n", serde_json::to_string(&self.reply()).unwrap_or_default()).into()
            }
            Api::Responses => response_error_event(&json!(self.0.error), sequence),
        }
    }

    /// The error as JSON.
    pub fn to_json(&self) -> Json {
        json!(self.0.error)
    }

    /// Adds a member to the details.
    pub(super) fn with_detail(mut self, name: &str, detail: Json) -> ApiError {
        let details = self.0.error.details.get_or_insert_with(|| json!({}));
        if let Some(members) = details.as_object_mut() {
            members.insert(name.to_owned(), detail);
        }
        self
    }

    fn reply(&self) -> ErrorReply<'_> {
        ErrorReply { error: &self.0.error }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}: {}", self.0.status.as_u16(), self.0.error.code, self.0.error.message)
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        self.0.status
    }

    fn error_response(&self) -> HttpResponse {
        let mut response = HttpResponse::build(self.0.status);
        if matches!(self.0.status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            response.insert_header((RETRY_AFTER, "1"));
        }
        for (name, value) in &self.0.headers {
            response.insert_header((name.clone(), value.as_str()));
        }
        match &self.0.passed_on {
            Some(body) => response.content_type(ContentType::json()).body(body.clone()),
            None => response.json(self.reply()),
        }
    }
}

/// A place in a text, as `details`.
pub(super) fn place(line: Option<usize>, column: Option<usize>) -> Json {
    json!({"line": line, "column": column})
}
