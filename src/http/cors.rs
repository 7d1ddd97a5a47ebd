//! Answers to web pages of other origins (CORS, <https://fetch.spec.whatwg.org/#http-cors-protocol>), for those of
//! `server.origins`. The requests of all others are refused by the [guard](super::guard), and their preflights get no permission.

use actix_cors::Cors;

/// How long a browser may keep the answer to a preflight, in seconds.
const KEPT: usize = 3_600;

/// The headers of answers that pages may read, beside those that they always may.
const EXPOSED: [&str; 7] = [
    "etag",
    "retry-after",
    "server-timing",
    "x-prompt-id",
    "x-prompt-warnings",
    "x-request-id",
    "x-should-retry",
];

/// What pages of these origins may do: everything that other clients may. `*` stands for all origins.
pub fn answers(origins: &[String]) -> Cors {
    let methods = ["GET", "HEAD", "POST", "PUT", "DELETE"];
    let cors =
        Cors::default().allowed_methods(methods).allow_any_header().expose_headers(EXPOSED).max_age(KEPT);
    match origins.iter().any(|origin| origin == "*") {
        true => cors.allow_any_origin().send_wildcard(),
        false => origins.iter().fold(cors, |cors, origin| cors.allowed_origin(origin)),
    }
}
