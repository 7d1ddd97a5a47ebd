//! REST tools, each called by itself through the service.

use serde_json::{Value as Json, json};

use super::rest_server::RestServer;
use support::app::{Answer, TestApp};

/// A service and the server that its tools are at.
struct World {
    app: TestApp,
    server: RestServer,
}

impl World {
    async fn start() -> World {
        World { app: TestApp::start().await, server: RestServer::start().await }
    }

    /// Stores a tool at a path of the server and calls it.
    async fn call(&self, method: &str, path: &str, arguments: Json) -> Answer {
        let restful = json!({"url": self.server.url(path), "method": method});
        self.app.put_tool("m.t", json!({"type": "restful", "restful": restful, "timeoutMs": 10_000})).await;
        self.app.post("/api/tools/m.t/call", json!({"arguments": arguments})).await
    }

    /// The error of a call of a tool at this path.
    async fn fails(&self, path: &str) -> String {
        let answer = self.call("POST", path, json!({})).await;
        assert!(answer.status == 502 && answer.error().0.starts_with("tool_"), "{answer:?}");
        answer.error().2.to_owned()
    }
}

#[tokio::test]
async fn arguments_go_into_the_path_the_query_or_the_body_as_the_method_wants() {
    let world = World::start().await;
    let arguments = json!({"id": "a/b ä", "tag": ["x", "y z"], "n": 2, "deep": {"k": [1]}, "none": null});
    for (method, query, body) in [
        ("GET", "fixed=1&tag=x&tag=y+z&n=2&deep=%7B%22k%22%3A%5B1%5D%7D", Json::Null),
        ("DELETE", "fixed=1&tag=x&tag=y+z&n=2&deep=%7B%22k%22%3A%5B1%5D%7D", Json::Null),
        ("POST", "fixed=1", json!({"tag": ["x", "y z"], "n": 2, "deep": {"k": [1]}, "none": null})),
        ("PUT", "fixed=1", json!({"tag": ["x", "y z"], "n": 2, "deep": {"k": [1]}, "none": null})),
        ("PATCH", "fixed=1", json!({"tag": ["x", "y z"], "n": 2, "deep": {"k": [1]}, "none": null})),
    ] {
        let answer = world.call(method, "/echo/{id}?fixed=1", arguments.clone()).await;
        let expected =
            json!({"method": method, "path": "/echo/a%2Fb%20%C3%A4", "query": query, "body": body});
        assert_eq!(answer.body["value"], expected, "{answer:?}");
        assert!(answer.body["duration_ms"].as_f64().unwrap() > 0.0);
    }
}

#[tokio::test]
async fn answers_are_values_or_texts() {
    let world = World::start().await;
    for (path, value) in [
        ("/text/", json!("plain <text>")),
        ("/untyped/", json!("untyped")),
        ("/cyrillic/", json!("Привет")),
        ("/latin/", json!({"a": "ä"})),
        ("/empty/", json!("")),
        ("/steps/3", json!("arrived")),
        ("/marked/", json!({"a": 1})),
        ("/huge/4000000", json!("x".repeat(4_000_000))),
    ] {
        let answer = world.call("POST", path, json!({})).await;
        assert_eq!(answer.body["value"], value, "{path}");
    }
}

#[tokio::test]
async fn answers_that_cannot_be_used_are_failures_that_say_why() {
    let world = World::start().await;
    for (path, expected) in [
        ("/broken/", "not valid JSON"),
        ("/binary/", "neither JSON nor UTF-8 text"),
        ("/huge/4194305", "longer than 4194304 bytes"),
        ("/endless/8388608", "longer than 4194304 bytes"),
        ("/steps/4", "redirects more than 3 times"),
        ("/redirect/302?to=ftp://127.0.0.1/", "neither http nor https"),
        ("/redirect/302?to=http://169.254.169.254/latest/meta-data", "link-local"),
        ("/status/404", "404 Not Found"),
        ("/status/304", "304 Not Modified"),
    ] {
        let message = world.fails(path).await;
        assert!(message.contains(expected), "{path}: {message}");
    }
    let message = world.fails("/status/500").await;
    assert!(message.contains("you sent no") && message.len() < 1200, "the first 1 KiB is quoted: {message}");
}

#[tokio::test]
async fn servers_that_are_not_there_or_too_slow_are_failures_too() {
    let world = World::start().await;
    for (url, expected) in [
        ("http://127.0.0.1:1/", "refused"),
        ("http://no-such-host.invalid/", "cannot be resolved"),
        ("http://169.254.169.254/latest", "link-local"),
        ("http://[::ffff:169.254.169.254]/", "link-local"),
        ("gopher://127.0.0.1/", "neither http nor https"),
        ("http://", "URL"),
        ("lookup", "tools.modules.m"),
    ] {
        world.app.put_tool("m.t", json!({"type": "restful", "url": url, "timeoutMs": 5000})).await;
        let answer = world.app.post("/api/tools/m.t/call", json!({})).await;
        assert!(answer.status == 502 && answer.error().0.starts_with("tool_"), "{answer:?}");
        assert!(answer.error().2.contains(expected), "{url}: {answer:?}");
    }
    let slow = json!({"type": "restful", "url": world.server.url("/slow/60000"), "timeoutMs": 50});
    world.app.put_tool("m.t", slow).await;
    let answer = world.app.post("/api/tools/m.t/call", json!({})).await;
    answer.assert_error(503, "timeout_error", "tool_timeout");
    assert!(world.server.cancelled(1).await, "the server sees that nobody waits any more");
}

#[tokio::test]
async fn redirects_keep_or_change_the_method_as_http_says() {
    let world = World::start().await;
    for (status, method, body) in [
        (301, "GET", Json::Null),
        (302, "GET", Json::Null),
        (303, "GET", Json::Null),
        (307, "POST", json!({"value": 1})),
        (308, "POST", json!({"value": 1})),
    ] {
        let path = format!("/redirect/{status}?to=/echo/");
        let answer = world.call("POST", &path, json!({"value": 1})).await;
        let value = &answer.body["value"];
        assert_eq!((value["method"].as_str(), &value["body"]), (Some(method), &body), "{status}: {answer:?}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_told_before_anything_is_sent() {
    let world = World::start().await;
    let schema = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}, "n": {"type": "integer", "default": 3}},
        "required": ["text"],
        "additionalProperties": false
    });
    let tool = json!({"type": "restful", "url": world.server.url("/echo/"), "parameters": schema});
    world.app.put_tool("m.t", tool).await;
    for (arguments, expected) in [
        (json!({}), "\"text\" is a required property"),
        (json!({"text": 1}), "/text"),
        (json!({"text": "a", "n": "x", "o": 1}), "/n"),
        (json!([1]), "must be an object"),
    ] {
        let answer = world.app.post("/api/tools/m.t/call", json!({"arguments": arguments})).await;
        answer.assert_error(400, "invalid_request_error", "invalid_arguments");
        assert!(answer.error().2.contains(expected), "{answer:?}");
    }
    assert!(world.server.seen().is_empty());
    let answer = world.app.post("/api/tools/m.t/call", json!({"arguments": {"text": "a"}})).await;
    assert_eq!(answer.body["value"]["body"], json!({"text": "a", "n": 3}), "{answer:?}");
    let answer = world.app.post("/api/tools/m.none/call", json!({})).await;
    answer.assert_error(404, "not_found_error", "tool_not_found");
}

#[tokio::test]
async fn answers_are_held_against_returns() {
    let world = World::start().await;
    let tool = json!({
        "type": "restful", "url": world.server.url("/value/"),
        "returns": {"type": "object", "required": ["a"], "properties": {"b": {"type": "string"}}}
    });
    world.app.put_tool("m.t", tool).await;
    let call = |value: Json| world.app.post("/api/tools/m.t/call", json!({"arguments": {"value": value}}));
    assert_eq!(call(json!({"a": 1})).await.body["value"], json!({"a": 1}));
    let answer = call(json!({"b": 2})).await;
    answer.assert_error(502, "upstream_error", "tool_failed");
    assert!(answer.error().2.contains("`returns`") && answer.error().2.contains("/b"), "{answer:?}");
}

#[tokio::test]
async fn the_settings_say_where_a_module_is_and_what_is_sent_there() {
    let (server, other) = (RestServer::start().await, RestServer::start().await);
    let file = format!(
        "[tools.modules]\nplain = \"{}\"\n[tools.modules.secret]\nurl = \"{}\"\nheaders = {{ Authorization = \"Bearer s3cr3t-token\", X-Api-Key = \"another-secret\" }}",
        server.url("/echo/base/"),
        server.url("/")
    );
    let app = TestApp::start_with(|settings| settings.tools = TestApp::settings_of(&file).tools).await;
    app.put_environ(
        "modules",
        json!({"shared": {"url": server.url("/echo/environ")}, "text": server.url("/echo")}),
    )
    .await;
    for (id, url, path) in [
        ("plain.t", "lookup", "/echo/base/lookup"),
        ("plain.t", "/lookup", "/echo/base/lookup"),
        ("shared.t", "lookup", "/echo/environ/lookup"),
        ("text.t", "x?y=1", "/echo/x"),
    ] {
        app.put_tool(id, json!({"type": "restful", "url": url})).await;
        let answer = app.post(&format!("/api/tools/{id}/call"), json!({})).await;
        assert_eq!(answer.body["value"]["path"], path, "{answer:?}");
    }
    let sent = |server: &RestServer| {
        let last = server.seen().pop().unwrap().headers;
        let text = |name: &str| last.get(name).map(|value| value.to_str().unwrap().to_owned());
        (
            text("authorization"),
            text("x-api-key"),
            text("user-agent"),
            text("x-request-id"),
            text("traceparent"),
        )
    };
    // A module's headers go to its own URL,
    app.put_tool("secret.t", json!({"type": "restful", "url": "status/500"})).await;
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let request = app.request("POST", "/api/tools/secret.t/call").json(&json!({}));
    let answer = app.send(request.header("x-request-id", "abc-1").header("traceparent", traceparent)).await;
    let (authorization, key, agent, id, parent) = sent(&server);
    assert_eq!(authorization.as_deref(), Some("Bearer s3cr3t-token"));
    assert_eq!(key.as_deref(), Some("another-secret"));
    assert_eq!((id.as_deref(), parent.as_deref()), (Some("abc-1"), Some(traceparent)));
    assert!(agent.unwrap().starts_with("ai-prompt-shell/"));
    // and no error repeats them, though the server does;
    assert!(answer.error().2.contains("you sent Bearer …"), "{answer:?}");
    for before in [1_000, 1_010, 16_370, 16_380] {
        app.put_tool("secret.t", json!({"type": "restful", "url": format!("late/{before}")})).await;
        let answer = app.post("/api/tools/secret.t/call", json!({})).await;
        let message = answer.error().2;
        assert!(!message.contains("s3cr3t") && message.len() < 1_200, "{before}: {message}");
    }
    // they go nowhere else, be it by redirect or by a document's own URL.
    for url in [format!("/redirect/307?to={}", other.url("/echo/")), other.url("/echo/")] {
        app.put_tool("secret.t", json!({"type": "restful", "url": url})).await;
        let answer = app.post("/api/tools/secret.t/call", json!({})).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let (authorization, key, ..) = sent(&other);
        assert_eq!((authorization, key), (None, None), "{url}");
    }
}

#[tokio::test]
async fn only_the_hosts_of_the_list_are_reached() {
    let server = RestServer::start().await;
    let port = server.address.port();
    for (allowed, host, open) in [
        ("localhost", "localhost", true),
        ("localhost", "127.0.0.1", false),
        ("127.0.0.0/8", "127.0.0.1", true),
        ("127.0.0.0/8", "localhost", true),
        ("10.0.0.0/8", "localhost", false),
        ("*.example.com", "localhost", false),
        ("localhost:1", "localhost", false),
    ] {
        let app =
            TestApp::start_with(|settings| settings.tools.allowed_hosts = vec![allowed.to_owned()]).await;
        let url = format!("http://{host}:{port}/echo/");
        app.put_tool("m.t", json!({"type": "restful", "url": url, "timeoutMs": 5000})).await;
        let answer = app.post("/api/tools/m.t/call", json!({})).await;
        assert_eq!(answer.status == 200, open, "{allowed} {host}: {answer:?}");
        assert!(open || answer.error().2.contains("tools.allowed_hosts"), "{answer:?}");
    }
}

#[tokio::test]
async fn answers_are_kept_for_as_long_as_the_tool_says_and_asked_for_once() {
    let world = World::start().await;
    let tool = |seconds: f64, path: &str| json!({"type": "restful", "url": world.server.url(path), "cacheSeconds": seconds, "timeoutMs": 5000});
    world.app.put_tool("m.t", tool(60.0, "/slow/100")).await;
    let call =
        |value: &'static str| world.app.post("/api/tools/m.t/call", json!({"arguments": {"value": value}}));
    let answers = futures_util::future::join_all((0..20).map(|_| call("a"))).await;
    assert!(answers.iter().all(|answer| answer.body["value"] == "a"), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| answer.body["cached"] == false).count(), 1);
    assert_eq!(call("a").await.body["cached"], true);
    assert_eq!(world.server.seen().len(), 1);
    assert_eq!(call("b").await.body["cached"], false);
    assert_eq!(world.server.seen().len(), 2, "other arguments are another call");
    world.app.put_tool("m.t", tool(0.05, "/value/")).await;
    assert_eq!(call("a").await.body["cached"], false, "a changed tool is another tool");
    for _ in 0..100 {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        if call("a").await.body["cached"] == false {
            break;
        }
    }
    assert!(world.server.seen().len() >= 4, "what has grown old is asked for again");
    world.app.put_tool("m.t", tool(60.0, "/status/500")).await;
    for _ in 0..2 {
        assert_eq!(call("a").await.status, 502);
    }
    let requests = world.server.seen().iter().filter(|seen| seen.path == "/status/500").count();
    assert_eq!(requests, 2, "errors are not cached");
}

#[tokio::test]
async fn what_was_asked_for_once_goes_on_when_the_one_who_asked_first_is_gone() {
    let world = World::start().await;
    let url = world.server.url("/slow/300");
    world
        .app
        .put_tool("m.t", json!({"type": "restful", "url": url, "cacheSeconds": 60, "timeoutMs": 5000}))
        .await;
    world
        .app
        .put_prompt("p.short", json!({"userPrompt": "{{ m_t(value='a') }}", "limits": {"timeoutMs": 100}}))
        .await;
    let short = world.app.render("p.short", json!({}));
    let long = world.app.post("/api/tools/m.t/call", json!({"arguments": {"value": "a"}}));
    let (short, long) = tokio::join!(short, async {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        long.await
    });
    short.assert_error(503, "timeout_error", "render_timeout");
    assert_eq!(long.body["value"], "a", "{long:?}");
}
