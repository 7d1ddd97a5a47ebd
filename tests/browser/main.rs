//! Pages of other origins in headless Chromium: what they may do, and what they may not.

#![cfg(test)]

use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::response::Html;
use axum::routing::{get, post};
use serde_json::{Value as Json, json};
use support::app::TestApp;
use tokio::net::TcpListener;
use tokio::process::Command;
use tokio::sync::mpsc;

/// How long a page may take, with the start of the browser.
const LIMIT: Duration = Duration::from_secs(60);

/// A server of pages, and what the pages tell it.
struct Pages {
    origin: String,
    outcomes: mpsc::Receiver<Json>,
}

impl Pages {
    async fn start() -> Pages {
        let (tell, outcomes) = mpsc::channel(1);
        let listen = move |told: String| async move {
            tell.send(serde_json::from_str(&told).unwrap()).await.unwrap();
        };
        let page = get(async || Html(include_str!("page.html")));
        let router = Router::new().route("/", page).route("/outcomes", post(listen));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Pages { origin, outcomes }
    }

    /// What a page here, in a browser, can do with a service.
    async fn outcomes_with(mut self, service: &str) -> Json {
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Command::new("chromium");
        // Without the sandbox it runs as any user, and loads no page but this one.
        browser.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
        browser.args(["--no-first-run", "--disable-background-networking", "--remote-debugging-port=0"]);
        browser.arg(format!("--user-data-dir={}", profile.path().display()));
        browser.arg(format!("{}/?service={service}", self.origin));
        browser.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let mut browser =
            browser.spawn().unwrap_or_else(|error| panic!("{error}; run the tests by `make test-browser`"));
        let outcomes = tokio::time::timeout(LIMIT, self.outcomes.recv()).await;
        browser.kill().await.unwrap();
        outcomes.expect("the page has told its outcomes").unwrap()
    }
}

/// A service that answers pages of these origins.
async fn service(origins: &[&str]) -> TestApp {
    let app = TestApp::start_with(|settings| {
        settings.server.origins = origins.iter().map(|origin| (*origin).to_owned()).collect();
    })
    .await;
    app.put_prompt("page.hello", json!({"userPrompt": "Hello {{ name }}"})).await;
    app
}

#[tokio::test]
async fn a_page_of_an_origin_in_the_settings_renders_chats_and_streams() {
    let pages = Pages::start().await;
    let app = service(&[&pages.origin]).await;
    let outcomes = pages.outcomes_with(&app.base).await;
    assert_eq!(
        outcomes,
        json!({
            "render": {"status": 200, "body": {"rendered_prompt": "Hello page", "status": "success"}},
            "chat": {"status": 200, "id": "page.hello", "text": "Hello page"},
            "refusal": {"status": 400, "code": "missing_variables"},
            "stream": {"status": 200, "done": true, "events": true},
            "form": {"type": "opaque"},
        })
    );
}

#[tokio::test]
async fn any_origin_may_be_allowed() {
    let pages = Pages::start().await;
    let app = service(&["*"]).await;
    let outcomes = pages.outcomes_with(&app.base).await;
    assert_eq!(
        (&outcomes["render"]["status"], &outcomes["stream"]["done"]),
        (&json!(200), &json!(true)),
        "{outcomes}"
    );
}

#[tokio::test]
async fn a_page_of_another_origin_sees_nothing() {
    for origins in [&[][..], &["https://other.test"]] {
        let pages = Pages::start().await;
        let app = service(origins).await;
        let outcomes = pages.outcomes_with(&app.base).await;
        let failed = json!({"error": "TypeError"});
        for what in ["render", "chat", "refusal", "stream"] {
            assert_eq!(outcomes[what], failed, "{what}: {outcomes}");
        }
        // The browser lets such a request through without asking; the page sees nothing of the answer.
        assert_eq!(outcomes["form"], json!({"type": "opaque"}));
    }
}
