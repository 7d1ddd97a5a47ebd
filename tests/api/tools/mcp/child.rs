//! Servers that run as child processes: started when needed, again when they end, and never left behind.

use std::fs;
use std::process;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tools::ToolError;
use tools::mcp::ServerCommand;

use super::{HANGS, TestServer, call_child, mcp, stdio_program, stdio_server, until};

/// A shell that runs `script`, in which `$0` is the server.
fn shell(script: &str) -> ServerCommand {
    let program = stdio_program().to_str().unwrap().to_owned();
    ServerCommand { program: "sh".into(), args: vec!["-c".into(), script.into(), program], env: Vec::new() }
}

/// Whether a process lives; one that ended and was not waited for does not.
fn lives(pid: &Value) -> bool {
    let ps = process::Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
    let state = String::from_utf8(ps.stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

fn kill(pid: &Value) {
    assert!(process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

fn why(outcome: Result<Value, ToolError>) -> String {
    match outcome {
        Err(ToolError::Unreachable { message }) => message,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_server_that_the_settings_do_not_name_is_not_started() {
    let outcome = call_child(&mcp([]), "echo", json!({"text": "a"})).await;
    assert!(matches!(outcome, Err(ToolError::Unusable { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_program_that_is_not_there_or_ends_at_once_says_so() {
    let missing = ServerCommand { program: "/no/such/program".into(), args: vec![], env: vec![] };
    let message = why(call_child(&mcp([("local", missing)]), "pid", json!({})).await);
    assert!(message.starts_with("`/no/such/program` cannot be started"), "{message}");
    let message = why(TestServer::child(&["die"]).call("pid", json!({})).await);
    assert_eq!(message, "the server ended with exit status: 7");
}

#[tokio::test]
async fn a_child_sees_of_our_environment_only_what_it_needs() {
    let mut command = stdio_server(&[]);
    command.env.push(("TOKEN".into(), "open-sesame".into()));
    assert!(!format!("{command:?}").contains("sesame"));
    let environment = call_child(&mcp([("local", command)]), "environment", json!({})).await.unwrap();
    let names: Vec<_> = environment.as_object().unwrap().keys().map(String::as_str).collect();
    assert!(names.iter().all(|name| ["HOME", "PATH", "TOKEN"].contains(name)), "{names:?}");
    assert!(names.contains(&"PATH") && environment["TOKEN"] == "open-sesame");
}

#[tokio::test]
async fn one_child_serves_all_calls_until_it_ends_and_then_there_is_another() {
    let far = TestServer::child(&[]);
    let first = far.call("pid", json!({})).await.unwrap();
    assert_eq!(far.call("pid", json!({})).await, Ok(first.clone()));
    kill(&first);
    let started = Instant::now();
    let second = loop {
        match far.call("pid", json!({})).await {
            Ok(pid) => break pid,
            Err(ToolError::Unreachable { .. }) if started.elapsed() < HANGS => {}
            Err(other) => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(second != first && !lives(&first));
}

#[tokio::test]
async fn a_child_that_ended_long_ago_is_replaced_for_the_call() {
    let far = TestServer::child(&[]);
    let first = far.call("pid", json!({})).await.unwrap();
    // Longer than the time in which a child is not started again.
    tokio::time::sleep(Duration::from_millis(1100)).await;
    kill(&first);
    until("the end", async || !lives(&first)).await;
    let second = far.call("pid", json!({})).await.unwrap();
    assert_ne!(second, first);
}

#[tokio::test]
async fn a_call_during_which_the_child_ends_fails_with_its_status() {
    let far = TestServer::child(&[]);
    far.call("pid", json!({})).await.unwrap();
    assert_eq!(why(far.call("exit", json!({})).await), "the server ended with exit status: 3");
    let again = async || match far.call("pid", json!({})).await {
        Ok(_) => true,
        refused => {
            let why = why(refused);
            assert_eq!(why, "the server ended with exit status: 3; it was started less than a second ago");
            false
        }
    };
    until("the restart", again).await;
}

#[tokio::test]
async fn a_child_that_keeps_ending_is_not_started_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("starts");
    let mcp = mcp([("local", shell(&format!("echo x >> {}; exit 7", log.display())))]);
    let begin = Instant::now();
    for _ in 0..200 {
        assert_eq!(why(call_child(&mcp, "pid", json!({})).await), "the server ended with exit status: 7");
    }
    let allowed = 1 + usize::try_from(begin.elapsed().as_secs()).unwrap();
    let starts = fs::read_to_string(log).unwrap().lines().count();
    assert!((1..=allowed).contains(&starts), "{starts} starts");
}

#[tokio::test]
async fn nothing_is_left_of_a_child_or_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("pid");
    let script = format!("sleep 1000 & echo $! > {}; \"$0\"; exit", note.display());
    let mcp = mcp([("local", shell(&script))]);
    let server = call_child(&mcp, "pid", json!({})).await.unwrap();
    let helper: Value = serde_json::from_str(fs::read_to_string(note).unwrap().trim()).unwrap();
    assert!(lives(&server) && lives(&helper));
    drop(mcp);
    until("the end", async || !lives(&server) && !lives(&helper)).await;
}

#[tokio::test]
async fn what_a_server_says_besides_does_not_matter() {
    assert_eq!(TestServer::child(&["noisy"]).call("echo", json!({"text": "a"})).await, Ok(json!("a")));
}

#[tokio::test]
async fn a_child_that_does_not_read_is_given_up() {
    let far = TestServer::child(&["deaf"]);
    let much = json!({"text": "x".repeat(1_000_000)});
    let message = why(far.call("echo", much).await);
    assert!(message.contains("does not read"), "{message}");
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_in_the_child() {
    let far = TestServer::child(&[]);
    far.call("pid", json!({})).await.unwrap();
    for n in 1..=3_u64 {
        let counted = async || far.call("counts", json!({})).await.unwrap();
        tokio::select! {
            answer = far.call("slow", json!({})) => panic!("{answer:?}"),
            () = until("the call", async || counted().await["slow"] == json!(n)) => {}
        }
        until("the cancellation", async || counted().await["cancelled"] == json!(n)).await;
    }
}
