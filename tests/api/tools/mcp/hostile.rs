//! Servers over HTTP that misbehave: errors, nonsense, answers without end, and connections that break.

use axum::body::Body;
use axum::response::Response;
use futures_util::stream;
use serde_json::json;
use tools::ToolError;

use super::http::{secrets, unreachable};
use super::raw::{RawServer, RpcRequest, json_body, status, text_result, typed};
use super::{ANSWER_BYTES, call, call_with, mcp};

/// A server that answers every call with the same.
async fn answering(answer: impl Fn(&RpcRequest) -> Response + Clone + Send + Sync + 'static) -> RawServer {
    RawServer::start(move |request: &RpcRequest| match request.is("tools/call") {
        true => answer(request),
        false => request.shake_hands("s"),
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
        let server = answering(move |_: &RpcRequest| status(code, &body)).await;
        let error =
            call_with(&mcp, &server.url(), &secrets(), "a", json!({"b": "argument"})).await.unwrap_err();
        match &error {
            ToolError::Failed { status, message } => {
                assert_eq!(status, said);
                assert!(message.starts_with("not today") && message.len() == 16_384, "{message}");
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
        let server = answering(move |_: &RpcRequest| typed(kind, body)).await;
        let outcome = call(&mcp, &server.url(), "a", json!({})).await;
        assert!(matches!(outcome, Err(ToolError::Answer { .. })), "{kind}: {outcome:?}");
    }
    for body in ["", "data: {}\n\n", "data: nonsense\n\n", ": only a comment\n\n"] {
        let server = answering(move |_: &RpcRequest| typed("text/event-stream", body)).await;
        assert!(unreachable(&call(&mcp, &server.url(), "a", json!({})).await), "{body}");
        assert_eq!(server.calls(), 1);
    }
    let server = answering(|_: &RpcRequest| {
        json_body(json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "who?"}}))
    })
    .await;
    let outcome = call(&mcp, &server.url(), "a", json!({})).await;
    assert_eq!(outcome, Err(ToolError::Failed { status: "-32000".into(), message: "who?".into() }));
    let server = answering(|_: &RpcRequest| status(202, "")).await;
    let outcome = call(&mcp, &server.url(), "a", json!({})).await;
    assert!(matches!(outcome, Err(ToolError::Answer { .. })), "{outcome:?}");
    let server = answering(|request: &RpcRequest| request.answer(json!({"content": 7}))).await;
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
        let server = answering(move |_: &RpcRequest| {
            let endless = stream::repeat_with(move || Ok::<_, std::io::Error>(piece.repeat(100)));
            typed(kind, Body::from_stream(endless))
        })
        .await;
        let outcome = call(&mcp, &server.url(), "a", json!({})).await;
        let message = format!("it is longer than {ANSWER_BYTES} bytes");
        assert_eq!(outcome, Err(ToolError::Answer { message }), "{kind} {piece}");
    }
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_answer_is_an_error_of_that_call() {
    let mcp = mcp([]);
    for kind in ["application/json", "text/event-stream"] {
        let server = answering(move |_: &RpcRequest| {
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
    let server = RawServer::start(|request: &RpcRequest| {
        if request.method == "GET" {
            assert_eq!(request.headers["last-event-id"], "e-7");
            let answer = json!({"jsonrpc": "2.0", "id": 1, "result": text_result("at last")});
            return typed("text/event-stream", format!("data: {answer}\n\n"));
        }
        match request.is("tools/call") {
            true => typed("text/event-stream", "id: e-7\nretry: 1\ndata:\n\n"),
            false => request.shake_hands("s"),
        }
    })
    .await;
    assert_eq!(call(&mcp([]), &server.url(), "a", json!({})).await, Ok(json!("at last")));
    assert_eq!(server.calls(), 1);
}
