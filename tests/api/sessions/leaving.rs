//! Clients that leave, or read nothing, while the model is thinking.

use futures_util::StreamExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use super::lasting::{goes_on, hanging, model, service, shown, started};
use support::app::TestApp;
use support::upstream::{self, Upstream, completion, delta, sse};

#[tokio::test]
async fn a_client_that_leaves_during_an_event_leaves_the_session_as_it_was_and_watchers_are_told() {
    let model = model().await;
    let app = service(&model, "memory:", |_| {}).await;
    let id = started(&app).await;
    let watching = app.request("GET", &format!("/api/sessions/{id}/stream")).send().await.unwrap();
    let mut pieces = watching.bytes_stream();
    let event = hanging(&app, &id);
    model.arrived(2).await;
    event.abort();
    model.abandoned(1).await;
    let mut told = String::new();
    while told.matches("event: state").count() < 3 {
        told.push_str(std::str::from_utf8(&pieces.next().await.unwrap().unwrap()).unwrap());
    }
    let states: Vec<&str> =
        told.split(r#""state":""#).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert_eq!(states, ["waiting_cmd", "thinking", "waiting_cmd"]);
    goes_on(&app, &id, 2).await;
}

/// Opens a WebSocket of a client that can take in only little at once.
async fn narrow_socket(app: &TestApp, id: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4_096).unwrap();
    let address = app.base.strip_prefix("http://").unwrap();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let upgrade = "connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n";
    let key = "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    let request = format!("GET /api/sessions/{id}/ws HTTP/1.1\r\nhost: {address}\r\n{upgrade}{key}\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&head));
    stream
}

/// A short message as a client sends it, with a mask of zeros (RFC 6455, section 5.2).
fn frame(text: &str) -> Vec<u8> {
    let length = u8::try_from(text.len()).unwrap();
    assert!(length < 126, "longer messages have another head");
    [&[0x81, 0x80 | length, 0, 0, 0, 0], text.as_bytes()].concat()
}

#[tokio::test]
async fn a_client_of_a_websocket_that_reads_nothing_does_not_hold_its_event_up() {
    let model = Upstream::start(|seen| match seen.json()["stream"] == true {
        // More than fits into the buffers on the way.
        true => {
            let mut events = vec![delta(&" ".repeat(20_000)); 400];
            events.extend([delta("[CMD] pwd"), upstream::event("[DONE]")]);
            sse(&events)
        }
        false => upstream::json(200, completion("[CMD] ls")),
    })
    .await;
    let app = service(&model, "memory:", |_| {}).await;
    let id = started(&app).await;
    let mut socket = narrow_socket(&app, &id).await;
    let event = json!({"type": "command_result", "stdout": "a"}).to_string();
    socket.write_all(&frame(&event)).await.unwrap();
    model.arrived(2).await;
    app.eventually(&format!("/api/sessions/{id}"), |answer| answer.body["step"] == 2).await;
    assert_eq!(shown(&app, &id).await.body["pending"]["command"], "pwd");
}
