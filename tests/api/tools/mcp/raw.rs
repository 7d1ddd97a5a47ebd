//! An HTTP server that answers as a test likes, to see what a client does when a server misbehaves.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use reqwest::Url;
use serde_json::{Value, json};

/// A request as it came.
pub struct RpcRequest {
    pub method: Method,
    pub path: String,
    pub headers: HeaderMap,
    pub message: Value,
}

impl RpcRequest {
    pub fn is(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    pub fn session(&self) -> Option<&str> {
        self.headers.get("mcp-session-id").map(|id| id.to_str().unwrap())
    }

    /// A JSON-RPC answer to it.
    pub fn answer(&self, result: Value) -> Response {
        json_body(json!({"jsonrpc": "2.0", "id": self.message["id"], "result": result}))
    }

    /// What any server says to what is no call; `session` is the id of a session to open.
    pub fn shake_hands(&self, session: &str) -> Response {
        if !self.is("initialize") {
            return status(202, "");
        }
        let server = json!({"name": "raw", "version": "1"});
        let mut answer = self.answer(json!({
            "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": server
        }));
        answer.headers_mut().insert("mcp-session-id", session.parse().unwrap());
        answer
    }
}

pub fn text_result(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub fn json_body(body: Value) -> Response {
    typed("application/json", body.to_string())
}

pub fn typed(kind: &str, body: impl Into<axum::body::Body>) -> Response {
    Response::builder().header("content-type", kind).body(body.into()).unwrap()
}

pub fn status(status: u16, body: &str) -> Response {
    Response::builder().status(status).body(body.to_owned().into()).unwrap()
}

/// Serves as long as the test's runtime lives.
pub struct RawServer {
    url: Url,
    calls: Arc<AtomicUsize>,
}

impl RawServer {
    pub async fn start(
        answer: impl Fn(&RpcRequest) -> Response + Clone + Send + Sync + 'static,
    ) -> RawServer {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let raw = RawServer { url, calls: Arc::default() };
        let calls = raw.calls.clone();
        let handler = move |method: Method, uri: Uri, headers: HeaderMap, body: Bytes| async move {
            let message = serde_json::from_slice(&body).unwrap_or_default();
            let request = RpcRequest { method, path: uri.path().to_owned(), headers, message };
            calls.fetch_add(usize::from(request.is("tools/call")), Ordering::SeqCst);
            answer(&request)
        };
        let router = Router::new().fallback(handler);
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        raw
    }

    pub fn url(&self) -> Url {
        self.url.clone()
    }

    /// How many calls of tools came.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}
