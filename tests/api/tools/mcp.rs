//! Tools of MCP servers: what holds however the server is reached.

mod child;
mod hostile;
mod http;
mod raw;
mod starts;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderMap;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::timeout;
use tools::mcp::{Endpoint, Mcp, ServerCommand, ToolCall};
use tools::{Gate, ToolError};

use super::mcp_server::McpServer;

/// TestServer above what anything here takes: what is not done by then hangs.
const HANGS: Duration = Duration::from_secs(20);

/// The longest answer, in bytes.
const ANSWER_BYTES: usize = 100_000;

/// A server of one of the three kinds, and a client of it.
struct TestServer {
    mcp: Mcp,
    server: Option<McpServer>,
}

impl TestServer {
    fn all() -> [TestServer; 3] {
        [
            TestServer::http(McpServer::start()),
            TestServer::http(McpServer::start_stateless()),
            TestServer::child(&[]),
        ]
    }

    fn http(server: McpServer) -> TestServer {
        TestServer { mcp: mcp([]), server: Some(server) }
    }

    fn child(args: &[&str]) -> TestServer {
        TestServer { mcp: mcp([("local", stdio_server(args))]), server: None }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Result<Value, ToolError> {
        match &self.server {
            Some(server) => call(&self.mcp, &server.url(), tool, arguments).await,
            None => call_child(&self.mcp, tool, arguments).await,
        }
    }
}

/// The server of the examples as a child process.
fn stdio_server(args: &[&str]) -> ServerCommand {
    let program = stdio_program().to_str().unwrap().to_owned();
    ServerCommand { program, args: args.iter().map(|arg| (*arg).to_owned()).collect(), env: Vec::new() }
}

/// Cargo puts the examples beside the folder of the test programs.
pub fn stdio_program() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let program = test.parent().and_then(|deps| deps.parent()).unwrap().join("examples/mcp_stdio");
    program.with_extension(std::env::consts::EXE_EXTENSION)
}

fn gate(allowed: &[&str]) -> Gate {
    Gate::new(&allowed.iter().map(|pattern| (*pattern).to_owned()).collect::<Vec<_>>()).unwrap()
}

fn mcp<const N: usize>(servers: [(&str, ServerCommand); N]) -> Mcp {
    let servers: HashMap<_, _> = servers.map(|(name, command)| (name.to_owned(), command)).into();
    Mcp::new(gate(&[]), servers, ANSWER_BYTES, HANGS)
}

async fn call(mcp: &Mcp, url: &Url, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    call_with(mcp, url, &HeaderMap::new(), tool, arguments).await
}

async fn call_with(
    mcp: &Mcp,
    url: &Url,
    headers: &HeaderMap,
    tool: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    call_at(mcp, Endpoint::Http { url, headers }, tool, arguments).await
}

async fn call_child(mcp: &Mcp, tool: &str, arguments: Value) -> Result<Value, ToolError> {
    call_at(mcp, Endpoint::Server("local"), tool, arguments).await
}

async fn call_at(
    mcp: &Mcp,
    endpoint: Endpoint<'_>,
    tool: &str,
    arguments: Value,
) -> Result<Value, ToolError> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let meta = [("x-request-id", "r-1"), ("traceparent", "00-1-2-01")];
    let meta = meta.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let call = mcp.call(ToolCall { endpoint, tool, arguments, meta: &meta });
    timeout(HANGS, call).await.expect("the call hangs")
}

/// Waits until something holds.
async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    let waiting = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(HANGS, waiting).await.unwrap_or_else(|_| panic!("{what} does not come true"));
}

#[tokio::test]
async fn a_value_is_the_structured_content_or_else_the_text() {
    for far in TestServer::all() {
        assert_eq!(far.call("echo", json!({"text": "Grüße\n\"!\""})).await, Ok(json!("Grüße\n\"!\"")));
        assert_eq!(far.call("add", json!({"a": 40, "b": 2})).await, Ok(json!({"sum": 42})));
        assert_eq!(far.call("lines", json!({})).await, Ok(json!("one\ntwo\nthree")));
        assert_eq!(far.call("nothing", json!({})).await, Ok(json!("")));
    }
}

#[tokio::test]
async fn what_is_no_text_is_an_object_and_a_mixture_is_a_list() {
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "BBBB"});
    let blob = json!({"uri": "memo://blob", "mimeType": "application/pdf", "blob": "CCCC"});
    let link = json!({"uri": "memo://link", "name": "Link", "mimeType": "text/csv"});
    for far in TestServer::all() {
        for (tool, expected) in [
            ("resource", json!("the text")),
            ("image", image.clone()),
            ("sound", sound.clone()),
            ("blob", blob.clone()),
            ("link", link.clone()),
            ("mixture", json!(["one", image, "two", "3", blob, link])),
        ] {
            assert_eq!(far.call(tool, json!({})).await, Ok(expected), "{tool}");
        }
    }
}

#[tokio::test]
async fn a_lone_result_is_taken_out_of_its_object() {
    let wrapped =
        [json!([1, 2]), json!("a"), json!(null), json!({"result": 1}), json!({"a": 1, "result": 2})];
    let whole =
        [json!({"result": 1, "more": 2}), json!({"results": [1]}), json!([{"result": 1}]), json!("a")];
    for far in TestServer::all() {
        for value in &wrapped {
            assert_eq!(far.call("wrapped", json!({ "value": value })).await.as_ref(), Ok(value));
        }
        for value in &whole {
            assert_eq!(far.call("structured", json!({ "value": value })).await.as_ref(), Ok(value));
        }
    }
}

#[tokio::test]
async fn a_failure_tells_the_first_of_what_the_server_says() {
    for far in TestServer::all() {
        let failed = |status: &str, message: &str| {
            Err(ToolError::Failed { status: status.to_owned(), message: message.to_owned() })
        };
        assert_eq!(far.call("fail", json!({"why": "no rain"})).await, failed("isError", "no rain"));
        let long = "y".repeat(50_000);
        assert_eq!(far.call("fail", json!({"why": long})).await, failed("isError", &long[..16_384]));
        assert_eq!(far.call("dance", json!({})).await, failed("-32601", "no tool dance"));
        assert_eq!(far.call("echo", json!({})).await, failed("-32602", "there is no text"));
    }
}

#[tokio::test]
async fn the_server_is_told_where_a_call_comes_from() {
    for far in TestServer::all() {
        let meta = far.call("meta", json!({})).await.unwrap();
        assert_eq!((&meta["x-request-id"], &meta["traceparent"]), (&json!("r-1"), &json!("00-1-2-01")));
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_alone() {
    for far in TestServer::all() {
        let fits = far.call("big", json!({"bytes": ANSWER_BYTES - 1000})).await.unwrap();
        assert_eq!(fits.as_str().unwrap().len(), ANSWER_BYTES - 1000);
        let slow = far.call("slow", json!({}));
        let big = async {
            for bytes in [ANSWER_BYTES, 50 * ANSWER_BYTES] {
                let error = far.call("big", json!({ "bytes": bytes })).await.unwrap_err();
                let message = format!("it is longer than {ANSWER_BYTES} bytes");
                assert_eq!(error, ToolError::Answer { message });
            }
            far.call("echo", json!({"text": "still here"})).await
        };
        tokio::select! {
            slow = slow => panic!("{slow:?}"),
            after = big => assert_eq!(after, Ok(json!("still here"))),
        }
    }
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_at_the_server() {
    for server in [McpServer::start(), McpServer::start_stateless()] {
        let far = TestServer::http(server);
        let server = far.server.as_ref().unwrap();
        for n in 1..=3 {
            tokio::select! {
                answer = far.call("slow", json!({})) => panic!("{answer:?}"),
                () = until("the call", async || server.calls() == n) => {}
            }
            until("the cancellation", async || server.cancelled() == n).await;
        }
        assert_eq!(far.call("echo", json!({"text": "a"})).await, Ok(json!("a")));
    }
}

#[tokio::test]
async fn a_server_that_asks_for_something_is_refused() {
    // A server without sessions has no way to be answered.
    for far in [TestServer::http(McpServer::start()), TestServer::child(&[])] {
        let answer = far.call("ask", json!({})).await.unwrap();
        assert!(answer.as_str().unwrap().contains("only calls tools"), "{answer}");
    }
}

#[tokio::test]
async fn many_calls_run_at_once_over_one_session() {
    for far in TestServer::all() {
        let texts: Vec<_> = (0..200).map(|n| format!("text {n}")).collect();
        let calls = texts.iter().map(|text| far.call("echo", json!({ "text": text })));
        let answers = futures_util::future::join_all(calls).await;
        for (text, answer) in texts.iter().zip(answers) {
            assert_eq!(answer, Ok(json!(text)));
        }
    }
}

#[test]
fn sessions_outlive_the_runtimes_of_their_callers() {
    let server = McpServer::start();
    let mcp = mcp([("local", stdio_server(&[]))]);
    let mut children = Vec::new();
    for _ in 0..3 {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            assert_eq!(call(&mcp, &server.url(), "echo", json!({"text": "a"})).await, Ok(json!("a")));
            children.push(call_child(&mcp, "pid", json!({})).await.unwrap());
        });
    }
    assert_eq!(server.sessions(), 1);
    children.dedup();
    assert_eq!(children.len(), 1);
}

#[test]
fn one_client_serves_several_runtimes_at_once() {
    let server = McpServer::start();
    let mcp = mcp([("local", stdio_server(&[]))]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    for n in 0..50 {
                        let echo = json!({ "text": n.to_string() });
                        let answer = call(&mcp, &server.url(), "echo", echo.clone()).await;
                        assert_eq!(answer, Ok(json!(n.to_string())));
                        assert_eq!(call_child(&mcp, "echo", echo).await, Ok(json!(n.to_string())));
                    }
                });
            });
        }
    });
    assert_eq!(server.sessions(), 1);
}
