//! Clients that leave: the upstream call ends with them, or is drained where the settings say so.

use std::time::{Duration, Instant};

use ai_prompt_shell::settings::OnDisconnect;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{MOMENT, ask, ask_for_stream, start, start_with};
use support::app::TestApp;
use support::upstream::{Act, Upstream, chunk, delta, event, last_chunk, stream_head};

/// How long after its client a call may live: what is promised.
const LIMIT: Duration = Duration::from_millis(100);

/// How a client leaves.
#[derive(Debug, Clone, Copy)]
enum Departure {
    /// It closes the connection.
    Close,
    /// It says that it sends no more, and stays.
    HalfClose,
    /// Its machine resets the connection.
    Reset,
}

const DEPARTURES: [Departure; 3] = [Departure::Close, Departure::HalfClose, Departure::Reset];

/// A client that has sent a request over a connection of its own.
async fn asking(app: &TestApp, path: &str, body: &serde_json::Value) -> TcpStream {
    let address = app.base.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).await.unwrap();
    connection
}

/// Leaves; gives the moment, and the connection if it is still half open.
async fn leave(mut connection: TcpStream, way: Departure) -> (Instant, Option<TcpStream>) {
    let left = Instant::now();
    match way {
        Departure::HalfClose => connection.shutdown().await.unwrap(),
        Departure::Reset => {
            connection.set_zero_linger().unwrap();
            return (left, None);
        }
        Departure::Close => return (left, None),
    }
    (left, Some(connection))
}

/// How long after its client a call at the upstream ended.
async fn outlived(upstream: &Upstream, connection: TcpStream, way: Departure) -> Duration {
    let (left, _half_open) = leave(connection, way).await;
    upstream.abandoned(1).await[0].saturating_duration_since(left)
}

/// Asserts, for all ways to leave, that a call ends soon after its client; a busy machine may need several tries.
async fn assert_ends_with_client(call: impl AsyncFn(Departure) -> Duration) {
    for way in DEPARTURES {
        let mut times = Vec::new();
        while times.iter().all(|time| *time >= LIMIT) {
            assert!(times.len() < 5, "{way:?}: {times:?}");
            times.push(call(way).await);
        }
    }
}

async fn read_until(connection: &mut TcpStream, text: &str) {
    let mut read = Vec::new();
    while !String::from_utf8_lossy(&read).contains(text) {
        assert!(connection.read_buf(&mut read).await.unwrap() > 0, "{}", String::from_utf8_lossy(&read));
    }
}

#[actix_web::test]
async fn before_the_first_byte() {
    for body in [ask("q"), ask_for_stream("q")] {
        assert_ends_with_client(async |way| {
            let (app, upstream) = start(|_| vec![Act::Hang]).await;
            let connection = asking(&app, "/v1/chat/completions", &body).await;
            upstream.arrived(1).await;
            outlived(&upstream, connection, way).await
        })
        .await;
    }
}

#[actix_web::test]
async fn between_two_chunks() {
    assert_ends_with_client(async |way| {
        let acts = vec![Act::Send(stream_head()), Act::Send(chunk(delta("first").as_bytes())), Act::Hang];
        let (app, upstream) = start(move |_| acts.clone()).await;
        app.put_prompt("p.x", json!({"userPrompt": "x", "model": "m"})).await;
        let mut connection = asking(&app, "/api/chat/prompts/p.x", &json!({"stream": true})).await;
        read_until(&mut connection, "first").await;
        outlived(&upstream, connection, way).await
    })
    .await;
}

#[actix_web::test]
async fn during_the_pause_before_another_attempt() {
    let (app, upstream) = start(|_| support::upstream::reply(429, &[("retry-after", "2")], b"")).await;
    let connection = asking(&app, "/v1/chat/completions", &ask("q")).await;
    upstream.arrived(1).await;
    tokio::time::sleep(MOMENT).await;
    drop(connection);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(upstream.seen().len(), 1);
}

#[actix_web::test]
async fn during_a_tool_call_of_the_render() {
    assert_ends_with_client(async |way| {
        let tool = Upstream::start(|_| vec![Act::Hang]).await;
        let app = TestApp::start_with(|settings| settings.render.timeout_ms = 20_000).await;
        let document = json!({"type": "restful", "url": format!("{}/slow", tool.base), "timeoutMs": 20_000});
        app.put_tool("t.slow", document).await;
        app.put_prompt("p.x", json!({"userPrompt": "{{t_slow}}", "syntax": "go"})).await;
        let connection = asking(&app, "/api/chat/prompts/p.x", &json!({})).await;
        tool.arrived(1).await;
        outlived(&tool, connection, way).await
    })
    .await;
}

/// A stream that goes on after its client has left.
fn long_stream() -> Vec<Act> {
    let finish = event(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#);
    let mut acts = vec![Act::Send(stream_head()), Act::Send(chunk(delta("first").as_bytes()))];
    acts.extend([Act::Wait(MOMENT * 3), Act::Send(chunk(delta("second").as_bytes())), Act::Wait(MOMENT)]);
    acts.extend([Act::Send(chunk(finish.as_bytes())), Act::Send(last_chunk())]);
    acts
}

async fn finishes(upstream: &Upstream) -> bool {
    for _ in 0..500 {
        if upstream.finished() == 1 {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    false
}

#[actix_web::test]
async fn drained_calls_are_finished_without_their_clients() {
    let drain = |llm: &mut ai_prompt_shell::settings::Llm| llm.on_disconnect = OnDisconnect::Drain;
    let (app, upstream) = start_with(|_| long_stream(), drain).await;
    let mut connection = asking(&app, "/v1/chat/completions", &ask_for_stream("q")).await;
    read_until(&mut connection, "first").await;
    drop(connection);
    assert!(finishes(&upstream).await);

    let late = || {
        let answer = support::upstream::json(200, support::upstream::completion("late"));
        [vec![Act::Wait(MOMENT * 4)], answer].concat()
    };
    let (app, upstream) = start_with(move |_| late(), drain).await;
    let connection = asking(&app, "/v1/chat/completions", &ask("q")).await;
    upstream.arrived(1).await;
    drop(connection);
    assert!(finishes(&upstream).await);

    let late = || [vec![Act::Wait(MOMENT * 4)], long_stream()].concat();
    let (app, upstream) = start_with(move |_| late(), drain).await;
    let connection = asking(&app, "/v1/chat/completions", &ask_for_stream("q")).await;
    upstream.arrived(1).await;
    drop(connection);
    assert!(finishes(&upstream).await);
}
