//! Sessions over a WebSocket, with a client of others.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value as Json, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use super::streams::speaking;
use super::{event, go_on, output, said, scripted, session, shown, start};
use support::app::TestApp;
use support::upstream::Act;

type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

fn url(app: &TestApp, path: &str) -> String {
    format!("{}{path}", app.base.replace("http://", "ws://"))
}

async fn open(app: &TestApp, id: &str, query: &str) -> Socket {
    connect_async(url(app, &format!("/api/sessions/{id}/ws{query}"))).await.unwrap().0
}

async fn send(socket: &mut Socket, body: Json) {
    socket.send(Message::text(body.to_string())).await.unwrap();
}

/// The next event; none when the server closes the connection.
async fn next(socket: &mut Socket) -> Option<Json> {
    loop {
        let message =
            tokio::time::timeout(Duration::from_secs(10), socket.next()).await.expect("something comes");
        match message.transpose().unwrap()? {
            Message::Text(text) => return Some(serde_json::from_str(&text).unwrap()),
            Message::Close(_) => return None,
            _ => {}
        }
    }
}

async fn until(socket: &mut Socket, name: &str) -> Json {
    loop {
        let got = next(socket).await.expect("the connection stays");
        if got["event"] == name {
            return got;
        }
    }
}

#[tokio::test]
async fn a_whole_session_goes_over_a_socket() {
    let (app, _upstream) = start(&["[CMD] ls", "[ASK] Which?", "[DONE] All"]).await;
    let id = session(&app).await;
    let mut socket = open(&app, &id, "").await;
    let first = next(&mut socket).await.unwrap();
    assert_eq!((&first["event"], &first["data"]["pending"]["command"]), (&json!("state"), &json!("ls")));
    send(&mut socket, output("a")).await;
    assert_eq!(until(&mut socket, "directive").await["data"]["question"], "Which?");
    until(&mut socket, "state").await;
    send(&mut socket, said("that")).await;
    let done = until(&mut socket, "directive").await;
    assert_eq!((&done["data"]["message"], done["id"].is_u64()), (&json!("All"), true));
    assert_eq!(until(&mut socket, "end").await["data"]["state"], "done");
    assert_eq!(next(&mut socket).await, None);
    assert_eq!(shown(&app, &id).await["step"], 3);
}

#[tokio::test]
async fn errors_are_told_and_the_connection_stays() {
    let (app, _upstream) = start(&["[CMD] ls"]).await;
    let id = session(&app).await;
    let mut socket = open(&app, &id, "").await;
    next(&mut socket).await;
    for (body, code) in [
        ("nonsense", "invalid_json"),
        ("[1]", "invalid_json"),
        (r#"{"type": "user_message"}"#, "invalid_request"),
        (r#"{"type": "user_message", "text": "x"}"#, "session_state"),
    ] {
        socket.send(Message::text(body)).await.unwrap();
        let error = next(&mut socket).await.unwrap();
        assert_eq!(
            (&error["event"], &error["data"]["code"], &error["id"]),
            (&json!("error"), &json!(code), &json!(null)),
            "{body}"
        );
    }
    socket.send(Message::binary(output("a").to_string().into_bytes())).await.unwrap();
    assert_eq!(until(&mut socket, "directive").await["data"]["command"], "ls");
    socket.send(Message::Ping("hello".into())).await.unwrap();
}

#[tokio::test]
async fn the_model_is_heard_and_one_event_is_under_way_at_a_time() {
    let (app, upstream) = scripted(
        |seen| {
            let mut acts = speaking(&["[ASK] Wh", "ich?"])(seen);
            if seen.json()["stream"] == true {
                acts.insert(0, Act::Wait(Duration::from_millis(300)));
            }
            acts
        },
        |_| {},
    )
    .await;
    let id = session(&app).await;
    let mut socket = open(&app, &id, "").await;
    next(&mut socket).await;
    send(&mut socket, output("a")).await;
    send(&mut socket, output("b")).await;
    let error = until(&mut socket, "error").await;
    assert_eq!(
        (&error["data"]["code"], &error["data"]["details"]["state"]),
        (&json!("session_state"), &json!("thinking"))
    );
    assert_eq!(until(&mut socket, "delta").await["data"]["text"].as_str().unwrap().chars().next(), Some('['));
    assert_eq!(until(&mut socket, "directive").await["data"]["question"], "Which?");
    assert_eq!(upstream.seen().len(), 2);
}

#[tokio::test]
async fn a_socket_that_comes_back_gets_what_it_has_missed() {
    let (app, _upstream) = start(&["[CMD] ls", "[ASK] Which?"]).await;
    let id = session(&app).await;
    let mut socket = open(&app, &id, "?last_event_id=0").await;
    let first = until(&mut socket, "directive").await;
    drop(socket);
    event(&app, &id, output("a")).await;
    let mut socket = open(&app, &id, &format!("?last_event_id={}", first["id"])).await;
    assert_eq!(until(&mut socket, "directive").await["data"]["question"], "Which?");
}

#[tokio::test]
async fn host_and_origin_are_checked_at_the_upgrade() {
    let (app, _upstream) = start(&["[CMD] ls"]).await;
    let id = session(&app).await;
    let path = format!("/api/sessions/{id}/ws");
    for (header, value) in [("origin", "https://evil.test"), ("host", "evil.test")] {
        let mut request = url(&app, &path).into_client_request().unwrap();
        request.headers_mut().insert(header, value.parse().unwrap());
        match connect_async(request).await {
            Err(Error::Http(refused)) => assert_eq!(refused.status(), 403, "{header}"),
            other => panic!("{header}: {other:?}"),
        }
    }
    app.get(&path).await.assert_error(400, "invalid_request_error", "invalid_request");
    app.get("/api/sessions/0/ws").await.assert_error(404, "not_found_error", "session_not_found");
}

#[tokio::test]
async fn a_client_that_leaves_stops_its_event() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let script =
        move |_: &support::upstream::Seen| match asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
            1 => vec![Act::Hang],
            _ => support::upstream::json(200, support::upstream::completion("[MESSAGE] x")),
        };
    let (app, upstream) = scripted(script, |_| {}).await;
    let begun = super::started(&app, super::SKILL, json!({"auto_continue": false})).await;
    let id = begun.body["session_id"].as_str().unwrap().to_owned();
    let mut socket = open(&app, &id, "").await;
    send(&mut socket, go_on()).await;
    upstream.arrived(2).await;
    drop(socket);
    upstream.abandoned(1).await;
    app.eventually(&format!("/api/sessions/{id}"), |answer| answer.body["state"] == "idle").await;
}
