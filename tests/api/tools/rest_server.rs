//! A real HTTP server whose answers are chosen by the path, and that remembers what it was asked.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, Response, StatusCode};
use serde_json::{Value as Json, json};

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    pub method: String,
    pub path: String,
    pub query: String,
    pub headers: HeaderMap,
    /// The JSON; another body is a text, and none is null.
    pub body: Json,
}

/// The server; it ends with the value.
pub struct RestServer {
    pub address: SocketAddr,
    state: Arc<ServerState>,
    task: tokio::task::JoinHandle<()>,
}

#[derive(Default)]
struct ServerState {
    seen: Mutex<Vec<RecordedRequest>>,
    running: AtomicUsize,
    most_running: AtomicUsize,
    cancelled: AtomicUsize,
}

/// Counts a request that is being answered, and whether its client goes away meanwhile.
struct RunningRequest<'s> {
    state: &'s ServerState,
    done: bool,
}

impl<'s> RunningRequest<'s> {
    fn new(state: &'s ServerState) -> RunningRequest<'s> {
        let running = state.running.fetch_add(1, Ordering::SeqCst) + 1;
        state.most_running.fetch_max(running, Ordering::SeqCst);
        RunningRequest { state, done: false }
    }
}

impl Drop for RunningRequest<'_> {
    fn drop(&mut self) {
        self.state.running.fetch_sub(1, Ordering::SeqCst);
        if !self.done {
            self.state.cancelled.fetch_add(1, Ordering::SeqCst);
        }
    }
}

impl RestServer {
    pub async fn start() -> RestServer {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ServerState::default());
        let shared = state.clone();
        let answer = move |request: Request<Body>| {
            let state = shared.clone();
            async move { answer(request, &state).await }
        };
        let app = axum::Router::new().fallback(answer);
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        RestServer { address, state, task }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The requests so far.
    pub fn seen(&self) -> Vec<RecordedRequest> {
        self.state.seen.lock().unwrap().clone()
    }

    /// The most requests that were being answered at the same time.
    pub fn most_running(&self) -> usize {
        self.state.most_running.load(Ordering::SeqCst)
    }

    /// Waits, for at most ten seconds, until so many clients have gone away from a request that was being answered.
    pub async fn cancelled(&self, count: usize) -> bool {
        for _ in 0..1_000 {
            if self.state.cancelled.load(Ordering::SeqCst) == count
                && self.state.running.load(Ordering::SeqCst) == 0
            {
                return true;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        false
    }
}

impl Drop for RestServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn answer(request: Request<Body>, state: &ServerState) -> Response<Body> {
    let mut running = RunningRequest::new(state);
    let (head, body) = request.into_parts();
    let body = to_bytes(body, 16 << 20).await.unwrap();
    let seen = RecordedRequest {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().unwrap_or_default().to_owned(),
        headers: head.headers,
        body: serde_json::from_slice(&body).unwrap_or_else(|_| match &*body {
            [] => Json::Null,
            other => String::from_utf8_lossy(other).into(),
        }),
    };
    state.seen.lock().unwrap().push(seen.clone());
    let response = respond(&seen).await;
    running.done = true;
    response
}

/// `/KIND/ARGUMENT`: what the paths of this server mean.
async fn respond(seen: &RecordedRequest) -> Response<Body> {
    let mut parts = seen.path.trim_start_matches('/').splitn(2, '/');
    let (kind, rest) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    match kind {
        // The request itself.
        "echo" => json_reply(&json!({
            "method": seen.method, "path": seen.path, "query": seen.query, "body": seen.body,
        })),
        // The member `value` of the body.
        "value" => json_reply(&seen.body["value"]),
        // The same after so many milliseconds.
        "slow" => {
            tokio::time::sleep(Duration::from_millis(rest.parse().unwrap())).await;
            json_reply(&seen.body["value"])
        }
        // What the tool of that name answers.
        "computed" => json_reply(&super::waves::answer(rest, &seen.body["value"]).unwrap()),
        "text" => reply(200, "text/plain; charset=utf-8", "plain <text>"),
        "cyrillic" => reply(200, "text/plain; charset=windows-1251", &b"\xcf\xf0\xe8\xe2\xe5\xf2"[..]),
        "latin" => reply(200, "application/json; charset=iso-8859-1", &b"{\"a\": \"\xe4\"}"[..]),
        "untyped" => Response::new(Body::from("untyped")),
        "empty" => reply(204, "application/json", ""),
        "broken" => reply(200, "application/json", "{\"a\": "),
        "marked" => reply(200, "application/json", "\u{feff}{\"a\": 1}"),
        "binary" => reply(200, "application/octet-stream", vec![0xff, 0xfe, 0]),
        "huge" => json_reply(&json!("x".repeat(rest.parse().unwrap()))),
        // So many bytes without saying before how many.
        "endless" => {
            let chunks = futures_util::stream::iter(0..rest.parse::<usize>().unwrap() / 1024)
                .map(|_| Ok::<_, std::io::Error>(vec![b'x'; 1024]));
            Response::new(Body::from_stream(chunks))
        }
        "status" => {
            let said = seen.headers.get("authorization").map_or("no", |value| value.to_str().unwrap());
            reply(rest.parse().unwrap(), "text/plain", format!("you sent {said}, and {}", "x".repeat(2000)))
        }
        // An error that repeats the credentials after so many other bytes.
        "late" => {
            let said = seen.headers.get("authorization").map_or("no", |value| value.to_str().unwrap());
            reply(500, "text/plain", format!("{}{said}", "x".repeat(rest.parse().unwrap())))
        }
        // To the URL in the query, with this status.
        "redirect" => {
            let target = seen.query.strip_prefix("to=").unwrap_or_default();
            let mut response = reply(rest.parse().unwrap(), "text/plain", "elsewhere");
            response.headers_mut().insert("location", target.parse().unwrap());
            response
        }
        // One redirect after another, to the end after so many.
        "steps" => {
            let left: usize = rest.parse().unwrap();
            let mut response = reply(307, "text/plain", "further");
            match left {
                0 => json_reply(&json!("arrived")),
                left => {
                    response
                        .headers_mut()
                        .insert("location", format!("/steps/{}", left - 1).parse().unwrap());
                    response
                }
            }
        }
        _ => reply(404, "text/plain", "nothing here"),
    }
}

fn json_reply(value: &Json) -> Response<Body> {
    reply(200, "application/json", value.to_string())
}

fn reply(status: u16, content_type: &str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert("content-type", content_type.parse().unwrap());
    response
}

use futures_util::StreamExt as _;
