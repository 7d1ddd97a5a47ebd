//! `tool import` and `POST /api/tools/discover`: tools of servers and of API descriptions become documents.

use std::path::Path;
use std::process::Command;

use serde_json::{Value as Json, json};

use super::grpc_server::{GrpcServer, Reflection};
use super::mcp::stdio_program;
use super::mcp_server::McpServer;
use super::rest_server::RestServer;
use support::app::{TestApp, write};

async fn app() -> TestApp {
    TestApp::start_with(|settings| {
        settings.tools.timeout_ms = 15_000;
        settings.render.timeout_ms = 20_000;
        let server = json!({"command": stdio_program()});
        settings.tools.servers.insert("local".to_owned(), serde_json::from_value(server).unwrap());
    })
    .await
}

/// Runs `tool import` against a service; gives its exit code, and what it printed.
async fn import(app: &TestApp, folder: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ai-prompt-shell"));
    command.current_dir(folder).args(["--server", &app.base, "tool", "import"]).args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

/// The document of a tool, as it is stored.
async fn stored(app: &TestApp, id: &str) -> Json {
    app.get(&format!("/api/tools/{id}?raw=store")).await.body
}

async fn call(app: &TestApp, id: &str, arguments: Json) -> Json {
    let answer = app.post(&format!("/api/tools/{id}/call"), json!({"arguments": arguments})).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body["value"].clone()
}

/// The description of the shop, whose API is at a server.
fn shop(folder: &Path, server: &RestServer) {
    let text = include_str!("shop.yaml").replace("HOST", &server.address.to_string());
    write(folder, "shop.yaml", text);
}

#[tokio::test]
async fn the_operations_of_an_api_become_tools_that_send_what_they_say() {
    let (app, server, dir) = (app().await, RestServer::start().await, tempfile::tempdir().unwrap());
    shop(dir.path(), &server);
    let (code, said) = import(&app, dir.path(), &["openapi", "shop.yaml", "--all", "--module", "shop"]).await;
    assert_eq!(code, 0, "{said}");
    for line in [
        "shop.getItem",
        "without the cookie parameter `session`: it is a cookie",
        "without the header parameter `X-Request-ID`: it is a header that the service",
        "without the query parameter `ids`: it is a list that is not to be exploded",
        "not taken: POST /upload: its body is multipart/form-data",
        "not taken: GET /me: the cookie parameter `session` is a cookie",
        "not taken: HEAD /me: tools cannot send HEAD",
        "not taken: GET /away: it refers to `https://example.com",
        "X-Api-Key in tools.modules.shop.headers",
        "5 tools: 5 created, 0 updated, 0 unchanged, 0 refused",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let document = stored(&app, "shop.getItem").await;
    assert_eq!(document["description"], "One item\n\nWith its price.");
    let parameters = json!({
        "type": "object",
        "properties": {
            "item_id": {"type": "integer"},
            "tag": {"type": "array", "items": {"type": "string"}, "description": "All of them"},
            "page_size": {"type": "integer", "default": 20, "exclusiveMinimum": 0},
            "X_Trace_Level": {"type": "string"},
        },
        "required": ["item_id"],
    });
    assert_eq!(document["parameters"], parameters);
    // By position, with a default, and with a header:
    app.put_prompt(
        "p.q",
        json!({"syntax": "go", "prompt": "{{with shop_getItem 7 (list \"a\" \"b\")}}{{.path}}?{{.query}}{{end}}"}),
    )
    .await;
    let answer = app.render("p.q", json!({})).await;
    assert_eq!(answer.rendered(), "/echo/v1/items/7?tag=a&tag=b&page%5Bsize%5D=20", "{answer:?}");
    call(&app, "shop.getItem", json!({"item_id": 1, "X_Trace_Level": "high"})).await;
    assert_eq!(server.seen().pop().unwrap().headers["x-trace-level"], "high");
    // Bodies: the members of an object, a list, a form.
    let item = json!({"item_id": 1, "name": "n", "price": null, "parts": [{"name": "m"}]});
    let sent = call(&app, "shop.replace_item", item).await;
    assert_eq!((&sent["method"], &sent["path"]), (&json!("PUT"), &json!("/echo/v1/items/1")));
    assert_eq!(sent["body"], json!({"name": "n", "price": null, "parts": [{"name": "m"}]}));
    for wrong in [
        json!({"item_id": 1}),
        json!({"item_id": 1, "name": "n", "price": "x"}),
        json!({"item_id": 1, "name": "n", "parts": [{}]}),
    ] {
        let answer = app.post("/api/tools/shop.replace_item/call", json!({"arguments": wrong})).await;
        answer.assert_error(400, "invalid_request_error", "invalid_arguments");
    }
    let sent = call(&app, "shop.addItems", json!({"body": [{"name": "n"}]})).await;
    assert_eq!(sent["body"], json!([{"name": "n"}]));
    let sent = call(&app, "shop.login", json!({"user": "u ü", "scope": "all", "remember": true})).await;
    assert_eq!((&sent["query"], &sent["body"]), (&json!("remember=true"), &json!("user=u+%C3%BC&scope=all")));
    // What must be given comes first, wherever it goes:
    app.put_prompt("p.login", json!({"syntax": "jinja", "prompt": "{{ shop_login('u').body }}"})).await;
    let answer = app.render("p.login", json!({})).await;
    assert_eq!(answer.rendered(), "user=u", "{answer:?}");
    let sent = call(&app, "shop.delete_items_item-id", json!({"item_id": 3})).await;
    assert_eq!((&sent["method"], &sent["body"]), (&json!("DELETE"), &Json::Null));
}

#[tokio::test]
async fn a_second_import_updates_and_keeps_what_people_added() {
    let (app, server, dir) = (app().await, RestServer::start().await, tempfile::tempdir().unwrap());
    shop(dir.path(), &server);
    let (code, said) = import(&app, dir.path(), &["openapi", "shop.yaml"]).await;
    assert!(code == 0 && said.contains("the_shop_s_api.getItem") && said.contains("--only NAME,…"), "{said}");
    let (code, said) =
        import(&app, dir.path(), &["openapi", "shop.yaml", "--only", "*Item,login", "--dry-run"]).await;
    assert!(
        code == 0 && said.contains("2 tools: 2 created") && said.contains("nothing was stored"),
        "{said}"
    );
    assert_eq!(app.get("/api/tools").await.body, json!([]), "nothing is stored before it is chosen");
    let (code, said) = import(&app, dir.path(), &["openapi", "shop.yaml", "--only", "nothing*,login"]).await;
    assert!(code == 2 && said.contains("no tool nothing*"), "{said}");
    let (code, said) = import(&app, dir.path(), &["openapi", "shop.yaml", "--only", "*upload"]).await;
    assert!(code == 2 && said.contains("its body is multipart"), "{said}");
    let chosen = ["openapi", "shop.yaml", "--only", "getItem", "--only", "login"];
    let (code, said) = import(&app, dir.path(), &chosen).await;
    assert!(code == 0 && said.contains("2 created"), "{said}");
    let mut document = stored(&app, "the_shop_s_api.login").await;
    document["timeoutMs"] = 9_000.into();
    document["default"] = "none".into();
    app.put_tool("the_shop_s_api.login", document).await;
    let (_, said) = import(&app, dir.path(), &chosen).await;
    assert!(said.contains("0 created, 0 updated, 2 unchanged"), "{said}");
    let changed =
        std::fs::read_to_string(dir.path().join("shop.yaml")).unwrap().replace("/login:", "/signin:");
    write(dir.path(), "shop.yaml", changed);
    let (_, said) = import(&app, dir.path(), &chosen).await;
    assert!(said.contains("0 created, 1 updated, 1 unchanged"), "{said}");
    let document = stored(&app, "the_shop_s_api.login").await;
    assert!(document["restful"]["url"].as_str().unwrap().ends_with("/signin"), "{document}");
    assert_eq!((&document["timeoutMs"], &document["default"]), (&json!(9_000), &json!("none")));
}

#[tokio::test]
async fn the_tools_of_mcp_servers_are_imported_and_called() {
    let (app, server, dir) = (app().await, McpServer::start(), tempfile::tempdir().unwrap());
    let url = server.url();
    for (source, module, count) in [(url.as_str(), "test", 2), ("local", "local", 2)] {
        let (code, said) = import(&app, dir.path(), &["mcp", source, "--all"]).await;
        assert!(code == 0 && said.contains(&format!("{count} tools: {count} created")), "{said}");
        assert!(said.contains("not taken: meta: ") && said.contains("/nowhere"), "{said}");
        let document = stored(&app, &format!("{module}.add")).await;
        assert_eq!(document["description"], "Adds two numbers");
        assert_eq!(document["parameters"]["properties"]["a"]["default"], 10);
        let answer = app.preview("jinja", &format!("{{{{ {module}_add(1).sum }}}}"), json!({})).await;
        assert_eq!(answer.rendered(), "11");
        let (_, said) = import(&app, dir.path(), &["mcp", source, "--all"]).await;
        assert!(said.contains(&format!("0 created, 0 updated, {count} unchanged")), "{said}");
    }
}

#[tokio::test]
async fn the_unary_methods_of_grpc_servers_are_imported_and_called() {
    let (app, server, dir) = (app().await, GrpcServer::start(Reflection::V1), tempfile::tempdir().unwrap());
    let url = server.url().as_str();
    let (code, said) = import(&app, dir.path(), &["grpc", url, "--all"]).await;
    assert!(code == 0 && said.contains("6 tools: 6 created"), "{said}");
    for name in ["Watch", "Gather"] {
        assert!(said.contains(&format!("not taken: test.Tools/{name}: it streams")), "{said}");
    }
    let sent = call(&app, "test.Tools.Echo", json!({"text": "a", "part": {"unit": "OUNCE"}})).await;
    assert_eq!((&sent["text"], &sent["part"]["unit"]), (&json!("a"), &json!("OUNCE")));
    import(&app, dir.path(), &["grpc", url, "--only", "Tools.Echo", "--module", "mine"]).await;
    let answer = app.preview("jinja", "{{ mine_Tools_Echo('b').text }}", json!({})).await;
    assert_eq!(answer.rendered(), "b");
}

#[tokio::test]
async fn what_cannot_be_discovered_is_told() {
    let app = TestApp::start_with(|settings| {
        settings.tools.allowed_hosts = vec!["example.com".to_owned()];
    })
    .await;
    let mcp = McpServer::start();
    for (body, status, code, expected) in [
        (json!({}), 400, "invalid_request", "one of `mcp`"),
        (json!({"mcp": {}}), 400, "invalid_request", "one of `mcp`"),
        (
            json!({"mcp": {"server": "x"}, "grpc": {"url": "http://h"}}),
            400,
            "invalid_request",
            "one of `mcp`",
        ),
        (
            json!({"mcp": {"server": "x"}}),
            502,
            "tool_unusable",
            "no MCP server `x` in the settings ([tools.servers.x]); there are none",
        ),
        (json!({"mcp": {"url": mcp.url().as_str()}}), 502, "tool_forbidden", "tools.allowed_hosts"),
        (json!({"grpc": {"url": "http://127.0.0.1:1"}}), 502, "tool_forbidden", "tools.allowed_hosts"),
        (json!({"openapi": {"swagger": "2.0"}}), 502, "tool_unusable", "Swagger 2.0"),
        (json!({"openapi": []}), 502, "tool_unusable", "not OpenAPI 3"),
        (
            json!({"openapi": {"openapi": "3.1.0"}, "module": "a b"}),
            502,
            "tool_unusable",
            "cannot be a module",
        ),
    ] {
        let answer = app.post("/api/tools/discover", body.clone()).await;
        assert!(answer.status == status && answer.error().0 == code, "{body}: {answer:?}");
        assert!(answer.error().2.contains(expected), "{body}: {answer:?}");
    }
    // References in a circle, and a path that names no parameter.
    let circle = json!({"$ref": "#/components/parameters/a"});
    let document = json!({
        "openapi": "3.1.0",
        "paths": {
            "/a": {"get": {"parameters": [circle]}},
            "/{b}": {"get": {}},
            "/c": {"get": {"operationId": "c"}},
            "/d": {"get": {"operationId": "c"}},
            "/e": {"post": {"requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/e"}}}}}},
        },
        "components": {"parameters": {"a": circle}, "schemas": {"e": {"properties": {"next": {"$ref": "#/components/schemas/e"}}}}},
    });
    let answer = app.post("/api/tools/discover", json!({"openapi": document})).await;
    let reasons = answer.body["left_out"].to_string();
    for expected in ["in a circle", "`{b}` in its path is no parameter", "another tool is called `api.c`"] {
        assert!(reasons.contains(expected), "{expected}: {reasons}");
    }
    assert!(answer.body["notes"].to_string().contains("tools.modules.api.url"), "{answer:?}");
    let last = &answer.body["tools"][1];
    assert_eq!(last["document"]["restful"], json!({"url": "/e", "method": "POST"}), "{answer:?}");
    assert_eq!(last["document"]["parameters"]["$defs"]["e"]["properties"]["next"]["$ref"], "#/$defs/e");
}

#[tokio::test]
async fn schemas_in_the_words_of_older_versions_are_understood_in_any_version() {
    let app = TestApp::start().await;
    let either = json!({"oneOf": [{"type": "string"}, {"$recursiveRef": "#"}]});
    let filter = json!({
        "$recursiveAnchor": true, "type": "object", "properties": {"all": {"type": "array", "items": either}},
        "required": ["all"],
    });
    let rate = json!({"type": "number", "minimum": 0, "exclusiveMinimum": true, "nullable": true});
    let properties = json!({"filter": {"$ref": "#/components/schemas/filter"}, "rate": rate});
    let body =
        json!({"content": {"application/json": {"schema": {"type": "object", "properties": properties}}}});
    let document = json!({
        "openapi": "3.1.0", "components": {"schemas": {"filter": filter}},
        "paths": {"/a": {"post": {"requestBody": body}}},
    });
    let answer = app.post("/api/tools/discover", json!({"openapi": document})).await;
    let tool = &answer.body["tools"][0]["document"];
    assert_eq!(
        tool["parameters"]["properties"]["rate"],
        json!({"type": ["number", "null"], "exclusiveMinimum": 0})
    );
    let mut tool = tool.clone();
    tool["restful"]["url"] = "http://127.0.0.1:1/a".into();
    app.put_tool("m.t", tool).await;
    for (arguments, code) in [
        (json!({"filter": {"all": ["a", {"all": ["b"]}]}, "rate": null}), "tool_failed"),
        (json!({"filter": {"all": ["a", {"all": [1]}]}}), "invalid_arguments"),
        (json!({"rate": 0}), "invalid_arguments"),
    ] {
        let answer = app.post("/api/tools/m.t/call", json!({"arguments": arguments})).await;
        assert_eq!(answer.error().0, code, "{answer:?}");
    }
}

#[tokio::test]
async fn schemas_of_any_depth_and_number_are_bounded() {
    let app = TestApp::start().await;
    let chain = |count: usize| {
        let link = |at: usize| {
            (
                format!("s{at}"),
                json!({"type": "object", "properties": {"next": {"type": "array", "items": {"$ref": format!("#/components/schemas/s{}", (at + 1) % count)}}}}),
            )
        };
        let schemas: serde_json::Map<String, Json> = (0..count).map(link).collect();
        let body = json!({"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/s0"}}}});
        json!({"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": body}}}, "components": {"schemas": schemas}})
    };
    let answer = app.post("/api/tools/discover", json!({"openapi": chain(200)})).await;
    let definitions = &answer.body["tools"][0]["document"]["parameters"]["$defs"];
    assert_eq!(definitions.as_object().unwrap().len(), 200, "{answer:?}");
    let answer = app.post("/api/tools/discover", json!({"openapi": chain(400)})).await;
    assert!(answer.body["left_out"][0]["reason"].as_str().unwrap().contains("more than 300"), "{answer:?}");
    let deep = (0..60).fold(json!({}), |inner, _| json!({"items": inner}));
    let body = json!({"content": {"application/json": {"schema": deep}}});
    let document = json!({"openapi": "3.1.0", "paths": {"/a": {"post": {"requestBody": body}}}});
    let answer = app.post("/api/tools/discover", json!({"openapi": document})).await;
    assert!(answer.body["left_out"][0]["reason"].as_str().unwrap().contains("nest too deep"), "{answer:?}");
    let operations: serde_json::Map<String, Json> =
        (0..2_001).map(|at| (format!("/{at}"), json!({"get": {}}))).collect();
    let answer =
        app.post("/api/tools/discover", json!({"openapi": {"openapi": "3.1.0", "paths": operations}})).await;
    answer.assert_error(502, "upstream_error", "tool_unusable");
    assert!(answer.error().2.contains("more than 2000 operations"), "{answer:?}");
}
