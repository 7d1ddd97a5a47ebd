//! Starts of MCP servers: with the service, waited for by renders, limited, and tried again.

use std::path::Path;
use std::process;

use serde_json::json;
use support::app::TestApp;
use support::process::Service;

use super::{stdio_program, until};

/// Settings with a server `local` that a shell runs by this script, in which `$0` is the test's server.
fn settings(script: &str) -> String {
    let program = stdio_program();
    let args = ["-c", script, program.to_str().unwrap()];
    format!("[tools.servers.local]\ncommand = \"sh\"\nargs = {args:?}\n")
}

async fn put_tools(app: &TestApp, timeout_ms: u64) {
    let parameters = json!({"properties": {"text": {}}});
    for name in ["echo", "pid"] {
        let mcp = json!({"server": "local", "tool": name});
        let tool = json!({"type": "mcp", "mcp": mcp, "parameters": parameters, "timeoutMs": timeout_ms});
        app.put_tool(&format!("m.{name}"), tool).await;
    }
}

async fn app(script: &str, more: &str, timeout_ms: u64) -> TestApp {
    let file = settings(script).replace("[tools.servers", &format!("[tools]\n{more}\n[tools.servers"));
    let app = TestApp::start_with(|settings| settings.tools = TestApp::settings_of(&file).tools).await;
    put_tools(&app, timeout_ms).await;
    app
}

/// The text of a template that calls a tool, and the reason of the first warning.
async fn rendered(app: &TestApp, syntax: &str, template: &str) -> (String, Option<String>) {
    let answer = app.preview(syntax, template, json!({})).await;
    let text = answer.rendered().as_str().unwrap().to_owned();
    (text, answer.body["warnings"][0]["reason"].as_str().map(str::to_owned))
}

fn lives(pid: &str) -> bool {
    let ps = process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8(ps.stdout).unwrap();
    !state.trim().is_empty() && !state.starts_with('Z')
}

fn starts(log: &Path) -> usize {
    std::fs::read_to_string(log).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn the_first_renders_after_a_cold_start_wait_for_a_slow_server() {
    // It takes longer than a call and a render may: 400 ms and 500 ms.
    let service = Service::start(&settings("sleep 3; exec \"$0\"")).await;
    let app = service.client();
    put_tools(app, 400).await;
    let (jinja, go) = tokio::join!(
        rendered(app, "jinja", "<{{ m_echo('one') }}{{ m_echo(m_echo('two')) }}>"),
        rendered(app, "go", "<{{m_echo \"one\"}}{{m_echo (m_echo \"two\")}}>"),
    );
    assert_eq!((jinja, go), (("<onetwo>".into(), None), ("<onetwo>".into(), None)));
    // The line may be written after the calls have gone on.
    until("the start", async || service.log().contains("an MCP server has started")).await;
    let log = service.stop();
    assert_eq!(log.matches("an MCP server has started").count(), 1, "{log}");
}

#[tokio::test]
async fn servers_start_with_the_service_and_not_with_their_first_call() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("starts");
    let script = format!("echo x >> {}; exec \"$0\"", note.display());
    let service = Service::start(&settings(&script)).await;
    until("the start", async || service.log().contains("an MCP server has started")).await;
    put_tools(service.client(), 10_000).await;
    assert_eq!(rendered(service.client(), "jinja", "{{ m_echo('a') }}").await, ("a".into(), None));
    assert_eq!(starts(&note), 1);
}

#[tokio::test]
async fn a_broken_server_is_told_does_not_stop_the_service_and_is_tried_again() {
    let folder = tempfile::tempdir().unwrap();
    let mended = folder.path().join("mended");
    let script = format!("test -e {} && exec \"$0\"; exit 9", mended.display());
    let service = Service::start(&settings(&script)).await;
    let app = service.client();
    until("the log line", async || service.log().contains("did not start")).await;
    let log = service.log();
    let line = log.lines().find(|line| line.contains("did not start")).unwrap();
    assert!(line.contains("WARN") && line.contains("local") && line.contains("exit status: 9"), "{line}");
    assert_eq!(app.get("/readyz").await.status, 200);
    put_tools(app, 10_000).await;
    let (text, reason) = rendered(app, "jinja", "<{{ m_echo('a') }}>").await;
    assert!(text == "<>" && reason.unwrap().contains("exit status: 9"), "{text}");
    std::fs::write(mended, "").unwrap();
    until("the server", async || rendered(app, "go", "{{m_echo \"a\"}}").await.0 == "a").await;
}

#[tokio::test]
async fn a_start_has_a_limit_of_its_own_and_a_failed_one_is_waited_for_once() {
    let folder = tempfile::tempdir().unwrap();
    let note = folder.path().join("started");
    // Only the first start succeeds. It takes a second, because a server is not started more often than that.
    let script = format!(
        "test -e {note} && exec sleep 1000; touch {note}; sleep 1; exec \"$0\"",
        note = note.display()
    );
    let app = app(&script, "start_timeout_ms = 4000", 10_000).await;
    let (pid, reason) = rendered(&app, "jinja", "{{ m_pid() }}").await;
    assert_eq!(reason, None);
    assert!(process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    until("the end", async || !lives(&pid)).await;
    put_tools(&app, 50).await;
    // Two renders at once wait for the same start, which the first of their calls began.
    let (one, other) = tokio::join!(
        rendered(&app, "jinja", "<{{ m_echo('a') }}{{ m_echo('b') }}>"),
        rendered(&app, "go", "<{{m_echo \"a\"}}>"),
    );
    for (text, reason) in [one, other] {
        let reason = reason.unwrap();
        assert!(
            text == "<>" && reason.contains("within 4000 ms") && reason.contains("start_timeout_ms"),
            "{reason}"
        );
    }
    // The next start is under way, but no render waits for it longer than for any other tool.
    let (_, reason) = rendered(&app, "jinja", "<{{ m_echo('a') }}>").await;
    assert!(reason.as_ref().unwrap().contains("did not answer within 50 ms"), "{reason:?}");
}

#[tokio::test]
async fn a_server_that_crashed_gets_the_time_of_a_start_again() {
    let app = app("sleep 2; exec \"$0\"", "", 400).await;
    let (first, reason) = rendered(&app, "jinja", "{{ m_pid() }}").await;
    assert_eq!(reason, None);
    assert!(process::Command::new("kill").args(["-9", &first]).status().unwrap().success());
    until("the end", async || !lives(&first)).await;
    let (second, reason) = rendered(&app, "jinja", "{{ m_pid() }}").await;
    assert!(reason.is_none() && second != first && lives(&second), "{reason:?}");
    // A call outside of a render waits, too.
    assert!(process::Command::new("kill").args(["-9", &second]).status().unwrap().success());
    until("the end", async || !lives(&second)).await;
    let answer = app.post("/api/tools/m.pid/call", json!({"arguments": {}})).await;
    assert!(
        answer.status == 200 && answer.body["value"] != json!(second.parse::<u64>().unwrap()),
        "{answer:?}"
    );
}
