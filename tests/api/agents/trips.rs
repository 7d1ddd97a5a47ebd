//! A real HTTP service that finds trips: its answer depends on the city.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value as Json, json};

/// The service; it ends with the value.
pub struct Trips {
    address: SocketAddr,
    seen: Seen,
    task: tokio::task::JoinHandle<()>,
}

/// The bodies of the searches so far, and the health that the service has.
#[derive(Clone)]
struct Seen(Arc<Mutex<(Vec<Json>, Json)>>);

impl Trips {
    pub async fn start() -> Trips {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Seen(Arc::new(Mutex::new((Vec::new(), json!({"status": "ok"})))));
        let routes = Router::new().route("/trips", post(search)).route("/health", get(health));
        let service = routes.with_state(seen.clone());
        let task = tokio::spawn(async move { axum::serve(listener, service).await.unwrap() });
        Trips { address, seen, task }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The bodies of the searches so far.
    pub fn searches(&self) -> Vec<Json> {
        self.seen.0.lock().unwrap().0.clone()
    }

    /// What the service says of its health from now on.
    pub fn is(&self, health: Json) {
        self.seen.0.lock().unwrap().1 = health;
    }
}

impl Drop for Trips {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn health(State(seen): State<Seen>) -> impl IntoResponse {
    reply(StatusCode::OK, &seen.0.lock().unwrap().1)
}

async fn search(State(seen): State<Seen>, body: String) -> impl IntoResponse {
    let body: Json = serde_json::from_str(&body).unwrap();
    let city = body["city"].as_str().unwrap_or_default().to_owned();
    seen.0.lock().unwrap().0.push(body);
    if city == "Hades" {
        std::future::pending::<()>().await;
    }
    match city.as_str() {
        "Atlantis" => reply(StatusCode::OK, &json!({"error": "it is under water"})),
        "Limbo" => reply(StatusCode::SERVICE_UNAVAILABLE, &json!({"error": "closed"})),
        "Nowhere" => reply(StatusCode::OK, &json!({"found": 0})),
        // A name of nine MiB.
        "Babylon" => reply(StatusCode::OK, &json!({"trips": [{"to": "x".repeat(9 << 20), "price": 120}]})),
        city => reply(StatusCode::OK, &json!({"trips": [{"to": city, "price": 120}]})),
    }
}

fn reply(status: StatusCode, body: &Json) -> impl IntoResponse + use<> {
    (status, [(CONTENT_TYPE, "application/json")], body.to_string())
}
