//! The first moments of the service: its port is open before a slow store has been read.

use std::time::Duration;

use redis::Commands;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use support::process::Service;
use support::redis::RedisServer;

/// How long every answer of the store takes.
const LATE: Duration = Duration::from_millis(120);

/// Listens in front of a server whose answers come late.
async fn slow_door_to(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let door = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let server = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let ((from_client, to_client), (from_server, to_server)) =
                (client.into_split(), server.into_split());
            tokio::spawn(pass(from_client, to_server, Duration::ZERO));
            tokio::spawn(pass(from_server, to_client, LATE));
        }
    });
    door
}

async fn pass(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, late: Duration) {
    let mut bytes = vec![0; 1 << 16];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        tokio::time::sleep(late).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

#[actix_web::test]
async fn the_port_is_open_and_packages_serve_while_a_slow_store_is_still_read() {
    let server = RedisServer::start();
    let _: () = server.connection().set("shenma:templates:x:y", r#"{"prompt":"p"}"#).unwrap();
    let _: () = server.connection().set("shenma:environs:team:tone", r#""kind""#).unwrap();
    // So many that reading them takes a while.
    let many: Vec<(String, &str)> = (0..1_000).map(|n| (format!("shenma:environs:n:n{n}"), "1")).collect();
    let _: () = server.connection().mset(&many).unwrap();
    let packages = tempfile::tempdir().unwrap();
    let package = json!({"name": "p", "version": "1.0.0", "contributes": {"prompts": [
        {"name": "a", "userPrompt": "{{ team.tone }}"}, {"name": "b", "userPrompt": "{{ variables.b }}"}]}});
    support::app::write(packages.path(), "p/package.json", package.to_string());
    let door = slow_door_to(server.port).await;
    let settings =
        format!("[store]\nurl = \"redis://127.0.0.1:{door}/0\"\n[packages]\ndir = {:?}\n", packages.path());
    let service = Service::begin(&settings, |_| {}).await;
    let app = service.client();
    app.get("/readyz").await.assert_error(503, "unavailable_error", "not_ready");
    assert_eq!(app.get("/healthz").await.status, 200);
    app.render("x.y", json!({})).await.assert_error(503, "unavailable_error", "not_ready");
    app.get("/api/prompts").await.assert_error(503, "unavailable_error", "not_ready");
    app.put("/api/prompts/x.z", json!({"prompt": "z"})).await.assert_error(
        503,
        "unavailable_error",
        "not_ready",
    );
    let built_in = app.render("commit-writer.message", json!({"diff": "+ a"})).await;
    assert_eq!(built_in.status, 200, "{built_in:?}");
    // A value that may be in the store is no error of the request; a missing variable is.
    app.render("p.a", json!({})).await.assert_error(503, "unavailable_error", "not_ready");
    app.render("p.b", json!({})).await.assert_error(400, "invalid_request_error", "missing_variables");
    assert_eq!(app.get("/api/status").await.body["store"]["state"], "loading");
    app.eventually("/readyz", |answer| answer.body["status"] == "ready").await;
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "p");
    assert_eq!(app.render("p.a", json!({})).await.rendered(), "kind");
}
