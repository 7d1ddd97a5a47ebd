//! Templates that call tools, rendered by the service.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};

use super::rest_server::RestServer;
use super::waves::{TOOLS, answer, variables};
use support::app::{Answer, TestApp};

/// A service with tools: `t.id` and `t.slow` give their argument back, `t.fail` and `t.spare` fail.
struct World {
    app: TestApp,
    server: RestServer,
}

impl World {
    async fn start() -> World {
        World::start_with(|_| {}).await
    }

    async fn start_with(change: impl FnOnce(&mut ai_prompt_shell::settings::Settings)) -> World {
        let world = World { app: TestApp::start_with(change).await, server: RestServer::start().await };
        for (id, path, default) in [
            ("t.id", "/value/", None),
            ("t.slow", "/slow/100", None),
            ("t.fail", "/status/500", None),
            ("t.spare", "/status/500", Some(json!("spare"))),
        ] {
            world.tool(id, path, default).await;
        }
        world
    }

    async fn tool(&self, id: &str, path: &str, default: Option<Json>) {
        let mut document = json!({
            "type": "restful", "url": self.server.url(path), "timeoutMs": 10_000,
            "parameters": {"properties": {"value": {}}}
        });
        if let Some(default) = default {
            document["default"] = default;
        }
        self.app.put_tool(id, document).await;
    }

    async fn explained(&self, syntax: &str, template: &str) -> Answer {
        let body = json!({"template": template, "syntax": syntax, "variables": variables()});
        self.app.post("/api/render?explain=true", body).await
    }

    /// The arguments of all calls so far.
    fn called(&self) -> Vec<Json> {
        self.server.seen().into_iter().map(|seen| seen.body["value"].clone()).collect()
    }
}

fn slow_limits(settings: &mut ai_prompt_shell::settings::Settings) {
    settings.render.timeout_ms = 20_000;
}

#[tokio::test]
async fn independent_calls_run_at_once_and_dependent_ones_one_after_the_other() {
    let world = World::start_with(slow_limits).await;
    for (syntax, ten, chain) in [
        (
            "jinja",
            (0..10).map(|at| format!("{{{{ t_slow({at}) }}}}")).collect::<String>(),
            "{{ t_slow([t_slow([t_slow(1)])]) | tojson }}",
        ),
        (
            "go",
            (0..10).map(|at| format!("{{{{t_slow {at}}}}}")).collect::<String>(),
            "{{toJson (t_slow (list (t_slow (list (t_slow 1)))))}}",
        ),
    ] {
        let answer = world.explained(syntax, &ten).await;
        assert_eq!(answer.rendered(), "0123456789");
        let waves = answer.body["report"]["waves"].as_array().unwrap();
        assert_eq!((waves.len(), waves[0]["calls"].as_array().unwrap().len()), (1, 10));
        assert_eq!(world.server.most_running(), 10, "all at the same time");
        let answer = world.explained(syntax, chain).await;
        assert_eq!(answer.rendered(), "[[1]]");
        let waves = answer.body["report"]["waves"].as_array().unwrap();
        assert_eq!(waves.len(), 3, "{answer:?}");
        for (at, wave) in waves.iter().enumerate() {
            let [call] = wave["calls"].as_array().unwrap().as_slice() else { panic!("{answer:?}") };
            assert_eq!((&call["tool"], &call["outcome"]), (&json!("t.slow"), &json!("value")));
            assert_eq!(call.get("waited_for"), (at > 0).then_some(&json!("t.slow")));
            assert!(call["duration_us"].as_u64().unwrap() >= 100_000, "{answer:?}");
        }
    }
}

#[tokio::test]
async fn equal_calls_of_one_render_happen_once_however_they_are_written() {
    let world = World::start().await;
    let document = json!({
        "type": "restful", "url": world.server.url("/value/"),
        "parameters": {"properties": {"value": {}, "more": {"default": 1}}}
    });
    world.app.put_tool("t.two", document).await;
    let template = "{{ t_two('a') }}{{ t_two(value='a') }}{{ t_two({'more': 1, 'value': 'a'}) }}{{ t_two('a', 1) }}{{ t_two(more=1, value='a') }}{{ t_two('a', 2) }}";
    let answer = world.app.preview("jinja", template, json!({})).await;
    assert_eq!(answer.rendered(), "aaaaaa");
    assert_eq!(world.called().len(), 2);
    let answer = world
        .app
        .preview("go", r#"{{t_two "b"}}{{t_two (dict "value" "b")}}{{t_two "b" 1}}"#, json!({}))
        .await;
    assert_eq!(answer.rendered(), "bbb");
    assert_eq!(world.called().len(), 3);
    // Numbers reach the tool as they were written.
    let answer = world.app.preview("go", "{{t_id .variables.n}}", json!({"n": 7})).await;
    assert_eq!((answer.rendered(), world.called().pop().unwrap().to_string()), (&json!("7"), "7".to_owned()));
}

#[tokio::test]
async fn a_failed_call_leaves_its_default_or_a_gap_and_a_warning_and_the_rest_goes_on() {
    let world = World::start().await;
    for (syntax, template) in [
        (
            "jinja",
            "[{{ t_fail(1) }}][{{ t_spare(1) }}][{{ t_fail(2) | default('d') }}][{{ t_id(t_fail(1)) }}]",
        ),
        ("go", r#"[{{t_fail 1}}][{{t_spare 1}}][{{t_fail 2 | default "d"}}][{{t_id (t_fail 1)}}]"#),
    ] {
        let answer = world.explained(syntax, template).await;
        assert_eq!(answer.rendered(), "[][spare][d][]");
        let warnings = answer.body["warnings"].as_array().unwrap();
        let tools: Vec<&Json> = warnings.iter().map(|warning| &warning["tool"]).collect();
        assert_eq!(tools, ["t.fail", "t.spare", "t.fail"], "{answer:?}");
        assert!(warnings[0]["reason"].as_str().unwrap().contains("500 Internal Server Error"), "{answer:?}");
        let calls = &answer.body["report"]["waves"][0]["calls"];
        assert_eq!((&calls[0]["outcome"], &calls[1]["outcome"]), (&json!("empty"), &json!("default")));
    }
    assert!(
        world.server.seen().iter().all(|seen| seen.path == "/status/500"),
        "what needs a gap is not called"
    );
}

#[tokio::test]
async fn wrong_arguments_are_a_failed_call_that_is_never_made() {
    let world = World::start().await;
    let document = json!({
        "type": "restful", "url": world.server.url("/value/"),
        "parameters": {"properties": {"value": {"type": "string"}}}
    });
    world.app.put_tool("t.text", document).await;
    for (syntax, template) in
        [("jinja", "<{{ t_text(1) }}{{ t_text('a', 'b') }}>"), ("go", "<{{t_text 1}}{{t_text \"a\" \"b\"}}>")]
    {
        let answer = world.explained(syntax, template).await;
        assert_eq!(answer.rendered(), "<>");
        let warnings = answer.body["warnings"].as_array().unwrap();
        assert!(warnings[0]["reason"].as_str().unwrap().contains("/value"), "{answer:?}");
        assert!(warnings[1]["reason"].as_str().unwrap().contains("at most 1"), "{answer:?}");
    }
    assert!(world.called().is_empty());
}

#[tokio::test]
async fn the_render_s_time_limit_cancels_running_calls() {
    let world = World::start().await;
    world.tool("t.slower", "/slow/60000", None).await;
    let answer =
        world.app.preview("jinja", "{{ t_slower(1) }}{{ t_slower(2) }}{{ t_id(3) }}", json!({})).await;
    answer.assert_error(503, "timeout_error", "render_timeout");
    assert_eq!(answer.error().3["tools"], json!(["t.slower"]));
    assert!(world.server.cancelled(2).await, "the server sees both calls go");
}

#[tokio::test]
async fn a_client_that_leaves_cancels_its_calls() {
    let world = World::start_with(slow_limits).await;
    world.tool("t.slower", "/slow/60000", None).await;
    let request = world.app.request("POST", "/api/render").json(&json!({"template": "{{ t_slower(1) }}"}));
    tokio::select! {
        answer = request.send() => panic!("{answer:?}"),
        () = world.app.settled(async || !world.server.seen().is_empty()) => {}
    }
    assert!(world.server.cancelled(1).await);
}

#[tokio::test]
async fn what_is_missing_or_wrong_calls_nothing() {
    let world = World::start().await;
    for (syntax, template) in [
        ("jinja", "{{ t_id(1) }}{{ variables.no }}{{ t_id(2) }}"),
        ("go", "{{t_id 1}}{{.variables.no}}{{t_id 2}}"),
    ] {
        let answer = world.app.preview(syntax, template, json!({})).await;
        answer.assert_error(400, "invalid_request_error", "missing_variables");
    }
    let prompt =
        json!({"userPrompt": "{{ t_id(1) }}", "parameters": {"properties": {"n": {"type": "integer"}}}});
    world.app.put_prompt("p.typed", prompt).await;
    world.app.render("p.typed", json!({"n": "x"})).await.assert_error(
        400,
        "invalid_request_error",
        "invalid_variables",
    );
    // A later message that lacks something stops the calls of an earlier one.
    let messages = json!([{"role": "system", "content": "{% if t_id(1) %}x{% endif %}"}, {"role": "user", "content": "{{ variables.no }}"}]);
    let answer = world.app.post("/api/render", json!({"messages": messages})).await;
    answer.assert_error(400, "invalid_request_error", "missing_variables");
    assert!(world.called().is_empty());
}

#[tokio::test]
async fn all_messages_share_calls_and_waves() {
    let world = World::start_with(slow_limits).await;
    let messages = json!([
        {"role": "system", "content": "{{ t_slow('a') }}{{ t_slow('b') }}"},
        {"role": "user", "content": "{{ t_slow('a') }}{{ t_slow('c') }}"},
    ]);
    let body = json!({"messages": messages, "syntax": "jinja"});
    let answer = world.app.post("/api/render?explain=true", body).await;
    assert_eq!(answer.rendered()[1]["content"], "ac");
    assert_eq!(answer.body["report"]["waves"].as_array().unwrap().len(), 1);
    assert_eq!(world.called().len(), 3);
    // What stops in one message keeps the later ones from calling yet.
    let messages = json!([
        {"role": "system", "content": "{% if t_id('d') %}{{ t_id('e') }}{% endif %}"},
        {"role": "user", "content": "{{ t_id('f') }}"},
    ]);
    let body = json!({"messages": messages, "syntax": "jinja"});
    let answer = world.app.post("/api/render?explain=true", body).await;
    let calls = |wave: usize| -> Vec<Json> {
        let calls = answer.body["report"]["waves"][wave]["calls"].as_array().unwrap();
        calls.iter().map(|call| call["arguments"]["value"].clone()).collect()
    };
    assert_eq!((calls(0), calls(1)), (vec![json!("d")], vec![json!("e"), json!("f")]));
}

#[tokio::test]
async fn limits_on_calls_hold() {
    let world = World::start_with(|settings| {
        settings.render.tool_calls = 5;
        settings.render.timeout_ms = 20_000;
        settings.tools.parallel = 2;
    })
    .await;
    let answer =
        world.app.preview("jinja", "{% for i in range(5) %}{{ t_slow(i) }}{% endfor %}", json!({})).await;
    assert_eq!(answer.rendered(), "01234");
    assert_eq!(world.server.most_running(), 2, "no more at once than the setting says");
    let answer =
        world.app.preview("jinja", "{% for i in range(6) %}{{ t_slow(i) }}{% endfor %}", json!({})).await;
    answer.assert_error(500, "render_error", "render_failed");
    assert!(answer.error().2.contains("more than 5 tool calls"), "{answer:?}");
    assert_eq!(world.called().len(), 5, "too many are not begun");
    let shared = World::start_with(|settings| {
        settings.render.timeout_ms = 20_000;
        settings.tools.parallel_per_tool = 3;
    })
    .await;
    let renders = (0..8).map(|at| shared.app.preview("jinja", "{{ t_slow(variables.n) }}", json!({"n": at})));
    assert!(join_all(renders).await.iter().all(|answer| answer.status == 200));
    assert_eq!(shared.server.most_running(), 3, "no more of one tool");
}

#[tokio::test]
async fn arguments_of_any_size_are_seen_by_the_limits() {
    let world = World::start_with(slow_limits).await;
    let large = json!({"x": vec![json!({"a": 1}); 100_000]});
    for (syntax, template) in [("jinja", "{{ t_id(variables.x) }}"), ("go", "{{t_id .variables.x}}")] {
        let answer = world.app.preview(syntax, template, large.clone()).await;
        answer.assert_error(500, "render_error", "render_failed");
        assert!(answer.error().2.contains("more than 16 MiB"), "{answer:?}");
    }
    assert!(world.called().is_empty());
    // Less than that is passed on, and a call is known by it when the next wave asks again.
    let template = "{% if t_id(variables.x) %}{{ t_id(variables.x) | length }}{% endif %}";
    let answer = world.app.preview("jinja", template, json!({"x": "x".repeat(1 << 20)})).await;
    assert_eq!((answer.rendered(), world.called().len()), (&json!("1048576"), 1));
}

#[tokio::test]
async fn what_an_answer_lacks_is_missing_like_a_part_of_the_data() {
    let world = World::start().await;
    for (syntax, template) in [
        ("jinja", "{{ t_id({'value': {'a': 1}}).b.c }}"),
        ("go", "{{(t_id (dict \"value\" (dict \"a\" 1))).b.c}}"),
    ] {
        let answer = world.app.preview(syntax, template, json!({})).await;
        answer.assert_error(400, "invalid_request_error", "missing_variables");
        assert_eq!(answer.error().3["missing"], json!(["(an expression).b.c"]), "{answer:?}");
    }
}

#[tokio::test]
async fn a_prompt_calls_only_the_tools_that_it_allows_itself() {
    let world = World::start().await;
    let prompt = json!({"userPrompt": "{{ t_id(1) }}{{ t_spare(2) }}", "limits": {"tools": ["t.id"]}});
    world.app.put_prompt("p.limited", prompt).await;
    let answer = world.app.render("p.limited", json!({})).await;
    assert_eq!(answer.rendered(), "1spare");
    assert!(answer.body["warnings"][0]["reason"].as_str().unwrap().contains("limits.tools"), "{answer:?}");
    assert_eq!(world.called(), [json!(1)]);
}

#[tokio::test]
async fn answers_are_data_and_never_template_text() {
    let world = World::start().await;
    let tricky = "{{ t_id('evil') }}{% if %}<&>";
    for (syntax, template) in [("jinja", "{{ t_id(variables.x) }}"), ("go", "{{t_id .variables.x}}")] {
        let answer = world.app.preview(syntax, template, json!({"x": tricky})).await;
        assert_eq!(answer.rendered(), tricky);
    }
    assert_eq!(world.called(), [json!(tricky), json!(tricky)]);
}

#[tokio::test]
async fn calls_with_the_time_or_random_values_are_made_once_however_often_a_render_runs() {
    let world = World::start_with(slow_limits).await;
    for (syntax, text) in [
        ("go", "{{if t_id uuidv4}}{{t_id (now.UnixNano)}}{{end}}{{range until 60000}}{{end}}{{t_id uuidv4}}"),
        (
            "jinja",
            "{% if t_id(range(1, 1000000) | random) %}{{ t_id(strftime_now('%s %f')) }}{% endif %}{% for i in range(60000) %}{% endfor %}{{ t_id(range(1, 1000000) | random) }}",
        ),
    ] {
        let before = world.called().len();
        // Two messages draw values of their own.
        let messages = json!([{"role": "system", "content": text}, {"role": "user", "content": text}]);
        let answer =
            world.app.post("/api/render?explain=true", json!({"messages": messages, "syntax": syntax})).await;
        assert_eq!(answer.body["report"]["pooled"], true, "{answer:?}");
        let called: BTreeSet<String> = world.called().iter().skip(before).map(Json::to_string).collect();
        assert_eq!((world.called().len() - before, called.len()), (5, 5), "{called:?}");
    }
}

#[tokio::test]
async fn a_render_too_long_for_the_serving_thread_makes_the_same_calls() {
    let world = World::start_with(slow_limits).await;
    let template = "{{ t_id(1) }}{% for i in range(60000) %}{% endfor %}{{ t_id(2) }}";
    let answer = world.explained("jinja", template).await;
    assert_eq!(answer.rendered(), "12");
    assert_eq!(answer.body["report"]["pooled"], true);
    assert_eq!(world.called().len(), 2);
}

/// The wave property over the wire: what the servers see is what one run from left to right calls.
#[tokio::test]
async fn servers_see_exactly_the_calls_of_a_run_from_left_to_right() {
    let world = World::start_with(slow_limits).await;
    for tool in TOOLS.iter().filter(|tool| !["t_id", "t_fail", "t_spare"].contains(tool)) {
        world.tool(&tool.replace('_', "."), &format!("/computed/{tool}"), None).await;
    }
    assert_eq!(answer("t_number", &json!("a")), Some(json!(6)));
    for (syntax, template, expected) in [
        (
            "jinja",
            "{% for x in t_list('ab') %}{{ x }}={{ t_number(x) }};{% else %}{{ t_id('never') }}{% endfor %}{% if t_flag('a') %}{{ t_id('no') }}{% else %}{{ t_id('yes') }}{% endif %}",
            vec![
                "t_list \"ab\"",
                "t_number \"ab0\"",
                "t_number \"ab1\"",
                "t_number \"ab2\"",
                "t_flag \"a\"",
                "value \"yes\"",
            ],
        ),
        (
            "go",
            "{{with t_object \"k\"}}{{.a}}{{range .deep.c}}{{t_id .}}{{end}}{{end}}{{if t_flag \"a\"}}{{t_id \"no\"}}{{end}}",
            vec!["t_object \"k\"", "value 2", "t_flag \"a\""],
        ),
    ] {
        let before = world.server.seen().len();
        let rendered = world.explained(syntax, template).await;
        assert_eq!(rendered.status, 200, "{rendered:?}");
        let seen: BTreeSet<String> = world.server.seen()[before..]
            .iter()
            .map(|seen| {
                let tool = seen.path.trim_matches('/').rsplit('/').next().unwrap().to_owned();
                format!("{tool} {}", seen.body["value"])
            })
            .collect();
        assert_eq!(seen, expected.into_iter().map(str::to_owned).collect(), "{template}");
    }
}
