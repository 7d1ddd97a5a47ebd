//! Sessions over streamable HTTP: shared, expired, restarted, and servers that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use ai_prompt_shell::tools::ToolError;
use ai_prompt_shell::tools::mcp::Mcp;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_util::stream;
use serde_json::json;

use super::raw::{Asked, Raw, status, text_result, typed};
use super::{ANSWER_BYTES, call, call_with, gate, mcp, until};
use crate::mcp_server::McpServer;

const SECRET: &str = "Bearer open-sesame";

fn secrets() -> HeaderMap {
    HeaderMap::from_iter([("authorization".parse().unwrap(), HeaderValue::from_static(SECRET))])
}

fn unreachable(outcome: &Result<serde_json::Value, ToolError>) -> bool {
    matches!(outcome, Err(ToolError::Unreachable { .. }))
}

#[tokio::test]
async fn concurrent_first_calls_share_one_handshake_even_if_the_first_gives_up() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    let url = server.url();
    let echo = || call(&mcp, &url, "echo", json!({"text": "a"}));
    let mut first = Box::pin(echo());
    assert!(futures_util::poll!(&mut first).is_pending());
    let others = futures_util::future::join_all((0..20).map(|_| echo()));
    let mut others = Box::pin(others);
    assert!(futures_util::poll!(&mut others).is_pending());
    drop(first);
    assert!(others.await.iter().all(|answer| *answer == Ok(json!("a"))));
    assert_eq!((server.sessions(), server.calls()), (1, 20));
}

#[tokio::test]
async fn other_headers_are_another_session() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    for n in 1..=3 {
        let headers =
            HeaderMap::from_iter([("x-tenant".parse().unwrap(), HeaderValue::from(n as u64))]);
        for _ in 0..2 {
            call_with(&mcp, &server.url(), &headers, "echo", json!({"text": "a"})).await.unwrap();
        }
        assert_eq!(server.sessions(), n);
    }
}

#[tokio::test]
async fn every_request_has_the_secrets_and_says_who_asks() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    call_with(&mcp, &server.url(), &secrets(), "echo", json!({"text": "a"})).await.unwrap();
    drop(mcp);
    until("the goodbye", async || server.open_sessions().await == 0).await;
    let seen = server.headers_seen();
    assert_eq!(seen.len(), 4, "initialize, initialized, the call, delete");
    for headers in &seen {
        assert_eq!(headers["authorization"], SECRET);
        assert!(headers["user-agent"].to_str().unwrap().starts_with("ai-prompt-shell/"));
    }
    assert_eq!((&seen[2]["x-request-id"], &seen[2]["traceparent"]), (&"r-1".parse().unwrap(), &"00-1-2-01".parse().unwrap()));
}

#[tokio::test]
async fn a_session_that_expired_is_opened_again_for_the_call() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    for n in 1..=3 {
        assert_eq!(call(&mcp, &server.url(), "echo", json!({"text": "a"})).await, Ok(json!("a")));
        assert_eq!((server.sessions(), server.calls()), (n, n));
        server.expire().await;
    }
}

#[tokio::test]
async fn calls_that_find_the_session_expired_together_open_one() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    let url = server.url();
    let echo = || call(&mcp, &url, "echo", json!({"text": "a"}));
    echo().await.unwrap();
    server.expire().await;
    let answers = futures_util::future::join_all((0..20).map(|_| echo())).await;
    assert!(answers.iter().all(|answer| *answer == Ok(json!("a"))), "{answers:?}");
    assert_eq!((server.sessions(), server.calls()), (2, 21));
}

#[tokio::test]
async fn a_server_that_was_away_is_found_again() {
    let (mut server, mcp) = (McpServer::start(), mcp([]));
    for _ in 0..3 {
        assert_eq!(call(&mcp, &server.url(), "echo", json!({"text": "a"})).await, Ok(json!("a")));
        server.stop();
        for _ in 0..3 {
            assert!(unreachable(&call(&mcp, &server.url(), "echo", json!({"text": "a"})).await));
        }
        server.restart();
    }
    server.restart();
    assert_eq!(call(&mcp, &server.url(), "echo", json!({"text": "a"})).await, Ok(json!("a")));
    assert_eq!(server.calls(), 4);
}

#[tokio::test]
async fn a_call_under_way_when_the_server_goes_fails_and_is_not_repeated() {
    let (mut server, mcp) = (McpServer::start(), mcp([]));
    let url = server.url();
    let mut slow = Box::pin(call(&mcp, &url, "slow", json!({})));
    tokio::select! {
        answer = &mut slow => panic!("{answer:?}"),
        () = until("the call", async || server.calls() == 1) => {}
    }
    server.stop();
    server.restart();
    let answer = slow.await;
    assert!(unreachable(&answer), "{answer:?}");
    assert_eq!(server.calls(), 1);
    assert_eq!(call(&mcp, &url, "echo", json!({"text": "a"})).await, Ok(json!("a")));
}

#[tokio::test]
async fn the_session_unused_for_longest_makes_room() {
    let (server, mcp) = (McpServer::start(), mcp([]));
    for n in 0..=256_u64 {
        let headers = HeaderMap::from_iter([("x-tenant".parse().unwrap(), HeaderValue::from(n))]);
        call_with(&mcp, &server.url(), &headers, "echo", json!({"text": "a"})).await.unwrap();
    }
    until("the goodbye", async || server.open_sessions().await == 256).await;
}

#[tokio::test]
async fn a_name_that_leads_where_the_gate_forbids_is_not_asked() {
    let server = McpServer::start();
    let mut url = server.url();
    url.set_host(Some("localhost")).unwrap();
    let mcp = Mcp::new(gate(&["10.0.0.0/8"]), Default::default(), ANSWER_BYTES);
    let outcome = call(&mcp, &url, "echo", json!({"text": "a"})).await;
    assert!(matches!(outcome, Err(ToolError::Forbidden { .. })), "{outcome:?}");
    url.set_host(Some("no-such-host.invalid")).unwrap();
    assert!(unreachable(&call(&mcp, &url, "echo", json!({"text": "a"})).await));
    assert!(server.headers_seen().is_empty());
}

/// Leads from `/mcp` over `hops` redirects to a server that echoes its path.
async fn redirecting(hops: usize, code: u16) -> Raw {
    Raw::start(move |asked: &Asked| {
        let hop = asked.path.trim_start_matches("/mcp").len();
        if hop < hops {
            let mut redirect = status(code, "");
            redirect.headers_mut().insert("location", format!("{}x", asked.path).parse().unwrap());
            return redirect;
        }
        match asked.is("tools/call") {
            true => asked.answer(text_result(&asked.path)),
            false => asked.shake_hands("s"),
        }
    })
    .await
}

#[tokio::test]
async fn up_to_three_redirects_are_followed_if_they_keep_the_body() {
    let mcp = mcp([]);
    for (hops, code) in [(1, 307), (3, 308)] {
        let server = redirecting(hops, code).await;
        let answer = call(&mcp, &server.url(), "where", json!({})).await;
        assert_eq!(answer, Ok(json!(format!("/mcp{}", "x".repeat(hops)))));
    }
    for (hops, code, said) in [(4, 307, "307 Temporary Redirect"), (1, 302, "302 Found")] {
        let server = redirecting(hops, code).await;
        match call(&mcp, &server.url(), "where", json!({})).await {
            Err(ToolError::Failed { status, .. }) => assert_eq!(status, said),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let (other, mcp) = (McpServer::start(), mcp([]));
    let there = other.url().to_string();
    let server = Raw::start(move |_: &Asked| {
        let mut redirect = status(307, "");
        redirect.headers_mut().insert("location", there.parse().unwrap());
        redirect
    })
    .await;
    let outcome = call_with(&mcp, &server.url(), &secrets(), "echo", json!({"text": "a"})).await;
    assert!(matches!(outcome, Err(ToolError::Failed { .. })), "{outcome:?}");
    assert!(other.headers_seen().is_empty());
}

#[tokio::test]
async fn a_server_that_says_400_to_an_old_session_gets_a_new_one() {
    let life = Arc::new(AtomicUsize::new(1));
    let now = life.clone();
    let server = Raw::start(move |asked: &Asked| {
        let session = now.load(Ordering::SeqCst).to_string();
        match asked.session() {
            None => asked.shake_hands(&session),
            Some(id) if id != session => {
                let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
                let mut answer = super::raw::json_body(json!({"jsonrpc": "2.0", "error": error, "id": null}));
                *answer.status_mut() = axum::http::StatusCode::BAD_REQUEST;
                answer
            }
            Some(_) if asked.is("tools/call") => asked.answer(text_result(&session)),
            Some(_) => status(202, ""),
        }
    })
    .await;
    let mcp = mcp([]);
    for n in 1..4 {
        assert_eq!(call(&mcp, &server.url(), "life", json!({})).await, Ok(json!(n.to_string())));
        life.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server that answers every call with the same.
async fn answering(answer: impl Fn(&Asked) -> Response + Clone + Send + Sync + 'static) -> Raw {
    Raw::start(move |asked: &Asked| match asked.is("tools/call") {
        true => answer(asked),
        false => asked.shake_hands("s"),
    })
    .await
}

#[tokio::test]
async fn an_http_error_is_a_failure_with_its_status_and_tells_no_secrets() {
    let mcp = mcp([]);
    for (code, said, calls) in [
        (500, "500 Internal Server Error", 1),
        (401, "401 Unauthorized", 1),
        (429, "429 Too Many Requests", 1),
        (400, "400 Bad Request", 2),
        (404, "404 Not Found", 2),
    ] {
        let body = format!("{}{}", "not today ", "z".repeat(100_000));
        let server = answering(move |_: &Asked| status(code, &body)).await;
        let error = call_with(&mcp, &server.url(), &secrets(), "a", json!({"b": "argument"})).await.unwrap_err();
        match &error {
            ToolError::Failed { status, message } => {
                assert_eq!(status, said);
                assert!(message.starts_with("not today") && message.len() == 1024, "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert!(!format!("{error:?} {error}").contains("sesame") && !error.to_string().contains("argument"));
        assert_eq!(server.calls(), calls, "{code}");
    }
}

#[tokio::test]
async fn answers_that_make_no_sense_are_errors_and_no_hangs() {
    let mcp = mcp([]);
    let kinds = [("application/json", "{}"), ("application/json", ""), ("text/html", "<p>hello"), ("", "")];
    for (kind, body) in kinds {
        let server = answering(move |_: &Asked| typed(kind, body)).await;
        let outcome = call(&mcp, &server.url(), "a", json!({})).await;
        assert!(matches!(outcome, Err(ToolError::Answer { .. })), "{kind}: {outcome:?}");
    }
    for body in ["", "data: {}\n\n", "data: nonsense\n\n", ": only a comment\n\n"] {
        let server = answering(move |_: &Asked| typed("text/event-stream", body)).await;
        assert!(unreachable(&call(&mcp, &server.url(), "a", json!({})).await), "{body}");
        assert_eq!(server.calls(), 1);
    }
    let server = answering(|_: &Asked| status(202, "")).await;
    let outcome = call(&mcp, &server.url(), "a", json!({})).await;
    assert!(matches!(outcome, Err(ToolError::Answer { .. })), "{outcome:?}");
    let server = answering(|asked: &Asked| asked.answer(json!({"content": 7}))).await;
    let outcome = call(&mcp, &server.url(), "a", json!({})).await;
    assert!(matches!(outcome, Err(ToolError::Answer { .. })), "{outcome:?}");
}

#[tokio::test]
async fn endless_answers_are_cut_off() {
    let mcp = mcp([]);
    for (kind, piece) in [
        ("application/json", " "),
        ("text/event-stream", "data: x"),
        ("text/event-stream", ": a comment\n\n"),
        ("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"}\n\n"),
        ("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"roots/list\"}\n\n"),
    ] {
        let server = answering(move |_: &Asked| {
            let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(piece.repeat(100)));
            typed(kind, Body::from_stream(endless))
        })
        .await;
        let t = std::time::Instant::now();
        let outcome = call(&mcp, &server.url(), "a", json!({})).await;
        eprintln!("{kind} {piece} {:?}", t.elapsed());
        let message = format!("it is longer than {ANSWER_BYTES} bytes");
        assert_eq!(outcome, Err(ToolError::Answer { message }), "{kind} {piece}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_answer_is_an_error_of_that_call() {
    let mcp = mcp([]);
    for kind in ["application/json", "text/event-stream"] {
        let server = answering(move |_: &Asked| {
            let pieces = [Ok("{\"jsonrpc\""), Err(std::io::Error::other("gone"))];
            typed(kind, Body::from_stream(stream::iter(pieces)))
        })
        .await;
        assert!(unreachable(&call(&mcp, &server.url(), "a", json!({})).await), "{kind}");
        assert_eq!(server.calls(), 1);
    }
}

#[tokio::test]
async fn an_answer_whose_connection_ended_early_is_picked_up_again() {
    let server = Raw::start(|asked: &Asked| {
        if asked.method == "GET" {
            assert_eq!(asked.headers["last-event-id"], "e-7");
            let answer = json!({"jsonrpc": "2.0", "id": 1, "result": text_result("at last")});
            return typed("text/event-stream", format!("data: {answer}\n\n"));
        }
        match asked.is("tools/call") {
            true => typed("text/event-stream", "id: e-7\nretry: 1\ndata:\n\n"),
            false => asked.shake_hands("s"),
        }
    })
    .await;
    assert_eq!(call(&mcp([]), &server.url(), "a", json!({})).await, Ok(json!("at last")));
    assert_eq!(server.calls(), 1);
}

#[tokio::test]
async fn dropping_the_client_ends_its_sessions() {
    let server = McpServer::start();
    let mcp = mcp([]);
    call(&mcp, &server.url(), "echo", json!({"text": "a"})).await.unwrap();
    assert_eq!(server.open_sessions().await, 1);
    drop(mcp);
    until("the goodbye", async || server.open_sessions().await == 0).await;
}
