//! Templates and the command line call tools over each of the three ways; what is secret stays so.

use std::process::Command;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value as Json, json};

use super::grpc_server::{GrpcServer, Reflection};
use super::mcp_server::McpServer;
use super::rest_server::RestServer;
use support::app::TestApp;
use support::process::Service;

/// The template in both dialects renders to this.
async fn both(app: &TestApp, jinja: &str, go: &str, expected: &str) {
    for (syntax, template) in [("jinja", jinja), ("go", go)] {
        let answer = app.preview(syntax, template, json!({})).await;
        assert_eq!(answer.rendered(), expected, "{answer:?}");
        assert_eq!(answer.body.get("warnings"), None, "{answer:?}");
    }
}

fn patient(settings: &mut ai_prompt_shell::settings::Settings) {
    settings.render.timeout_ms = 20_000;
}

#[tokio::test]
async fn templates_call_grpc_methods_by_reflection_and_by_descriptor_set() {
    for reflection in [Reflection::V1, Reflection::V1Alpha, Reflection::None] {
        let server = GrpcServer::start(reflection);
        let app = TestApp::start_with(patient).await;
        let tool = |method: &str| {
            let mut grpc = json!({"url": server.url().as_str(), "method": format!("test.Tools/{method}")});
            if reflection == Reflection::None {
                grpc["descriptorSet"] = STANDARD.encode(server.descriptor_set()).into();
            }
            json!({"type": "grpc", "grpc": grpc, "timeoutMs": 10_000})
        };
        app.put_tool("g.echo", tool("Echo")).await;
        app.put_tool("g.fail", tool("Fail")).await;
        both(
            &app,
            "{% set e = g_echo({'text': 'hi', 'longNumber': 7, 'words': ['a', 'b']}) %}{{ e.text }} {{ e.longNumber }} {{ e.words | join }} {{ e.mood }}",
            r#"{{with g_echo (dict "text" "hi" "longNumber" 7 "words" (list "a" "b"))}}{{.text}} {{.longNumber}} {{join "" .words}} {{.mood}}{{end}}"#,
            "hi 7 ab MOOD_UNKNOWN",
        )
        .await;
        let answer =
            app.preview("jinja", "<{{ g_fail({'code': 5, 'message': 'no such thing'}) }}>", json!({})).await;
        assert_eq!(answer.rendered(), "<>");
        let error = answer.body["warnings"][0]["reason"].as_str().unwrap();
        assert!(error.contains("NOT_FOUND") && error.contains("no such thing"), "{error}");
    }
}

#[tokio::test]
async fn grpc_addresses_and_methods_may_be_written_in_several_ways() {
    let server = GrpcServer::start(Reflection::V1);
    let app = TestApp::start_with(patient).await;
    let tool = |url: &str, method: &str| json!({"type": "grpc", "grpc": {"url": url, "method": method}, "timeoutMs": 10_000});
    let port = server.address().port();
    for url in [
        format!("127.0.0.1:{port}"),
        format!("localhost:{port}"),
        format!("grpc://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port}"),
    ] {
        for method in ["test.Tools/Echo", "/test.Tools/Echo", "test.Tools.Echo"] {
            app.put_tool("g.echo", tool(&url, method)).await;
            let answer = app.post("/api/tools/g.echo/call", json!({"arguments": {"text": "hi"}})).await;
            assert_eq!(answer.body["value"]["text"], "hi", "{url} {method} {answer:?}");
        }
    }
    for (url, wanted) in [
        (format!("grpcs://127.0.0.1:{port}"), "cannot be reached"),
        (format!("dns:///127.0.0.1:{port}"), "the scheme `dns`; it must be host:port"),
        (format!("127.0.0.1:{port}/test.Tools"), "without a path"),
    ] {
        app.put_tool("g.echo", tool(&url, "test.Tools/Echo")).await;
        let answer = app.post("/api/tools/g.echo/call", json!({"arguments": {}})).await;
        assert!(answer.error().2.contains(wanted), "{url} {answer:?}");
    }
    let mut wrong = tool("127.0.0.1:1", "Echo");
    (wrong["module"], wrong["name"]) = ("g".into(), "wrong".into());
    let answer = app.put("/api/tools/g.wrong", wrong).await;
    assert!(answer.status == 400 && answer.error().2.contains("pkg.Service.Method"), "{answer:?}");
}

#[tokio::test]
async fn the_time_limit_of_a_render_cancels_a_grpc_call() {
    let server = GrpcServer::start(Reflection::V1);
    let app = TestApp::start_with(|settings| settings.render.timeout_ms = 3_000).await;
    let grpc = json!({"url": server.url().as_str(), "method": "test.Tools/Slow"});
    app.put_tool("g.slow", json!({"type": "grpc", "grpc": grpc, "timeoutMs": 60_000})).await;
    let answer = app.preview("jinja", "{{ g_slow({}) }}", json!({})).await;
    answer.assert_error(503, "timeout_error", "render_timeout");
    server.until_cancelled(1).await;
}

#[tokio::test]
async fn templates_call_tools_of_mcp_servers_over_http_and_over_pipes() {
    let server = McpServer::start();
    let program = super::mcp::stdio_program();
    let file = format!("[tools.servers.child]\ncommand = {:?}", program.to_str().unwrap());
    let app = TestApp::start_with(|settings| {
        settings.tools = TestApp::settings_of(&file).tools;
        patient(settings);
    })
    .await;
    for (module, place) in
        [("web", json!({"url": server.url().as_str()})), ("child", json!({"server": "child"}))]
    {
        for (name, properties) in
            [("echo", json!({"text": {}})), ("add", json!({"a": {}, "b": {}})), ("fail", json!({"why": {}}))]
        {
            let mut mcp = place.clone();
            mcp["tool"] = name.into();
            let parameters = json!({"properties": properties});
            let tool = json!({"type": "mcp", "mcp": mcp, "parameters": parameters, "timeoutMs": 15_000});
            app.put_tool(&format!("{module}.{name}"), tool).await;
        }
        both(
            &app,
            &format!("{{{{ {module}_echo('hi') }}}} {{{{ {module}_add(2, 3).sum }}}}"),
            &format!("{{{{{module}_echo \"hi\"}}}} {{{{({module}_add 2 3).sum}}}}"),
            "hi 5",
        )
        .await;
        let answer = app.preview("jinja", &format!("<{{{{ {module}_fail('why not') }}}}>"), json!({})).await;
        assert_eq!(answer.rendered(), "<>");
        assert!(answer.body["warnings"][0]["reason"].as_str().unwrap().contains("why not"), "{answer:?}");
    }
}

#[tokio::test]
async fn the_command_line_calls_a_tool_and_prints_its_answer() {
    let server = RestServer::start().await;
    let app = TestApp::start().await;
    app.put_tool("m.t", json!({"type": "restful", "url": server.url("/value/"), "timeoutMs": 10_000})).await;
    let base = app.base.clone();
    let run = move |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
        let output = command.args(["--server", &base, "tool", "call"]).args(arguments).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
    };
    let outputs = tokio::task::spawn_blocking(move || {
        [
            run(&["m.t", "-v", "value=a text"]),
            run(&["m.t", "--json", r#"{"value": {"a": [1]}}"#]),
            run(&["m.none"]),
            run(&["m.t", "--json", "[1]"]),
        ]
    });
    let [text, object, unknown, wrong] = outputs.await.unwrap();
    assert_eq!(text, (0, "a text\n".into(), String::new()));
    assert_eq!(serde_json::from_str::<Json>(&object.1).unwrap(), json!({"a": [1]}));
    assert!(unknown.0 == 1 && unknown.2.contains("no tool `m.none`"), "{unknown:?}");
    assert!(wrong.0 == 2 && wrong.2.contains("object"), "{wrong:?}");
}

#[tokio::test]
async fn the_log_holds_no_secret_no_argument_and_no_answer_even_at_trace() {
    let (rest, grpc, mcp) =
        (RestServer::start().await, GrpcServer::start(Reflection::V1), McpServer::start());
    let module = |name: &str, url: &str| {
        format!(
            "[tools.modules.{name}]\nurl = {url:?}\nheaders = {{ Authorization = \"Bearer secret-header-value\" }}\n"
        )
    };
    let settings = [
        module("r", &rest.url("/")),
        module("g", grpc.url().as_str()),
        module("m", mcp.url().as_str()),
        "[log]\nlevel = \"trace\"\n[render]\ntimeout_ms = 20000\n".to_owned(),
    ];
    let service = Service::start(&settings.concat()).await;
    let app = service.client();
    for (id, document) in [
        ("r.value", json!({"type": "restful", "url": "value/"})),
        ("r.fail", json!({"type": "restful", "url": "status/500"})),
        ("r.broken", json!({"type": "restful", "url": "broken/"})),
        (
            "g.echo",
            json!({"type": "grpc", "grpc": {"url": grpc.url().as_str(), "method": "test.Tools/Echo"}}),
        ),
        (
            "g.fail",
            json!({"type": "grpc", "grpc": {"url": grpc.url().as_str(), "method": "test.Tools/Fail"}}),
        ),
        ("m.echo", json!({"type": "mcp", "mcp": {"url": mcp.url().as_str()}})),
        ("m.fail", json!({"type": "mcp", "mcp": {"url": mcp.url().as_str()}})),
    ] {
        let mut document = document;
        document["timeoutMs"] = 10_000.into();
        app.put_tool(id, document).await;
    }
    let template = "{{ r_value(value='private-argument') }}{{ r_fail(value='private-argument') }}{{ r_broken(value='private-argument') }}{{ g_echo({'text': 'private-argument'}).text }}{{ g_fail({'code': 5}) }}{{ m_echo(text='private-argument') }}{{ m_fail(why='it failed') }}{{ m_fail(text='private-argument') }}";
    let body = json!({"template": template, "syntax": "jinja"});
    let answer = app.post("/api/render?explain=true", body).await;
    assert_eq!(answer.rendered(), "private-argumentprivate-argumentprivate-argument");
    assert!(answer.body["warnings"].as_array().unwrap().len() >= 4, "{answer:?}");
    assert!(!answer.body.to_string().contains("secret-header"), "{answer:?}");
    // The far ends got the secret.
    assert!(rest.seen().iter().all(|seen| seen.headers["authorization"] == "Bearer secret-header-value"));
    assert!(
        mcp.headers_seen().iter().all(|headers| headers["authorization"] == "Bearer secret-header-value")
    );
    let log = service.stop();
    assert!(log.contains("a tool call failed") && log.contains("r.fail"), "{log}");
    for private in ["secret-header", "private-argument", "you sent", "Bearer"] {
        let line = log.lines().find(|line| line.contains(private));
        assert_eq!(line, None, "the log shows {private}");
    }
}
