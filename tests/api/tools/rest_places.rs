//! Where REST tools put their arguments, and which documents are refused because they cannot.

use serde_json::{Value as Json, json};

use super::rest_server::RestServer;
use support::app::{Answer, TestApp};

#[tokio::test]
async fn a_document_says_which_arguments_are_headers_forms_and_parameters_of_the_query() {
    let (app, server) = (TestApp::start().await, RestServer::start().await);
    let arguments =
        json!({"id": 7, "tags": ["a", "b c"], "lang": "de", "x": "ä&", "o": {"k": 1}, "none": null});
    let common = json!({
        "url": server.url("/echo/{id}?fixed=1"),
        "query": {"tag[]": "{tags}", "page": "p{none}", "absent": "{absent}"},
        "headers": {"Accept-Language": "{lang},en", "X-Tags": "{tags}", "X-None": "{none}"},
    });
    let tags = "fixed=1&tag%5B%5D=a&tag%5B%5D=b+c";
    let rest = "&x=%C3%A4%26";
    let object = "&o=%7B%22k%22%3A1%7D";
    let (form, json) = (Some("application/x-www-form-urlencoded"), Some("application/json"));
    for (own, method, query, body, kind) in [
        (json!({"encoding": "form"}), "POST", "", json!("x=%C3%A4%26&o=%7B%22k%22%3A1%7D"), form),
        (json!({}), "POST", "", json!({"x": "ä&", "o": {"k": 1}}), json),
        (json!({"encoding": "none"}), "POST", &*format!("{rest}{object}"), Json::Null, None),
        (json!({"body": "{o}"}), "DELETE", rest, json!({"k": 1}), json),
        (json!({"body": "{o}", "encoding": "form"}), "PUT", rest, json!("k=1"), form),
        (json!({"body": "{absent}"}), "POST", &*format!("{rest}{object}"), Json::Null, None),
    ] {
        let mut restful = common.clone();
        let members = own.as_object().unwrap().clone().into_iter().chain([("method".into(), method.into())]);
        restful.as_object_mut().unwrap().extend(members);
        app.put_tool("m.t", json!({"type": "restful", "restful": restful})).await;
        let answer = app.post("/api/tools/m.t/call", json!({"arguments": arguments})).await;
        let query = format!("{tags}{query}");
        let expected = json!({"method": method, "path": "/echo/7", "query": query, "body": body});
        assert_eq!(answer.body["value"], expected, "{own}: {answer:?}");
        let headers = server.seen().pop().unwrap().headers;
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap());
        assert_eq!((text("accept-language"), text("x-tags")), (Some("de,en"), Some("a,b c")), "{own}");
        assert_eq!((text("x-none"), text("content-type")), (None, kind), "{own}");
    }
}

#[tokio::test]
async fn a_document_whose_request_cannot_be_made_is_refused() {
    let app = TestApp::start().await;
    let schema = json!({"type": "object", "properties": {"id": {}}});
    for (restful, expected) in [
        (json!({"url": "/a/{id"}), "/restful/url: a `{` is not closed"),
        (json!({"url": "/a/id}"}), "no `{` before it"),
        (json!({"url": "/a/{}"}), "no name"),
        (json!({"url": "/a/{idd}"}), "`{idd}` cannot be filled in"),
        (json!({"url": "/a", "headers": {"X-Id": "{i}"}}), "`{i}` cannot be filled in"),
        (json!({"url": "http://{id}/x"}), "after the host only"),
        (json!({"url": "http://host{id}"}), "after the host only"),
        (json!({"url": "/a", "headers": {"authorization": "{id}"}}), "`authorization` is set by the service"),
        (json!({"url": "/a", "headers": {"Content-Length": "1"}}), "`Content-Length` is set by the service"),
        (json!({"url": "/a", "headers": {"X-Request-Id": "1"}}), "`X-Request-Id` is set by the service"),
        (json!({"url": "/a", "headers": {"a b": "1"}}), "`a b` is not the name of a header"),
        (json!({"url": "/a", "headers": {"X-A": 1}}), "/restful/headers/X-A"),
        (json!({"url": "/a", "query": {"a": "{"}}), "/restful/query/a: a `{` is not closed"),
        (json!({"url": "/a", "body": "id"}), "must be one argument"),
        (json!({"url": "/a", "body": "{id}", "encoding": "none"}), "`encoding` is `none`"),
        (json!({"url": "/a", "encoding": "xml"}), "/restful/encoding"),
    ] {
        let tool =
            json!({"name": "t", "module": "m", "type": "restful", "restful": restful, "parameters": schema});
        let answer = app.put("/api/tools/m.t", tool.clone()).await;
        answer.assert_error(400, "invalid_request_error", "invalid_document");
        assert!(answer.error().2.contains(expected), "{tool}: {answer:?}");
    }
    app.put_tool("m.t", json!({"type": "restful", "url": "/a/{anything}"})).await;
    // A file of a package is not refused, but a problem.
    let tool = r#"{"name": "u", "module": "m", "type": "restful", "url": "/{a"}"#;
    app.write_package_file("x/tools/m.json", tool);
    app.write_package_file(
        "x/package.json",
        r#"{"name": "x", "version": "1.0.0", "engines": {"ai-prompt-shell": "*"}}"#,
    );
    let named = |answer: &Answer| answer.body["problems"].to_string().contains("not closed");
    app.eventually("/api/status", named).await;
}

#[tokio::test]
async fn headers_of_documents_lose_against_those_of_the_settings_and_go_nowhere_else() {
    let (server, other) = (RestServer::start().await, RestServer::start().await);
    let file =
        format!("[tools.modules.m]\nurl = \"{}\"\nheaders = {{ X-Api-Key = \"the-key\" }}", server.url("/"));
    let app = TestApp::start_with(|settings| settings.tools = TestApp::settings_of(&file).tools).await;
    let url = format!("/redirect/307?to={}", other.url("/echo/"));
    let headers = json!({"X-Api-Key": "{key}", "X-Own": "{own}"});
    app.put_tool("m.t", json!({"type": "restful", "restful": {"url": url, "headers": headers}})).await;
    let answer =
        app.post("/api/tools/m.t/call", json!({"arguments": {"key": "mine", "own": 1, "rest": 2}})).await;
    assert_eq!(answer.body["value"]["body"], json!({"rest": 2}), "{answer:?}");
    let (first, second) = (server.seen().pop().unwrap().headers, other.seen().pop().unwrap().headers);
    assert!(first["x-api-key"] == "the-key" && first["x-own"] == "1", "{first:?}");
    assert!(!second.contains_key("x-api-key") && !second.contains_key("x-own"), "{second:?}");
    assert_eq!(second["content-type"], "application/json");
}
