//! Sessions over streamable HTTP: shared, expired, restarted, redirected, and refused by the gate.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use futures_util::StreamExt;
use serde_json::json;
use tools::ToolError;
use tools::mcp::Mcp;

use super::super::mcp_server::McpServer;
use super::raw::{RawServer, RpcRequest, json_body, status, text_result, typed};
use super::{ANSWER_BYTES, HANGS, call, call_with, gate, mcp, until};

const SECRET: &str = "Bearer open-sesame";

pub fn secrets() -> HeaderMap {
    HeaderMap::from_iter([("authorization".parse().unwrap(), HeaderValue::from_static(SECRET))])
}

pub fn unreachable(outcome: &Result<serde_json::Value, ToolError>) -> bool {
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
        let headers = HeaderMap::from_iter([("x-tenant".parse().unwrap(), HeaderValue::from(n as u64))]);
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
    assert_eq!(
        (&seen[2]["x-request-id"], &seen[2]["traceparent"]),
        (&"r-1".parse().unwrap(), &"00-1-2-01".parse().unwrap())
    );
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
    for n in 0..=64_u64 {
        let headers = HeaderMap::from_iter([("x-tenant".parse().unwrap(), HeaderValue::from(n))]);
        call_with(&mcp, &server.url(), &headers, "echo", json!({"text": "a"})).await.unwrap();
    }
    until("the goodbye", async || server.open_sessions().await == 64).await;
}

#[tokio::test]
async fn a_name_that_leads_where_the_gate_forbids_is_not_asked() {
    let server = McpServer::start();
    let mut url = server.url();
    url.set_host(Some("localhost")).unwrap();
    let mcp = Mcp::new(gate(&["10.0.0.0/8"]), Default::default(), ANSWER_BYTES, HANGS);
    let outcome = call(&mcp, &url, "echo", json!({"text": "a"})).await;
    assert!(matches!(outcome, Err(ToolError::Forbidden { .. })), "{outcome:?}");
    url.set_host(Some("no-such-host.invalid")).unwrap();
    assert!(unreachable(&call(&mcp, &url, "echo", json!({"text": "a"})).await));
    assert!(server.headers_seen().is_empty());
}

/// Leads from `/mcp` over `hops` redirects to a server that echoes its path.
async fn redirecting(hops: usize, code: u16) -> RawServer {
    RawServer::start(move |request: &RpcRequest| {
        let hop = request.path.trim_start_matches("/mcp").len();
        if hop < hops {
            let mut redirect = status(code, "");
            redirect.headers_mut().insert("location", format!("{}x", request.path).parse().unwrap());
            return redirect;
        }
        match request.is("tools/call") {
            true => request.answer(text_result(&request.path)),
            false => request.shake_hands("s"),
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
    let server = RawServer::start(move |_: &RpcRequest| {
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
    let server = RawServer::start(move |request: &RpcRequest| {
        let session = now.load(Ordering::SeqCst).to_string();
        match request.session() {
            None => request.shake_hands(&session),
            Some(id) if id != session => {
                let error = json!({"code": -32000, "message": "Bad Request: No valid session ID provided"});
                let mut answer = json_body(json!({"jsonrpc": "2.0", "error": error, "id": null}));
                *answer.status_mut() = axum::http::StatusCode::BAD_REQUEST;
                answer
            }
            Some(_) if request.is("tools/call") => request.answer(text_result(&session)),
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

/// An answer that has begun and does not end.
fn open_stream(begin: &'static str) -> Response {
    let begin = futures_util::stream::iter([Ok::<_, std::io::Error>(begin)]);
    typed("text/event-stream", Body::from_stream(begin.chain(futures_util::stream::pending())))
}

#[tokio::test]
async fn a_server_of_the_older_transport_is_refused_by_its_name() {
    let mcp = mcp([]);
    for code in [400, 404, 405] {
        let server = RawServer::start(move |request: &RpcRequest| match request.method.as_str() {
            "GET" => open_stream("event: endpoint\ndata: /messages?session=1\n\n"),
            _ => status(code, "Method Not Allowed"),
        })
        .await;
        let error = call_with(&mcp, &server.url(), &secrets(), "a", json!({})).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ToolError::Unusable { .. }) && text.contains("HTTP+SSE"), "{text}");
        assert!(text.contains("2024-11-05") && text.contains("/mcp"), "{text}");
    }
}

#[tokio::test]
async fn other_refusals_are_told_as_they_are() {
    let mcp = mcp([]);
    for (code, get) in [
        (404, (|| status(404, "")) as fn() -> Response),
        (405, || open_stream("event: message\ndata: {}\n\n")),
        (400, || typed("text/event-stream", "")),
        (404, || typed("text/html", "event: endpoint\ndata: /x\n\n")),
        (401, || panic!("nobody asks")),
    ] {
        let server = RawServer::start(move |request: &RpcRequest| match request.method.as_str() {
            "GET" => get(),
            _ => status(code, "no"),
        })
        .await;
        match call(&mcp, &server.url(), "a", json!({})).await {
            Err(ToolError::Failed { status, message }) => {
                assert!(status.starts_with(&code.to_string()) && message == "no", "{status} {message}");
            }
            other => panic!("{code}: {other:?}"),
        }
    }
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
