//! A chat whose tools failed says so, or is refused.

use serde_json::{Value as Json, json};

use super::{datas, llm, read_stream, start};
use support::app::TestApp;
use support::upstream::{Upstream, completion, json as reply_json};

/// The address of a service that is not there.
fn nowhere() -> String {
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    format!("http://{closed}/x")
}

async fn put_tools(app: &TestApp) {
    for name in ["one", "two"] {
        let tool = json!({
            "type": "restful", "restful": {"url": nowhere(), "method": "GET"}, "default": name,
            "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}},
        });
        app.put_tool(&format!("lost.{name}"), tool).await;
    }
}

const TEXT: &str = "{{ lost_one(1) }} {{ lost_two(1) }} {{ lost_one(2) }}";

async fn with_lost_tools() -> (TestApp, Upstream) {
    let (app, upstream) = start(|_| reply_json(200, completion("a"))).await;
    put_tools(&app).await;
    app.put_prompt("p.q", json!({"userPrompt": TEXT, "model": "m"})).await;
    app.put_prompt("p.strict", json!({"userPrompt": TEXT, "tools": {"on_failure": "refuse"}, "model": "m"}))
        .await;
    (app, upstream)
}

#[actix_web::test]
async fn failed_tools_are_counted_and_named_in_a_header() {
    let (app, _upstream) = with_lost_tools().await;
    for (path, body) in [
        ("/api/chat/prompts/p.q", json!({})),
        ("/v1/chat/completions", json!({"model": "prompt:p.q", "messages": []})),
    ] {
        let answer = app.post(path, body).await;
        assert_eq!((answer.status, &answer.body), (200, &completion("a")), "{answer:?}");
        assert_eq!(answer.headers["x-prompt-warnings"], r#"3; tools="lost.one lost.two""#);
    }
    app.put_prompt("p.well", json!({"userPrompt": "x", "model": "m"})).await;
    let answer = app.post("/api/chat/prompts/p.well", json!({})).await;
    assert!(answer.status == 200 && !answer.headers.contains_key("x-prompt-warnings"));
}

#[actix_web::test]
async fn an_explained_chat_has_the_warnings_and_the_report() {
    let (app, _upstream) = with_lost_tools().await;
    let path = "/api/chat/prompts/p.q?explain=true";
    let answer = app.post(path, json!({})).await;
    assert_eq!(answer.body["choices"], completion("a")["choices"]);
    let told = |body: &Json| {
        let warnings = body["warnings"].as_array().unwrap();
        assert_eq!(warnings.len(), 3);
        assert_eq!(warnings[1]["tool"], "lost.two");
        assert_eq!(body["report"]["waves"][0]["calls"][2]["outcome"], "default");
    };
    told(&answer.body);

    let echo = TestApp::start().await;
    put_tools(&echo).await;
    echo.put_prompt("p.q", json!({"userPrompt": TEXT})).await;
    let (stream, orderly) = read_stream(&echo, path, &json!({"stream": true})).await;
    let datas = datas(&stream);
    assert!(orderly && datas.last().unwrap() == "[DONE]" && datas[1].contains("assistant"));
    let first: Json = serde_json::from_str(&datas[0]).unwrap();
    assert_eq!((&first["object"], &first["choices"]), (&json!("chat.completion.chunk"), &json!([])));
    told(&first);
}

#[actix_web::test]
async fn a_prompt_may_refuse_to_be_rendered_without_its_tools() {
    let (app, upstream) = with_lost_tools().await;
    for path in ["/api/chat/prompts/p.strict", "/api/render/prompts/p.strict"] {
        let answer = app.post(path, json!({})).await;
        answer.assert_error(424, "conflict_error", "tools_failed");
        let tools = answer.error().3["tools"].as_array().unwrap();
        let names: Vec<&str> = tools.iter().map(|tool| tool["tool"].as_str().unwrap()).collect();
        assert_eq!(names, ["lost.one", "lost.two", "lost.one"]);
        assert!(tools[0]["reason"].as_str().unwrap().contains("refused"), "{answer:?}");
    }
    let preview = json!({"template": TEXT, "tools": {"on_failure": "refuse"}});
    app.post("/api/render", preview).await.assert_error(424, "conflict_error", "tools_failed");
    assert!(upstream.seen().is_empty());
}

#[actix_web::test]
async fn the_settings_may_refuse_for_all_prompts_and_a_prompt_may_disagree() {
    let upstream = Upstream::start(|_| reply_json(200, completion("a"))).await;
    let app = TestApp::start_with(|settings| {
        settings.llm = llm(&upstream.base);
        settings.tools.on_failure = ai_prompt_shell::settings::ToolFailure::Refuse;
    })
    .await;
    put_tools(&app).await;
    app.put_prompt("p.q", json!({"userPrompt": TEXT})).await;
    app.put_prompt("p.mild", json!({"userPrompt": TEXT, "tools": {"on_failure": "default"}})).await;
    app.render("p.q", json!({})).await.assert_error(424, "conflict_error", "tools_failed");
    assert_eq!(app.render("p.mild", json!({})).await.rendered(), "one two one");
    // What only follows from a failed call is not what is told.
    app.put_prompt("p.deep", json!({"userPrompt": "{{ lost_one(1).a.b }} {{ lost_one(1, 2, 3) }}"})).await;
    let answer = app.render("p.deep", json!({})).await;
    answer.assert_error(424, "conflict_error", "tools_failed");
}
