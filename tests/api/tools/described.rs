//! Tools without `parameters`: what they take is asked of their servers.

use serde_json::{Value as Json, json};

use super::grpc_server::{GrpcServer, Reflection};
use super::mcp::stdio_program;
use super::mcp_server::McpServer;
use support::app::{Answer, TestApp};

async fn app() -> TestApp {
    TestApp::start_with(|settings| {
        settings.render.timeout_ms = 20_000;
        let server = json!({"command": stdio_program()});
        settings.tools.servers.insert("local".to_owned(), serde_json::from_value(server).unwrap());
    })
    .await
}

async fn put_mcp(app: &TestApp, id: &str, mcp: Json) {
    app.put_tool(id, json!({"type": "mcp", "mcp": mcp, "timeoutMs": 15_000})).await;
}

fn warnings(answer: &Answer) -> Vec<&str> {
    let warnings = answer.body["warnings"].as_array();
    warnings.into_iter().flatten().map(|warning| warning["reason"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_tool_of_mcp_takes_what_its_server_lists() {
    let (app, server) = (app().await, McpServer::start());
    put_mcp(&app, "m.add", json!({"url": server.url().as_str()})).await;
    let template = "{{ m_add(1).sum }} {{ m_add(1, 2).sum }} {{ m_add(a=2, b=1).sum }} {{ m_add({'b': 5}).sum }} {{ m_add(m_add(1).sum).sum }}";
    let answer = app.preview("jinja", template, json!({})).await;
    assert_eq!(answer.rendered(), "11 3 3 15 21");
    assert_eq!((server.calls(), server.lists()), (4, 2), "equal calls are one, and the list has two pages");
    let answer =
        app.preview("go", r#"{{(m_add 1).sum}} {{(m_add (dict "b" 2 "a" 3)).sum}}"#, json!({})).await;
    assert_eq!(answer.rendered(), "11 5");
    let answer = app.post("/api/tools/m.add/call", json!({"arguments": {"b": 4}})).await;
    assert_eq!(answer.body["value"], json!({"sum": 14}));
    let calls = server.calls();
    let answer = app.post("/api/tools/m.add/call", json!({"arguments": {"a": 4}})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_arguments");
    let answer = app.preview("jinja", "[{{ m_add('x') }}{{ m_add(1, 2, 3) }}]", json!({})).await;
    assert_eq!(answer.rendered(), "[]");
    let found = warnings(&answer);
    assert!(found[0].contains("/b") && found[1].contains("at most 2 positional"), "{found:?}");
    assert_eq!((server.calls(), server.lists()), (calls, 2), "nothing was sent, and nothing asked again");
}

#[tokio::test]
async fn what_is_asked_of_a_server_is_no_wave_and_told_with_other_calls() {
    let (app, server) = (app().await, McpServer::start());
    put_mcp(&app, "m.add", json!({"url": server.url().as_str()})).await;
    put_mcp(&app, "l.add", json!({"server": "local"})).await;
    app.put_tool(
        "m.two",
        json!({
            "type": "mcp", "mcp": {"url": server.url().as_str(), "tool": "add"}, "timeoutMs": 15_000,
            "parameters": {"properties": {"a": {}, "b": {}}},
        }),
    )
    .await;
    let body = |template: &str| json!({"template": template, "syntax": "jinja", "variables": {}});
    let waves = |answer: &Answer| -> Vec<Vec<String>> {
        let tools = |wave: &Json| {
            let calls = wave["calls"].as_array().unwrap();
            calls.iter().map(|call| call["tool"].as_str().unwrap().to_owned()).collect()
        };
        answer.body["report"]["waves"].as_array().unwrap().iter().map(tools).collect()
    };
    let template = "{{ m_add(1) | string }} {{ m_two(1, 2) | string }}";
    let answer = app.post("/api/render?explain=true", body(template)).await;
    assert_eq!(waves(&answer), [["m.add"], ["m.two"]], "{answer:?}");
    let template = "{{ l_add(1) }} {{ m_two(2, 2) }} {{ l_add(m_add(2).sum).sum }}";
    let answer = app.post("/api/render?explain=true", body(template)).await;
    assert_eq!(answer.rendered(), "{'sum': 11} {'sum': 4} 22");
    let expected = [["m.two", "m.add"], ["l.add", "l.add"]];
    assert_eq!(waves(&answer), expected, "{answer:?}");
    assert_eq!(answer.body["report"]["waves"][0]["calls"][1]["arguments"], json!({"b": 2, "a": 10}));
}

#[tokio::test]
async fn what_a_server_does_not_list_or_cannot_say_is_told() {
    let (app, mut server) = (app().await, McpServer::start());
    for name in ["pid", "meta", "add"] {
        put_mcp(&app, &format!("m.{name}"), json!({"url": server.url().as_str()})).await;
    }
    // A tool that the server does not list takes what it gets by name.
    let answer = app.post("/api/tools/m.pid/call", json!({"arguments": {"any": 1}})).await;
    assert_eq!(answer.body["value"], json!(std::process::id()), "{answer:?}");
    let answer = app.preview("jinja", "[{{ m_pid(1) }}]", json!({})).await;
    assert!(answer.rendered() == "[]" && warnings(&answer)[0].contains("at most 0"), "{answer:?}");
    // A schema that cannot be used
    let answer = app.post("/api/tools/m.meta/call", json!({})).await;
    answer.assert_error(502, "upstream_error", "tool_unusable");
    assert!(answer.error().2.contains("add `parameters`"), "{answer:?}");
    // and a server that is away are failures of the call.
    server.stop();
    app.put_tool(
        "m.add",
        json!({"type": "mcp", "mcp": {"url": server.url().as_str()}, "default": "none", "timeoutMs": 5000}),
    )
    .await;
    let answer = app.preview("jinja", "[{{ m_add(1) }}]", json!({})).await;
    assert!(answer.rendered() == "[none]" && warnings(&answer)[0].contains("reached"), "{answer:?}");
}

#[tokio::test]
async fn a_method_of_grpc_takes_its_request_by_reflection_or_descriptor_set() {
    let app = app().await;
    for reflection in [Reflection::V1, Reflection::None] {
        let server = GrpcServer::start(reflection);
        let mut grpc = json!({"url": server.url().as_str(), "method": "test.Tools/Echo"});
        if reflection == Reflection::None {
            use base64::Engine as _;
            grpc["descriptorSet"] =
                base64::engine::general_purpose::STANDARD.encode(server.descriptor_set()).into();
        }
        app.put_tool("g.echo", json!({"type": "grpc", "grpc": grpc, "timeoutMs": 15_000})).await;
        let template =
            "{% set a = g_echo('hello', '7') %}{{ a.text }} {{ a.small }} {{ g_echo(mood='MOOD_BAD').mood }}";
        let answer = app.preview("jinja", template, json!({})).await;
        assert_eq!(answer.rendered(), "hello 7 MOOD_BAD");
        let calls = server.calls();
        let answer = app.preview("go", r#"[{{g_echo true}}]"#, json!({})).await;
        assert!(answer.rendered() == "[]" && warnings(&answer)[0].contains("/text"), "{answer:?}");
        for arguments in [
            json!({"part": {"name": 1}}),
            json!({"mood": "MOOD_AWFUL"}),
            json!({"words": "a"}),
            json!({"deeper": {"deeper": {"text": 1}}}),
        ] {
            let answer = app.post("/api/tools/g.echo/call", json!({"arguments": arguments})).await;
            answer.assert_error(400, "invalid_request_error", "invalid_arguments");
        }
        assert_eq!(server.calls(), calls, "nothing was sent");
        let deep =
            json!({"deeper": {"part": {"unit": "OUNCE"}, "at": "2020-01-02T03:04:05Z"}, "ratio": "NaN"});
        let answer = app.post("/api/tools/g.echo/call", json!({"arguments": deep})).await;
        assert_eq!(answer.body["value"]["deeper"]["part"]["unit"], "OUNCE", "{answer:?}");
    }
}
