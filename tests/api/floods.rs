//! Slow, endless, large and very many requests: each ends within its bound, and others are answered meanwhile.

use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use support::app::TestApp;
use support::upstream::{Act, Upstream};

const LIMIT: Duration = Duration::from_secs(30);

/// A connection on which the head of a request was sent, and the beginning of its body.
async fn begin(app: &TestApp, path: &str, headers: &str, body: &str) -> TcpStream {
    let address = app.base.strip_prefix("http://").unwrap();
    let mut connection = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n{headers}\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    connection.write_all(body.as_bytes()).await.unwrap();
    connection
}

/// Everything that comes until the server closes the connection.
async fn rest(mut connection: TcpStream) -> String {
    let mut bytes = Vec::new();
    let read = tokio::time::timeout(LIMIT, connection.read_to_end(&mut bytes)).await;
    // A reset after the answer is an end, too.
    read.expect("the server keeps the connection").ok();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or(answer)
}

#[actix_web::test]
async fn a_connection_stays_open_for_a_while_between_two_requests() {
    let ask = async |connection: &mut TcpStream| {
        connection.write_all(b"GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").await.unwrap();
        let mut head = [0; 12];
        connection.read_exact(&mut head).await.map(|_| String::from_utf8_lossy(&head).into_owned())
    };
    let connect = async |app: &TestApp| {
        let mut connection = TcpStream::connect(app.base.strip_prefix("http://").unwrap()).await.unwrap();
        assert_eq!(ask(&mut connection).await.unwrap(), "HTTP/1.1 200");
        let _rest_of_it = connection.read(&mut [0; 4096]).await.unwrap();
        connection
    };
    let app = TestApp::start().await;
    let mut connection = connect(&app).await;
    // Clients keep idle connections for this long, and some for longer.
    tokio::time::sleep(Duration::from_secs(6)).await;
    assert_eq!(ask(&mut connection).await.unwrap(), "HTTP/1.1 200");

    let app = TestApp::start_with(|settings| settings.server.idle_timeout_ms = 100).await;
    let connection = connect(&app).await;
    assert_eq!(rest(connection).await, "", "it is closed without a word");
}

#[actix_web::test]
async fn a_body_that_takes_too_long_ends_with_408_and_its_connection() {
    let app = TestApp::start_with(|settings| settings.server.body_timeout_ms = 300).await;
    for headers in ["content-length: 100", "transfer-encoding: chunked"] {
        let answer = rest(begin(&app, "/api/render", headers, "5\r\n{\"a\":\r\n").await).await;
        assert_eq!(status(&answer), "408", "{answer}");
        assert!(answer.contains("request_timeout"), "{answer}");
    }
}

#[actix_web::test]
async fn a_body_that_drips_is_cut_long_before_the_time_for_a_whole_body_has_passed() {
    let app = TestApp::start_with(|settings| settings.server.body_timeout_ms = 600_000).await;
    let mut connection = begin(&app, "/api/render", "content-length: 100000", "{").await;
    let (mut reading, mut writing) = connection.split();
    let drip = async {
        // As long as the server takes it.
        while writing.write_all(b" ").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let mut answer = [0; 12];
    let read = tokio::time::timeout(LIMIT, reading.read_exact(&mut answer));
    tokio::select! {
        () = drip => panic!("the connection was cut without an answer"),
        read = read => { read.expect("a body that drips is not cut").unwrap(); }
    }
    assert_eq!(&answer, b"HTTP/1.1 408");
}

#[actix_web::test]
async fn a_body_that_goes_on_after_its_refusal_is_not_read_on() {
    let app = TestApp::start_with(|settings| settings.server.body_limit_bytes = 1000).await;
    let piece = format!("400\r\n{}\r\n", "x".repeat(0x400));
    // A body that is too long, and one that nobody wants.
    for (path, expected) in [("/api/render", "413"), ("/api/status", "405")] {
        let mut connection = begin(&app, path, "transfer-encoding: chunked", &piece).await;
        let mut head = [0; 12];
        connection.read_exact(&mut head).await.unwrap();
        assert_eq!(String::from_utf8_lossy(&head), format!("HTTP/1.1 {expected}"));
        let endless = async { while connection.write_all(piece.repeat(64).as_bytes()).await.is_ok() {} };
        tokio::time::timeout(LIMIT, endless).await.expect("the server reads on");
    }
}

#[actix_web::test]
async fn a_declared_length_beyond_the_limit_is_refused_before_the_body_comes() {
    let app = TestApp::start().await;
    let answer = rest(begin(&app, "/api/render", "content-length: 99999999999", "").await).await;
    assert_eq!(status(&answer), "413", "{answer}");
}

#[actix_web::test]
async fn health_is_told_when_all_connections_are_held() {
    let app = TestApp::start_with(|settings| settings.server.connections = 4).await;
    let mut held = Vec::new();
    for _ in 0..4 {
        held.push(begin(&app, "/api/render", "content-length: 1000", "{").await);
    }
    app.settled(async || app.fresh("/api/status").await.status == 503).await;
    let refused = app.fresh("/api/status").await;
    refused.assert_error(503, "unavailable_error", "overloaded");
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(refused.headers["connection"], "close");
    for path in ["/healthz", "/readyz"] {
        assert_eq!(app.fresh(path).await.status, 200, "{path}");
    }
    drop(held);
    app.settled(async || app.fresh("/api/status").await.status == 200).await;
}

#[actix_web::test]
async fn bodies_that_are_held_share_one_budget_of_memory() {
    let app = TestApp::start_with(|settings| settings.server.memory_bytes = 1 << 20).await;
    let half = format!("{{\"variables\":{{\"a\":\"{}", "x".repeat(400_000));
    let mut held = Vec::new();
    for _ in 0..2 {
        held.push(begin(&app, "/api/render", "content-length: 600000", &half).await);
    }
    let body = json!({"template": "hello", "variables": {"a": "x".repeat(400_000)}});
    app.settled(async || app.post("/api/render", body.clone()).await.status == 503).await;
    let refused = app.post("/api/render", body.clone()).await;
    refused.assert_error(503, "unavailable_error", "overloaded");
    assert_eq!(refused.headers["retry-after"], "1");
    let small = app.post("/api/render", json!({"template": "hello"})).await;
    assert_eq!(small.status, 200, "{small:?}");
    drop(held);
    app.settled(async || app.post("/api/render", body.clone()).await.status == 200).await;
}

#[actix_web::test]
async fn answers_of_models_are_part_of_the_budget() {
    let upstream = Upstream::start(|_| {
        let text = "x".repeat(2 << 20);
        let body = json!({"choices": [{"message": {"role": "assistant", "content": text}}]}).to_string();
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        vec![Act::Send(head.into_bytes()), Act::Send(body.into_bytes())]
    })
    .await;
    let chat = json!({"model": "m", "messages": [{"role": "user", "content": "hello"}]});
    for (memory, expected) in [(1 << 20, 503), (64 << 20, 200)] {
        let base = upstream.base.clone();
        let app = TestApp::start_with(move |settings| {
            settings.server.memory_bytes = memory;
            settings.llm.base_url = Some(base);
        })
        .await;
        for _ in 0..20 {
            let answer = app.post("/v1/chat/completions", chat.clone()).await;
            assert_eq!(answer.status, expected, "{:?}", answer.headers);
        }
    }
}

#[actix_web::test]
async fn a_long_body_of_tiny_values_is_refused_and_a_long_text_is_not() {
    let app = TestApp::start().await;
    let send = |body: String| {
        let request = app.request("POST", "/api/render").header("content-type", "application/json");
        app.send(request.body(body))
    };
    let dense = format!("{{\"template\":\"x\",\"variables\":{{\"a\":[{}0]}}}}", "{\"\":0},".repeat(400_000));
    let answer = send(dense).await;
    answer.assert_error(413, "invalid_request_error", "body_too_large");
    assert!(answer.error().2.contains("small values"), "{answer:?}");
    let text = "{\"[,:".repeat(400_000);
    let body = json!({"template": "{{ variables.a|length }}", "syntax": "jinja", "variables": {"a": text}});
    assert_eq!(send(body.to_string()).await.rendered(), "2000000");
}

#[actix_web::test]
async fn light_requests_are_answered_while_a_large_body_is_parsed() {
    let app = TestApp::start_with(|settings| settings.server.workers = 1).await;
    app.put_prompt("x.y", json!({"prompt": "hello {{.variables.name}}"})).await;
    let items: Vec<Json> = (0..400_000).map(|n| json!({"name": format!("item number {n}")})).collect();
    let body = json!({"variables": {"items": items, "name": "large"}}).to_string();
    assert!(body.len() < 16 << 20);
    let mut connection =
        begin(&app, "/api/render/prompts/x.y", &format!("content-length: {}", body.len()), "").await;
    connection.write_all(body.as_bytes()).await.unwrap();
    // The whole body is on its way now, and reading it takes much longer than a light request.
    let mut head = [0; 12];
    let mut answered = 0;
    let mut large = Box::pin(connection.read_exact(&mut head));
    while futures_util::poll!(&mut large).is_pending() {
        assert_eq!(app.render("x.y", json!({"name": "Ada"})).await.rendered(), "hello Ada");
        answered += 1;
    }
    assert_eq!(&head, b"HTTP/1.1 200");
    assert!(answered >= 20, "only {answered} light requests were answered meanwhile");
}

#[actix_web::test]
async fn under_overload_long_renders_are_refused_at_once_and_light_ones_go_on() {
    let app = TestApp::start_with(|settings| {
        settings.server.workers = 1;
        settings.render.timeout_ms = 2_000;
        settings.render.steps = u64::MAX;
    })
    .await;
    let long = "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}";
    app.put_prompt("x.long", json!({"prompt": long, "syntax": "jinja"})).await;
    app.put_prompt("x.y", json!({"prompt": "hello {{.variables.name}}"})).await;
    app.render("x.long", json!({})).await.assert_error(503, "timeout_error", "render_timeout");
    // How long renders take is learned from those that ran. On a busy machine, the first ones may begin shortly before the end
    // of their time, and seem short.
    for _ in 0..10 {
        let many = futures_util::future::join_all((0..40).map(|_| app.render("x.long", json!({}))));
        let light = async {
            for _ in 0..20 {
                assert_eq!(app.render("x.y", json!({"name": "Ada"})).await.rendered(), "hello Ada");
            }
        };
        let (answers, ()) = futures_util::future::join(many, light).await;
        let refused: Vec<_> = answers.iter().filter(|answer| answer.status == 429).collect();
        for answer in &refused {
            answer.assert_error(429, "rate_limit_error", "overloaded");
            assert_eq!(answer.headers["retry-after"], "1");
        }
        if refused.len() >= 20 {
            return;
        }
    }
    panic!("of 40 long renders at once, fewer than half are refused, time and again");
}
