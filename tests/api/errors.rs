//! Every row of the error table, over HTTP.

use serde_json::json;

use support::app::TestApp;

#[actix_web::test]
async fn invalid_json_names_line_and_column() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "p"})).await;
    let request = app.request("POST", "/api/render/prompts/x.y").header("content-type", "application/json");
    let answer = app.send(request.body("{\n \"variables\": }")).await;
    answer.assert_error(400, "invalid_request_error", "invalid_json");
    assert_eq!(answer.error().3, &json!({"line": 2, "column": 15}));
}

#[actix_web::test]
async fn an_invalid_id_is_said_to_be_one_everywhere() {
    let app = TestApp::start().await;
    for path in ["/api/prompts/a..b", "/api/extensions/a%20b", "/api/tools/%C3%A4", "/api/environs/.a"] {
        app.get(path).await.assert_error(400, "invalid_request_error", "invalid_id");
    }
    app.render("a%2Fb", json!({})).await.assert_error(400, "invalid_request_error", "invalid_id");
    app.put("/api/prompts/a*", json!({"prompt": ""})).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_id",
    );
}

#[actix_web::test]
async fn invalid_variables_lists_every_violation_by_json_pointer() {
    let app = TestApp::start().await;
    let properties =
        json!({"n": {"type": "integer"}, "list": {"type": "array", "items": {"type": "string"}}});
    app.put_prompt("x.y", json!({"prompt": "p", "parameters": {"type": "object", "properties": properties}}))
        .await;
    let answer = app.render("x.y", json!({"n": "one", "list": ["a", 1, 2]})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_variables");
    let violations = answer.error().3["violations"].as_array().unwrap();
    let paths: Vec<&str> = violations.iter().map(|v| v["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/list/1", "/list/2", "/n"]);
    for body in [json!({"variables": [1]}), json!({"variables": {}, "args": {}})] {
        let answer = app.post("/api/render/prompts/x.y", body).await;
        answer.assert_error(400, "invalid_request_error", "invalid_variables");
    }
}

#[actix_web::test]
async fn a_query_that_cannot_be_read_is_told_in_the_one_shape() {
    let app = TestApp::start().await;
    for path in ["/api/prompts?detail=maybe", "/api/prompts/x.y?raw=other"] {
        app.get(path).await.assert_error(400, "invalid_request_error", "invalid_query");
    }
}

#[actix_web::test]
async fn an_unknown_function_is_named_once_and_a_method_is_called_a_method() {
    let app = TestApp::start().await;
    for (syntax, template, wanted) in [
        ("jinja", "{{ nope(1) }}", "'nope' is undefined: there is no function of this name"),
        ("jinja", "{{ x.nope(1) }}", "'str object' has no attribute 'nope': there is no method of this name"),
        (
            "jinja",
            "{{ [].nope() }}",
            "'list object' has no attribute 'nope': there is no method of this name",
        ),
        ("go", "{{nope 1}}", "function \"nope\" not defined"),
        ("go", "{{.nope 1}}", "<.nope>: nope is not a method but has arguments"),
    ] {
        let answer = app.preview(syntax, template, json!({"x": "a"})).await;
        let message = answer.error().2;
        assert!(message.ends_with(wanted), "{message}");
        assert!(!(message.contains("method") && message.contains("function")), "{message}");
    }
}

#[actix_web::test]
async fn missing_variables_are_sorted_and_say_where_they_are_used() {
    let app = TestApp::start().await;
    let answer = app.preview("go", "{{.b}}\n{{.a.c}}{{.b}}", json!({})).await;
    answer.assert_error(400, "invalid_request_error", "missing_variables");
    let details = answer.error().3;
    assert_eq!(details["missing"][1], "variables.b");
    assert_eq!(details["positions"]["variables.b"]["line"], 1, "{details}");
}

#[actix_web::test]
async fn an_invalid_template_is_refused_with_its_place_when_it_is_written_or_previewed() {
    let app = TestApp::start().await;
    for (syntax, template) in [("go", "ok\n{{if}}"), ("jinja", "ok\n{% if %}")] {
        let document = json!({"prompt": template, "syntax": syntax});
        for answer in
            [app.put("/api/prompts/x.y", document).await, app.preview(syntax, template, json!({})).await]
        {
            answer.assert_error(400, "invalid_request_error", "invalid_template");
            assert_eq!(answer.error().3["line"], 2, "{answer:?}");
        }
    }
}

#[actix_web::test]
async fn what_does_not_exist_is_404_with_the_code_of_its_kind() {
    let app = TestApp::start().await;
    for (kind, path) in [("prompt", "x.y"), ("extension", "x"), ("environ", "a.b"), ("tool", "a.b")] {
        let path = format!("/api/{kind}s/{path}");
        let code = format!("{kind}_not_found");
        app.get(&path).await.assert_error(404, "not_found_error", &code);
        app.delete(&path).await.assert_error(404, "not_found_error", &code);
    }
    app.render("x.y", json!({})).await.assert_error(404, "not_found_error", "prompt_not_found");
    app.post("/api/prompts/x.y/render", json!({})).await.assert_error(
        404,
        "not_found_error",
        "prompt_not_found",
    );
    app.get("/api/nothing").await.assert_error(404, "not_found_error", "route_not_found");
    app.get("/schemas/nothing.json").await.assert_error(404, "not_found_error", "route_not_found");
}

#[actix_web::test]
async fn the_wrong_method_is_405_and_names_the_right_ones() {
    let app = TestApp::start().await;
    let answer = app.get("/api/render/prompts/x.y").await;
    answer.assert_error(405, "invalid_request_error", "method_not_allowed");
    assert_eq!(answer.headers["allow"], "POST");
    let answer = app.post("/api/prompts/x.y", json!({})).await;
    answer.assert_error(405, "invalid_request_error", "method_not_allowed");
    assert_eq!(answer.headers["allow"], "GET, HEAD, PUT, DELETE");
}

#[actix_web::test]
async fn head_answers_like_get_without_a_body() {
    let app = TestApp::start().await;
    for (path, status) in [("/healthz", 200), ("/api/prompts", 200), ("/api/prompts/x.y", 404)] {
        let (get, head) = (app.get(path).await, app.send(app.request("HEAD", path)).await);
        assert_eq!((get.status, head.status), (status, status));
        assert_eq!(get.headers["content-type"], head.headers["content-type"]);
        assert_eq!(get.headers["content-length"], head.headers["content-length"]);
        assert!(head.body.is_null());
    }
}

#[actix_web::test]
async fn a_body_over_the_limit_is_413() {
    let app = TestApp::start_with(|settings| settings.server.body_limit_bytes = 1000).await;
    let body = json!({"variables": {"a": "x".repeat(2000)}});
    let answer = app.post("/api/render/prompts/x.y", body).await;
    answer.assert_error(413, "invalid_request_error", "body_too_large");
}

#[actix_web::test]
async fn a_body_that_is_not_declared_as_json_is_415_and_an_empty_one_is_an_empty_object() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "p"})).await;
    for kind in ["text/plain", "application/x-www-form-urlencoded"] {
        let request = app.request("POST", "/api/render/prompts/x.y").header("content-type", kind).body("{}");
        app.send(request).await.assert_error(415, "invalid_request_error", "unsupported_media_type");
    }
    let utf8 = app
        .request("POST", "/api/render/prompts/x.y")
        .header("content-type", "application/json; charset=utf-8");
    assert_eq!(app.send(utf8.body("{}")).await.rendered(), "p");
    assert_eq!(app.send(app.request("POST", "/api/render/prompts/x.y")).await.rendered(), "p");
}

#[actix_web::test]
async fn deleting_what_only_a_package_has_is_a_conflict() {
    let app = TestApp::start().await;
    app.write_package_file(
        "p/package.json",
        r#"{"name":"p","contributes":{"prompts":[{"name":"q","prompt":"Q"}]}}"#,
    );
    app.write_package_file("p/environs/e/f.json", "1");
    app.eventually("/api/prompts", |answer| answer.body == json!(["p.q"])).await;
    for path in ["/api/prompts/p.q", "/api/extensions/p", "/api/environs/e.f"] {
        app.delete(path).await.assert_error(409, "conflict_error", "read_only");
    }
}

#[actix_web::test]
async fn a_write_against_another_version_is_412() {
    let app = TestApp::start().await;
    app.put_prompt("x.y", json!({"prompt": "1"})).await;
    let etag = app.get("/api/prompts/x.y").await.headers["etag"].clone();
    let put = |etag: &reqwest::header::HeaderValue, text: &str| {
        app.request("PUT", "/api/prompts/x.y").header("if-match", etag).json(&json!({"prompt": text}))
    };
    assert_eq!(app.send(put(&etag, "2")).await.status, 200);
    app.send(put(&etag, "3")).await.assert_error(412, "conflict_error", "etag_mismatch");
    let delete = app.request("DELETE", "/api/prompts/x.y").header("if-match", &etag);
    app.send(delete).await.assert_error(412, "conflict_error", "etag_mismatch");
    assert_eq!(app.render("x.y", json!({})).await.rendered(), "2");
}

#[actix_web::test]
async fn prompts_of_an_extension_that_lacks_what_it_needs_are_424_where_that_is_enforced() {
    let package = r#"{"name":"p","contributes":{
        "prompts":[{"name":"q","prompt":"Q"}],
        "dependences":[{"name":"gone","version":"^1.0.0","failStrategy":"abort"}]}}"#;
    let enforcing = TestApp::start_with(|settings| {
        settings.extensions.dependences = ai_prompt_shell::settings::Dependences::Enforce;
    })
    .await;
    let reporting = TestApp::start().await;
    for app in [&enforcing, &reporting] {
        app.write_package_file("p/package.json", package);
        app.eventually("/api/prompts", |answer| answer.body == json!(["p.q"])).await;
        let problems = app.get("/api/status").await.body["problems"].clone();
        assert!(problems[0]["message"].as_str().unwrap().contains("gone"), "{problems}");
    }
    enforcing.render("p.q", json!({})).await.assert_error(424, "conflict_error", "failed_dependency");
    assert_eq!(enforcing.get("/api/extensions/p").await.body["available"], false);
    assert_eq!(reporting.render("p.q", json!({})).await.rendered(), "Q");
    assert_eq!(reporting.get("/api/extensions/p").await.body["available"], true);
}

#[actix_web::test]
async fn a_template_that_fails_as_it_runs_is_500_with_its_place() {
    let app = TestApp::start().await;
    for (syntax, template) in
        [("go", "a\n{{index .variables.list 9}}"), ("jinja", "a\n{{ variables.list + 1 }}")]
    {
        let answer = app.preview(syntax, template, json!({"list": [1]})).await;
        answer.assert_error(500, "render_error", "render_failed");
        assert_eq!(answer.error().3["line"], 2, "{syntax}: {answer:?}");
    }
}

#[actix_web::test]
async fn a_render_that_takes_too_long_is_503() {
    let app = TestApp::start_with(|settings| settings.render.steps = u64::MAX / 4).await;
    let rounds = "{{range $.variables.l}}".repeat(4);
    let go = format!("{rounds}{}", "{{end}}".repeat(4));
    let jinja =
        "{% for a in range(9999) %}{% for b in range(9999) %}{% if a %}{% endif %}{% endfor %}{% endfor %}";
    let list: Vec<u32> = (0..1000).collect();
    let answer = app.preview("jinja", jinja, json!({})).await;
    answer.assert_error(503, "timeout_error", "render_timeout");
    let answer = app.preview("go", &go, json!({"l": list})).await;
    answer.assert_error(503, "timeout_error", "render_timeout");
}

#[actix_web::test]
async fn more_long_renders_than_may_wait_are_429_with_retry_after() {
    let app = TestApp::start_with(|settings| {
        settings.render.queue = 1;
        settings.render.steps = u64::MAX / 4;
    })
    .await;
    let slow =
        "{% for a in range(9999) %}{% for b in range(9999) %}{% if a %}{% endif %}{% endfor %}{% endfor %}";
    // One runs on each thread of the pool, one waits, and at least one is too many.
    let renders = std::thread::available_parallelism().unwrap().get() + 8;
    let all =
        futures_util::future::join_all((0..renders).map(|_| app.preview("jinja", slow, json!({})))).await;
    let refused: Vec<_> = all.iter().filter(|answer| answer.status == 429).collect();
    assert!(!refused.is_empty());
    refused[0].assert_error(429, "rate_limit_error", "overloaded");
    assert_eq!(refused[0].headers["retry-after"], "1");
}

#[actix_web::test]
async fn requests_for_other_hosts_and_from_other_origins_are_forbidden() {
    let app = TestApp::start_with(|settings| {
        settings.server.hosts = vec!["prompts.test".into()];
        settings.server.origins = vec!["https://good.test".into()];
    })
    .await;
    for (header, value, status) in [
        ("host", "evil.test", 403),
        ("host", "prompts.test", 200),
        ("host", "PROMPTS.test:80", 200),
        ("host", "localhost:1", 200),
        ("origin", "https://evil.test", 403),
        ("origin", "https://good.test", 200),
        ("origin", "null", 403),
    ] {
        let answer = app.send(app.request("GET", "/healthz").header(header, value)).await;
        assert_eq!(answer.status, status, "{header}: {value}");
        if status == 403 {
            answer.assert_error(403, "permission_error", "forbidden");
        }
    }
    let same = app.request("GET", "/healthz").header("origin", &app.base);
    assert_eq!(app.send(same).await.status, 200);
}

#[actix_web::test]
async fn a_service_without_any_catalog_is_alive_but_not_ready() {
    let app = TestApp::start_with(|settings| settings.store.url = "redis://127.0.0.1:1/".into()).await;
    assert_eq!(app.get("/healthz").await.status, 200);
    app.get("/readyz").await.assert_error(503, "unavailable_error", "not_ready");
    let put = app.put("/api/prompts/x.y", json!({"prompt": "p"})).await;
    put.assert_error(503, "unavailable_error", "store_unavailable");
    // They may well be in the store.
    app.render("x.y", json!({})).await.assert_error(503, "unavailable_error", "not_ready");
    app.get("/api/environs/x").await.assert_error(503, "unavailable_error", "not_ready");
}

#[actix_web::test]
async fn a_sane_request_id_is_taken_over_and_another_one_replaced() {
    let app = TestApp::start().await;
    let sane = app.send(app.request("GET", "/healthz").header("x-request-id", "abc-1.2")).await;
    assert_eq!(sane.headers["x-request-id"], "abc-1.2");
    for odd in ["with space", &"x".repeat(200)] {
        let answer = app.send(app.request("GET", "/nothing").header("x-request-id", odd)).await;
        let id = answer.headers["x-request-id"].to_str().unwrap();
        assert!(!id.is_empty() && id != odd);
    }
}

#[actix_web::test]
async fn a_preview_must_be_a_prompt_and_a_body_an_object() {
    let app = TestApp::start().await;
    for body in [
        json!({"messages": ["{{.variables.x}}", 5]}),
        json!({"messages": []}),
        json!({"messages": [{"content": "no role"}]}),
        json!({"template": "a", "messages": [{"role": "user", "content": "b"}]}),
        json!({"template": "a", "syntax": "mustache"}),
        json!({}),
    ] {
        app.post("/api/render", body).await.assert_error(400, "invalid_request_error", "invalid_document");
    }
    let answer = app.post("/api/render", json!({"template": 5})).await;
    assert_eq!(answer.body["error"]["details"]["violations"][0]["path"], "/template");
    app.post("/api/render", json!(["hi", null])).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_json",
    );
}

#[actix_web::test]
async fn an_id_that_is_endless_is_refused_and_takes_nothing_down() {
    let app = TestApp::start().await;
    let id = vec!["a"; 5_000].join(".");
    app.put(&format!("/api/environs/{id}"), json!(1)).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_id",
    );
    assert_eq!(app.get("/healthz").await.status, 200);
}

#[actix_web::test]
async fn checking_the_variables_counts_against_the_time_of_the_render() {
    let app = TestApp::start_with(|settings| settings.render.timeout_ms = 1).await;
    let list = json!({"type": "array", "uniqueItems": true});
    let parameters = json!({"type": "object", "properties": {"list": list}});
    app.put_prompt("x.y", json!({"prompt": "p", "parameters": parameters})).await;
    let items: Vec<_> = (0..60_000).map(|n| json!({"n": n})).collect();
    app.render("x.y", json!({"list": items})).await.assert_error(503, "timeout_error", "render_timeout");
}

#[actix_web::test]
async fn a_requirement_that_cannot_be_read_is_a_problem() {
    let app = TestApp::start().await;
    let dependences = json!([{"name": "nope", "version": "latest", "failStrategy": "abort"}]);
    let engines = json!({"name": "ai-prompt-shell", "version": "newest"});
    let extension = json!({"name": "e", "engines": engines, "contributes": {"dependences": dependences}});
    assert_eq!(app.put("/api/extensions/e", extension).await.status, 201);
    let problems = app.get("/api/extensions/e").await.body["problems"].to_string();
    assert!(problems.contains("`latest`") && problems.contains("`newest`"), "{problems}");
}

#[actix_web::test]
async fn of_thousands_of_violations_a_bounded_number_is_listed() {
    let app = TestApp::start().await;
    let answer = app.post("/api/render", json!({"messages": vec![1; 5000]})).await;
    answer.assert_error(400, "invalid_request_error", "invalid_document");
    let violations = answer.body["error"]["details"]["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1001);
    assert!(violations[1000]["message"].as_str().unwrap().contains("more"), "{:?}", violations[1000]);
    assert!(answer.body["error"]["message"].as_str().unwrap().len() < 5000);
}

#[actix_web::test]
async fn the_texts_of_a_prompt_together_must_not_be_longer_than_the_limit() {
    let app = TestApp::start_with(|settings| settings.render.source_bytes = 1000).await;
    let messages =
        |bytes: usize| json!({"messages": vec![json!({"role": "user", "content": "x".repeat(bytes)}); 3]});
    assert_eq!(app.post("/api/render", messages(333)).await.status, 200);
    app.post("/api/render", messages(334)).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_template",
    );
}

#[actix_web::test]
async fn a_fault_in_a_message_names_the_message() {
    let app = TestApp::start().await;
    let messages = json!([
        {"role": "system", "content": "{{.a}}"},
        {"role": "user", "content": [{"type": "text", "text": "{{.b}}"}]}
    ]);
    app.put_prompt("x.y", json!({"messages": messages})).await;
    let answer = app.render("x.y", json!({})).await;
    let positions = &answer.body["error"]["details"]["positions"];
    assert_eq!(positions["variables.a"]["template"], "x.y#messages[0].content");
    assert_eq!(positions["variables.b"]["template"], "x.y#messages[1].content[0].text");
    let broken =
        json!({"messages": [{"role": "system", "content": "a"}, {"role": "user", "content": "{{.b"}]});
    let answer = app.put("/api/prompts/x.y", broken).await;
    answer.assert_error(400, "invalid_request_error", "invalid_template");
    assert!(answer.error().2.starts_with("messages[1].content: "), "{answer:?}");
}
