//! How the service leaves: what was accepted is answered, and every connection is closed in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::chat::{ask, ask_for_stream, datas, read_stream};
use support::process::Service;
use support::upstream::{self, Act, Upstream, chunk, delta, stream_head};

const DOOR: &str = "/v1/chat/completions";

/// A connection that is used again and again.
struct KeepAliveClient(TcpStream);

impl KeepAliveClient {
    async fn to(service: &Service) -> KeepAliveClient {
        let address = service.client().base.strip_prefix("http://").unwrap();
        KeepAliveClient(TcpStream::connect(address).await.unwrap())
    }

    /// Sends a request and reads its answer, and whether that is the last one of the connection.
    async fn ask(&mut self, method: &str, path: &str, body: &str) -> Result<(String, bool), String> {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        self.0.write_all(request.as_bytes()).await.map_err(|error| format!("sending: {error}"))?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(self.0.read_u8().await.map_err(|error| format!("reading: {error}"))?);
        }
        let head = String::from_utf8(head).unwrap().to_ascii_lowercase();
        let length = head.split_once("content-length: ").unwrap().1.split_once("\r\n").unwrap().0;
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).await.map_err(|error| format!("reading: {error}"))?;
        let is_last = head.contains("connection: close");
        Ok((head, is_last))
    }

    /// Waits for the orderly end of the connection.
    async fn end(&mut self) -> Result<(), String> {
        match tokio::time::timeout(Duration::from_secs(20), self.0.read(&mut [0; 1])).await {
            Ok(Ok(0)) => Ok(()),
            other => Err(format!("instead of the end of the connection: {other:?}")),
        }
    }
}

/// Sends one request after the other until an answer says that it is the last one; counts them.
async fn be_busy(
    mut connection: KeepAliveClient,
    path: &str,
    pause: u64,
    count: Arc<AtomicUsize>,
) -> Result<(), String> {
    let body =
        json!({"template": "{% for i in range(300) %}{{ i }}{% endfor %}", "syntax": "jinja"}).to_string();
    loop {
        let (method, body) = if path == "/healthz" { ("GET", "") } else { ("POST", body.as_str()) };
        let (head, is_last) = connection.ask(method, path, body).await?;
        // 429 is an answer: the machine may be busy with something else.
        if !(head.starts_with("http/1.1 200") || head.starts_with("http/1.1 429")) {
            return Err(head);
        }
        count.fetch_add(1, Ordering::Relaxed);
        if is_last {
            return connection.end().await;
        }
        tokio::time::sleep(Duration::from_millis(pause)).await;
    }
}

#[actix_web::test]
async fn sigterm_fails_no_request_of_clients_that_are_busy() {
    let mut service = Service::start("").await;
    let count = Arc::new(AtomicUsize::new(0));
    let mut clients = Vec::new();
    for n in 0..32 {
        let connection = KeepAliveClient::to(&service).await;
        let path = if n % 2 == 0 { "/healthz" } else { "/api/render" };
        clients.push(tokio::spawn(be_busy(connection, path, n % 4 * 20, count.clone())));
    }
    while count.load(Ordering::Relaxed) < 500 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    service.signal(Signal::TERM);
    let mut failed = Vec::new();
    for client in clients {
        failed.extend(client.await.unwrap().err());
    }
    assert!(failed.is_empty(), "{} of 32: {failed:?}", failed.len());
    assert_eq!(service.ended().await.code(), Some(0));
}

#[actix_web::test]
async fn idle_connections_are_closed_in_order_and_new_ones_refused_while_others_are_finished() {
    let upstream = Upstream::start(|_| {
        let mut acts = vec![Act::Wait(Duration::from_secs(3))];
        acts.extend(upstream::json(200, upstream::completion("late")));
        acts
    })
    .await;
    let mut service = Service::start(&format!("[llm]\nbase_url = {:?}\n", upstream.base)).await;
    let mut idle = KeepAliveClient::to(&service).await;
    assert!(!idle.ask("GET", "/healthz", "").await.unwrap().1);
    let mut busy = KeepAliveClient::to(&service).await;
    let slow = tokio::spawn(async move {
        let answer = busy.ask("POST", DOOR, &ask("q").to_string()).await;
        (answer, busy.end().await)
    });
    upstream.arrived(1).await;
    service.signal(Signal::TERM);
    idle.end().await.unwrap();
    assert!(!slow.is_finished(), "idle connections need not wait for the others");
    let address = service.client().base.strip_prefix("http://").unwrap();
    let refused = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    let (answer, end) = slow.await.unwrap();
    let (head, is_last) = answer.unwrap();
    assert!(head.starts_with("http/1.1 200") && is_last, "{head}");
    end.unwrap();
    assert_eq!(service.ended().await.code(), Some(0));
}

/// Events, one every 50 ms, so many and then the end, or for ever.
fn drip(count: Option<usize>) -> Vec<Act> {
    let event = [Act::Send(chunk(delta("x").as_bytes())), Act::Wait(Duration::from_millis(50))];
    let mut acts = vec![Act::Send(stream_head())];
    (0..count.unwrap_or(2_000)).for_each(|_| acts.extend(event.clone()));
    if count.is_some() {
        acts.push(Act::Send(chunk(b"data: [DONE]\n\n")));
        acts.push(Act::Send(upstream::last_chunk()));
    }
    acts
}

#[actix_web::test]
async fn streams_go_on_for_the_time_of_grace_and_then_end_with_an_error() {
    let upstream = Upstream::start(|seen| match seen.json()["model"].as_str() {
        Some("short") => drip(Some(10)),
        Some("silent") => vec![Act::Send(stream_head()), Act::Send(chunk(delta("x").as_bytes())), Act::Hang],
        Some("whole") => vec![Act::Hang],
        _ => drip(None),
    })
    .await;
    let settings = format!("[server]\nstop_timeout_ms = 4000\n[llm]\nbase_url = {:?}\n", upstream.base);
    let mut service = Service::start(&settings).await;
    let stream = |model: &str| {
        let mut body = ask_for_stream("q");
        body["model"] = model.into();
        body
    };
    let (short, endless, silent, whole) = (stream("short"), stream("endless"), stream("silent"), {
        let mut body = ask("q");
        body["model"] = "whole".into();
        body
    });
    let app = service.client();
    let answers = async {
        tokio::join!(
            read_stream(app, DOOR, &short),
            read_stream(app, DOOR, &endless),
            read_stream(app, DOOR, &silent),
            app.post(DOOR, whole)
        )
    };
    let signal = async {
        upstream.arrived(4).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        service.signal(Signal::TERM);
    };
    let (((short, short_end), (endless, endless_end), (silent, silent_end), whole), ()) =
        tokio::join!(answers, signal);
    assert!(short_end && short.ends_with("data: [DONE]\n\n"), "{short}");
    for (text, orderly) in [(endless, endless_end), (silent, silent_end)] {
        assert!(orderly, "{text}");
        let datas = datas(&text);
        let last: Json = serde_json::from_str(datas.last().unwrap()).unwrap();
        assert_eq!(last["error"]["code"], "stopping", "{text}");
    }
    whole.assert_error(503, "unavailable_error", "stopping");
    assert_eq!(whole.headers["connection"], "close");
    assert_eq!(service.ended().await.code(), Some(0));
}

#[actix_web::test]
async fn sigint_ends_as_sigterm_does_and_a_second_one_at_once() {
    let upstream = Upstream::start(|seen| match seen.json()["model"].as_str() {
        Some("slow") => {
            let mut acts = vec![Act::Wait(Duration::from_millis(1_500))];
            acts.extend(upstream::json(200, upstream::completion("late")));
            acts
        }
        _ => vec![Act::Hang],
    })
    .await;
    let settings = format!("[llm]\nbase_url = {:?}\n", upstream.base);
    let mut service = Service::start(&settings).await;
    let mut slow = ask("q");
    slow["model"] = "slow".into();
    let signal = async {
        upstream.arrived(1).await;
        service.signal(Signal::INT);
    };
    let (answer, ()) = tokio::join!(service.client().post(DOOR, slow), signal);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(service.ended().await.code(), Some(0));

    let mut service = Service::start(&settings).await;
    let mut hanging = KeepAliveClient::to(&service).await;
    let hanging = tokio::spawn(async move { hanging.ask("POST", DOOR, &ask("q").to_string()).await });
    upstream.arrived(2).await;
    service.signal(Signal::INT);
    service.client().settled(async || service.log().contains("stopping: requests under way")).await;
    let second = Instant::now();
    service.signal(Signal::INT);
    assert_eq!(service.ended().await.code(), Some(130));
    assert!(second.elapsed() < Duration::from_secs(10), "{:?}", second.elapsed());
    hanging.await.unwrap().unwrap_err();
}

#[actix_web::test]
async fn sighup_is_logged_and_the_service_goes_on() {
    let mut service = Service::start("").await;
    service.signal(Signal::HUP);
    service.client().settled(async || service.log().contains("SIGHUP")).await;
    assert_eq!(service.client().get("/healthz").await.status, 200);
    service.signal(Signal::TERM);
    assert_eq!(service.ended().await.code(), Some(0));
}
